"""Grants: what a policy file may say, what it gives, and what is refused with a remedy."""

from pathlib import Path

import pytest

from prowess.errors import NotFound, PolicyError
from prowess.policy.definitions import define, read_definitions
from prowess.policy.documents import parse_toml, parse_yaml
from prowess.policy.grant_report import given
from prowess.policy.patterns import CatalogueNames
from prowess.policy.ruleset import RuleSet
from tests.support.policy import existing, resolved, rules

NOTHING = CatalogueNames({})


def refusal(text: str) -> str:
    with pytest.raises(PolicyError) as caught:
        loaded = rules(text)
        for name in loaded.profiles:
            loaded.holding(name)
    return str(caught.value)


def test_the_built_in_grants_are_those_of_the_design() -> None:
    assert sorted(RuleSet.of().grants) == [
        "agent_messaging", "base", "multi_agent_todo", "network_access", "spawn_agents", "state_read",
        "state_write",
    ]  # fmt: skip


def test_claude_tools_is_read_as_tools() -> None:
    found = resolved(
        "grants: {shell: {claude_tools: [Bash]}}\nprofiles: {p: {capabilities: {shell: true}}}", "p"
    )
    assert found.host_tools == ("Bash",)


def test_a_toml_file_defines_the_same_as_a_yaml_file(tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text('[grants.mail]\nevent_patterns = ["mail:send"]\nlevel = "admin"\n')
    (tmp_path / "a.yaml").write_text("grants:\n  mail: {event_patterns: ['mail:send'], level: admin}\n")
    toml, yaml = (RuleSet.of([read_definitions(tmp_path / name)]) for name in ("a.toml", "a.yaml"))
    assert toml.revision == yaml.revision


def test_a_program_defines_grants_with_plain_values() -> None:
    held = RuleSet.of([define({"grants": {"mail": {"event_patterns": ["mail:*"]}}})])
    assert held.grant("mail").events[0].text == "mail:*"


def test_a_grant_that_extends_another_has_what_that_has() -> None:
    text = """
grants:
  small: {event_patterns: [a:x], resource_limits: {max_children: 3}, security_review_required: true}
  large: {event_patterns: [a:y], extends: small}
"""
    large = rules(text).grant("large")
    assert [p.text for p in large.events] == ["a:x", "a:y"]
    assert large.limits == {"max_children": 3}
    assert large.review


def test_a_star_also_matches_colons() -> None:
    found = resolved(
        "profiles: {p: {additional_tools: ['a:*']}}", "p", "event:a:b:c", "event:a:d", "event:b:a:x"
    )
    assert {"a:b:c", "a:d"} <= set(found.allowed_events)
    assert "b:a:x" not in found.allowed_events


def test_a_pattern_that_starts_with_a_kind_matches_ids_and_any_other_matches_event_names() -> None:
    ids = ("tool:web-search", "event:web-search", "event:web:search", "skill:web")
    by_id = resolved("profiles: {p: {additional_tools: ['tool:web*']}}", "p", *ids)
    by_name = resolved(
        "grants: {g: {event_patterns: ['web*']}}\nprofiles: {p: {capabilities: {g: true}}}", "p", *ids
    )
    base = {"system:health", "system:help"}
    assert set(by_id.allowed_events) - base == {"tool:web-search"}
    assert set(by_name.allowed_events) - base == {"web-search", "web:search"}


def test_a_kind_of_a_users_own_is_matched_by_its_id() -> None:
    found = resolved(
        "profiles: {p: {additional_tools: ['workflow:*']}}", "p", "workflow:deploy", "tool:deploy"
    )
    assert "workflow:deploy" in found.allowed_events
    assert "tool:deploy" not in found.allowed_events


def test_exact_names_are_listed_before_anything_provides_them_and_patterns_as_what_they_match_now() -> None:
    text = "profiles: {p: {capabilities: {agent_messaging: true}}}"
    assert resolved(text, "p").allowed_events == (
        "agent:send_message", "conversation:active", "system:health", "system:help",
    )  # fmt: skip
    assert "message:publish" in resolved(text, "p", "event:message:publish").allowed_events


def test_an_unknown_key_is_an_error_with_the_nearest_key() -> None:
    assert "did you mean 'event_patterns'?" in refusal("grants: {g: {event_paterns: [a]}}")
    assert "did you mean 'disallowed_tools'?" in refusal("profiles: {p: {dissallowed_tools: [a]}}")
    assert "did you mean 'grants'?" in refusal("grant: {}")


def test_a_wrong_type_is_an_error_that_names_the_place() -> None:
    message = refusal("grants: {g: {resource_limits: {max_children: many}}}")
    assert message.startswith("policy.yaml: grant 'g': resource_limits")
    assert "grant 'g'" in refusal("grants: {g: {event_patterns: message}}")
    assert "profile 'p'" in refusal("profiles: {p: {capabilities: {base: 'yes'}}}")


def test_a_name_defined_twice_is_an_error_unless_the_later_one_says_override() -> None:
    first = define({"grants": {"g": {"event_patterns": ["a:x"]}}}, "one.yaml")
    again = define({"grants": {"g": {"event_patterns": ["a:y"]}}}, "two.yaml")
    with pytest.raises(PolicyError, match=r"two\.yaml: grant 'g': is already defined \(one\.yaml"):
        RuleSet.of([first, again])
    over = define({"grants": {"g": {"event_patterns": ["a:y"], "override": True}}}, "two.yaml")
    assert [p.text for p in RuleSet.of([first, over]).grant("g").events] == ["a:y"]


def test_a_built_in_grant_is_replaced_only_with_override() -> None:
    assert "already defined (built in" in refusal("grants: {base: {event_patterns: [system:health]}}")
    found = resolved(
        "grants: {base: {event_patterns: [system:ping], always_included: true, override: true}}\n"
        "profiles: {p: {}}",
        "p",
    )
    assert found.allowed_events == ("system:ping",)


def test_a_required_grant_that_does_not_exist_is_named_with_the_nearest() -> None:
    message = refusal("grants: {g: {requires: [state_red]}}\nprofiles: {p: {capabilities: {g: true}}}")
    assert "requires unknown grant 'state_red'" in message
    assert "did you mean 'state_read'?" in message


def test_circles_are_printed() -> None:
    requires = "grants: {a: {requires: [b]}, b: {requires: [c]}, c: {requires: [a]}}\n"
    assert "a -> b -> c -> a" in refusal(requires + "profiles: {p: {capabilities: {a: true}}}")
    assert "a -> b -> a" in refusal(
        "grants: {a: {extends: b}, b: {extends: a}}\nprofiles: {p: {capabilities: {a: true}}}"
    )
    assert "p -> q -> p" in refusal("profiles: {p: {extends: q}, q: {extends: p}}")


def test_limits_that_contradict_are_errors() -> None:
    assert "contradict" in refusal("grants: {g: {resource_limits: {max_children: 5, max_depth: 0}}}")
    assert "contradicts grant 'spawn_agents', which allows 5" in refusal(
        "profiles: {p: {capabilities: {spawn_agents: true}, limits: {max_children: 9}}}"
    )
    assert "never raise" in refusal(
        "profiles: {p: {limits: {max_children: 2}}, q: {extends: p, limits: {max_children: 3}}}"
    )
    assert "write 0 or more" in refusal("grants: {g: {resource_limits: {max_children: -1}}}")


def test_a_misspelt_limit_is_an_error_and_a_hosts_own_limit_is_carried() -> None:
    assert "did you mean 'max_children'?" in refusal("grants: {g: {resource_limits: {max_childs: 1}}}")
    text = "profiles: {p: {limits: {max_tokens: 100}}}"
    assert resolved(text, "p").limits == {"max_tokens": 100}


def test_of_two_limits_of_one_name_the_smaller_holds() -> None:
    text = """
grants:
  g: {resource_limits: {max_children: 4}}
  h: {resource_limits: {max_children: 2, max_depth: 1}}
profiles: {p: {capabilities: {g: true, h: true}}}
"""
    assert resolved(text, "p").limits == {"max_children": 2, "max_depth": 1}


def test_a_level_cap_drops_the_grants_above_it_and_those_that_need_them() -> None:
    text = """
grants: {reads_all: {event_patterns: [x:y], level: read, requires: [state_write]}}
profiles: {p: {level: read, capabilities: {state_read: true, state_write: true, reads_all: true}}}
"""
    found = resolved(text, "p")
    assert found.grants == ("base", "state_read")
    assert "state:set" not in found.allowed_events


def test_what_a_grant_gives_includes_what_it_requires() -> None:
    found = given(
        RuleSet.of(), "spawn_agents", CatalogueNames(existing("event:message:publish").capabilities)
    )
    assert found.requires == ("agent_messaging",)
    assert {"agent:spawn", "message:publish"} <= set(found.events)
    assert found.limits == {"max_children": 5, "max_depth": 2}
    with pytest.raises(NotFound, match="did you mean 'spawn_agents'"):
        given(RuleSet.of(), "spawn_agent", NOTHING)


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("", "holds no mapping"),
        ("- a", "holds no mapping"),
        ("grants: [", "line 2, column 1: not valid YAML"),
        ("grants: {}\ngrants: {}", "given twice"),
        ("profiles: {p: {disallowed_tools: [a], disallowed_tools: []}}", "given twice"),
        ("a: &a [x]\nb: *a", "aliases are not read"),
        ("grants: {1: {}}", "'1' is not a name"),
        ("grants: {[a]: {}}", "a key is not text"),
        ("grants: !!python/object:os.system {}", "is not supported"),
        ("grants: {'-x': {}}", "begins with '-'"),
        ("profiles: {p: {disallowed_tools: ['']}}", "is not a pattern"),
        ('profiles: {p: {disallowed_tools: ["a\\nb"]}}', "is not a pattern"),
        ("[" * 200_000, "nested more than 64 deep"),
    ],
)
def test_bad_yaml_is_one_clear_error(text: str, what: str) -> None:
    with pytest.raises(PolicyError) as caught:
        define(parse_yaml(text, "policy.yaml"), "policy.yaml")
    assert what in str(caught.value)
    assert "policy.yaml" in str(caught.value)


def test_a_bomb_of_merged_keys_is_refused_at_once() -> None:
    lines = ["a0: &a0 {k: v}"] + [
        f"a{n}: &a{n} {{<<: [{', '.join([f'*a{n - 1}'] * 9)}]}}" for n in range(1, 12)
    ]
    with pytest.raises(PolicyError, match="aliases are not read"):
        parse_yaml("\n".join(lines), "policy.yaml")


def test_a_version_and_a_date_stay_the_text_that_was_written() -> None:
    grant = rules("grants: {g: {version: 1.10, since: 2026-01-31}}").grants["g"]
    assert (grant.version, grant.since) == ("1.10", "2026-01-31")


def test_a_chain_that_never_ends_is_a_clear_error() -> None:
    grants = {f"g{n}": {"requires": [f"g{n + 1}"]} for n in range(3000)} | {"g3000": {}}
    loaded = RuleSet.of([define({"grants": grants, "profiles": {"p": {"capabilities": {"g0": True}}}})])
    with pytest.raises(PolicyError, match="requires goes more than 100 deep"):
        loaded.holding("p")


def test_profiles_that_meet_again_and_again_are_read_once() -> None:
    profiles: dict[str, object] = {"p0": {"limits": {"max_children": 3}}}
    for n in range(1, 40):
        profiles |= {f"a{n}": {"extends": f"p{n - 1}"}, f"b{n}": {"extends": f"p{n - 1}"}}
        profiles[f"p{n}"] = {"extends": [f"a{n}", f"b{n}"]}
    assert RuleSet.of([define({"profiles": profiles})]).holding("p39").limits == {"max_children": 3}


def test_a_file_that_is_too_large_is_refused(tmp_path: Path) -> None:
    (tmp_path / "p.yaml").write_bytes(b"#" * (4 * 1024 * 1024 + 1))
    with pytest.raises(PolicyError, match="is larger than"):
        read_definitions(tmp_path / "p.yaml")


def test_bad_toml_and_bad_bytes_are_clear_errors(tmp_path: Path) -> None:
    with pytest.raises(PolicyError, match="is not TOML"):
        parse_toml("a = ", "policy.toml")
    (tmp_path / "p.yaml").write_bytes(b"\xff\xfe")
    with pytest.raises(PolicyError, match="is not UTF-8"):
        read_definitions(tmp_path / "p.yaml")
    with pytest.raises(PolicyError, match="cannot be read"):
        read_definitions(tmp_path / "missing.yaml")


def test_the_revision_moves_with_what_is_said_and_not_with_how_it_is_written() -> None:
    one = rules("profiles: {p: {additional_tools: [a:b]}, q: {}}")
    other = rules("# a comment\nprofiles:\n  q: {}\n  p:\n    additional_tools: ['a:b']\n")
    assert one.revision == other.revision
    assert one.revision != rules("profiles: {p: {additional_tools: [a:c]}, q: {}}").revision


@pytest.mark.parametrize(
    ("text", "what", "remedy"),
    [
        ("profiles: {p: {level: reed}}", "'reed' is none of read, write, admin", "did you mean 'read'?"),
        ("grants: {g: {level: all}}", "'all' is none of read, write, admin", "write one of: read, write"),
        ("profiles: {p: {mode: shado}}", "'shado' is none of enforce, shadow", "did you mean 'shadow'?"),
        ("profiles: {p: {ask: [{match: 'a:b', mode: off}]}}", "'off' is none of enforce", "write one of"),
    ],
)  # fmt: skip
def test_a_word_that_is_none_names_those_that_are(text: str, what: str, remedy: str) -> None:
    with pytest.raises(PolicyError) as error:
        rules(text)
    assert what in str(error.value) and remedy in error.value.remedy
