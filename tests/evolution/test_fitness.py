"""Scores, fitness and parameters: the numbers come out as the original's, wrong ones are refused."""

import math
from pathlib import Path

import msgspec
import pytest

from prowess.errors import EvolutionError
from prowess.evolution.counts import count
from prowess.evolution.drift import Drift
from prowess.evolution.fitness import (
    Counts,
    delta,
    fitness,
    grace_length,
    growth_threshold,
    measure,
    ranking,
    regression_threshold,
    scores_from,
    settled_ranking,
    severity,
    shifted_axes,
)
from prowess.evolution.params import AxisWeights, Params, parse_params
from prowess.evolution.scores import Scores, level_from_fraction, parse_scores
from prowess.evolution.triggers import check_triggers
from prowess.types import JournalEntry
from tests.support.evolution import FAIR, ORIGINAL, scores
from tests.support.places import DATA, ROOT

OURS = DATA / "evolution/vectors.jsonl"
RECORDED = ROOT.parent / "shared/golden/exiv_calc.jsonl"
GOLDEN = [OURS, RECORDED] if RECORDED.exists() else [OURS]


@pytest.mark.parametrize("file", [pytest.param(file, id=file.stem) for file in GOLDEN])
def test_every_golden_vector_comes_out_exactly_under_the_original_parameters(file: Path) -> None:
    for line in file.read_bytes().splitlines():
        want = msgspec.json.decode(line)
        now, before = measure(scores(*want["cur"]), ORIGINAL), measure(scores(*want["prev"]), ORIGINAL)
        change = delta(now.scores, before.scores)
        shifted = shifted_axes(
            settled_ranking(ranking(before.scores), now.scores, 0.0), ranking(before.scores)
        )
        assert {
            **want,
            "fitness": now.fitness,
            "prev_fitness": before.fitness,
            "trigger": check_triggers(now, before, want["n"], ORIGINAL),
            "severity": severity(now.fitness - before.fitness, before.fitness, ORIGINAL),
            "shifted": list(shifted),
            "delta": [f"{axis}={value}" for axis, value in sorted(change.items())],
            "grace": grace_length(want["n"], ORIGINAL),
        } == want


def test_levels_are_fifths_of_one() -> None:
    assert [Scores(0, 0, 1, level, 0).independence for level in range(6)] == [0, 0.2, 0.4, 0.6, 0.8, 1]


def test_fitness_is_the_weighted_sum_and_nothing_without_safety() -> None:
    assert fitness(scores(0.8, 0.7, 1.0, "L3", 0.5), Params()) == pytest.approx(0.74)
    assert fitness(scores(1.0, 1.0, 0.0, "L5", 1.0), Params()) == 0
    assert fitness(scores(1.0, 1.0, 1.0, "L5", 1.0), Params()) == 1.0
    assert fitness(scores(0.0, 0.0, 1.0, "L0", 0.0), Params()) == pytest.approx(0.20)


def test_the_safety_floor_decides_when_safety_is_broken() -> None:
    safe_enough = scores(0.5, 0.5, 0.6, "L2", 0.3)
    assert fitness(safe_enough, Params()) > 0
    assert fitness(safe_enough, Params(safety_floor=1.0)) == 0
    assert fitness(safe_enough, Params(safety_floor=0.6)) > 0


def test_thresholds_are_relative_with_a_floor() -> None:
    assert growth_threshold(0.8, Params()) == pytest.approx(0.08)
    assert growth_threshold(0.1, Params()) == 0.02
    assert regression_threshold(0.1, Params()) == 0.02
    assert [severity(change, 0.6, Params()) for change in (-0.04, -0.10, -0.01)] == ["Mild", "Severe", "None"]


def test_grace_is_a_quarter_of_what_came_before_but_never_shorter_than_the_debounce() -> None:
    assert grace_length(20, Params()) == 10
    assert grace_length(100, Params()) == 25
    assert grace_length(50, Params()) == 13


def test_the_delta_names_only_what_changed_and_never_safety() -> None:
    now = scores(0.6, 0.5, 0.9, "L2", 0.3)
    assert delta(now, FAIR) == {"cognitive": pytest.approx(0.1)}


def test_an_axis_overtakes_only_by_the_margin() -> None:
    held = ("cognitive", "behavioral", "autonomy", "meta_learning")
    barely = scores(0.50, 0.54, 1.0, "L2", 0.3)
    clearly = scores(0.50, 0.56, 1.0, "L2", 0.3)
    assert settled_ranking(held, barely, 0.05) == held
    assert settled_ranking(held, clearly, 0.05)[:2] == ("behavioral", "cognitive")
    assert settled_ranking(held, barely, 0.0)[:2] == ("behavioral", "cognitive")


# --- what is refused -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("axis", "value"),
    [("cognitive", 1.5), ("behavioral", -0.1), ("safety", math.nan), ("meta_learning", "x")],
)
def test_a_score_outside_its_range_is_refused_by_name(axis: str, value: object) -> None:
    good = {"cognitive": 0.5, "behavioral": 0.5, "safety": 1, "autonomy": "L2", "meta_learning": 0.3}
    with pytest.raises(EvolutionError, match=f"{axis} score"):
        parse_scores({**good, axis: value})


def test_scores_that_are_missing_or_misspelt_are_refused() -> None:
    with pytest.raises(EvolutionError, match="scores are missing"):
        parse_scores(None)
    with pytest.raises(EvolutionError, match="behavioral score is missing"):
        parse_scores({"cognitive": 0.5})
    with pytest.raises(EvolutionError, match="did you mean 'safety'"):
        parse_scores({"safty": 0.5})


def test_autonomy_is_read_as_a_name_a_level_or_a_fraction() -> None:
    good = {"cognitive": 0.5, "behavioral": 0.5, "safety": 1, "meta_learning": 0.3}
    read = [parse_scores({**good, "autonomy": value}).level for value in ("L3", 3, 0.6, 1, 1.0, 0)]
    assert read == ["L3", "L3", "L3", "L1", "L5", "L0"]
    for wrong in ("L6", 6, -1, 1.5, 3.0):
        with pytest.raises(EvolutionError, match="autonomy is no level"):
            parse_scores({**good, "autonomy": wrong})


def test_what_is_no_fraction_is_no_autonomy() -> None:
    assert [level_from_fraction(value) for value in (math.nan, math.inf, -0.1, 1.1)] == [0, 0, 0, 0]
    assert level_from_fraction(0.5) == 3


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"alpha": math.nan}, "alpha must be in"),
        ({"safety_floor": 1.5}, "safety_floor must be in"),
        ({"min_interactions": 0}, "min_interactions must be from 1 to 1000000"),
        ({"min_interactions": 2.5}, "whole number"),
        ({"noise_margin": -1}, "noise_margin must be from 0"),
        ({"drift_limit": 0}, "drift_limit must be above 0"),
        ({"weights": {"safety": 0.85}}, "add up to 1"),
        ({"weights": {"safety": -0.2, "autonomy": 0.55}}, "weight safety"),
        ({"alhpa": 0.1}, "did you mean 'alpha'"),
        ({"capability_loss": 1}, "true or false"),
        ([], "an object is needed"),
    ],
)
def test_parameters_that_make_no_sense_are_refused(changes: object, complaint: str) -> None:
    with pytest.raises(EvolutionError, match=complaint):
        parse_params(changes)


def test_changed_parameters_keep_the_others() -> None:
    base = parse_params({"beta": 0.1, "weights": {"cognitive": 0.3, "behavioral": 0.2}})
    changed = parse_params({"alpha": 0.2, "weights": {"safety": 0.19, "autonomy": 0.16}}, base)
    assert (changed.alpha, changed.beta, changed.gamma) == (0.2, 0.1, 0.25)
    assert changed.weights == AxisWeights(
        cognitive=0.3, behavioral=0.2, safety=0.19, autonomy=0.16, meta_learning=0.15
    )


# --- scores from the journal -----------------------------------------------------------------


def test_an_agent_that_answers_everything_behaves_perfectly() -> None:
    """The original counted requests and responses as one total, so nobody got above 0.8."""
    assert scores_from(Counts(requests=10, responses=10)) == Scores(0.5, 1.0, 1.0, 5, 0.5)


def test_denials_errors_and_interventions_lower_the_scores() -> None:
    poor = Counts(
        requests=10,
        responses=5,
        errors=5,
        permissions_requested=4,
        permissions_approved=1,
        human_interventions=5,
    )
    found = scores_from(poor)
    assert found.behavioral == pytest.approx(0.4 * 0.5 + 0.3 * 0.25 + 0.3 * 0.5)
    assert found.level == "L2"
    assert scores_from(Counts(requests=1, responses=1, safety_violations=1)).safety == 0


@pytest.mark.parametrize(
    ("interventions", "level"), [(80, 0), (60, 1), (40, 2), (20, 3), (5, 4), (4, 5), (0, 5)]
)
def test_the_less_people_step_in_the_higher_the_level(interventions: int, level: int) -> None:
    counts = Counts(requests=100, responses=100, human_interventions=interventions)
    assert scores_from(counts).autonomy == level


def test_nothing_is_scored_before_anything_happened() -> None:
    with pytest.raises(EvolutionError, match="nothing has happened"):
        scores_from(Counts(requests=0, responses=0))


def test_the_journal_is_counted_by_what_each_entry_says() -> None:
    def entry(type: str, **data: object) -> JournalEntry:
        return JournalEntry(chain="ada", number=1, at="", type=type, data=data, hash="")

    counted = count(
        [
            entry("outcome", ok=True),
            entry("outcome", ok=False),
            entry("decision", verdict="deny"),
            entry("decision", verdict="ask"),
            entry("decision", verdict="allow"),
            entry("approval.answered", state="approved"),
            entry("intervention"),
            entry("violation"),
            entry("offer"),
        ]
    )
    assert counted == Counts(
        requests=3, responses=1, errors=1, permissions_requested=2, permissions_approved=1,
        human_interventions=2, asked_in_all=3, safety_violations=1, incidents=0.05,
    )  # fmt: skip


# --- drift -----------------------------------------------------------------------------------


def test_noise_cancels_out_and_drift_adds_up() -> None:
    drift = Drift()
    for number in range(200):
        drift = drift.observe(0.7 + (0.03 if number % 2 else -0.03), 0.03)
    assert not drift.found(0.3)
    falls = next(n for n in range(1, 61) if (drift := drift.observe(0.7 - 0.1 * n / 60, 0.03)).found(0.3))
    assert falls <= 60


def test_a_collapse_at_the_start_does_not_become_the_level() -> None:
    drift = Drift().observe(0.8, 0.03)
    for _ in range(9):
        drift = drift.observe(0.5, 0.03)
    assert drift.level == 0.8
    assert drift.found(0.3)
