"""Grants and profiles as one file, or one program, defines them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from prowess.errors import PolicyError
from prowess.policy.builtin_grants import BASE, PLACE, builtin_grants
from prowess.policy.documents import convert, read_document, unknown_key
from prowess.policy.grants import Grant, parse_grant
from prowess.policy.profiles import Profile, ProfileText, parse_profile


@dataclass(frozen=True, slots=True)
class PolicyDefinitions:
    place: str
    grants: Mapping[str, Grant] = field(default_factory=dict)
    profiles: Mapping[str, Profile] = field(default_factory=dict)
    tests: Sequence[Mapping[str, object]] = ()
    """What it is expected to decide, as it is stated."""


class PolicyText(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The top of a policy file."""

    grants: dict[str, object] = {}
    profiles: dict[str, object] = {}
    tests: list[dict[str, object]] = []


def define(document: Mapping[str, object], place: str = "program") -> PolicyDefinitions:
    """What a document defines: `grants`, `profiles` and `tests`, or one profile that says its `name`."""
    if "name" in document and "grants" not in document and "profiles" not in document:
        name = document["name"]
        if not isinstance(name, str):
            raise PolicyError(place, "name: expected text", "put the name in quotes")
        return PolicyDefinitions(place, profiles={name: parse_profile(name, document, place)})
    known = PolicyText.__struct_fields__
    for key in document:
        if key not in known:
            # A profile without its name is the likeliest reason for a profile's keys up here.
            raise unknown_key(key, [*known, "name"] if key in ProfileText.__struct_fields__ else known, place)
    text = convert(document, PolicyText, place)
    return PolicyDefinitions(
        place,
        {name: parse_grant(name, value, place) for name, value in text.grants.items()},
        {name: parse_profile(name, value, place) for name, value in text.profiles.items()},
        text.tests,
    )


def read_definitions(path: Path) -> PolicyDefinitions:
    return define(read_document(path), path.name)


def builtin() -> PolicyDefinitions:
    return define({"grants": builtin_grants()}, PLACE)


def base_alone() -> PolicyDefinitions:
    """What remains when the policy cannot be used."""
    return define({"grants": {BASE: builtin_grants()[BASE]}}, PLACE)


def merged(parts: Iterable[PolicyDefinitions]) -> PolicyDefinitions:
    """All of them as one; a name defined twice is an error unless the later one says override."""
    grants: dict[str, Grant] = {}
    profiles: dict[str, Profile] = {}
    for part in parts:
        for grant in part.grants.values():
            _refuse_twice(grants.get(grant.name), grant)
            grants[grant.name] = grant
        for profile in part.profiles.values():
            _refuse_twice(profiles.get(profile.name), profile)
            profiles[profile.name] = profile
    return PolicyDefinitions("policy", grants, profiles)


def _refuse_twice(first: Grant | Profile | None, second: Grant | Profile) -> None:
    if first is not None and not second.override:
        raise PolicyError(
            second.place,
            f"is already defined ({first.place})",
            "rename it, or say 'override: true'",
        )
