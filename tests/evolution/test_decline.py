"""Decline: grace after a mild drop, drift that no step shows, and noise that is neither.

A `*` marks a defect of the original that the test shows to be gone.
"""

import math
import random

import pytest

from prowess.evolution.params import Params
from prowess.evolution.scores import Scores
from tests.support.evolution import ABC, ORIGINAL, UNSAFE, Trial, scores, snapshot

SIX = scores(0.6, 0.6, 1.0, "L2", 0.3)
DROPPED = scores(0.52, 0.55, 1.0, "L2", 0.3)


# --- grace -----------------------------------------------------------------------------------


def test_a_mild_regression_opens_a_grace_period_and_its_end_rolls_back() -> None:
    trial = Trial(ORIGINAL)
    trial.evaluate(SIX, times=10)
    trial.evaluate(SIX, ABC)
    assert trial.evaluate(DROPPED, ABC) == [
        "EvolutionWarning(mild,cognitive,remaining=10)",
        "EvolutionGeneration(gen=3,Regression)",
    ]
    lower = scores(0.519, 0.55, 1.0, "L2", 0.3)
    said = [text for _ in range(9) for text in trial.evaluate(lower, ABC)]
    assert said == [f"EvolutionWarning(mild,cognitive,remaining={n})" for n in range(9, 0, -1)]
    assert trial.evaluate(lower, ABC) == ["EvolutionRollback(3->1,Grace period expired for cognitive axis)"]
    assert trial.last and trial.last.restore and trial.last.restore.off == ("C",)


def test_a_grace_period_that_runs_out_with_nothing_to_undo_is_a_warning() -> None:
    trial = Trial(ORIGINAL)
    trial.evaluate(SIX, times=10)
    trial.evaluate(DROPPED)
    assert trial.evaluate(DROPPED, times=10) == ["EvolutionWarning(mild,cognitive,remaining=0)"]
    assert trial.evaluate(DROPPED, times=50) == []


def test_the_same_low_fitness_again_is_no_recovery() -> None:
    """* The original took the dropped fitness for its baseline, so grace cancelled itself."""
    trial = Trial()
    trial.evaluate(SIX, times=10)
    trial.evaluate(DROPPED)
    assert trial.evaluate(DROPPED) == ["EvolutionWarning(mild,cognitive,remaining=9)"]


def test_reaching_the_fitness_before_the_drop_ends_the_grace_period() -> None:
    trial = Trial()
    trial.evaluate(SIX, times=10)
    trial.evaluate(DROPPED)
    assert trial.evaluate(SIX) == []
    assert trial.life.standing.grace is None
    assert trial.evaluate(SIX, times=20) == []


def test_adding_a_provider_does_not_end_a_grace_period() -> None:
    """The original cancelled it at any growth, recovered or not."""
    trial = Trial()
    trial.evaluate(SIX, times=10)
    trial.evaluate(DROPPED)
    trial.evaluate(DROPPED, ABC)
    assert trial.life.standing.grace is not None
    assert trial.evaluate(DROPPED, ABC, times=9) == ["EvolutionWarning(mild,cognitive,remaining=0)"]
    assert trial.last and trial.last.switches is None, "what came after the fall did not cause it"


def test_what_was_added_during_grace_is_good_once_it_has_lasted() -> None:
    trial = Trial()
    trial.evaluate(SIX, times=10)
    trial.evaluate(DROPPED)
    trial.evaluate(DROPPED, ABC)
    trial.evaluate(SIX, ABC, times=10)
    trial.evaluate(UNSAFE, ABC)
    assert trial.last and trial.last.restore and trial.last.restore.off == ()


def test_a_second_drop_in_grace_is_judged_against_the_time_before_the_first() -> None:
    trial = Trial(Params(min_interactions=1, gamma=1.0))
    trial.evaluate(SIX, times=20)
    trial.evaluate(DROPPED, ABC)
    assert trial.evaluate(scores(0.45, 0.48, 1.0, "L2", 0.3), ABC)[-1] == (
        "EvolutionRollback(2->1,Severe regression detected)"
    )


def test_a_breach_in_grace_does_not_wait_for_its_end() -> None:
    trial = Trial()
    trial.evaluate(SIX, times=10)
    trial.evaluate(DROPPED)
    assert trial.evaluate(UNSAFE) == [
        "EvolutionBreach(safety_floor)",
        "EvolutionWarning(severe,safety,remaining=0)",
        "EvolutionRollback(2->1,Safety breach detected)",
    ]
    assert trial.life.standing.grace is None


# --- drift -----------------------------------------------------------------------------------


def test_a_decline_too_slow_for_any_single_step_is_seen() -> None:
    """* The original watched 0.90 become 0.60 in silence."""
    trial = Trial()
    trial.evaluate(scores(0.9, 0.85, 1.0, "L1", 0.5))
    falling = [0.895 - 0.005 * n for n in range(60)]
    said = trial.follow(scores(x, x - 0.05, 1.0, "L1", 0.1) for x in falling)
    assert any(text.startswith("EvolutionWarning(mild,") for text in said)
    assert trial.life.generations[2].trigger == "Regression"


def test_a_drop_that_the_debounce_hides_is_found_all_the_same() -> None:
    trial = Trial()
    trial.evaluate(scores(0.8, 0.8, 1.0, "L3", 0.6), times=12)
    trial.evaluate(scores(0.8, 0.8, 1.0, "L3", 0.6), ABC)
    said = [text for _ in range(10) for text in trial.evaluate(scores(0.3, 0.3, 1.0, "L3", 0.2), ABC)]
    assert said[0] == "EvolutionRollback(2->1,Severe regression detected)"


def test_the_baseline_of_drift_is_the_level_of_the_generation() -> None:
    trial = Trial()
    trial.evaluate(scores(0.8, 0.8, 1.0, "L3", 0.6), times=20)
    trial.follow(scores(0.8 - n / 200, 0.8 - n / 200, 1.0, "L3", 0.6) for n in range(1, 60))
    grace = trial.life.generations[2]
    assert grace.trigger == "Regression"
    assert trial.life.generations[1].fitness - grace.fitness > 0.03


def test_steady_noise_below_the_allowance_is_never_drift() -> None:
    trial = Trial()
    said = trial.follow(scores(0.8 + 0.015 * math.sin(n), 0.8, 1.0, "L3", 0.6) for n in range(2000))
    assert said == ["EvolutionGeneration(gen=1,Evolution)"]


def test_a_decline_does_not_hide_behind_generations_that_keep_coming() -> None:
    trial = Trial()
    said = []
    for number in range(80):
        new = snapshot(A="Reasoning", B="Memory", **{f"p{number // 5}": "Tool"})
        value = 0.9 - number / 200
        said += trial.evaluate(scores(value, value, 1.0, "L3", 0.5), new)
    assert any(text.startswith("EvolutionWarning") for text in said)


# --- noise -----------------------------------------------------------------------------------


def noisy(count: int, seed: int) -> list[Scores]:
    """An agent that stays as it is, measured with a noise of 0.02 on its fitness."""
    chance = random.Random(seed)
    wobble = (max(-0.2, min(0.2, chance.gauss(0, 0.04))) for _ in range(count))
    return [scores(0.7 + by, 0.6 + by, 1.0, "L2", 0.2) for by in wobble]


@pytest.mark.parametrize("seed", range(3))
def test_an_agent_that_only_wobbles_is_left_alone(seed: int) -> None:
    """A threshold on single steps alone would roll it back until it is stopped."""
    trial = Trial()
    assert trial.follow(noisy(3000, seed)) == ["EvolutionGeneration(gen=1,Evolution)"]


def test_a_wobbling_agent_that_really_falls_is_found_soon() -> None:
    trial = Trial()
    trial.follow(noisy(50, 5))
    fallen = [scores(s.cognitive - 0.2, s.behavioral - 0.2, 1.0, "L2", 0.2) for s in noisy(10, 6)]
    assert any(text.startswith("EvolutionWarning") for text in trial.follow(fallen))


def test_without_the_margin_every_step_counts_as_in_the_original() -> None:
    trial = Trial(Params(noise_margin=0.0))
    said = trial.follow(noisy(200, 1))
    assert any("Regression" in text for text in said)


def test_more_autonomy_is_seen_through_the_noise() -> None:
    trial = Trial()
    trial.follow(noisy(30, 2))
    said = trial.follow([scores(0.7, 0.6, 1.0, "L3", 0.2)] * 3)
    assert said == ["EvolutionGeneration(gen=2,AutonomyUpgrade)"], "once it has stayed"
