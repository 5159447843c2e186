"""A profile: the grants of an agent, with overrides.

Above: `rules`, which joins a profile with what it extends. Below: the patterns of its lists. Both
ways of writing one are read: keys of its own, or a list of components, each with its part inline.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import msgspec

from prowess.errors import PolicyError
from prowess.policy.documents import convert
from prowess.policy.grants import LEVELS, Level, Limits, as_names, check_name, checked_limits
from prowess.policy.patterns import EVENT, Pattern, tool_patterns
from prowess.policy.rule_texts import Mode, Stated, read_rules

CAPABILITIES = "capabilities"


@dataclass(frozen=True, slots=True)
class Rule:
    """A pattern and the profile that states it."""

    pattern: Pattern
    profile: str

    @property
    def listed(self) -> bool:
        """Whether its name is listed before anything provides it: not a bare word that may be an event."""
        return self.pattern.states and (
            self.pattern.target == "host" or ":" in self.pattern.glob or self.pattern.text.startswith(EVENT)
        )


@dataclass(frozen=True, slots=True)
class Flag:
    """A grant that a profile switches on or off."""

    on: bool
    profile: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    name: str
    place: str = field(default="", compare=False)
    description: str = ""
    flags: Mapping[str, Flag] = field(default_factory=dict)
    additional: tuple[Rule, ...] = ()
    disallowed: tuple[Rule, ...] = ()
    ask: tuple[Rule, ...] = ()
    pinned: tuple[Rule, ...] = ()
    limits: Limits = field(default_factory=dict)
    level: Level | None = None
    mode: Mode = "enforce"
    extends: tuple[str, ...] = ()
    agents: tuple[str, ...] = ()
    since: str = ""
    version: str = ""
    override: bool = False
    lineage: tuple[str, ...] = ()
    """This profile and everything it extends, the furthest first; set once they are joined."""

    @property
    def rules(self) -> tuple[Rule, ...]:
        return (*self.additional, *self.disallowed, *self.ask, *self.pinned)


class ProfileText(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A profile as a file states it."""

    name: str = ""
    description: str = ""
    components: list[dict[str, object]] = []
    capabilities: dict[str, bool] = {}
    additional_tools: list[Stated] = []
    allowed_tools: list[Stated] = []
    disallowed_tools: list[Stated] = []
    ask: list[Stated] = []
    pinned: list[Stated] = []
    limits: dict[str, int] = {}
    level: Level | None = None
    mode: Mode = "enforce"
    extends: str | list[str] = []
    agents: list[str] = []
    since: str | int | float = ""
    version: str | int | float = ""
    override: bool = False


class ComponentText(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    name: str
    inline: dict[str, object] = {}


def parse_profile(name: str, value: object, place: str) -> Profile:
    check_name(name, f"{place}: profile {name!r}")
    return profile_of(name, value, place)


def profile_of(name: str, value: object, place: str) -> Profile:
    """What `value` says as a profile of this name, whatever the name is."""
    place = f"{place}: profile {name!r}"
    text = convert(_unfolded(value, place), ProfileText, place)
    if text.name not in ("", name):
        raise PolicyError(place, f"is named {text.name!r} inside", "give it one name")
    return Profile(
        name=name,
        place=place,
        description=text.description,
        flags={grant: Flag(on, name) for grant, on in text.capabilities.items()},
        additional=_rules([*text.allowed_tools, *text.additional_tools], name, place),
        disallowed=_rules(text.disallowed_tools, name, place),
        ask=_rules(text.ask, name, place),
        pinned=_rules(text.pinned, name, place),
        limits=checked_limits(text.limits, place),
        level=text.level,
        mode=text.mode,
        extends=as_names(text.extends),
        agents=tuple(text.agents),
        since=str(text.since),
        version=str(text.version),
        override=text.override,
    )


def _unfolded(value: object, place: str) -> object:
    """The components of a profile laid out as its own keys."""
    if not isinstance(value, Mapping) or "components" not in value:
        return value
    keys = {key: part for key, part in value.items() if key != "components"}
    components = value["components"]
    if not isinstance(components, list):
        raise PolicyError(place, "components: expected a list", "write '- name: ...' with 'inline:' below it")
    for number, item in enumerate(components, start=1):
        where = f"{place}, component {number}"
        component = convert(item, ComponentText, where)
        inline = {CAPABILITIES: component.inline} if component.name == CAPABILITIES else component.inline
        for key, part in inline.items():
            keys[key] = _added(keys.get(key), part, f"{where}: {key}")
    return keys


def _added(held: object, part: object, place: str) -> object:
    if held is None:
        return part
    if isinstance(held, list) and isinstance(part, list):
        return [*held, *part]
    if isinstance(held, Mapping) and isinstance(part, Mapping):
        twice = sorted(held.keys() & part.keys())
        if not twice:
            return {**held, **part}
        raise PolicyError(place, f"{twice[0]!r} is given twice", "keep one of them")
    raise PolicyError(place, "is given twice", "keep one of them")


def _rules(stated: Sequence[Stated], profile: str, place: str) -> tuple[Rule, ...]:
    return tuple(Rule(pattern, profile) for pattern in read_rules(stated, tool_patterns, place))


def enforced(profile: Profile) -> Profile:
    """The same without what is only watched: some of its rules, or everything it says itself."""
    if profile.mode == "shadow":
        return Profile(
            name=profile.name,
            place=profile.place,
            description=profile.description,
            mode=profile.mode,
            extends=profile.extends,
            agents=profile.agents,
        )
    if not any(rule.pattern.shadow for rule in profile.rules):
        return profile
    lists = (profile.additional, profile.disallowed, profile.ask, profile.pinned)
    additional, disallowed, ask, pinned = (tuple(r for r in some if not r.pattern.shadow) for some in lists)
    return replace(profile, additional=additional, disallowed=disallowed, ask=ask, pinned=pinned)


def joined(profiles: Sequence[Profile]) -> Profile:
    """One profile of several, the furthest ancestor first: flags override, denials accumulate."""
    last = profiles[-1]
    return Profile(
        name=last.name,
        place=last.place,
        description=last.description,
        flags={grant: flag for p in profiles for grant, flag in p.flags.items()},
        additional=tuple(dict.fromkeys(rule for p in profiles for rule in p.additional)),
        disallowed=tuple(dict.fromkeys(rule for p in profiles for rule in p.disallowed)),
        ask=tuple(dict.fromkeys(rule for p in profiles for rule in p.ask)),
        pinned=tuple(dict.fromkeys(rule for p in profiles for rule in p.pinned)),
        limits={name: value for p in profiles for name, value in p.limits.items()},
        level=min((p.level for p in profiles if p.level), key=LEVELS.index, default=None),
        extends=last.extends,
        agents=last.agents,
        since=last.since,
        version=last.version,
        lineage=tuple(p.name for p in profiles),
    )
