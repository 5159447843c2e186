"""A change of a profile is written so that everything else in the file stays as it was."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prowess.errors import PolicyError
from prowess.policy.changes import ProfileChange
from prowess.policy.definitions import define
from prowess.policy.documents import parse_yaml
from prowess.policy.edits import edited

FILE = Path("policy.yaml")
TEXT = """\
# who may what
grants:
  mail: {event_patterns: ["mail:*"]}   # all of it

profiles:
  clerk:      # answers mail
    capabilities: {mail: true, agent_messaging: true}
    additional_tools:
    - "calendar:read"   # only reading

    # never more
    - Read
    disallowed_tools: ["mail:purge", {match: "tool:pay", when: "amount > 5"}]
    level: write
  trainee:
    extends: clerk
    ask:
      - match: "tool:bank/*"
        effects: write
      - "mail:send"
  empty: {}
  last: {agents: [ada]}
"""


def changed(profile: str, *changes: str, text: str = TEXT) -> str:
    return edited(text, FILE, profile, [ProfileChange.read(one) for one in changes])


@pytest.mark.parametrize(
    ("profile", "change", "before", "after"),
    [
        ("clerk", "level=read", "level: write", "level: read"),
        ("clerk", "level=", "    level: write\n", ""),
        ("clerk", "capabilities.state_read=true", "_messaging: true}", "_messaging: true, state_read: true}"),
        ("clerk", "capabilities.mail=false", "{mail: true,", "{mail: false,"),
        ("clerk", "capabilities.mail=", "{mail: true, agent", "{agent"),
        ("clerk", "additional_tools+=tool:x", "    - Read\n", '    - Read\n    - "tool:x"\n'),
        ("clerk", "additional_tools-=Read", "    - Read\n", ""),
        ("clerk", "disallowed_tools-=mail:purge", '"mail:purge", {', "{"),
        (
            "clerk", "disallowed_tools-={match: 'tool:pay', when: amount > 5}",
            ', {match: "tool:pay", when: "amount > 5"}', "",
        ),
        ("clerk", "limits.max_children=0", "level: write\n", "level: write\n    limits: {max_children: 0}\n"),
        ("trainee", "ask-=mail:send", '      - "mail:send"\n', ""),
        (
            "trainee", "ask-={match: 'tool:bank/*', effects: write}",
            '      - match: "tool:bank/*"\n        effects: write\n', "",
        ),
        ("trainee", "extends+=last", "extends: clerk", "extends: [clerk, last]"),
        (
            "trainee", "ask+={effects: destructive}",
            '- "mail:send"\n', '- "mail:send"\n      - {effects: destructive}\n',
        ),
        ("empty", "mode=shadow", "empty: {}", "empty: {mode: shadow}"),
        ("last", "description=off", "[ada]}", '[ada], description: "off"}'),
        ("last", "agents-=ada", "{agents: [ada]}", "{}"),
    ],
)  # fmt: skip
def test_a_change_touches_nothing_but_itself(profile: str, change: str, before: str, after: str) -> None:
    assert TEXT.count(before) == 1
    assert changed(profile, change) == TEXT.replace(before, after)


def test_what_components_say_is_changed_where_they_say_it() -> None:
    text = """\
name: p
components:
  - name: capabilities
    inline:
      state_write: true   # for now
  - name: tool_overrides
    inline:
      disallowed_tools: ["agent:terminate"]
"""
    assert "state_write: false   # for now" in changed("p", "capabilities.state_write=false", text=text)
    assert "inline:\n      state_write: true" in changed("p", "disallowed_tools-=agent:terminate", text=text)
    wider = changed("p", "disallowed_tools+=agent:spawn", text=text)
    assert '["agent:terminate", "agent:spawn"]' in wider


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ("levle=read", "did you mean 'level'"),
        ("level=reed", "none of read, write, admin"),
        ("level", "says no change"),
        ("level+=read", "not changed so"),
        ("capabilities=true", "not changed so"),
        ("capabilities.mail=yes", "write true or false"),
        ("limits.max_depth=-1", "write 0 or more"),
        ("ask+=", "names nothing"),
        ("ask-=nothing:here", "changes nothing"),
        ("level=write", "changes nothing"),
        ("ask+={effects: reed}", "reed"),
    ],
)
def test_a_change_that_cannot_be_made_says_what_can(change: str, what: str) -> None:
    with pytest.raises(PolicyError) as error:
        changed("clerk", change)
    assert what in f"{error.value} {error.value.remedy}"


KEYS = ("additional_tools", "disallowed_tools", "ask", "pinned")
RULES = st.sampled_from(["a:b", "{kind: tool}", "Read", "mail:send", "mail:purge"])
CHANGES = st.one_of(
    st.builds(
        lambda key, how, rule: f"{key}{how}={rule}", st.sampled_from(KEYS), st.sampled_from("+-"), RULES
    ),
    st.builds(lambda value: f"level={value}", st.sampled_from(["read", "write", ""])),
    st.builds(
        lambda name, value: f"capabilities.{name}={value}",
        st.sampled_from(["mail", "x"]),
        st.sampled_from(["true", "false", ""]),
    ),
)


@settings(deadline=None)  # a file is parsed many times, which takes longer where others work
@given(st.sampled_from(["clerk", "trainee", "empty", "last"]), st.lists(CHANGES, max_size=8))
def test_any_changes_one_after_the_other_say_what_they_mean_and_leave_the_other_profiles(
    profile: str, changes: list[str]
) -> None:
    text, others = TEXT, {**define(parse_yaml(TEXT, "f"), "f").profiles}
    for change in changes:
        try:
            ProfileChange.read(change).on(define(parse_yaml(text, "f"), "f").profiles[profile])
        except PolicyError:
            continue
        text = changed(profile, change, text=text)  # says so itself where it is not what was meant
    after = define(parse_yaml(text, "f"), "f").profiles
    assert {**after, profile: None} == {**others, profile: None}
    assert "# who may what" in text and "# all of it" in text
