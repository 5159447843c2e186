"""The conformance cases of the earlier system (K3 to K19), and each of its weaknesses, which ours has not."""

import pytest

from prowess.errors import Denied, PolicyError
from prowess.policy.patterns import CatalogueNames
from prowess.policy.policy import Policy
from prowess.policy.resolve import reach
from prowess.store.database import Database
from tests.support.policy import MESSAGES, Clock, existing, policy_of, resolved, rules, verdict

BASE = ("system:health", "system:help")


def spawn(database: Database, policy: Policy, parent: str, name: str, profile: str) -> None:
    with database.writing() as transaction:
        policy.spawn(transaction, parent, name, profile, existing("tool:x"))
    policy.refresh()


# --- the cases ---------------------------------------------------------------------------------


def test_k3_network_access_gives_the_two_web_tools() -> None:
    found = resolved("profiles: {p: {capabilities: {network_access: true}}}", "p")
    assert found.host_tools == ("WebFetch", "WebSearch")


def test_k4_a_false_flag_gives_nothing() -> None:
    found = resolved("profiles: {p: {capabilities: {network_access: false}}}", "p")
    assert (found.grants, found.host_tools, found.allowed_events) == (("base",), (), BASE)


def test_k5_an_unknown_grant_is_an_error() -> None:
    with pytest.raises(PolicyError, match="unknown grant 'agent_mesaging'; did you mean 'agent_messaging'"):
        resolved("profiles: {p: {capabilities: {agent_mesaging: true}}}", "p")


def test_k6_a_pattern_is_what_it_matches_in_the_live_catalogue() -> None:
    text = "profiles: {p: {additional_tools: ['message:*']}, q: {capabilities: {multi_agent_todo: true}}}"
    assert len(set(resolved(text, "p", *MESSAGES).allowed_events) - {*BASE}) == 6
    assert resolved(text, "q", *MESSAGES).allowed_events == BASE


def test_k12_a_circle_is_an_error_that_prints_it_and_never_hangs() -> None:
    text = "grants: {a: {requires: [b]}, b: {requires: [a]}}\nprofiles: {p: {capabilities: {a: true}}}"
    with pytest.raises(PolicyError, match="a -> b -> a"):
        resolved(text, "p")


def test_k13_a_list_allows_what_it_names_and_only_a_star_allows_the_rest() -> None:
    listed = "profiles: {p: {allowed_tools: [Read, Write, Edit], disallowed_tools: [Bash]}}"
    assert [verdict(listed, "p", f"host:{name}") for name in ("Read", "Task", "Bash")] == [
        "allow",
        "deny",
        "deny",
    ]
    starred = "profiles: {p: {allowed_tools: ['*'], disallowed_tools: [Bash]}}"
    assert [verdict(starred, "p", f"host:{name}") for name in ("Task", "Bash")] == ["allow", "deny"]


@pytest.mark.parametrize(
    "climbing", ["../../../etc/passwd", "a/../../etc/passwd", "..", "a/%2e%2e/b", "a/./b", "..\\..\\secret"]
)
def test_k14_a_path_that_climbs_out_is_matched_by_no_wildcard(climbing: str) -> None:
    text = "profiles: {p: {additional_tools: ['file:read:workspace/*']}, owner: {additional_tools: ['*']}}"
    assert verdict(text, "p", "event:file:read:workspace/notes..txt") == "allow"
    assert verdict(text, "p", f"event:file:read:workspace/{climbing}") == "deny"
    assert verdict(text, "owner", f"event:file:read:{climbing}") == "deny"


def test_k14_a_path_that_may_be_read_may_not_be_written() -> None:
    text = "profiles: {p: {additional_tools: ['file:read:shared/*', 'file:write:own/*']}}"
    assert verdict(text, "p", "event:file:write:shared/a") == "deny"
    assert verdict(text, "p", "event:file:write:own/a") == "allow"


def test_k15_two_profiles_together_allow_what_both_allow_and_deny_what_either_denies(
    database: Database, clock: Clock
) -> None:
    text = """
profiles:
  parent:
    additional_tools: ['agent:spawn', 'a:*', 'b:x']
    disallowed_tools: ['a:secret']
    limits: {max_children: 3, max_tokens: 50}
    agents: [root]
  child:
    additional_tools: ['a:*']
    disallowed_tools: ['a:other']
    limits: {max_children: 2, max_tokens: 50}
"""
    policy = policy_of(database, clock, text)
    spawn(database, policy, "root", "kid", "child")
    view = existing("event:a:x", "event:a:secret", "event:a:other", "event:b:x")
    assert policy.allowed("kid", view).allow & view.capabilities.keys() == {"event:a:x"}
    assert policy.limits("kid", view) == {"max_children": 2, "max_tokens": 50}


K16 = """
profiles:
  spawner: {capabilities: {spawn_agents: true}, agents: [root]}
  more_tools: {capabilities: {agent_messaging: true}, additional_tools: ['tool:x']}
  more_grants: {capabilities: {state_read: true}}
  more_children: {additional_tools: ['agent:list'], limits: {max_children: 6}}
  plain: {capabilities: {agent_messaging: true}, agents: [talker]}
"""


@pytest.mark.parametrize("profile", ["more_tools", "more_grants", "more_children"])
def test_k16_a_child_that_exceeds_its_parent_is_refused(
    database: Database, clock: Clock, profile: str
) -> None:
    policy = policy_of(database, clock, K16)
    with pytest.raises(Denied, match="exceeds the parent"):
        spawn(database, policy, "root", "kid", profile)


def test_k16_an_agent_that_may_not_spawn_never_spawns(database: Database, clock: Clock) -> None:
    policy = policy_of(database, clock, K16)
    with pytest.raises(Denied, match="no grant mentions it"):
        spawn(database, policy, "talker", "kid", "plain")


def test_k18_a_child_profile_has_at_least_the_events_of_what_it_extends() -> None:
    text = """
profiles:
  p: {capabilities: {state_write: true, network_access: true}}
  q: {extends: p, capabilities: {agent_messaging: true}}
"""
    parent, child = (resolved(text, name, *MESSAGES) for name in ("p", "q"))
    assert set(parent.allowed_events) < set(child.allowed_events)
    assert set(parent.host_tools) <= set(child.host_tools)
    assert set(parent.grants) < set(child.grants)


def test_k19_an_agent_nobody_knows_has_only_base(database: Database, clock: Clock) -> None:
    policy = policy_of(database, clock, K16)
    assert policy.allowed("unknown", existing("tool:x")).allow == {f"event:{name}" for name in BASE}


# --- the weaknesses ----------------------------------------------------------------------------


def test_an_event_in_several_grants_is_allowed_by_each_of_them() -> None:
    text = """
grants: {one: {event_patterns: [state:get]}, two: {event_patterns: [state:get, a:b]}}
profiles:
  p: {capabilities: {one: true}}
  q: {capabilities: {two: true}}
  r: {capabilities: {state_read: true}}
"""
    assert [verdict(text, name, "event:state:get") for name in "pqr"] == ["allow"] * 3


def test_a_reference_to_a_grant_that_does_not_exist_is_never_silently_empty() -> None:
    with pytest.raises(PolicyError, match="requires unknown grant 'orchestration_control'"):
        resolved(
            "grants: {g: {requires: [orchestration_control]}}\nprofiles: {p: {capabilities: {g: true}}}", "p"
        )


def test_every_profile_has_base() -> None:
    text = "profiles: {empty: {}, talks: {capabilities: {agent_messaging: true}}, child: {extends: talks}}"
    assert all(set(BASE) <= set(resolved(text, name).allowed_events) for name in ("empty", "talks", "child"))


def test_a_wider_profile_keeps_what_the_narrower_one_has() -> None:
    text = """
profiles:
  coordinator: {capabilities: {state_write: true}}
  orchestrator: {extends: coordinator, capabilities: {spawn_agents: true}}
"""
    loaded = rules(text)
    narrow, wide = (
        reach(loaded.holding(name), CatalogueNames({}), loaded.host_names)
        for name in ("coordinator", "orchestrator")
    )
    assert narrow.allow < wide.allow


def test_a_profile_that_extends_another_keeps_its_tools_and_grants() -> None:
    text = "profiles: {p: {capabilities: {multi_agent_todo: true}}, q: {extends: p}}"
    assert resolved(text, "q").host_tools == ("TodoRead", "TodoWrite")
    assert "multi_agent_todo" in resolved(text, "q").grants


def test_a_circle_of_profiles_is_an_error_and_not_a_recursion() -> None:
    with pytest.raises(PolicyError, match="p -> q -> p"):
        rules("profiles: {p: {extends: q}, q: {extends: p}}").holding("p")


def test_a_minus_in_front_of_a_name_is_refused_and_never_leaks_into_the_result() -> None:
    for text in (
        "profiles: {p: {capabilities: {'-state_write': true}}}",
        "profiles: {p: {additional_tools: ['-a']}}",
    ):
        with pytest.raises(PolicyError):
            resolved(text, "p")


def test_a_use_is_checked_and_not_only_listed(database: Database, clock: Clock) -> None:
    policy = policy_of(database, clock, K16)
    with database.writing() as transaction:
        settled = policy.settle(transaction, "talker", "tool:x", existing("tool:x"))
    assert settled.decision.verdict == "deny"
    assert settled.decision.revision == policy.revision


def test_a_spawn_cannot_hand_the_child_events_of_its_own_choosing(database: Database, clock: Clock) -> None:
    policy = policy_of(database, clock, K16)
    spawn(database, policy, "root", "kid", "plain")
    allowed = policy.allowed("kid", existing("tool:x")).allow
    assert allowed <= policy.allowed("root", existing("tool:x")).allow


def test_wildcards_overrides_limits_and_reviews_are_enforced_and_not_only_declared(
    database: Database, clock: Clock
) -> None:
    text = """
profiles:
  p:
    capabilities: {spawn_agents: true, network_access: true}
    disallowed_tools: ['message:p*']
    limits: {max_children: 1}
    agents: [root]
  kid: {}
"""
    policy = policy_of(database, clock, text)
    view = existing("event:message:publish", "event:message:status")
    assert policy.decide("root", "event:message:status", view).verdict == "allow"
    assert policy.decide("root", "event:message:publish", view).verdict == "deny"
    assert policy.decide("root", "WebFetch", view).verdict == "ask"
    spawn(database, policy, "root", "one", "kid")
    with pytest.raises(Denied, match="max_children"):
        spawn(database, policy, "root", "two", "kid")
