"""One change of a profile, as a person writes it: `level=write`, `ask+=tool:bank/*`, `limits.max_depth=1`.

Above: advice, which proposes changes, and `edits`, which writes them into a file. Below: profiles.
"""

import re
import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from prowess.errors import PolicyError, nearest
from prowess.policy.definitions import PolicyDefinitions
from prowess.policy.documents import parse_yaml
from prowess.policy.profiles import CAPABILITIES, Profile, parse_profile
from prowess.policy.rule_texts import Stated, rule_text

How = Literal["=", "+=", "-="]
RULES = {"additional_tools": "additional", "disallowed_tools": "disallowed", "ask": "ask", "pinned": "pinned"}
LISTS = (*RULES, "extends", "agents")
WORDS = ("level", "mode", "description")
MAPPINGS = (CAPABILITIES, "limits")
KEYS = (*LISTS, *WORDS, *MAPPINGS)
_SAID = re.compile(r"(?P<key>[A-Za-z_]+)(?:\.(?P<part>[\w.-]+))?(?P<how>[+-]?=)(?P<value>.*)\Z", re.DOTALL)
_HOW = "write level=read, capabilities.mail=true, limits.max_children=2, ask+=tool:bank/* or ask-=tool:bank/*"


@dataclass(frozen=True, slots=True)
class ProfileChange:
    """`value` is nothing where a key is taken out."""

    key: str
    how: How
    value: bool | int | Stated | None
    part: str = ""
    """Which grant, or which limit."""

    @classmethod
    def read(cls, text: str) -> "ProfileChange":
        """Raises `PolicyError` where the text is no change."""
        said = _SAID.match(text)
        if said is None:
            raise PolicyError(f"change {text!r}", "says no change", _HOW)
        key, part, how = said["key"], said["part"] or "", said["how"]
        place = f"change {text!r}"
        if key not in KEYS:
            close = nearest(key, KEYS)
            remedy = f"did you mean {close!r}?" if close else f"known keys: {', '.join(KEYS)}"
            raise PolicyError(place, f"unknown key {key!r}", remedy)
        if (key in MAPPINGS) != bool(part) or (key in LISTS) != (how != "="):
            raise PolicyError(place, f"{key} is not changed so", _HOW)
        return cls(key, how, _value(key, said["value"], place), part)  # type: ignore[arg-type]

    def __str__(self) -> str:
        return f"{self.key}{'.' if self.part else ''}{self.part}{self.how}{self.written}"

    @property
    def written(self) -> str:
        """The value as text, nothing where a key is taken out."""
        match self.value:
            case None:
                return ""
            case bool():
                return str(self.value).lower()
            case int():
                return str(self.value)
        return rule_text(self.value)

    def on(self, profile: Profile) -> Profile:
        """The profile with this change. Raises `PolicyError` where it changes nothing."""
        place = profile.place or f"profile {profile.name!r}"
        file = place.partition(": profile ")[0]
        read = parse_profile(profile.name, self._document(), file) if self.value is not None else None
        changed = self._taken(profile) if read is None or self.how == "-=" else self._given(profile, read)
        if changed == profile:
            raise PolicyError(place, f"{self} changes nothing", "see what it says: prowess policy resolve")
        return changed

    def _document(self) -> dict[str, Any]:
        if self.part:
            return {self.key: {self.part: self.value}}
        return {self.key: [self.value] if self.key in LISTS else self.value}

    def _given(self, profile: Profile, read: Profile) -> Profile:
        name = ATTRIBUTES.get(self.key, self.key)
        had, said = getattr(profile, name), getattr(read, name)
        if self.key in LISTS:
            said = tuple(dict.fromkeys([*had, *said]))
        elif self.key in MAPPINGS:
            said = {**had, **said}
        return _with(profile, name, said)

    def _taken(self, profile: Profile) -> Profile:
        name = ATTRIBUTES.get(self.key, self.key)
        had = getattr(profile, name)
        if self.key in RULES:
            return _with(profile, name, tuple(rule for rule in had if rule.pattern.text != self.written))
        if self.key in LISTS:
            return _with(profile, name, tuple(one for one in had if one != self.value))
        if self.key in MAPPINGS:
            return _with(profile, name, {part: one for part, one in had.items() if part != self.part})
        return _with(profile, name, getattr(Profile(name=profile.name), name))


def _with(profile: Profile, name: str, value: Any) -> Profile:
    fields: dict[str, Any] = {name: value}
    return replace(profile, **fields)


ATTRIBUTES: Mapping[str, str] = {**RULES, CAPABILITIES: "flags"}


def changed(
    definitions: PolicyDefinitions, profile: str, changes: Iterable[ProfileChange]
) -> PolicyDefinitions:
    """What is defined with some changes of one profile."""
    one = definitions.profiles[profile]
    for change in changes:
        one = change.on(one)
    return replace(definitions, profiles={**definitions.profiles, profile: one})


def command(profile: str, changes: Iterable[ProfileChange]) -> str:
    """How a person makes them."""
    return shlex.join(["prowess", "policy", "set", profile, *map(str, changes)])


def _value(key: str, text: str, place: str) -> bool | int | Stated | None:
    if text == "":
        if key in LISTS:
            raise PolicyError(place, "names nothing", _HOW)
        return None
    if key == CAPABILITIES:
        if text not in ("true", "false"):
            raise PolicyError(place, f"{text!r} is neither true nor false", "write true or false, or nothing")
        return text == "true"
    if key == "limits":
        if not text.isdecimal():
            raise PolicyError(place, f"{text!r} is not a whole number", "write 0 or more, or nothing")
        return int(text)
    if key in RULES and text.startswith("{"):
        return dict(parse_yaml(text, place))
    return text
