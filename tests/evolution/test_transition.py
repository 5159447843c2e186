"""Growth and gains: traces of the original where it was right, ours where it was not.

A `*` marks a defect of the original that the test shows to be gone.
"""

import pytest

from prowess.errors import EvolutionError
from prowess.evolution.params import Params
from prowess.evolution.records import EvaluationContext, EvaluationInput
from prowess.evolution.snapshot import Snapshot
from prowess.evolution.transition import TriggerOrder, apply_trigger
from prowess.evolution.triggers import EXTERNAL, Trigger
from tests.support.evolution import AB, ABC, EAGER, FAIR, ORIGINAL, UNSAFE, Trial, exhaust, scores, snapshot

BETTER = scores(0.85, 0.85, 1.0, "L2", 0.35)
SIX = scores(0.6, 0.6, 1.0, "L2", 0.3)
DROPPED = scores(0.52, 0.55, 1.0, "L2", 0.3)


# --- growth ----------------------------------------------------------------------------------


def test_the_first_evaluation_makes_generation_1() -> None:
    assert Trial().evaluate(FAIR) == ["EvolutionGeneration(gen=1,Evolution)"]


def test_the_same_scores_again_make_no_generation() -> None:
    trial = Trial()
    assert trial.evaluate(FAIR, times=2) == []
    assert trial.generation == 1


def test_the_eleventh_evaluation_is_the_first_that_can_make_generation_2() -> None:
    trial = Trial(ORIGINAL)
    trial.evaluate(FAIR)
    assert trial.follow(scores(0.5 + n / 1000, 0.5, 1.0, "L2", 0.3) for n in range(1, 10)) == []
    assert trial.evaluate(BETTER) == [
        'EvolutionRebalance(["behavioral", "cognitive"],gen=2)',
        "EvolutionGeneration(gen=2,Rebalance)",
    ]


def test_growth_is_called_evolution_where_no_axis_clearly_overtook_another() -> None:
    """* The original's own third scenario came out as Rebalance."""
    trial = Trial()
    trial.evaluate(FAIR)
    trial.follow(scores(0.5 + n / 1000, 0.5, 1.0, "L2", 0.3) for n in range(1, 10))
    assert trial.evaluate(BETTER) == ["EvolutionGeneration(gen=2,Evolution)"]


def test_two_axes_that_cross_slowly_are_a_rebalance_once() -> None:
    trial = Trial(EAGER)
    series = [scores(0.5, 0.45 + n / 100, 1.0, "L1", 0.0) for n in range(12)]
    back = [scores(0.5, 0.56 - n / 100, 1.0, "L1", 0.0) for n in range(8)]
    said = trial.follow([*series, *back])
    assert [text for text in said if "Rebalance(" in text] == [
        'EvolutionRebalance(["behavioral", "cognitive"],gen=2)'
    ]


def test_a_swap_of_axes_is_a_rebalance_and_more_autonomy_an_upgrade() -> None:
    trial = Trial(Params(safety_floor=1.0, rebalance_margin=0.0, min_interactions=1))
    assert trial.evaluate(scores(0.5, 0.4, 1.0, "L1", 0.3)) == ["EvolutionGeneration(gen=1,Evolution)"]
    assert trial.evaluate(scores(0.55, 0.9, 1.0, "L1", 0.3)) == [
        'EvolutionRebalance(["behavioral", "cognitive"],gen=2)',
        "EvolutionGeneration(gen=2,Rebalance)",
    ]
    assert trial.evaluate(scores(0.9, 0.95, 1.0, "L2", 0.3)) == ["EvolutionGeneration(gen=3,AutonomyUpgrade)"]


# --- capability events -----------------------------------------------------------------------


def test_a_gain_is_told_by_faculty_before_the_generation_it_makes() -> None:
    """The seed's first case."""
    trial = Trial()
    trial.evaluate(FAIR)
    assert trial.evaluate(FAIR, ABC) == [
        "EvolutionCapability(major:Vision,gen=2)",
        "EvolutionCapability(minor:Reasoning,gen=2)",
        "EvolutionGeneration(gen=2,CapabilityGain)",
    ]


def test_a_breach_that_comes_with_a_gain_tells_of_both_and_restores() -> None:
    """The seed's second case: generation N with A and B is safe, then C breaks safety."""
    trial = Trial()
    trial.evaluate(scores(0.5, 0.5, 0.8, "L2", 0.3))
    said = trial.evaluate(scores(0.5, 0.5, 0.3, "L2", 0.3), ABC)
    assert said == [
        "EvolutionCapability(major:Vision,gen=2)",
        "EvolutionCapability(minor:Reasoning,gen=2)",
        "EvolutionBreach(safety_floor)",
        "EvolutionRollback(1->1,Safety breach detected)",
    ]
    assert trial.last and trial.last.trigger == "SafetyBreach"
    assert trial.last.restore and (trial.last.restore.off, trial.last.restore.on) == (("C",), ())
    assert trial.life.generations[2].snapshot == AB


def test_an_event_says_who_gained_what_from_whom_and_when() -> None:
    trial = Trial()
    trial.evaluate(FAIR)
    trial.evaluate(FAIR, ABC)
    assert trial.last and trial.last.events[0].flat() == {
        "type": "EvolutionCapability",
        "agent": "ada",
        "provider": "C",
        "faculty": "Vision",
        "severity": "major",
        "generation": 2,
    }


def test_a_gain_is_told_once_however_often_it_is_seen() -> None:
    """* The original repeated it at every evaluation of the debounce window."""
    trial = Trial()
    trial.evaluate(FAIR)
    said = [text for _ in range(12) for text in trial.evaluate(FAIR, ABC)]
    assert len([text for text in said if "Capability(" in text]) == 2
    assert trial.generation == 2


def test_a_gain_is_told_once_also_while_a_breach_goes_on() -> None:
    trial = Trial()
    trial.evaluate(FAIR)
    said = [text for _ in range(4) for text in trial.evaluate(UNSAFE, ABC)]
    assert len([text for text in said if "Capability(" in text]) == 2
    assert len([text for text in said if "safety_floor" in text]) == 4


def test_a_gain_during_a_regression_is_told_and_the_regression_wins() -> None:
    trial = Trial(EAGER)
    trial.evaluate(SIX)
    assert trial.evaluate(scores(0.3, 0.3, 1.0, "L2", 0.1), ABC) == [
        "EvolutionCapability(major:Vision,gen=2)",
        "EvolutionCapability(minor:Reasoning,gen=2)",
        "EvolutionRollback(1->1,Severe regression detected)",
    ]


def test_a_gain_when_grace_runs_out_is_told_too_and_is_not_blamed() -> None:
    """* The original returned before its capability events; what comes after a fall did not cause it."""
    trial = Trial(EAGER)
    trial.evaluate(SIX)
    trial.evaluate(DROPPED)
    said = trial.evaluate(DROPPED, ABC)
    assert said[0] == "EvolutionCapability(major:Vision,gen=2)"
    assert said[-1] == "EvolutionWarning(mild,cognitive,remaining=0)"
    assert trial.last and trial.last.switches is None


def test_a_gain_with_a_large_improvement_is_a_gain() -> None:
    trial = Trial(EAGER)
    trial.evaluate(FAIR)
    trial.evaluate(BETTER, ABC)
    assert trial.last and trial.last.trigger == "CapabilityGain"


def test_a_provider_without_faculties_is_a_gain_with_an_event() -> None:
    """* The original recorded a gain that named nothing."""
    trial = Trial()
    trial.evaluate(FAIR)
    assert trial.evaluate(FAIR, snapshot(A="Reasoning", B="Memory", D="")) == [
        "EvolutionCapability(minor:unknown,gen=2)",
        "EvolutionGeneration(gen=2,CapabilityGain)",
    ]


def test_a_faculty_that_an_old_provider_gains_is_seen() -> None:
    """* The original only looked at new providers."""
    trial = Trial()
    trial.evaluate(FAIR)
    assert trial.evaluate(FAIR, snapshot(A="Reasoning", B="Memory Vision")) == [
        "EvolutionCapability(major:Vision,gen=2)",
        "EvolutionGeneration(gen=2,CapabilityGain)",
    ]


def test_a_provider_that_goes_is_a_loss_only_where_losses_count() -> None:
    """* The original could not see it at all."""
    quiet, careful = Trial(), Trial(Params(capability_loss=True))
    for trial in (quiet, careful):
        trial.evaluate(FAIR)
        trial.evaluate(FAIR, snapshot(A="Reasoning"))
    assert quiet.said == []
    assert careful.said == [
        "EvolutionCapability(lost:Memory,gen=2)",
        "EvolutionGeneration(gen=2,CapabilityLoss)",
    ]
    assert careful.last and careful.last.events[1].data["lost"] == [{"provider": "B", "faculty": "Memory"}]


def test_a_gain_and_a_loss_at_once_are_both_told() -> None:
    trial = Trial(Params(capability_loss=True))
    trial.evaluate(FAIR)
    assert trial.evaluate(FAIR, snapshot(A="Reasoning", C="Vision")) == [
        "EvolutionCapability(major:Vision,gen=2)",
        "EvolutionCapability(lost:Memory,gen=2)",
        "EvolutionGeneration(gen=2,CapabilityGain)",
    ]


def test_a_provider_that_went_and_comes_back_later_is_a_gain_again() -> None:
    trial = Trial()
    trial.evaluate(FAIR)
    trial.evaluate(FAIR, snapshot(A="Reasoning"), times=12)
    assert trial.evaluate(FAIR)[0] == "EvolutionCapability(major:Memory,gen=2)"


def test_a_provider_that_flaps_returns_and_makes_no_generations() -> None:
    """* The original made a generation each time."""
    trial = Trial(Params(capability_loss=True))
    trial.evaluate(FAIR, ABC)
    said = [text for _ in range(20) for each in (AB, ABC) for text in trial.evaluate(FAIR, each)]
    assert [text for text in said if "Generation(" in text] == ["EvolutionGeneration(gen=2,CapabilityLoss)"]
    assert said.count("EvolutionCapability(returned:Vision,gen=2)") == 20
    assert not any("major" in text for text in said)


def test_a_faculty_is_the_same_however_it_is_written() -> None:
    trial = Trial()
    trial.evaluate(FAIR)
    assert trial.evaluate(FAIR, snapshot(A="reasoning", B="MEMORY")) == []
    assert trial.evaluate(FAIR, snapshot(A="Reasoning", B="Memory", C="Vision vision memory"))[:-1] == [
        "EvolutionCapability(major:Vision,gen=2)",
        "EvolutionCapability(minor:memory,gen=2)",
    ]


def test_new_tools_are_a_transition_only_where_tools_count() -> None:
    quiet, careful = Trial(), Trial(Params(tool_acquisition=True))
    for trial in (quiet, careful):
        trial.evaluate(FAIR, Snapshot(("A",), {}, ("tool:a",)))
        trial.evaluate(FAIR, Snapshot(("A",), {}, ("tool:a", "tool:b")))
    assert quiet.said == []
    assert careful.said == ["EvolutionGeneration(gen=2,ToolAcquisition)"]
    assert careful.last and careful.last.events[0].data["tools"] == ["tool:b"]


# --- triggers from outside -------------------------------------------------------------------


def imposed(trial: Trial, trigger: Trigger, snapshot: Snapshot = AB) -> list[str]:
    standing = trial.life.standing
    moment = EvaluationInput("ada", standing.previous or FAIR, EvaluationContext(snapshot=snapshot, at="now"))
    made = apply_trigger(
        standing, moment, TriggerOrder(trigger, "said so"), trial.params, trial.life.generations.get
    )
    trial.last = trial.life.take(made)
    return trial.said


@pytest.mark.parametrize("trigger", EXTERNAL)
def test_every_trigger_can_come_from_outside_and_makes_a_generation(trigger: Trigger) -> None:
    trial = Trial()
    trial.evaluate(FAIR)
    imposed(trial, trigger, ABC)
    assert trial.generation == 2
    assert trial.life.generations[2].trigger == trigger
    assert trial.life.generations[2].reason == "said so"
    assert [text for text in trial.said if "Capability(" in text] == [
        "EvolutionCapability(major:Vision,gen=2)",
        "EvolutionCapability(minor:Reasoning,gen=2)",
    ]


def test_a_breach_reported_from_outside_restores() -> None:
    trial = Trial()
    trial.evaluate(FAIR)
    assert imposed(trial, "SafetyBreach", ABC)[-2:] == [
        "EvolutionBreach(safety_floor)",
        "EvolutionRollback(1->1,said so)",
    ]


def test_nothing_can_be_triggered_before_the_first_evaluation_or_for_a_stopped_agent() -> None:
    trial = Trial()
    with pytest.raises(EvolutionError, match="no generation yet"):
        imposed(trial, "Evolution")
    trial.evaluate(FAIR)
    exhaust(trial.evaluate)
    with pytest.raises(EvolutionError, match="is stopped"):
        imposed(trial, "Evolution")
