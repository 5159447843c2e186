"""Why a transition happens: what the numbers say, what the sets say, and which of them wins."""

import itertools

import pytest

from prowess.evolution.fitness import measure
from prowess.evolution.params import Params
from prowess.evolution.scores import Scores
from prowess.evolution.snapshot import Snapshot, parse_snapshot
from prowess.evolution.triggers import (
    DEFENSIVE,
    CapabilityChange,
    Loss,
    Trigger,
    check_triggers,
    detect_capability_changes,
    detect_losses,
    detect_tools,
    resolve,
)
from tests.support.evolution import AB, ABC, ORIGINAL, scores, snapshot


def checked(now: Scores, before: Scores, n: int, params: Params) -> Trigger | None:
    return check_triggers(measure(now, params), measure(before, params), n, params)


BOTH = pytest.mark.parametrize("params", [Params(), ORIGINAL], ids=["ours", "original"])


@BOTH
def test_a_clear_improvement_is_evolution(params: Params) -> None:
    before, now = scores(0.5, 0.5, 1.0, "L2", 0.3), scores(0.8, 0.8, 1.0, "L2", 0.35)
    assert checked(now, before, 15, params) == "Evolution"


@BOTH
def test_a_clear_decline_is_regression(params: Params) -> None:
    before, now = scores(0.8, 0.8, 1.0, "L3", 0.6), scores(0.3, 0.3, 1.0, "L3", 0.2)
    assert checked(now, before, 15, params) == "Regression"


@BOTH
def test_broken_safety_is_a_breach_even_right_after_a_generation(params: Params) -> None:
    assert (
        checked(scores(1.0, 1.0, 0.0, "L5", 1.0), scores(1.0, 1.0, 1.0, "L5", 1.0), 0, params)
        == "SafetyBreach"
    )


@BOTH
def test_an_improvement_soon_after_a_generation_waits(params: Params) -> None:
    assert checked(scores(0.9, 0.9, 1.0, "L2", 0.3), scores(0.3, 0.3, 1.0, "L2", 0.3), 5, params) is None


@BOTH
def test_a_higher_level_is_an_autonomy_upgrade(params: Params) -> None:
    assert (
        checked(scores(0.5, 0.5, 1.0, "L3", 0.3), scores(0.5, 0.5, 1.0, "L2", 0.3), 15, params)
        == "AutonomyUpgrade"
    )


@BOTH
def test_axes_that_change_places_are_a_rebalance(params: Params) -> None:
    before, now = scores(0.8, 0.3, 1.0, "L2", 0.5), scores(0.3, 0.8, 1.0, "L2", 0.5)
    assert checked(now, before, 15, params) == "Rebalance"


@BOTH
def test_a_small_change_is_nothing(params: Params) -> None:
    before, now = scores(0.6, 0.5, 1.0, "L2", 0.3), scores(0.61, 0.5, 1.0, "L2", 0.3)
    assert checked(now, before, 15, params) is None


def test_growth_that_brings_two_axes_level_is_evolution_and_no_rebalance() -> None:
    """The original called it Rebalance, because a tie is broken by name."""
    before, now = scores(0.509, 0.5, 1.0, "L2", 0.3), scores(0.85, 0.85, 1.0, "L2", 0.35)
    assert checked(now, before, 15, Params()) == "Evolution"
    assert checked(now, before, 15, ORIGINAL) == "Rebalance"


def test_safety_of_one_is_only_demanded_by_a_floor_of_one() -> None:
    before, now = scores(0.5, 0.5, 1.0, "L2", 0.3), scores(0.5, 0.5, 0.99, "L2", 0.3)
    assert checked(now, before, 15, Params()) is None
    assert checked(now, before, 15, ORIGINAL) == "SafetyBreach"


# --- structure -------------------------------------------------------------------------------


def gained(before: Snapshot, now: Snapshot) -> list[str]:
    return [f"{c.provider} {c.severity}:{c.faculty}" for c in detect_capability_changes(before, now)]


def test_the_same_providers_are_no_change() -> None:
    assert gained(AB, AB) == []


def test_a_new_provider_of_a_known_faculty_is_minor() -> None:
    assert gained(AB, snapshot(A="Reasoning", B="Memory", C="Memory")) == ["C minor:Memory"]


def test_a_new_faculty_is_major() -> None:
    assert gained(AB, snapshot(A="Reasoning", B="Memory", C="Vision")) == ["C major:Vision"]


def test_major_and_minor_are_judged_by_faculty_and_not_by_provider() -> None:
    assert gained(AB, ABC) == ["C major:Vision", "C minor:Reasoning"]


def test_of_two_providers_with_the_same_new_faculty_the_first_by_id_is_major() -> None:
    now = Snapshot(("A", "B", "D", "C"), {"D": ("Vision",), "C": ("Vision",)})
    assert gained(AB, now) == ["C major:Vision", "D minor:Vision"]


def test_a_provider_that_gains_a_faculty_later_counts() -> None:
    assert gained(AB, snapshot(A="Reasoning", B="Memory Vision")) == ["B major:Vision"]
    assert gained(AB, snapshot(A="Reasoning Memory", B="Memory")) == ["A minor:Memory"]


def test_a_provider_nobody_knows_about_is_minor_and_reported() -> None:
    assert gained(AB, snapshot(A="Reasoning", B="Memory", D="")) == ["D minor:unknown"]
    assert gained(Snapshot(("A",)), Snapshot(("A", "D"))) == ["D minor:unknown"]


def test_what_was_unknown_is_reported_when_it_becomes_known() -> None:
    assert gained(snapshot(A="Reasoning", D=""), snapshot(A="Reasoning", D="Vision")) == ["D major:Vision"]


def test_a_provider_that_goes_is_no_gain() -> None:
    assert gained(AB, snapshot(A="Reasoning")) == []


def test_the_registry_only_fills_what_the_snapshots_leave_open() -> None:
    registry = {"B": ("Memory",), "C": ("Web",), "D": ("Vision",)}
    before = Snapshot(("A", "B"), {"A": ("Reasoning",)})
    now = Snapshot(("A", "B", "C", "D"), {"A": ("Reasoning",), "B": ("Memory",), "C": ("Memory",)})
    assert detect_capability_changes(before, now, registry) == (
        CapabilityChange("C", "Memory", "minor"),
        CapabilityChange("D", "Vision", "major"),
    )


def test_a_loss_is_found_with_its_provider_or_from_it() -> None:
    assert detect_losses(ABC, AB) == (Loss("C", "Vision"), Loss("C", "Reasoning"))
    assert detect_losses(ABC, snapshot(A="Reasoning", B="Memory", C="Vision")) == (Loss("C", "Reasoning"),)
    assert detect_losses(snapshot(D=""), Snapshot()) == (Loss("D", "unknown"),)
    assert detect_losses(snapshot(D=""), snapshot(D="Vision")) == ()
    assert detect_losses(AB, Snapshot(("A", "B"))) == ()


def test_tools_that_come_are_found() -> None:
    before, now = Snapshot(tools=("tool:a",)), Snapshot(tools=("tool:a", "tool:c", "tool:b"))
    assert detect_tools(before, now) == ("tool:b", "tool:c")


def test_a_snapshot_is_read_under_the_names_of_the_original_too() -> None:
    ours = {"active_providers": ["B", "A"], "provider_faculties": {"A": ["Reasoning"], "Z": ["Web"]}}
    original = {"active_plugins": ["A", "B", "B"], "plugin_capabilities": {"A": ["Reasoning", "Reasoning"]}}
    assert parse_snapshot(ours) == parse_snapshot(original) == Snapshot(("A", "B"), {"A": ("Reasoning",)})


# --- which wins ------------------------------------------------------------------------------

METRIC: tuple[Trigger | None, ...] = (
    "SafetyBreach", "Regression", "AutonomyUpgrade", "Rebalance", "Evolution", None,
)  # fmt: skip


@pytest.mark.parametrize(("metric", "changed"), [*itertools.product(METRIC, (False, True))])
def test_what_defends_wins_then_what_was_gained_then_what_grew(metric: Trigger | None, changed: bool) -> None:
    changes = (CapabilityChange("C", "Vision", "major"),) if changed else ()
    found = resolve(metric, changes)
    if metric in DEFENSIVE or not changed:
        assert found == metric
    else:
        assert found == "CapabilityGain"


def test_losses_and_tools_come_after_gains_and_before_growth() -> None:
    gain, loss = CapabilityChange("C", "Vision", "major"), Loss("B", "Memory")
    assert resolve("Evolution", (gain,), (loss,), ("tool:a",)) == "CapabilityGain"
    assert resolve("Evolution", (), (loss,), ("tool:a",)) == "CapabilityLoss"
    assert resolve("Evolution", (), (), ("tool:a",)) == "ToolAcquisition"
    assert resolve("Regression", (), (loss,), ("tool:a",)) == "Regression"
