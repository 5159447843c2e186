"""Rules that are only watched: they decide nothing, and the journal says what they would have decided."""

import pytest

from prowess.engine import Engine
from prowess.errors import Denied
from prowess.policy.patterns import CatalogueNames
from prowess.policy.resolve import resolve
from prowess.testing import StaticSource, capability
from prowess.types import JournalEntry
from tests.support.policy import existing, rules
from tests.support.stores import OpenEngine

TOOLS = ("tool:pay", "tool:read", "tool:mail")


def opened(open_engine: OpenEngine, policy: str) -> Engine:
    engine = open_engine(StaticSource(capabilities=[capability(id) for id in TOOLS]), policy=policy)
    engine.sync(vectors=False)
    return engine


def watched(engine: Engine) -> list[tuple[str, str, str]]:
    """Each decision at use: what it was about, what it was, and what it would have been."""
    return [(e.data["capability"], e.data["verdict"], e.data.get("shadow", "")) for e in decisions(engine)]


def decisions(engine: Engine) -> list[JournalEntry]:
    return [entry for entry in engine.journal.after(()) if entry.type == "decision"]


def test_a_watched_denial_lets_through_and_is_recorded(open_engine: OpenEngine) -> None:
    text = """
profiles:
  p:
    additional_tools: ["*"]
    disallowed_tools: [{match: "tool:pay", mode: shadow}]
    ask: [{match: "tool:mail", mode: shadow}]
    agents: [ada]
"""
    engine = opened(open_engine, text)
    for id in TOOLS:
        assert engine.check("ada", id).verdict == "allow"
    assert watched(engine) == [
        ("tool:pay", "allow", "deny"), ("tool:read", "allow", ""), ("tool:mail", "allow", "ask"),
    ]  # fmt: skip
    first = decisions(engine)[0]
    assert "disallows" in first.data["shadow_reason"]


def test_a_watched_grant_gives_nothing_and_says_so(open_engine: OpenEngine) -> None:
    text = """
grants: {money: {event_patterns: ["tool:pay"], mode: shadow}}
profiles: {p: {capabilities: {money: true}, agents: [ada]}}
"""
    engine = opened(open_engine, text)
    with pytest.raises(Denied, match=r"is only watched \(mode: shadow\)"):
        engine.check("ada", "tool:pay")
    assert watched(engine) == [("tool:pay", "deny", "allow")]


def test_a_watched_profile_leaves_what_it_extends_in_force(open_engine: OpenEngine) -> None:
    text = """
profiles:
  wide: {additional_tools: ["*"]}
  tight: {extends: wide, mode: shadow, disallowed_tools: ["tool:pay"], agents: [ada]}
"""
    engine = opened(open_engine, text)
    assert engine.check("ada", "tool:pay").verdict == "allow"
    assert watched(engine) == [("tool:pay", "allow", "deny")]


def test_a_watched_condition_is_held_against_the_arguments(open_engine: OpenEngine) -> None:
    text = """
profiles:
  p:
    additional_tools: ["*"]
    disallowed_tools: [{match: "tool:pay", when: "amount > 100", mode: shadow}]
    agents: [ada]
"""
    engine = opened(open_engine, text)
    engine.check("ada", "tool:pay", arguments={"amount": 5})
    engine.check("ada", "tool:pay", arguments={"amount": 500})
    engine.check("ada", "tool:pay")
    assert [shadow for _, _, shadow in watched(engine)] == ["", "deny", "deny"]


def test_a_broken_watched_rule_cannot_break_the_profile_in_force() -> None:
    watched = "{extends: p, mode: shadow, capabilities: {nosuch: true}}"
    held = rules(f"profiles: {{p: {{additional_tools: ['a:b']}}, q: {watched}}}")
    assert "a:b" in resolve(held, "q", CatalogueNames(existing().capabilities)).allowed_events


def test_a_policy_that_watches_nothing_has_nothing_to_watch() -> None:
    assert rules("profiles: {p: {additional_tools: ['a:b']}}").watched is None
