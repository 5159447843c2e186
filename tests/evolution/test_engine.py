"""Evolution through the whole engine: what a rollback takes away is in no offer."""

from functools import partial

import pytest

from prowess.engine import Engine
from prowess.errors import Denied, EvolutionError
from prowess.types import Message, Outcome, Turn
from tests.support.evolution import (
    AB,
    FAIR,
    UNSAFE,
    OpenEvolving,
    exhaust,
    inconsistencies,
    scores,
    shown,
    snapshot,
)


def offered(engine: Engine, agent: str) -> set[str]:
    """What an offer that has room for everything holds."""
    turn = Turn(messages=(Message("user", "do a-work, b-work and c-work"),), agent=agent)
    return {hit.id for hit in engine.offer(turn, tier1_min_relevance=0.0).hits}


def with_a_bad_provider(open_evolving: OpenEvolving) -> None:
    """Generation 1 is safe with A and B; then C comes and breaks safety."""
    engine = open_evolving()
    engine.sync()
    engine.providers.deactivate("C", "ada")
    engine.evolution.evaluate("ada", FAIR)
    engine.providers.activate("C", "ada")
    assert "tool:c-work" in offered(engine, "ada")


def test_a_provider_that_breaks_safety_is_in_no_offer_afterwards(open_evolving: OpenEvolving) -> None:
    engine = open_evolving()
    with_a_bad_provider(open_evolving)
    evaluation = engine.evolution.evaluate("ada", UNSAFE)
    assert [shown(event) for event in evaluation.events] == [
        "EvolutionCapability(major:Vision,gen=2)",
        "EvolutionBreach(safety_floor)",
        "EvolutionRollback(1->1,Safety breach detected)",
    ]
    assert offered(engine, "ada") == {"tool:a-work", "tool:b-work"}
    assert "tool:c-work" in offered(engine, "bob")


def test_why_says_which_rollback_took_a_provider_away(open_evolving: OpenEvolving) -> None:
    with_a_bad_provider(open_evolving)
    engine = open_evolving()
    engine.evolution.evaluate("ada", UNSAFE)
    steps = " ".join(engine.explain("ada", "tool:c-work"))
    assert "provider C is switched off: rolled back to generation 1: Safety breach detected" in steps
    with pytest.raises(Denied, match="rolled back to generation 1"):
        engine.check("ada", "tool:c-work")


def test_a_process_that_was_already_running_no_longer_sees_what_was_rolled_back(
    open_evolving: OpenEvolving,
) -> None:
    with_a_bad_provider(open_evolving)
    running, other = open_evolving(), open_evolving()
    assert "tool:c-work" in offered(running, "ada")
    other.evolution.evaluate("ada", UNSAFE)
    assert "tool:c-work" not in offered(running, "ada")


def test_an_evaluation_that_lags_behind_a_rollback_tells_of_no_gain(open_evolving: OpenEvolving) -> None:
    with_a_bad_provider(open_evolving)
    engine = open_evolving()
    before = snapshot(A="Reasoning", B="Memory", C="Vision")
    engine.evolution.evaluate("ada", UNSAFE)
    late = engine.evolution.evaluate("ada", FAIR, before)
    assert late.events == ()
    assert inconsistencies(engine, "ada") == []


def test_a_provider_that_somebody_reactivates_counts_as_new(open_evolving: OpenEvolving) -> None:
    with_a_bad_provider(open_evolving)
    engine = open_evolving()
    engine.evolution.evaluate("ada", UNSAFE)
    engine.providers.activate("C", "ada")
    assert "tool:c-work" in offered(engine, "ada")
    after = engine.evolution.evaluate("ada", FAIR)
    assert [shown(event) for event in after.events] == [
        "EvolutionCapability(major:Vision,gen=3)",
        "EvolutionGeneration(gen=3,CapabilityGain)",
    ]


def test_a_provider_that_an_automatism_removed_is_on_again_after_a_regression(
    open_evolving: OpenEvolving,
) -> None:
    engine = open_evolving()
    engine.sync()
    engine.evolution.set_params("ada", {"min_interactions": 1})
    engine.evolution.evaluate("ada", FAIR)
    engine.providers.deactivate("B", "ada", "it answered too slowly", automatic=True)
    fallen = engine.evolution.evaluate("ada", scores(0.1, 0.1, 1.0, "L0", 0.1))
    assert fallen.restore and fallen.restore.on == ("B",)
    assert "tool:b-work" in offered(engine, "ada")


def test_every_event_is_in_the_journal_of_its_agent(open_evolving: OpenEvolving) -> None:
    with_a_bad_provider(open_evolving)
    engine = open_evolving()
    engine.evolution.evaluate("ada", UNSAFE)
    types = [entry.type for entry in engine.journal.latest(agent="ada") if entry.type != "offer"]
    assert types == [
        "provider.off",
        "EvolutionGeneration",
        "provider.on",
        "provider.off",
        "EvolutionCapability",
        "EvolutionBreach",
        "EvolutionRollback",
    ]
    engine.journal.verify()


def test_scores_come_from_the_journal_when_none_are_given(open_evolving: OpenEvolving) -> None:
    engine = open_evolving()
    engine.sync()
    with pytest.raises(EvolutionError, match="nothing has happened"):
        engine.evolution.evaluate("ada")
    for ok in (True, True, True, False):
        engine.record(Outcome(offer="", capability="tool:a-work", ok=ok, agent="ada"))
    engine.evolution.evaluate("ada")
    found = engine.evolution.status("ada").scores
    assert found and found.behavioral == pytest.approx(0.4 * 0.75 + 0.3 + 0.3 * 0.75)
    with pytest.raises(EvolutionError, match="nothing has happened"):
        engine.evolution.evaluate("ada")


def test_a_trigger_from_outside_is_journalled_with_who_gave_it(open_evolving: OpenEvolving) -> None:
    engine = open_evolving()
    engine.sync()
    engine.evolution.evaluate("ada", FAIR)
    evaluation = engine.evolution.trigger("ada", "CapabilityGain", "a new model", by="deploy")
    assert evaluation.generation == 2
    entries = engine.journal.latest(agent="ada", type="evolution.triggered")
    assert entries[0].data == {"trigger": "CapabilityGain", "reason": "a new model", "by": "deploy"}


def test_new_tools_are_seen_through_the_engine_where_tools_count(open_evolving: OpenEvolving) -> None:
    engine = open_evolving()
    engine.sync()
    engine.evolution.set_params("ada", {"tool_acquisition": True, "capability_loss": True})
    engine.evolution.evaluate("ada", FAIR)
    engine.providers.deactivate("C", "ada")
    assert engine.evolution.evaluate("ada", FAIR).trigger == "CapabilityLoss"


def test_a_stopped_agent_is_offered_and_allowed_nothing_until_it_is_resumed(
    open_evolving: OpenEvolving,
) -> None:
    engine = open_evolving()
    engine.sync()
    engine.evolution.evaluate("ada", FAIR, AB)
    exhaust(partial(engine.evolution.evaluate, "ada"))
    engine.providers.activate("C", "ada")
    assert offered(engine, "ada") == set()
    with pytest.raises(Denied, match="the agent is stopped: rollback_exhausted"):
        engine.check("ada", "tool:a-work")
    first, *_, last = engine.explain("ada", "tool:a-work")
    assert first == "the agent is stopped: rollback_exhausted"
    assert last == "deny: the agent is stopped; run: prowess evolve resume --agent ada"
    assert "tool:a-work" in offered(engine, "bob")
    engine.evolution.resume("ada")
    assert "tool:a-work" in offered(engine, "ada")
