"""The ways back: breach, rollback, and the stop when nothing is left to restore.

A `*` marks a defect of the original that the test shows to be gone.
"""

import pytest

from prowess.errors import NotFound
from tests.support.evolution import AB, ABC, EAGER, FAIR, ORIGINAL, UNSAFE, Trial, exhaust, scores, snapshot

BETTER = scores(0.85, 0.85, 1.0, "L2", 0.35)


# --- breach and rollback ---------------------------------------------------------------------


def test_a_breach_goes_back_to_the_last_good_generation() -> None:
    """* The original went one too far and lost generation 2."""
    trial = Trial(ORIGINAL)
    trial.evaluate(FAIR, times=10)
    trial.evaluate(BETTER)
    assert trial.generation == 2
    assert trial.evaluate(scores(0.85, 0.85, 0.99, "L2", 0.35)) == [
        "EvolutionBreach(safety_floor)",
        "EvolutionWarning(severe,safety,remaining=0)",
        "EvolutionRollback(2->2,Safety breach detected)",
    ]
    assert trial.life.generations[3].fitness == trial.life.generations[2].fitness == pytest.approx(0.7375)


def test_a_severe_regression_that_no_change_explains_is_told_and_nothing_is_undone() -> None:
    """* The original said nothing at all."""
    trial = Trial()
    trial.evaluate(scores(0.8, 0.8, 1.0, "L3", 0.6), times=10)
    assert trial.evaluate(scores(0.3, 0.3, 1.0, "L3", 0.2)) == [
        "EvolutionWarning(severe,behavioral,remaining=0)",
        "EvolutionGeneration(gen=2,Regression)",
    ]
    assert trial.last and trial.last.switches is None
    assert trial.last.events[0].data["direction"] == "no change to undo"


def test_a_regression_that_nobody_caused_never_stops_an_agent() -> None:
    """* The original brought one generation back again and again until the agent was stopped."""
    trial = Trial()
    trial.evaluate(scores(0.8, 0.8, 1.0, "L3", 0.6), times=200)
    for value in (0.6, 0.4, 0.2, 0.05):
        for _ in range(200):
            trial.evaluate(scores(value, value, 1.0, "L3", 0.6))
            assert trial.last and trial.last.switches is None and not trial.last.stopped


def test_a_rollback_switches_off_what_came_and_on_what_went() -> None:
    """* The original changed records and left the providers alone."""
    trial = Trial(EAGER)
    trial.evaluate(FAIR)
    trial.evaluate(scores(0.1, 0.1, 1.0, "L0", 0.1), snapshot(B="Memory", C="Vision"))
    assert trial.last and trial.last.restore
    assert (trial.last.restore.off, trial.last.restore.on) == (("C",), ("A",))
    assert trial.last.restore.why == "rolled back to generation 1: Severe regression detected"


def test_a_breach_switches_off_what_came_and_nothing_on() -> None:
    """* The original changed records and left the providers alone."""
    trial = Trial()
    trial.evaluate(FAIR)
    trial.evaluate(UNSAFE, snapshot(B="Memory", C="Vision"))
    assert trial.last and trial.last.restore
    assert (trial.last.restore.off, trial.last.restore.on) == (("C",), ())
    assert trial.last.restore.why == "rolled back to generation 1: Safety breach detected"


def test_an_agent_that_recovered_after_a_rollback_breaches_no_more() -> None:
    """* The original could not clear a breach, so the agent breached for ever."""
    trial = Trial()
    trial.evaluate(FAIR)
    trial.evaluate(UNSAFE)
    assert trial.evaluate(FAIR, times=30) == []
    assert trial.generation == 2


def test_what_a_rollback_switched_off_counts_as_new_once_it_was_away() -> None:
    trial = Trial()
    trial.evaluate(FAIR)
    trial.evaluate(UNSAFE, ABC)
    assert trial.evaluate(FAIR, ABC) == []
    assert trial.evaluate(FAIR, AB) == []
    assert trial.evaluate(FAIR, ABC)[-1] == "EvolutionGeneration(gen=3,CapabilityGain)"


def test_a_rollback_never_switches_on_what_another_switched_off() -> None:
    trial = Trial()
    trial.evaluate(FAIR, ABC)
    trial.evaluate(FAIR, snapshot(A="Reasoning", B="Memory Web"))
    trial.evaluate(FAIR, ABC)
    said, offs = [], []
    for each in (ABC, AB, AB):
        said.append(trial.evaluate(UNSAFE, each)[-1])
        switched = trial.last.restore if trial.last else None
        assert switched is None or switched.on == ()
        offs.append(switched.off if switched else ())
    assert said[0].startswith("EvolutionRollback(2->1")
    assert [off for off in offs if off] == [("C",)], "what came back is unproven, so it goes first"
    trial.evaluate(UNSAFE, snapshot(A="Reasoning", B="Memory Web"))
    assert trial.last and not trial.last.stopped, "only what switched something counts"


def test_three_rollbacks_to_one_target_then_further_back_then_stopped() -> None:
    trial = Trial()
    trial.evaluate(scores(0.5, 0.5, 1.0, "L1", 0.3))
    trial.evaluate(scores(0.5, 0.5, 1.0, "L1", 0.3), snapshot(A="Reasoning", B="Memory", C=""))
    other = snapshot(A="Reasoning", D="Web")
    assert [trial.roll_back(2, other)[-1] for _ in range(8)] == [
        "EvolutionRollback(2->2,rolled back by a person)",
        "EvolutionRollback(3->2,rolled back by a person)",
        "EvolutionRollback(4->2,rolled back by a person)",
        "EvolutionRollback(5->1,rolled back by a person)",
        "EvolutionRollback(6->1,rolled back by a person)",
        "EvolutionRollback(7->1,rolled back by a person)",
        "EvolutionBreach(rollback_exhausted)",
        "EvolutionBreach(rollback_exhausted)",
    ]
    assert trial.generation == 8
    assert trial.life.standing.stopped == "rollback_exhausted"


def test_breaches_walk_back_through_the_good_generations_and_stop_the_agent() -> None:
    trial, grown = Trial(), snapshot(A="Reasoning", B="Memory", C="Vision Reasoning", D="Web")
    trial.evaluate(FAIR)
    trial.evaluate(FAIR, ABC, times=11)
    targets = []
    for _ in range(3):  # D comes and goes off
        targets.append(trial.evaluate(UNSAFE, grown)[-1])
        trial.evaluate(UNSAFE, ABC)
    assert [text[18:22] for text in targets] == ["2->2", "3->2", "4->2"]
    for _ in range(4):
        trial.evaluate(UNSAFE, grown)
        trial.evaluate(UNSAFE, AB)
    assert trial.last and trial.last.stopped == "rollback_exhausted"


def test_a_rollback_that_would_switch_nothing_warns_and_never_counts_nor_stops() -> None:
    trial = Trial()
    trial.evaluate(FAIR)
    for _ in range(20):
        assert "EvolutionWarning(severe,safety,remaining=0)" in trial.evaluate(UNSAFE)
        assert trial.last and not trial.last.stopped
        assert not (trial.last.switches and trial.last.switches.changes_something)
    assert (trial.generation, trial.life.generations[1].rollbacks) == (2, 0)
    assert trial.evaluate(FAIR, times=30) == []
    for _ in range(10):
        trial.roll_back(1)
    assert trial.life.generations[1].rollbacks == 0 and not trial.life.standing.stopped


def test_a_stopped_agent_makes_no_generations_but_a_breach_is_still_told() -> None:
    trial = Trial()
    trial.evaluate(FAIR)
    exhaust(trial.evaluate)
    number = trial.generation
    assert trial.evaluate(UNSAFE) == ["EvolutionBreach(safety_floor)"]
    grown = snapshot(A="Reasoning", B="Memory", D="Web")
    assert trial.evaluate(BETTER, grown) == [f"EvolutionCapability(major:Web,gen={number})"]
    assert trial.generation == number


def test_a_generation_that_was_rolled_back_over_is_no_target_any_more() -> None:
    trial = Trial()
    trial.evaluate(FAIR)
    trial.evaluate(FAIR, ABC)
    trial.roll_back(1, ABC)
    trial.evaluate(UNSAFE)
    assert trial.generation == 3 and trial.life.standing.good == 1


def test_an_agent_that_begins_unsafe_says_so_and_gets_a_good_generation_when_it_is_safe() -> None:
    trial = Trial()
    assert trial.evaluate(UNSAFE) == [
        "EvolutionBreach(safety_floor)",
        "EvolutionGeneration(gen=1,SafetyBreach)",
    ]
    assert trial.evaluate(FAIR) == ["EvolutionGeneration(gen=2,Evolution)"]
    assert trial.evaluate(UNSAFE)[-1] == "EvolutionRollback(2->2,Safety breach detected)"


def test_an_agent_that_never_was_safe_is_told_that_there_is_nothing_to_undo() -> None:
    trial = Trial()
    trial.evaluate(UNSAFE)
    told = trial.evaluate(UNSAFE, times=5)
    assert told == ["EvolutionBreach(safety_floor)", "EvolutionWarning(severe,safety,remaining=0)"]
    assert not trial.life.standing.stopped


def test_no_generation_can_be_restored_that_is_not_there() -> None:
    trial = Trial()
    trial.evaluate(FAIR)
    with pytest.raises(NotFound, match="no generation named '7'"):
        trial.roll_back(7)
