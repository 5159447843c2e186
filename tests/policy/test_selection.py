"""What an agent may use as a condition of SQL: the same answer as the policy gives in memory."""

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
from hypothesis import given

from prowess.policy.agents import Agent
from prowess.policy.dialect import POSTGRES, SQLITE, Dialect
from prowess.policy.patterns import Pattern, event_pattern, tool_patterns
from prowess.policy.rule_texts import read_rule
from prowess.policy.selection import RowSelection, columns_of, pattern_condition, selection
from prowess.policy.snapshot import PolicySnapshot
from prowess.policy.state import PolicyState
from prowess.store.database import Database
from prowess.store.opening import open_database
from prowess.testing import capability
from prowess.types import Capability, SourceRef
from tests.support.policies import ANY_RULE, MUCH_TO_DRAW, moments
from tests.support.policy import of, rules

if TYPE_CHECKING:
    from tests.support.lending import Databases

TABLE = """
CREATE TEMPORARY TABLE candidate (
    workspace TEXT NOT NULL, id TEXT NOT NULL, spelling TEXT NOT NULL, kind TEXT NOT NULL,
    provider TEXT NOT NULL, category TEXT NOT NULL, source TEXT NOT NULL, tags TEXT NOT NULL,
    effects TEXT NOT NULL, joined_grant TEXT NOT NULL, climbs BOOLEAN NOT NULL, requires_auth BOOLEAN NOT NULL
)
"""
INSERT = """
INSERT INTO candidate VALUES (:workspace, :id, :spelling, :kind, :provider, :category, :source, :tags,
    :effects, :joined_grant, :climbs, :requires_auth)
"""


@pytest.fixture(scope="module", params=[SQLITE, POSTGRES], ids=["sqlite", "postgres"])
def store(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> "Iterator[Store]":
    folder = tmp_path_factory.mktemp("selection")
    with ExitStack() as opened:
        url = "sqlite:store.db"
        if request.param is POSTGRES:
            databases: Databases = request.getfixturevalue("postgres_databases")
            url = opened.enter_context(databases.lent())
        database = open_database(url, folder)
        yield Store(database, request.param)
        database.close()


class Store(NamedTuple):
    """A database, and how conditions are written for it."""

    database: Database
    dialect: Dialect

    def asks(
        self, moment: PolicySnapshot, agent: str, authenticated: bool = True, over_mcp: bool = False
    ) -> RowSelection:
        return selection(moment, agent, authenticated, over_mcp, dialect=self.dialect)

    def asks_of(self, pattern: Pattern, trust: Mapping[str, str]) -> RowSelection:
        return pattern_condition(pattern, trust, dialect=self.dialect)


def selected(
    store: Store, catalogue: Iterable[Capability], conditions: Iterable[RowSelection]
) -> list[set[str]]:
    """For each condition, the ids of the rows of a table of these capabilities for which it is true."""
    with store.database.writing() as transaction:
        transaction.run(TABLE)
        transaction.many(INSERT, map(columns_of, catalogue))
        text = "SELECT c.id FROM candidate c WHERE c.workspace = :workspace AND "
        found = [{row[0] for row in transaction.all(text + one.text, **one.values)} for one in conditions]
        transaction.run("DROP TABLE candidate")
        return found


def over(moment: PolicySnapshot, *catalogue: Capability) -> PolicySnapshot:
    """The same rules, agents and sources, and only these capabilities."""
    return PolicySnapshot(moment.rules, moment.standing, replace(of(catalogue), trust=moment.trust))


def in_memory(moment: PolicySnapshot, agent: str, authenticated: bool, over_mcp: bool) -> set[str]:
    allowed = moment.allowed(agent, authenticated)
    kept = moment.kept_from_mcp(agent) if over_mcp else frozenset()
    return {id for id in allowed.allow | allowed.ask if id in moment.capabilities} - kept


WAYS = [(authenticated, over_mcp) for authenticated in (True, False) for over_mcp in (True, False)]


@MUCH_TO_DRAW
@given(moment=moments())
def test_the_rows_selected_are_what_the_agent_may_use(store: Store, moment: PolicySnapshot) -> None:
    bare = over(moment)
    asked = [(agent, *way) for agent in ("ada", "bob", "eve") for way in WAYS]
    found = selected(store, moment.capabilities.values(), [store.asks(bare, *one) for one in asked])
    assert dict(zip(asked, found, strict=True)) == {one: in_memory(moment, *one) for one in asked}


@MUCH_TO_DRAW
@given(moment=moments(), rule=ANY_RULE)
def test_the_rows_selected_for_a_pattern_are_what_it_matches(
    store: Store, moment: PolicySnapshot, rule: Any
) -> None:
    patterns = read_rule(rule, tool_patterns, "test")
    found = selected(
        store, moment.capabilities.values(), [store.asks_of(one, moment.trust) for one in patterns]
    )
    assert found == [{*moment.names.matching(one)} for one in patterns]


POLICY = """
grants:
  mail: {event_patterns: ["tool:mail/*"], security_review_required: true}
  quiet: {event_patterns: ["quiet:*"], mcp_tools: false}
profiles:
  reader:
    capabilities: {mail: true}
    additional_tools: [{provider: github, except: [{effects: destructive}]}, "tool:crm/list_overdue"]
    agents: [ada]
  owner: {additional_tools: ["*"], agents: [bob]}
  wary:
    additional_tools: ["*"]
    disallowed_tools: [{match: "tool:bank/*", when: "amount > 9"}]
    agents: [eve]
  kept: {additional_tools: ["*"], disallowed_tools: [{effects: destructive}], agents: [kim]}
  names: {additional_tools: [TOOLS], agents: [max]}
"""


def moment(
    text: str = POLICY, agents: Iterable[Agent] = (), trust: Mapping[str, str] | None = None
) -> PolicySnapshot:
    standing = PolicyState(agents={agent.name: agent for agent in agents})
    return PolicySnapshot(rules(text), standing, replace(of([]), trust=trust or {}))


CATALOGUE = [
    capability("tool:mail/send"),
    capability("tool:github/list", provider="github"),
    capability("tool:github/drop", provider="github", has_side_effects=True),
    capability("tool:crm/list_overdue", provider="crm", metadata={"requires_auth": True}),
    capability("tool:crm/refund", provider="crm"),
    capability("event:quiet:thing"),
    capability("event:system:internal:tick"),
    capability("tool:files/../etc"),
    capability("host:Bash"),
]


def test_a_profile_selects_what_its_grants_and_its_own_rules_give(store: Store) -> None:
    found, unproved = selected(
        store, CATALOGUE, [store.asks(moment(), "ada"), store.asks(moment(), "ada", authenticated=False)]
    )
    assert found == {"tool:mail/send", "tool:github/list", "tool:crm/list_overdue"}
    assert unproved == {"tool:mail/send", "tool:github/list"}


def test_everything_is_all_that_does_not_climb_and_is_no_name_of_a_hosts(store: Store) -> None:
    found, over_mcp = selected(
        store, CATALOGUE, [store.asks(moment(), "bob"), store.asks(moment(), "bob", over_mcp=True)]
    )
    assert found == {one.id for one in CATALOGUE} - {"tool:files/../etc", "host:Bash"}
    assert over_mcp == found - {"event:system:internal:tick"}


def test_what_only_a_quiet_grant_gives_is_not_selected_over_mcp(store: Store) -> None:
    quiet = moment(POLICY.replace("mail: true", "quiet: true"))
    found, over_mcp = selected(
        store, CATALOGUE, [store.asks(quiet, "ada", over_mcp=way) for way in (False, True)]
    )
    assert found - over_mcp == {"event:quiet:thing"}


def test_a_handler_that_says_so_belongs_to_its_grant(store: Store) -> None:
    handlers = [
        capability(f"event:{kind}", source_ref=SourceRef(kind, "here"), metadata={"capability": "mail"})
        for kind in ("events", "files")
    ]
    assert selected(store, handlers, [store.asks(moment(), "ada")]) == [{"event:events"}]


def test_a_child_selects_what_its_parent_may_use_too(store: Store) -> None:
    kid = Agent(name="kid", profile="owner", parent="ada")
    found = selected(store, CATALOGUE, [store.asks(moment(agents=[kid]), one) for one in ("kid", "ada")])
    assert found[0] == found[1] != set()


def test_an_agent_that_is_bound_to_nothing_selects_nothing_of_a_server(store: Store) -> None:
    assert selected(store, CATALOGUE, [store.asks(moment(), "nobody")]) == [set()]


def test_two_thousand_names_are_one_array() -> None:
    names = [f"tool:crm/{number}" for number in range(2000)]
    found = selection(moment(POLICY.replace("TOOLS", ", ".join(names))), "max")
    assert len(found.text) < 500
    assert [{*names} <= {*value} for value in found.values.values() if isinstance(value, list)] == [True]


def test_a_thousand_rules_of_their_own_are_no_deep_nesting(store: Store) -> None:
    names = [f"{{match: 'tool:crm{number}/*', category: c{number}}}" for number in range(1500)]
    found = store.asks(moment(POLICY.replace("TOOLS", ", ".join(names))), "max")
    near = [capability(f"tool:crm{number}/x", category="c7") for number in (7, 8)]
    assert selected(store, near, [found]) == [{"tool:crm7/x"}]


def test_two_thousand_globs_are_one_array(store: Store) -> None:
    globs = [f"'tool:crm{number}/*'" for number in range(2000)]
    found = store.asks(moment(POLICY.replace("TOOLS", ", ".join(globs))), "max")
    assert len(found.text) < 500
    near = [capability(f"tool:crm{number}/x") for number in (7, 1999, 2000)]
    assert selected(store, near, [found]) == [{"tool:crm7/x", "tool:crm1999/x"}]


@pytest.mark.parametrize(
    ("agent", "everything"), [("bob", True), ("eve", True), ("kim", False), ("ada", False), ("nobody", False)]
)
def test_only_without_a_rule_that_leaves_something_out_is_it_everything(agent: str, everything: bool) -> None:
    assert selection(moment(), agent).everything is everything
    assert selection(moment(), agent, over_mcp=True).everything is everything
    assert not selection(moment(), agent, authenticated=False).everything


def test_a_child_of_one_with_less_has_not_everything() -> None:
    kids = [Agent(name=f"{parent}s", profile="owner", parent=parent) for parent in ("ada", "bob")]
    assert [selection(moment(agents=kids), kid.name).everything for kid in kids] == [False, True]


def test_how_far_a_source_is_trusted_is_a_list_of_sources(store: Store) -> None:
    pattern = read_rule({"trust": "full"}, tool_patterns, "test")[0]
    things = [capability("tool:a", source="one"), capability("tool:b", source="two")]
    asked = [store.asks_of(pattern, trust) for trust in ({"one": "full", "two": "none"}, {})]
    assert selected(store, things, asked) == [{"tool:a"}, set()]


def test_the_condition_of_a_pattern_stands_beside_that_of_an_agent_under_any_alias(store: Store) -> None:
    [pattern] = tool_patterns("tool:mail/*", "test")
    whole, pinned = store.asks(moment(), "ada"), store.asks_of(pattern, {})
    both = RowSelection(f"{whole.text} AND {pinned.text}", {**whole.values, **pinned.values}, False)
    assert selected(store, CATALOGUE, [both]) == [{"tool:mail/send"}]
    assert " d.spelling " in pattern_condition(pattern, {}, alias="d").text


CLIMBING = capability("tool:files/../etc")


@pytest.mark.parametrize(
    ("added", "denied", "ids"),
    [
        (["tool:files/*"], [], set()),
        ([CLIMBING.id], [], {CLIMBING.id}),
        (["*", CLIMBING.id], [], {CLIMBING.id}),
        ([{"match": CLIMBING.id, "except": "tool:*"}], [], set()),
        ([CLIMBING.id], ["tool:files/*"], set()),
        ([CLIMBING.id], [{"match": "*", "except": "tool:files/*"}], set()),
        ([CLIMBING.id], [{"match": "*", "except": CLIMBING.id}], {CLIMBING.id}),
    ],
)
def test_no_wildcard_gives_a_name_that_climbs_and_every_wildcard_takes_it(
    store: Store, added: list[object], denied: list[object], ids: set[str]
) -> None:
    profile = {"additional_tools": added, "disallowed_tools": denied, "agents": ["ada"]}
    asked = moment(json.dumps({"profiles": {"p": profile}}))
    assert selected(store, [CLIMBING], [store.asks(asked, "ada")]) == [ids]
    assert in_memory(over(asked, CLIMBING), "ada", True, False) == ids
    assert (asked.decide("ada", CLIMBING.id, True).verdict == "allow") == bool(ids)


ODD = [
    capability("tool:a_b", tags=("a", "b")),
    capability("tool:axb", tags=("a.b",), provider="(a)"),
    capability("tool:100%", tags=("ab", "a\nb"), provider="100%"),
    capability("tool:a\\b", category="cafe\u0301", provider="a\\b"),
    capability("tool:cafe\u0301", tags=("cafe\u0301",)),
    capability("event:own:a", tags=("",)),
    capability("own:a"),
]


@pytest.mark.parametrize(
    ("rule", "ids"),
    [
        ("tool:a_b*", {"tool:a_b"}),
        ("tool:*%", {"tool:100%"}),
        ("tool:a\\*", {"tool:a\\b"}),
        ("tool:caf\u00e9", {"tool:cafe\u0301"}),
        ("tool:caf\u00e9*", {"tool:cafe\u0301"}),
        ("own:a", {"own:a", "event:own:a"}),
        ("own:*", {"own:a", "event:own:a"}),
        ("o*:a", {"own:a", "event:own:a"}),
        ("event:tool:*", set()),
        ("t*:*", set()),
        ("event:own:a", {"event:own:a", "own:a"}),
        ({"tag": "a"}, {"tool:a_b"}),
        ({"tag": "a*b"}, {"tool:axb", "tool:100%"}),
        ({"tag": "a.*"}, {"tool:axb"}),
        ({"tag": ["b", "z*"]}, {"tool:a_b"}),
        ({"tag": "*"}, {"tool:a_b", "tool:axb", "tool:100%", "tool:cafe\u0301", "event:own:a"}),
        ({"tag": "caf\u00e9"}, {"tool:cafe\u0301"}),
        ({"category": "caf*\u00e9"}, {"tool:a\\b"}),
        ({"provider": "(*)"}, {"tool:axb"}),
        ({"provider": ["1*%", "a\\*"]}, {"tool:100%", "tool:a\\b"}),
        ({"kind": "o*"}, {"own:a"}),
    ],
)
def test_a_pattern_selects_what_it_matches_whatever_is_special_to_sql(
    store: Store, rule: str | dict[str, object], ids: set[str]
) -> None:
    patterns = read_rule(rule, _as_event, "test")
    assert selected(store, ODD, [store.asks_of(one, {}) for one in patterns]) == [ids]
    assert [{*over(moment(), *ODD).names.matching(one)} for one in patterns] == [ids]


def _as_event(text: str, place: str) -> tuple[Pattern, ...]:
    return (event_pattern(text, place),)
