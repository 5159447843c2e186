"""A regression finds its cause: what is unproven is suspected, tried, verified, and let go when innocent."""

import random

import pytest

from bench.simulated_agents import Damage, false_alarms, found_cause, ours
from prowess.engine import Engine
from prowess.errors import EvolutionError, NotFound
from prowess.evolution.params import Params
from prowess.evolution.records import Restore
from prowess.evolution.scores import Scores
from prowess.evolution.snapshot import Snapshot, snapshot_of
from prowess.types import Outcome
from tests.evolution.test_engine import offered
from tests.support.evolution import AB, ABC, FAIR, UNSAFE, OpenEvolving, Trial, inconsistencies, scores

GOOD, BAD = scores(0.8, 0.8, 1.0, "L3", 0.6), scores(0.2, 0.2, 1.0, "L3", 0.2)
FELL = scores(0.76, 0.76, 1.0, "L3", 0.5)


def followed(snapshot: Snapshot, switched: Restore | None) -> Snapshot:
    """What is active after the switches of an evaluation."""
    if switched is None:
        return snapshot
    active = set(snapshot.active_providers) - set(switched.off) | set(switched.on)
    return snapshot_of(active, dict.fromkeys(active, ("Vision",)))


def with_new(*providers: str) -> Snapshot:
    return snapshot_of(["A", "B", *providers], {"A": ("Reasoning",), "B": ("Memory",)})


# --- probation -------------------------------------------------------------------------------


@pytest.mark.parametrize("lag", range(6))
@pytest.mark.parametrize("fallen", [BAD, UNSAFE], ids=["regression", "breach"])
def test_damage_that_shows_late_is_traced_to_what_came(lag: int, fallen: Scores) -> None:
    trial = Trial()
    trial.evaluate(GOOD, times=20)
    for _ in range(lag):
        trial.evaluate(GOOD, ABC)
    trial.evaluate(fallen, ABC)
    assert trial.last and trial.last.restore and trial.last.restore.off == ("C",)


def test_a_gain_right_after_a_generation_hides_no_crash() -> None:
    trial = Trial()
    trial.evaluate(GOOD, times=3)
    trial.evaluate(BAD, ABC)
    assert trial.last and trial.last.trigger == "Regression"
    assert trial.last.restore and trial.last.restore.off == ("C",)
    assert trial.life.standing.good == 1


def test_what_has_lasted_is_good_and_is_not_suspected() -> None:
    trial = Trial()
    trial.evaluate(GOOD, times=20)
    trial.evaluate(GOOD, ABC, times=11)
    assert trial.life.standing.good == 2
    trial.evaluate(BAD, ABC)
    assert trial.last and trial.last.switches is None
    assert trial.last.events[0].data["direction"] == "no change to undo"


def test_without_a_probation_a_generation_is_good_at_once() -> None:
    trial = Trial(Params(probation=0))
    trial.evaluate(GOOD, times=20)
    trial.evaluate(GOOD, ABC)
    assert trial.life.standing.good == 2


def test_a_cause_that_was_innocent_is_switched_on_again() -> None:
    trial, active = Trial(), ABC
    trial.evaluate(GOOD, times=20)
    off, on = [], []
    for number in range(10):
        trial.evaluate(BAD, active)
        assert trial.last
        active = followed(active, trial.last.switches)
        off += [(number, name) for name in (trial.last.switches.off if trial.last.switches else ())]
        on += [(number, name) for name in (trial.last.switches.on if trial.last.switches else ())]
    assert off == [(0, "C")] and on == [(5, "C")]
    assert "C" in active.active_providers
    assert trial.life.standing.trial is None and not trial.life.standing.stopped


def test_of_several_the_one_whose_calls_fail_is_off_first_and_the_others_stay() -> None:
    trial = Trial()
    trial.evaluate(GOOD, times=20)
    trial.evidence = {"maps": 0.5, "shop": 0.05}
    trial.evaluate(BAD, with_new("chat", "maps", "shop"))
    assert trial.said[-1] == "EvolutionTrial(suspected:maps,shop,chat)"
    assert trial.last and trial.last.trial and trial.last.trial.off == ("maps",)
    assert trial.evaluate(GOOD, with_new("chat", "shop"))[0] == "EvolutionTrial(found:maps)"
    assert trial.evaluate(GOOD, with_new("chat", "shop"), times=30) == []
    assert trial.life.generations[trial.life.standing.good].snapshot == with_new("chat", "shop")


def test_several_are_tried_one_after_the_other_and_the_innocent_come_back() -> None:
    trial = Trial()
    trial.evaluate(GOOD, times=20)
    trial.evaluate(BAD, with_new("x", "y"))
    assert trial.last and trial.last.trial and list(trial.last.trial.off) == ["x"]
    trial.evaluate(BAD, with_new("y"))
    assert list(trial.last.trial.off) == ["y"] and list(trial.last.trial.on) == []
    trial.evaluate(GOOD, AB)
    assert trial.last.switches == trial.last.trial
    assert trial.last.trial and list(trial.last.trial.on) == ["x"]
    assert trial.said == ["EvolutionTrial(returned:x)"]
    assert trial.evaluate(GOOD, with_new("x"))[0] == "EvolutionTrial(found:y)"
    assert trial.evaluate(GOOD, with_new("x"), times=30) == []


def test_a_recovery_that_is_seen_late_is_traced_to_the_one_with_whose_return_fitness_falls_anew() -> None:
    trial, active = Trial(), with_new("x", "y", "z")
    trial.evaluate(GOOD, times=20)
    said = []
    for measured in (BAD, BAD, BAD, GOOD, GOOD, BAD, BAD, BAD, GOOD, *[GOOD] * 30):
        trial.evaluate(measured, active)
        assert trial.last
        active = followed(active, trial.last.switches)
        said += [event for event in trial.said if event.startswith("EvolutionTrial")]
    assert said == [
        "EvolutionTrial(suspected:x,y,z)",
        "EvolutionTrial(suspected:x)",
        "EvolutionTrial(suspected:y)",
        "EvolutionTrial(returned:y)",
        "EvolutionTrial(returned:x)",
        "EvolutionTrial(suspected:x)",
        "EvolutionTrial(found:x)",
    ]
    assert set(active.active_providers) == {*AB.active_providers, "y", "z"}


def test_what_a_person_switched_off_during_the_search_is_not_switched_on() -> None:
    trial = Trial()
    trial.evaluate(GOOD, times=20)
    trial.evaluate(BAD, with_new("x", "y"))
    trial.evaluate(BAD, with_new("y"))
    trial.decided_off = frozenset({"x"})
    trial.evaluate(GOOD, AB)
    assert trial.last and trial.last.switches is None
    assert trial.said == ["EvolutionTrial(returned:x)"]
    assert trial.evaluate(GOOD, AB)[0] == "EvolutionTrial(found:y)"
    assert trial.last and trial.last.switches is None


# --- what a regression may do ----------------------------------------------------------------


def test_a_regression_that_may_only_warn_switches_nothing_and_names_the_suspect() -> None:
    trial = Trial(Params(on_regression="warn"))
    trial.evaluate(GOOD, times=20)
    said = trial.evaluate(BAD, ABC)
    assert "EvolutionTrial(warned:C)" in said
    assert trial.last and trial.last.switches is None
    assert trial.evaluate(BAD, ABC, times=30) == []


def test_a_breach_goes_back_whatever_a_regression_may_do() -> None:
    trial = Trial(Params(on_regression="warn"))
    trial.evaluate(FAIR)
    trial.evaluate(UNSAFE, ABC)
    assert trial.last and trial.last.restore and trial.last.restore.off == ("C",)


def engine_with_c(open_evolving: OpenEvolving, **params: object) -> Engine:
    """Ten evaluations are good without C; then C is switched on."""
    engine = open_evolving()
    engine.sync(vectors=False)
    engine.evolution.set_params("ada", params)
    engine.providers.deactivate("C", "ada")
    for _ in range(10):
        engine.evolution.evaluate("ada", GOOD)
    engine.providers.activate("C", "ada")
    return engine


def test_a_proposal_waits_for_a_person_who_accepts_or_declines_it(open_evolving: OpenEvolving) -> None:
    engine = engine_with_c(open_evolving, on_regression="propose")
    for _ in range(4):
        assert engine.evolution.evaluate("ada", BAD).switches is None
    assert "tool:c-work" in offered(engine, "ada")
    waits = engine.evolution.status("ada").as_data()["trial"]
    assert (waits["suspect"], waits["waits_for_a_person"]) == ("C", True)
    engine.evolution.answer("ada", True, "ann")
    assert "tool:c-work" not in offered(engine, "ada")
    (answered,) = engine.journal.latest(agent="ada", type="evolution.answered")
    assert answered.data == {"accepted": True, "by": "ann"}
    engine.evolution.evaluate("ada", GOOD)
    assert engine.evolution.status("ada").trial is None
    assert inconsistencies(engine, "ada") == []
    with pytest.raises(EvolutionError, match="no proposal"):
        engine.evolution.answer("ada", False)


def test_a_proposal_that_is_declined_leaves_all_as_it_is(open_evolving: OpenEvolving) -> None:
    engine = engine_with_c(open_evolving, on_regression="propose")
    engine.evolution.evaluate("ada", BAD)
    engine.evolution.answer("ada", False)
    for _ in range(5):
        assert engine.evolution.evaluate("ada", BAD).trigger is None
    assert "tool:c-work" in offered(engine, "ada")


def test_a_dry_run_says_what_would_happen_and_does_nothing(open_evolving: OpenEvolving) -> None:
    engine = engine_with_c(open_evolving)
    before = engine.evolution.status("ada")
    would = engine.evolution.preview("ada", BAD)
    assert would.restore and would.restore.off == ("C",)
    assert engine.evolution.status("ada") == before
    assert "tool:c-work" in offered(engine, "ada")
    assert engine.evolution.evaluate("ada", BAD).restore == would.restore


def test_failed_calls_tell_which_of_two_is_the_cause(open_evolving: OpenEvolving) -> None:
    engine = open_evolving()
    engine.sync(vectors=False)
    for name in "BC":
        engine.providers.deactivate(name, "ada")
    for _ in range(10):
        engine.evolution.evaluate("ada", GOOD)
    for name in "BC":
        engine.providers.activate(name, "ada")
    for name, ok in (("b", True), ("c", False)) * 5:
        engine.record(Outcome(offer="", capability=f"tool:{name}-work", ok=ok, agent="ada"))
    found = engine.evolution.evaluate("ada", BAD)
    assert found.trial and found.trial.off == ("C",)
    assert offered(engine, "ada") == {"tool:a-work", "tool:b-work"}
    assert inconsistencies(engine, "ada") == []


def test_a_dry_run_of_a_rollback_and_of_a_trigger_switches_and_writes_nothing(
    open_evolving: OpenEvolving,
) -> None:
    engine = engine_with_c(open_evolving)
    engine.evolution.evaluate("ada", GOOD)
    evolution, before = engine.evolution, engine.evolution.status("ada")
    entries = len(engine.journal.latest(1000, "ada"))
    would = evolution.trigger("ada", "SafetyBreach", "it leaked", "pager", provider="C", dry_run=True)
    back = evolution.rollback("ada", 1, dry_run=True)
    assert [one.restore and one.restore.off for one in (would, back)] == [("C",), ("C",)]
    with pytest.raises(NotFound, match="trigger"):
        evolution.trigger("ada", "Nonsense", "?", "pager", dry_run=True)
    with pytest.raises(NotFound, match="generation"):
        evolution.rollback("ada", 9, dry_run=True)
    assert (evolution.status("ada"), len(engine.journal.latest(1000, "ada"))) == (before, entries)
    assert "tool:c-work" in offered(engine, "ada")


# --- from outside ----------------------------------------------------------------------------


def test_a_breach_from_outside_switches_off_who_is_named(open_evolving: OpenEvolving) -> None:
    engine = engine_with_c(open_evolving)
    for _ in range(20):
        engine.evolution.evaluate("ada", GOOD)
    found = engine.evolution.trigger("ada", "SafetyBreach", "it leaked", "pager", provider="B")
    assert found.restore and (found.restore.off, found.restore.on) == (("B",), ())
    with pytest.raises(NotFound, match="active provider"):
        engine.evolution.trigger("ada", "SafetyBreach", "it leaked", "pager", provider="B")


def test_a_breach_from_outside_that_names_nobody_takes_what_came_last(open_evolving: OpenEvolving) -> None:
    engine = engine_with_c(open_evolving)
    for _ in range(20):
        engine.evolution.evaluate("ada", GOOD)
    found = engine.evolution.trigger("ada", "SafetyBreach", "something leaked", "pager")
    assert found.restore and found.restore.off == ("C",)


def test_a_gain_from_outside_is_told_with_provider_and_faculty(open_evolving: OpenEvolving) -> None:
    engine = engine_with_c(open_evolving)
    found = engine.evolution.trigger("ada", "CapabilityGain", "a new model", "deploy", "model", "Planning")
    told = [event.data for event in found.events if event.type == "EvolutionCapability"]
    assert ("model", "Planning", "major") in {(e["provider"], e["faculty"], e["severity"]) for e in told}
    (ordered,) = engine.journal.latest(agent="ada", type="evolution.triggered")
    assert (ordered.data["provider"], ordered.data["faculty"]) == ("model", "Planning")


# --- what cannot be brought back -------------------------------------------------------------


def test_a_rollback_says_what_has_left_the_catalogue_or_is_off_for_everybody(
    open_evolving: OpenEvolving,
) -> None:
    engine = open_evolving()
    engine.sync(vectors=False)
    with_gone = snapshot_of(["A", "B", "C", "old"], {})
    engine.evolution.evaluate("ada", FAIR, with_gone)
    engine.providers.deactivate("B", "", "an outage", automatic=True)
    engine.evolution.evaluate("ada", FAIR)
    back = engine.evolution.rollback("ada", 1)
    assert back.restore and back.restore.on == ()
    assert back.restore.missing == {
        "B": "it is switched off for everybody",
        "old": "it has left the catalogue",
    }
    assert engine.evolution.history("ada")[-1].snapshot.active_providers == ("A", "C")


# --- simulations -----------------------------------------------------------------------------


def test_agents_that_only_wobble_are_left_alone() -> None:
    assert false_alarms(3, agents=20, length=250) == {}


@pytest.mark.parametrize(("evidence", "late"), [(False, 0), (True, 0), (False, 1), (False, 2), (True, 2)])
def test_the_right_one_of_several_is_off_in_time_and_no_innocent_one_stays_off(
    evidence: bool, late: int
) -> None:
    chance = random.Random(5)
    found = [
        found_cause(chance.randrange(10**6), Damage(changes, lag, 0.0, evidence, late), ours)
        for changes in (1, 2, 3)
        for lag in range(6)
        for _ in range(3)
    ]
    assert sum(one.in_time for one in found) >= 0.9 * len(found)
    assert sum(one.innocent_off for one in found) <= 0.05 * len(found)
    assert sum(one.still_off for one in found) >= 0.9 * len(found)
