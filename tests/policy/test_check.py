"""Validation: nothing about a policy is silently wrong."""

from collections.abc import Mapping

from prowess.policy.check import findings, stricter
from prowess.policy.patterns import CatalogueNames
from tests.support.policy import MESSAGES, existing, rules


def warnings(text: str, *ids: str, **declared: Mapping[str, object]) -> list[str]:
    found = findings(rules(text), CatalogueNames(existing(*ids, version=1, **declared).capabilities))
    assert all(problem.severity == "warning" and problem.remedy for problem in found)
    return [f"{problem.what}; {problem.remedy}" for problem in found]


def errors(text: str) -> list[str]:
    return [str(p) for p in findings(rules(text), CatalogueNames({})) if p.severity == "error"]


def test_a_sound_policy_has_no_findings() -> None:
    assert warnings("profiles: {p: {capabilities: {agent_messaging: true}}}", *MESSAGES) == []
    assert errors("profiles: {p: {}}") == []


def test_every_broken_grant_and_profile_is_found_at_once() -> None:
    found = errors(
        """
grants: {a: {requires: [b]}, b: {requires: [a]}, c: {requires: [missing]}, d: {extends: nowhere}}
profiles: {p: {capabilities: {c: true}}, q: {extends: q}, r: {limits: {max_children: 1}}}
"""
    )
    text = "\n".join(found)
    assert "a -> b -> a" in text
    assert "requires unknown grant 'missing'" in text
    assert "extends unknown grant 'nowhere'" in text
    assert "q -> q" in text
    assert "profile 'r'" not in text


def test_a_pattern_that_matches_nothing_is_a_warning() -> None:
    (found,) = warnings("grants: {g: {event_patterns: ['mesage:*']}}", *MESSAGES)
    assert found == "pattern 'mesage:*' matches nothing; did you mean 'message:'?"
    (found,) = warnings("profiles: {p: {additional_tools: ['mesage:*']}}", *MESSAGES)
    assert "matches nothing" in found


def test_an_empty_catalogue_says_nothing_about_patterns() -> None:
    assert warnings("grants: {g: {event_patterns: ['mesage:*']}}") == []


def test_rules_that_can_never_matter_are_warnings() -> None:
    text = """
grants: {g: {event_patterns: ['a:*', 'a:b']}}
profiles:
  p:
    capabilities: {g: true, base: false, network_access: false}
    additional_tools: ['a:c', 'x:y']
    disallowed_tools: ['x:*', 'state:gte', 'stat:get']
    ask: ['other:thing']
    pinned: ['tool:hidden']
"""
    found = "\n".join(warnings(text, "event:a:b"))
    assert "pattern 'a:b' can never matter: 'a:*' covers it" in found
    assert "'base: false' removes nothing: it comes with every profile" in found
    assert "'network_access: false' removes nothing: it is not inherited" in found
    assert "additional_tools: 'a:c' can never matter: grant 'g' has it" in found
    assert "additional_tools: 'x:y' can never matter: 'x:*' is disallowed" in found
    assert "disallowed_tools: 'state:gte' removes nothing this profile has" in found
    assert "ask: 'other:thing' can never matter" in found
    assert "pinned: 'tool:hidden' can never matter" in found
    assert "'x:*' removes nothing" not in found


def test_a_denial_within_something_wide_is_not_idle() -> None:
    assert warnings("profiles: {p: {additional_tools: ['*'], disallowed_tools: ['danger:*', Bash]}}") == []


def test_a_grant_that_is_wanted_and_dropped_is_a_warning() -> None:
    text = "profiles: {p: {level: read, capabilities: {state_write: true}}}"
    (found,) = warnings(text)
    assert found.startswith("'state_write: true' gives nothing: grant 'state_write' is at level write")


def test_a_handler_that_declares_an_unknown_grant_is_a_warning() -> None:
    (found,) = warnings("profiles: {}", "event:a:b", b={"capability": "agent_mesaging"})
    assert found == (
        "its handler declares grant 'agent_mesaging', which does not exist; did you mean 'agent_messaging'?"
    )


def test_a_pattern_for_events_that_also_meets_a_kind_of_that_name_is_a_warning() -> None:
    (found,) = warnings("grants: {g: {event_patterns: ['mail:*']}}", "event:mail:send", "mail:forged")
    assert "matches events and also mail:forged" in found


def test_strict_mode_makes_errors_of_warnings() -> None:
    found = findings(rules("profiles: {p: {ask: ['a:b']}}"), CatalogueNames({}))
    assert [p.severity for p in found] == ["warning"]
    assert [p.severity for p in stricter(found)] == ["error"]


def test_a_cap_that_leaves_only_what_comes_with_every_profile_is_a_warning() -> None:
    text = (
        "profiles: {p: {capabilities: {agent_messaging: true}, level: read}, q: {extends: p, level: write}}"
    )
    found, inherited = [one for one in findings(rules(text), CatalogueNames({})) if "leaves none" in one.what]
    assert "level read leaves none of its grants, only what comes with every profile" in found.what
    assert "profile 'q'" in inherited.place
    kept = "profiles: {p: {capabilities: {state_write: true}, level: read}}"
    assert not [one for one in findings(rules(kept), CatalogueNames({})) if "leaves none" in one.what]
