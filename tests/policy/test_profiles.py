"""Profiles: both ways of writing one, what they inherit, and that denials win."""

import pytest

from prowess.errors import NotFound, PolicyError
from prowess.policy.builtin_grants import owner_policy
from prowess.policy.definitions import define, read_definitions
from prowess.policy.patterns import CatalogueNames
from prowess.policy.resolve import resolve
from prowess.policy.ruleset import RuleSet
from tests.support.policy import DATA, MESSAGES, existing, resolved, rules, verdict

BASE = {"system:health", "system:help"}


def test_the_profile_with_explicit_lists_loads_as_it_is_written() -> None:
    found = resolve(
        RuleSet.of([read_definitions(DATA / "before.yaml")]), "base_multi_agent", CatalogueNames({})
    )
    assert "conversation:create" in found.allowed_events
    assert len(found.allowed_events) == 16
    assert found.grants == ("base",)


def test_the_profile_with_grants_resolves_to_the_events_its_grants_list() -> None:
    loaded = RuleSet.of([read_definitions(DATA / "after.yaml")])
    found = resolve(loaded, "base_multi_agent", CatalogueNames(existing(*MESSAGES).capabilities))
    assert found.allowed_events == (
        "agent:list", "agent:send_message", "agent:spawn", "agent:status", "conversation:active",
        "custom:event", "message:history", "message:publish", "message:status", "message:subscribe",
        "message:subscriptions", "message:unsubscribe", "state:delete", "state:get", "state:list",
        "state:set", "system:health", "system:help",
    )  # fmt: skip
    assert found.grants == ("agent_messaging", "base", "spawn_agents", "state_read", "state_write")
    assert found.limits == {"max_children": 5, "max_depth": 2}
    assert found.review == ()


def test_components_and_keys_of_its_own_say_the_same() -> None:
    parts = rules(
        "profiles: {p: {components: [{name: capabilities, inline: {state_read: true}},"
        " {name: any, inline: {ask: ['state:*'], limits: {max_children: 1}}}]}}"
    )
    keys = rules(
        "profiles: {p: {capabilities: {state_read: true}, ask: ['state:*'], limits: {max_children: 1}}}"
    )
    assert parts.revision == keys.revision


@pytest.mark.parametrize(
    ("components", "what"),
    [
        ("[{name: x, inline: {alowed_tools: []}}]", "did you mean 'allowed_tools'?"),
        ("[{name: x, inlin: {}}]", "did you mean 'inline'?"),
        ("{}", "expected a list"),
        ("[{name: capabilities, inline: {state_read: 1}}]", "expected `bool`"),
        (
            "[{name: capabilities, inline: {base: true}}, {name: capabilities, inline: {base: false}}]",
            "twice",
        ),
        ("[{name: a, inline: {level: read}}, {name: b, inline: {level: admin}}]", "twice"),
    ],
)
def test_a_component_that_cannot_be_used_is_a_clear_error(components: str, what: str) -> None:
    with pytest.raises(PolicyError) as caught:
        rules(f"profiles: {{p: {{components: {components}}}}}")
    assert what in str(caught.value)


def test_a_child_profile_has_what_it_extends_and_its_own() -> None:
    text = "profiles: {p: {capabilities: {state_read: true}}, q: {extends: p, additional_tools: [a:b]}}"
    assert set(resolved(text, "q").allowed_events) == {*resolved(text, "p").allowed_events, "a:b"}


def test_false_in_a_child_profile_removes_an_inherited_grant_and_what_only_that_needed() -> None:
    text = """
profiles:
  p: {capabilities: {spawn_agents: true, state_read: true}}
  q: {extends: p, capabilities: {spawn_agents: false}}
"""
    found = resolved(text, "q", *MESSAGES)
    assert found.grants == ("base", "state_read")
    assert found.limits == {}


def test_removing_a_required_grant_removes_what_requires_it() -> None:
    text = """
profiles:
  p: {capabilities: {state_write: true}}
  q: {extends: p, capabilities: {state_read: false}}
"""
    assert resolved(text, "q").grants == ("base",)


def test_denials_accumulate_and_a_child_profile_cannot_take_one_back() -> None:
    text = """
profiles:
  p: {capabilities: {state_write: true}, disallowed_tools: ['state:delete']}
  q: {extends: p, additional_tools: ['state:delete'], disallowed_tools: ['state:set']}
"""
    assert set(resolved(text, "q").allowed_events) == BASE | {"state:get", "state:list"}


def test_a_level_cap_is_inherited_and_never_raised() -> None:
    text = """
profiles:
  p: {level: read}
  q: {extends: p, level: admin, capabilities: {state_write: true, state_read: true}}
"""
    assert resolved(text, "q").grants == ("base", "state_read")


def test_disallowed_patterns_reach_events_ids_and_host_tools() -> None:
    text = """
profiles:
  p:
    additional_tools: ['*']
    disallowed_tools: ['message:*', 'tool:shell-*', 'Web*', ping]
"""
    ids = ("event:message:publish", "tool:shell-run", "tool:read", "event:ping")
    found = resolved(text, "p", *ids)
    assert set(found.allowed_events) == BASE | {"tool:read"}
    assert found.host_tools == ("TodoRead", "TodoWrite")


def test_disallowed_wins_even_over_what_comes_with_every_profile() -> None:
    assert resolved("profiles: {p: {disallowed_tools: ['system:help']}}", "p").allowed_events == (
        "system:health",
    )


def test_what_no_grant_allows_is_not_allowed() -> None:
    assert verdict("profiles: {p: {}}", "p", "tool:anything") == "deny"
    assert verdict("profiles: {p: {}}", "p", "host:Bash") == "deny"


def test_an_event_in_several_grants_is_allowed_if_any_of_them_is_held() -> None:
    text = """
grants: {one: {event_patterns: [a:x]}, two: {event_patterns: [a:x], level: admin}}
profiles: {p: {capabilities: {one: true, two: false}}, q: {capabilities: {one: false, two: true}}}
"""
    assert verdict(text, "p", "event:a:x") == "allow"
    assert verdict(text, "q", "event:a:x") == "allow"


def test_an_ask_pattern_asks_and_does_not_allow_by_itself() -> None:
    text = "profiles: {p: {capabilities: {state_write: true}, ask: ['state:delete', 'other:*']}}"
    assert verdict(text, "p", "event:state:delete") == "ask"
    assert verdict(text, "p", "event:state:set") == "allow"
    assert verdict(text, "p", "event:other:thing") == "deny"


def test_a_grant_under_review_asks_unless_another_grant_gives_the_same() -> None:
    text = """
grants: {fetching: {tools: [WebFetch]}}
profiles:
  p: {capabilities: {network_access: true}}
  q: {capabilities: {network_access: true, fetching: true}}
"""
    assert verdict(text, "p", "host:WebFetch") == "ask"
    assert verdict(text, "q", "host:WebFetch") == "allow"
    assert verdict(text, "q", "host:WebSearch") == "ask"
    assert resolved(text, "q").review == ("network_access",)


def test_a_hosts_own_rule_is_one_name() -> None:
    text = "profiles: {p: {additional_tools: ['Bash(git diff:*)'], disallowed_tools: ['Bash(rm:*)']}}"
    assert resolved(text, "p").host_tools == ("Bash(git diff:*)",)
    assert verdict(text, "p", "host:Bash") == "deny"


def test_unknown_profiles_and_grants_are_named_with_the_nearest() -> None:
    with pytest.raises(NotFound, match="did you mean 'worker'"):
        rules("profiles: {worker: {}}").holding("workr")
    with pytest.raises(PolicyError, match="did you mean 'state_read'"):
        rules("profiles: {p: {capabilities: {state_raed: false}}}").holding("p")
    with pytest.raises(PolicyError, match="extends unknown profile 'workr'; did you mean 'worker'"):
        rules("profiles: {worker: {}, p: {extends: workr}}").holding("p")


def test_an_agent_is_bound_by_one_profile_only() -> None:
    with pytest.raises(PolicyError, match="which profile 'p' binds too"):
        rules("profiles: {p: {agents: [a]}, q: {agents: [a]}}")


def test_the_owner_policy_allows_everything_to_the_default_agent() -> None:
    loaded = rules(owner_policy())
    found = resolve(
        loaded, "owner", CatalogueNames(existing("tool:x", "skill:y", "own:z", *MESSAGES).capabilities)
    )
    assert {"tool:x", "skill:y", "own:z", "message:publish"} <= set(found.allowed_events)
    assert loaded.bound == {"default": "owner"}
    assert verdict(owner_policy(), "owner", "host:Bash") == "allow"


def test_a_profile_file_and_a_policy_file_merge() -> None:
    grants = define({"grants": {"mail": {"event_patterns": ["mail:send"]}}}, "grants.yaml")
    profile = define({"name": "p", "capabilities": {"mail": True}}, "p.yaml")
    found = resolve(RuleSet.of([grants, profile]), "p", CatalogueNames({}))
    assert found.allowed_events == ("mail:send", "system:health", "system:help")
