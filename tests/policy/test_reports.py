"""Migration and differences."""

from prowess.policy.definitions import define, read_definitions
from prowess.policy.diff import PolicySide, diff, policy_diff
from prowess.policy.documents import parse_yaml
from prowess.policy.migrate import GrantMigration, migrate
from prowess.policy.patterns import CatalogueNames
from prowess.policy.resolve import resolve
from prowess.policy.ruleset import RuleSet
from tests.support.policy import DATA, MESSAGES, existing, resolved, rules

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


APPROVALS = """
profiles:
  a: {additional_tools: ["pay:send", "pay:read", {match: "pay:small", when: "amount <= 10"}], level: read}
  b: {additional_tools: ["pay:send", "pay:read", "pay:small"], ask: ["pay:send"]}
"""


def test_gaining_and_losing_approval_is_a_difference() -> None:
    held = rules(APPROVALS)
    found = diff((held, "a"), (held, "b"), NOTHING)
    assert found and not found.added and not found.removed
    assert (found.now_asks, found.no_longer_asks) == (("pay:send",), ())
    assert found.level == ("read", "")
    assert "- now asks a person about pay:send" in list(found.lines())
    back = list(diff((held, "b"), (held, "a"), NOTHING).lines())
    assert "+ no longer asks a person about pay:send" in back
    only = "~ condition of pay:small: none -> only when amount <= 10"
    assert only in back


def test_two_policies_differ_by_profile_and_by_who_is_bound_to_which() -> None:
    before = rules("profiles: {p: {additional_tools: ['a:b'], agents: [ada]}, gone: {agents: [bob]}}")
    after = rules("profiles: {p: {ask: ['a:b'], additional_tools: ['a:b']}, new: {agents: [ada, bob]}}")
    sides = [PolicySide(rules=one, names=NOTHING, agents=one.bound) for one in (before, after)]
    found = policy_diff(*sides)
    assert list(found.lines()) == [
        "+ profile new",
        "- profile gone",
        "profile p",
        "  - now asks a person about a:b",
        "~ agent ada: p -> new",
        "~ agent bob: gone -> new",
    ]
    assert not policy_diff(sides[0], sides[0])


def test_a_profile_comes_to_what_it_asks_about_its_conditions_level_and_limits() -> None:
    text = """
grants: {mail: {event_patterns: ["mail:*"], level: write, resource_limits: {max_resource_intensive: 9}}}
profiles:
  p:
    capabilities: {mail: true, network_access: true}
    additional_tools: [{match: "pay:small", when: "amount <= 10"}]
    ask: ["mail:send"]
  q: {extends: p, level: read}
"""
    found = resolved(text, "p", "event:mail:send", "event:mail:read", "event:pay:small")
    assert found.ask == ("WebFetch", "WebSearch", "mail:send")
    assert found.conditions == {"pay:small": ("only when amount <= 10",)}
    assert found.limits == {"max_resource_intensive": 9}
    capped = resolved(text, "q", "event:mail:send")
    assert capped.level == "read" and "above level read" in capped.dropped["mail"]
