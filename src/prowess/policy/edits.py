"""A change of a profile, written into the YAML file that defines it.

Above: `Policy`, which proposes, writes and takes back. Below: `yaml_edits`. What was written is read again
and must say exactly what was meant; where it does not, nothing is written and a person is told to do it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from yaml.nodes import Node, SequenceNode

from prowess.errors import PolicyError
from prowess.policy.changes import LISTS, MAPPINGS, RULES, ProfileChange
from prowess.policy.definitions import PolicyDefinitions, define
from prowess.policy.documents import parse_yaml
from prowess.policy.profiles import CAPABILITIES, Profile
from prowess.policy.rule_texts import rule_text
from prowess.policy.yaml_edits import (
    member,
    root,
    scalar,
    with_item,
    with_member,
    without_item,
    without_member,
)

ALIASES = {"additional_tools": ("additional_tools", "allowed_tools")}
"""Keys that mean the same."""


def edited(text: str, file: Path, profile: str, changes: Sequence[ProfileChange]) -> str:
    """The text of a policy file with these changes. Raises `PolicyError` where it cannot be so."""
    if file.suffix == ".toml":
        raise PolicyError(file.name, "is TOML, which prowess cannot edit", "make the change by hand")
    for change in changes:
        before = _defined(text, file)
        if profile not in before.profiles:
            raise PolicyError(file.name, f"does not define profile {profile!r}", "name its file")
        meant = change.on(before.profiles[profile])
        text = _applied(text, profile, change)
        written = _defined(text, file).profiles.get(profile)
        if written is None or _unordered(written) != _unordered(meant):
            raise PolicyError(
                file.name, f"{change} cannot be written there by itself", "make the change by hand"
            )
    return text


def _unordered(profile: Profile) -> Profile:
    """In which order a list says something, and how often, does not matter."""
    lists: dict[str, Any] = {name: frozenset(getattr(profile, name)) for name in (*RULES.values(), "agents")}
    return replace(profile, **lists)


def _defined(text: str, file: Path) -> PolicyDefinitions:
    return define(parse_yaml(text, file.name), file.name)


def _applied(text: str, profile: str, change: ProfileChange) -> str:
    if change.key in LISTS:
        return _listed(text, profile, change)
    if change.key in MAPPINGS:
        return _mapped(text, profile, change)
    own = _profile(text, profile)
    if change.value is None:
        return without_member(text, own, change.key)
    return with_member(text, own, change.key, scalar(change.written))


def _mapped(text: str, profile: str, change: ProfileChange) -> str:
    homes = list(_homes(text, profile, change.key))
    there = next((home for home in homes if member(home, change.part)), homes[0] if homes else None)
    if change.value is None:
        assert there is not None, "what is taken out is there"
        return without_member(text, there, change.part)
    if there is None:
        inside = f"{{{scalar(change.part)}: {change.written}}}"
        return with_member(text, _profile(text, profile), change.key, inside)
    return with_member(text, there, change.part, change.written)


def _listed(text: str, profile: str, change: ProfileChange) -> str:
    value = change.written if isinstance(change.value, dict) else scalar(change.written)
    if change.how == "+=":
        lists = list(_homes(text, profile, change.key))
        if not lists:
            return with_member(text, _profile(text, profile), change.key, f"[{value}]")
        if not isinstance(lists[0], SequenceNode) and lists[0].value:  # `extends: base` is a list of one
            return with_member(text, _profile(text, profile), change.key, f"[{lists[0].value}, {value}]")
        return with_item(text, lists[0], value)
    while (found := _item(text, profile, change)) is not None:
        items, at = found
        if isinstance(items, SequenceNode) and len(items.value) > 1:
            text = without_item(text, items, at)
        else:
            text = _without_list(text, profile, items)
    return text


def _item(text: str, profile: str, change: ProfileChange) -> tuple[Node, int] | None:
    """The first place where the list has what is to be taken out."""
    for items in _homes(text, profile, change.key):
        if not isinstance(items, SequenceNode):
            if items.value == change.written:
                return items, 0
            continue
        for at, one in enumerate(items.value):
            if _says(text, one, change):
                return items, at
    return None


def _says(text: str, item: Node, change: ProfileChange) -> bool:
    """Whether an item of a list is the one that is meant."""
    if isinstance(item.value, str):
        return item.value == change.written
    at = item.start_mark
    # As far in as it stands there, so that lines of a block still belong together.
    written = f"rule:\n{' ' * (at.column + 1)}{text[at.index : item.end_mark.index]}"
    inside = f"rule: {text[at.index : item.end_mark.index]}"
    read = parse_yaml(inside if getattr(item, "flow_style", True) else _indented(written), "rule")
    rule = read["rule"]
    return isinstance(rule, dict) and rule_text(rule) == change.written


def _indented(text: str) -> str:
    """The lines below the first as far in as the second begins."""
    first, second, *rest = text.split("\n")
    return "\n".join([first, second, *(f" {line}" for line in rest)])


def _without_list(text: str, profile: str, items: Node) -> str:
    """Without a list whose only item goes: its key goes, too."""
    for home in _mappings(text, profile):
        for key, value in home.value:
            if value.start_mark.index == items.start_mark.index:
                return without_member(text, home, key.value)
    return text


def _profile(text: str, profile: str) -> Node:
    """Where a profile is defined: under `profiles`, or as the whole document."""
    whole = root(text)
    assert whole is not None, "it was read before"
    under = member(whole, "profiles")
    there = member(under[1], profile) if under else None
    return there[1] if there else whole


def _mappings(text: str, profile: str) -> Iterator[Node]:
    """The mapping of a profile itself, and those of its components."""
    own = _profile(text, profile)
    if isinstance(own.value, list):
        yield own
    components = member(own, "components")
    for component in components[1].value if components else ():
        inline = member(component, "inline")
        if inline and isinstance(inline[1].value, list):
            yield inline[1]


def _homes(text: str, profile: str, key: str) -> Iterator[Node]:
    """Every value that says something of a key: a profile may say it in several places."""
    own = _profile(text, profile)
    for mapping in _mappings(text, profile):
        for name in ALIASES.get(key, (key,)):
            if there := member(mapping, name):
                yield there[1]
    components = member(own, "components") if key == CAPABILITIES else None
    for component in components[1].value if components else ():
        called, inline = member(component, "name"), member(component, "inline")
        if called and inline and called[1].value == CAPABILITIES:
            yield inline[1]
