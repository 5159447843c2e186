"""Rules that speak of what a thing is: its kind, provider, category, tags, effects and trust."""

from dataclasses import replace
from typing import Any

import pytest

from prowess.catalogue.view import View
from prowess.errors import PolicyError
from prowess.policy.patterns import CatalogueNames
from prowess.policy.policy import Policy
from prowess.policy.resolve import resolve
from prowess.store.database import Database
from prowess.testing import capability
from prowess.types import Capability
from tests.support.policy import Clock, of, policy_of, rules


def tool(id: str, effects: str = "read", **said: Any) -> Capability:
    hints = {"destructive": effects == "destructive"}
    made = capability(id, metadata={"annotations": hints})
    return replace(made, has_side_effects=effects != "read", **said)


GITHUB = of(
    [
        tool("tool:github/list_issues", provider="github", category="code", tags=("issues",)),
        tool("tool:github/create_issue", "write", provider="github", category="code", tags=("issues",)),
        tool("tool:github/delete_repo", "destructive", provider="github", category="code"),
        tool("tool:crm/list_overdue", provider="crm", category="money", source="crm"),
        tool("tool:crm/refund", "write", provider="crm", category="money", source="crm"),
        tool("skill:pdf", provider="skills"),
    ]
)


def given(rule: str, view: View = GITHUB) -> set[str]:
    """What one additional rule gives, without what comes with every profile."""
    held = rules(f"profiles: {{p: {{additional_tools: [{rule}]}}}}")
    names = CatalogueNames(view.capabilities, view.trust)
    found = resolve(held, "p", names)
    return {*found.allowed_events} - {"system:health", "system:help"}


def test_whatever_changes_nothing_is_one_rule() -> None:
    assert given("{effects: read}") == {"tool:github/list_issues", "tool:crm/list_overdue", "skill:pdf"}


def test_everything_of_a_server_but_what_destroys_is_one_rule() -> None:
    found = given("{provider: github, except: {effects: destructive}}")
    assert found == {"tool:github/list_issues", "tool:github/create_issue"}


@pytest.mark.parametrize(
    ("rule", "ids"),
    [
        ("{category: money}", {"tool:crm/list_overdue", "tool:crm/refund"}),
        ("{tag: issues}", {"tool:github/list_issues", "tool:github/create_issue"}),
        ("{tag: issues, effects: write}", {"tool:github/create_issue"}),
        ("{kind: skill}", {"skill:pdf"}),
        ("{provider: 'g*', match: 'tool:*/list_*'}", {"tool:github/list_issues"}),
        ("{provider: [crm, skills], effects: [read, write]}", {
            "tool:crm/list_overdue", "tool:crm/refund", "skill:pdf"}),
        ("{provider: crm, except: ['tool:crm/refund']}", {"tool:crm/list_overdue"}),
        ("{provider: crm, except: [{effects: write}, 'tool:crm/list_*']}", set()),
        ("{provider: github, except: {match: '*', except: 'tool:*/delete_*'}}", {"tool:github/delete_repo"}),
        ("{match: 'tool:crm/refund', effects: read}", set()),
        ("{provider: nobody}", set()),
    ],
)  # fmt: skip
def test_a_rule_gives_exactly_what_has_every_attribute(rule: str, ids: set[str]) -> None:
    assert given(rule) == ids


def test_a_rule_may_go_by_how_far_a_source_is_trusted() -> None:
    trusted = replace(GITHUB, trust={"crm": "full"})
    assert given("{trust: full}", trusted) == {"tool:crm/list_overdue", "tool:crm/refund"}
    assert given("{trust: none}", trusted) == set()


def test_denying_and_asking_go_by_attributes_too(database: Database, clock: Clock) -> None:
    text = """
profiles:
  p:
    additional_tools: ["*"]
    disallowed_tools: [{effects: destructive}]
    ask: [{category: money, effects: write}]
    agents: [ada]
"""
    policy = policy_of(database, clock, text)
    verdicts = {id: policy.decide("ada", id, GITHUB).verdict for id in GITHUB.capabilities}
    assert verdicts["tool:github/delete_repo"] == "deny"
    assert verdicts["tool:crm/refund"] == "ask"
    assert {verdicts[id] for id in verdicts.keys() - {"tool:github/delete_repo", "tool:crm/refund"}} == {
        "allow"
    }
    found = policy.allowed("ada", GITHUB)
    assert "tool:github/delete_repo" not in found.allow | found.ask
    assert found.ask == {"tool:crm/refund"}


def test_the_reason_names_the_rule_as_it_is_written(policy: Policy) -> None:
    said = policy.explain("ada", "tool:github/list_issues", GITHUB)
    assert "pattern '{provider: github, effects: read}' of grant 'look' matches" in str(said)
    assert policy.explain("ada", "tool:github/create_issue", GITHUB).verdict == "deny"


@pytest.fixture
def policy(database: Database, clock: Clock) -> Policy:
    text = """
grants: {look: {event_patterns: [{provider: github, effects: read}]}}
profiles: {p: {capabilities: {look: true}, agents: [ada]}}
"""
    return policy_of(database, clock, text)


def test_what_a_server_adds_later_is_covered_by_what_it_is(policy: Policy) -> None:
    more = of([*GITHUB.capabilities.values(), tool("tool:github/list_pulls", provider="github")], version=2)
    assert policy.decide("ada", "tool:github/list_pulls", GITHUB).verdict == "deny"
    assert policy.decide("ada", "tool:github/list_pulls", more).verdict == "allow"


def test_an_openapi_operation_that_deletes_destroys_and_one_that_says_nothing_may() -> None:
    deletes = replace(capability("tool:api/x", metadata={"method": "DELETE"}), has_side_effects=True)
    posts = replace(capability("tool:api/y", metadata={"method": "POST"}), has_side_effects=True)
    silent = replace(capability("tool:api/z"), has_side_effects=True)
    assert given("{effects: destructive}", of([deletes, posts, silent])) == {"tool:api/x", "tool:api/z"}


@pytest.mark.parametrize(
    ("rule", "what"),
    [
        ("{effects: reed}", "effects: 'reed' is none of read, write, destructive; did you mean 'read'"),
        ("{trust: half}", "trust: 'half' is none of full, growing, pinned, none"),
        ("{providers: x}", "unknown key 'providers'; did you mean 'provider'"),
        ("{mode: shadow}", "speaks of nothing"),
        ("{kind: tool, mode: shade}", "mode: 'shade' is none of enforce, shadow; did you mean 'shadow'"),
        ("{kind: tool, except: [{kind: tool, when: 'a == 1'}]}", "an exception has no 'when'"),
    ],
)
def test_a_rule_that_cannot_be_read_names_the_words_that_can(rule: str, what: str) -> None:
    with pytest.raises(PolicyError) as caught:
        rules(f"profiles: {{p: {{additional_tools: [{rule}]}}}}")
    assert what in str(caught.value)
    assert "profile 'p'" in str(caught.value)
