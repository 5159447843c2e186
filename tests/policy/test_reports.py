"""Migration, differences, MCP tools and a host's own lists."""

from dataclasses import replace

import pytest

from prowess.errors import NotFound
from prowess.policy.definitions import define, read_definitions
from prowess.policy.diff import diff
from prowess.policy.documents import parse_yaml
from prowess.policy.export import export
from prowess.policy.migrate import GrantMigration, migrate
from prowess.policy.patterns import CatalogueNames
from prowess.policy.policy import Policy
from prowess.policy.resolve import resolve
from prowess.policy.ruleset import RuleSet
from prowess.store.database import Database
from prowess.testing import capability
from tests.support.policy import DATA, MESSAGES, Clock, existing, of, policy_of, rules

NOTHING = CatalogueNames({})


def migrated(text: str, *ids: str, exact: bool = False) -> GrantMigration:
    held = rules(text)
    return migrate(held, held.profile("p"), CatalogueNames(existing(*ids).capabilities), exact)


def test_migrating_the_explicit_list_names_what_no_grant_has_and_what_the_grants_add() -> None:
    held = RuleSet.of([read_definitions(DATA / "before.yaml")])
    found = migrate(held, held.profile("base_multi_agent"), NOTHING)
    assert found.grants == ("spawn_agents", "state_write")
    assert found.additional_tools == found.in_no_grant == ("conversation:create",)
    assert found.added == ("state:delete", "system:help")


def test_the_live_catalogue_counts_in_what_the_grants_add() -> None:
    held = RuleSet.of([read_definitions(DATA / "before.yaml")])
    names = CatalogueNames(existing("event:message:history").capabilities)
    assert "message:history" in migrate(held, held.profile("base_multi_agent"), names).added


def test_an_exact_migration_allows_neither_more_nor_less() -> None:
    before = RuleSet.of([read_definitions(DATA / "before.yaml")])
    names = CatalogueNames(existing(*MESSAGES).capabilities)
    found = migrate(before, before.profile("base_multi_agent"), names, exact=True)
    after = RuleSet.of([define(parse_yaml(found.text(), "new.yaml"), "new.yaml")])
    listed = {rule.pattern.text for rule in before.profile("base_multi_agent").additional}
    assert set(resolve(after, "base_multi_agent", names).allowed_events) == listed


def test_a_grant_that_brings_more_than_is_wanted_is_not_used() -> None:
    found = migrated("profiles: {p: {allowed_tools: ['agent:list']}}")
    assert found.grants == ()
    assert found.additional_tools == ("agent:list",)


def test_host_tools_are_migrated_and_a_review_is_named() -> None:
    found = migrated("profiles: {p: {allowed_tools: [WebFetch, WebSearch, Bash]}}")
    assert found.grants == found.review == ("network_access",)
    assert found.additional_tools == ("Bash",)


def test_migrating_keeps_what_else_the_profile_says() -> None:
    text = """
profiles:
  p:
    capabilities: {state_write: true}
    disallowed_tools: ['state:delete']
    ask: ['state:set']
    limits: {max_children: 1}
"""
    found = migrated(text)
    again = rules(found.text())
    assert resolve(again, "p", NOTHING).allowed_events == resolve(rules(text), "p", NOTHING).allowed_events
    assert again.profiles["p"].limits == {"max_children": 1}
    assert again.profiles["p"].ask[0].pattern.text == "state:set"


def test_many_grants_are_chosen_one_after_the_other() -> None:
    grants = {f"g{n}": {"event_patterns": [f"a{n}:x", f"a{n}:y"]} for n in range(20)}
    tools = [f"a{n}:{verb}" for n in range(20) for verb in "xy"]
    held = RuleSet.of([define({"grants": grants, "profiles": {"p": {"allowed_tools": tools}}})])
    found = migrate(held, held.profile("p"), NOTHING)
    assert len(found.grants) == 20
    assert found.additional_tools == ()


def test_a_difference_says_what_is_added_removed_and_limited_otherwise() -> None:
    held = rules(
        """
grants: {mail: {event_patterns: [mail:send], since: '2026.1', version: 3}}
profiles:
  a: {capabilities: {spawn_agents: true}}
  b: {capabilities: {mail: true, network_access: true}}
"""
    )
    found = diff((held, "a"), (held, "b"), NOTHING)
    assert found.added.allowed_events == ("mail:send",)
    assert found.added.host_tools == ("WebFetch", "WebSearch")
    assert found.added.review == ("network_access",)
    assert found.removed.grants == ("agent_messaging", "spawn_agents")
    assert found.limits == {"max_children": (5, None), "max_depth": (2, None)}
    assert found.versions == {"mail": "since 2026.1, version 3"}
    assert found
    assert not diff((held, "a"), (held, "a"), NOTHING)


def test_what_a_wildcard_already_allows_is_no_difference() -> None:
    held = rules("profiles: {all: {additional_tools: ['*']}, some: {capabilities: {state_write: true}}}")
    assert diff((held, "all"), (held, "some"), NOTHING).added.allowed_events == ()


def tools(policy: Policy, *ids: str, agent: str = "bob") -> dict[str, object]:
    found = policy.mcp_tools(agent, existing(*ids), lambda id: {"type": "object", "title": id})
    return {str(tool["name"]): tool for tool in found}


def test_mcp_tools_are_the_allowed_events_and_tools_with_their_schemas(
    database: Database, clock: Clock
) -> None:
    text = """
profiles:
  p: {capabilities: {agent_messaging: true}, additional_tools: ['tool:read'], agents: [bob]}
"""
    policy = policy_of(database, clock, text)
    found = tools(policy, "event:message:publish", "tool:read", "tool:write", "skill:x", "event:state:set")
    assert list(found) == ["event__message__publish", "read"]
    assert found["event__message__publish"] == {
        "name": "event__message__publish",
        "description": "Does message:publish.",
        "inputSchema": {"type": "object", "title": "event:message:publish"},
    }


def test_a_grant_without_mcp_tools_keeps_its_events_out_unless_another_has_them(
    database: Database, clock: Clock
) -> None:
    text = """
grants:
  inner: {event_patterns: ['a:*'], mcp_tools: false}
  outer: {event_patterns: ['a:b']}
profiles:
  p: {capabilities: {inner: true}, agents: [bob]}
  q: {capabilities: {inner: true, outer: true}, agents: [eve]}
"""
    policy = policy_of(database, clock, text)
    assert list(tools(policy, "event:a:b", "event:a:c")) == []
    assert list(tools(policy, "event:a:b", "event:a:c", agent="eve")) == ["event__a__b"]


def test_a_hosts_lists_say_what_is_allowed_asked_and_denied(database: Database, clock: Clock) -> None:
    text = """
profiles:
  p:
    capabilities: {network_access: true, agent_messaging: true}
    additional_tools: [Read, 'mcp__github__*']
    agents: [bob]
"""
    policy = policy_of(database, clock, text)
    found = export(policy.at(existing("event:message:publish", "tool:shell")), "bob", "claude-code")
    assert found.allow == ("Read", "mcp__github__*", "mcp__prowess__event__message__publish")
    assert found.ask == ("WebFetch", "WebSearch")
    assert "Bash" in found.deny
    assert not [name for name in (*found.allow, *found.ask, *found.deny) if "shell" in name]
    with pytest.raises(NotFound, match="did you mean 'claude-code'"):
        export(policy.at(existing()), "bob", "claude-cod")


def test_a_capability_without_a_description_is_described_by_its_grant(
    database: Database, clock: Clock
) -> None:
    text = "profiles: {p: {capabilities: {agent_messaging: true}, agents: [bob]}}"
    blank = of([replace(capability("event:message:publish"), description="")])
    (tool,) = policy_of(database, clock, text).mcp_tools("bob", blank, lambda id: None)
    assert tool["description"] == "Messages between agents - message:publish"
    assert tool["inputSchema"] == {"type": "object", "properties": {}}
