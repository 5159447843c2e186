"""Which names a rule speaks of: exact names, and `*` for any run of characters.

Above: grants and profiles, whose rules are patterns. Below: nothing. A pattern that starts with a
kind the words know (`tool:...`) is matched against ids, any other against event names; `*` alone
is everything. A host's own tools are named `host:NAME`, so that they are decided like any other id.
A kind of a user's own has no prefix the words know, so its ids are matched beside the event names.
Rules and names are compared in one normal form, so no way to write a letter gets around a rule.
"""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from prowess.errors import PolicyError
from prowess.policy.attributes import Attributes, by_value, is_value
from prowess.policy.conditions import Condition
from prowess.policy.globs import Ordered, glob_matches
from prowess.policy.spelling import composed
from prowess.types import KINDS, Capability

EVENT = "event:"
HOST = "host:"
HANDLERS = ("events", "")
"""The kinds of source whose metadata a program wrote: handlers, and what a program made itself."""
MAX_PATTERN_LENGTH = 256

Target = Literal["everything", "ids", "names", "host"]

# A path that climbs is not below the folder a glob names, whatever its text begins with.
CLIMBS = re.compile(r"(?:^|[/\\:])(?:\.|%2e){1,2}(?:$|[/\\:])", re.IGNORECASE)
KNOWN = frozenset({*KINDS, "host"})
KNOWN_PREFIX = re.compile(rf"(?:{'|'.join(sorted(KNOWN))}):")


@dataclass(frozen=True, slots=True)
class Pattern:
    """One rule as it was written, what it is matched against, and what it looks for there."""

    text: str
    target: Target
    glob: str
    where: Attributes | None = None
    """What the thing must be, beside its name."""
    excepted: tuple["Pattern", ...] = ()
    when: Condition | None = None
    """What its arguments must be; nothing where any will do."""
    shadow: bool = False
    """Whether it is only watched, and decides nothing."""

    @property
    def exact(self) -> bool:
        # A host's rule such as `Bash(git:*)` is one name; its star is the host's business.
        return "*" not in self.glob or (self.target == "host" and "(" in self.glob)

    @property
    def states(self) -> bool:
        """Whether it names one id, whether or not anything provides it."""
        return self.exact and self.where is None

    @property
    def by_name(self) -> "Pattern":
        """The same without what it says beyond the name."""
        return Pattern(self.text, self.target, self.glob)

    @property
    def id(self) -> str:
        """The id an exact pattern names, whether or not anything provides it."""
        if self.target == "names":
            return EVENT + self.glob
        return HOST + self.glob if self.target == "host" else self.glob

    def matches(self, id: str, capability: Capability | None = None, trust: str = "") -> bool:
        """Whether it gives this: a wildcard never gives a name that climbs."""
        id = composed(id)
        return (
            (self.exact or not self._climbs(id))
            and self._speaks_of(id)
            and (self.where is None or self.where.fits(capability, trust))
            and not any(one.restricts(id, capability, trust) for one in self.excepted)
        )

    def restricts(self, id: str, capability: Capability | None = None, trust: str = "") -> bool:
        """Whether it denies or asks about this: a wildcard means names that climb as well."""
        return (
            self._speaks_of(composed(id))
            and (self.where is None or self.where.fits(capability, trust))
            and not any(one.matches(id, capability, trust) for one in self.excepted)
        )

    def covers(self, other: "Pattern") -> bool:
        """Whether everything the other can ever match is matched here; false when in doubt."""
        return self.covers_as_denial(other) and (
            self.exact or self.target == "everything" or not self._climbs(other.id)
        )

    def covers_as_denial(self, other: "Pattern") -> bool:
        return self._is_as_wide(other) and self._covers_names(other)

    def _is_as_wide(self, other: "Pattern") -> bool:
        """Whether nothing that the other lets through beside its names is kept out here."""
        return (
            (self.where is None or self.where.covers(other.where))
            and set(self.excepted) <= set(other.excepted)
            and self.when in (None, other.when)
            and (other.shadow or not self.shadow)
        )

    def _covers_names(self, other: "Pattern") -> bool:
        if "everything" in (self.target, other.target):
            return self.target == "everything"
        if self.exact:
            return other.exact and self.id == other.id
        subject = self._subject(other.id)
        return subject is not None and glob_matches(self.glob, subject)

    def _speaks_of(self, id: str) -> bool:
        if self.exact:
            return id == self.id or (self.target == "names" and id == self.glob and is_own_kind(id))
        subject = self._subject(id)
        return subject is not None and glob_matches(self.glob, subject)

    def _climbs(self, id: str) -> bool:
        return climbs(self._subject(id) or "")

    def _subject(self, id: str) -> str | None:
        """The part of an id that this pattern looks at; None when it does not speak of such ids."""
        host = id.startswith(HOST)
        if self.target == "everything":
            return id
        if self.target == "host":
            return id.removeprefix(HOST) if host else None
        if self.target == "ids":
            return None if host else id
        if id.startswith(EVENT):
            return id.removeprefix(EVENT)
        return id if is_own_kind(id) else None


def event_pattern(text: str, place: str) -> Pattern:
    """A pattern of a grant's `event_patterns`: over event names, or over ids when it names a kind."""
    text = _checked(text, place)
    if text == "*":
        return Pattern(text, "everything", text)
    if text.startswith(HOST):
        return Pattern(text, "host", text.removeprefix(HOST))
    if text.startswith(EVENT):
        return Pattern(text, "names", text.removeprefix(EVENT))
    return Pattern(text, "ids" if KNOWN_PREFIX.match(text) else "names", text)


def host_pattern(text: str, place: str) -> Pattern:
    """A pattern of a grant's `tools`: over the names of a host's own tools."""
    text = _checked(text, place)
    return Pattern(text, "host", text.removeprefix(HOST))


def tool_patterns(text: str, place: str) -> tuple[Pattern, ...]:
    """A pattern of a profile's lists: without a colon it may mean a host's tool or an event."""
    if "(" in text:
        return (host_pattern(text, place),)
    if ":" in text or text == "*":
        return (event_pattern(text, place),)
    return host_pattern(text, place), event_pattern(text, place)


def climbs(name: str) -> bool:
    return ("." in name or "%" in name) and CLIMBS.search(name) is not None


def is_own_kind(id: str) -> bool:
    """Whether the id is of a kind that only its user knows."""
    return id.partition(":")[0] not in KNOWN


def shown(id: str) -> str:
    """An id as `allowed_events` lists it: events by their name, everything else by its id."""
    return id.removeprefix(EVENT)


def _checked(text: str, place: str) -> str:
    if not text or len(text) > MAX_PATTERN_LENGTH or not text.isprintable() or text != text.strip():
        raise PolicyError(
            place,
            f"{text[:40]!r} is not a pattern",
            f"write 1 to {MAX_PATTERN_LENGTH} printable characters, `*` for any",
        )
    if text.startswith("-"):
        raise PolicyError(place, f"{text!r} begins with '-', which removes nothing", "use disallowed_tools")
    return composed(text)


class CatalogueNames:
    """The capabilities of one catalogue version, so that a pattern finds what it matches."""

    def __init__(
        self, capabilities: Mapping[str, Capability], trust: Mapping[str, str] | None = None
    ) -> None:
        # The ids of a host's tools are not for a source to define.
        self.forged = frozenset(id for id in capabilities if id.startswith(HOST))
        self.climbing = frozenset(id for id in capabilities if ("." in id or "%" in id) and climbs(id))
        odd = self.forged | self.climbing
        self._all = sorted(capabilities.keys() - odd) if odd else sorted(capabilities)
        self._ids = Ordered(*_by_spelling((id, id) for id in self._all))
        events = [(id[len(EVENT) :], id) for id in self._all if id.startswith(EVENT)]
        own = [(id, id) for id in self._all if id.partition(":")[0] not in KNOWN]
        self._names = Ordered(*_by_spelling([*events, *own]))
        self.capabilities = capabilities
        self._trust = trust or {}
        self._by_value: Mapping[str, Mapping[str, frozenset[str]]] | None = None
        self.joined = _joined(capabilities)
        self._apart: dict[str, list[str]] = {}
        for id in capabilities:
            if composed(id) != id:
                self._apart.setdefault(composed(id), []).append(id)
        self._bare: dict[str, list[str]] | None = None

    def trust_of(self, id: str) -> str:
        """How far the source of something is trusted."""
        capability = self.capabilities.get(id)
        return self._trust.get(capability.source, "") if capability else ""

    def matching(self, pattern: Pattern) -> Collection[str]:
        """The ids of what exists and matches."""
        if pattern.exact:
            return [id for id in self._called(pattern) if self.matches(pattern, id)]
        named = self._named(pattern)
        if pattern.where is None and not pattern.excepted:
            return named
        found = set(named) if pattern.where is None else self._having(pattern.where).intersection(named)
        for one in pattern.excepted:
            found.difference_update(self.matching(one))
        return found

    def matches(self, pattern: Pattern, id: str) -> bool:
        """Whether a pattern gives an id, as it is here."""
        return pattern.matches(id, self.capabilities.get(id), self.trust_of(id))

    def restricts(self, pattern: Pattern, id: str) -> bool:
        """Whether a pattern denies an id or asks about it, as it is here."""
        return pattern.restricts(id, self.capabilities.get(id), self.trust_of(id))

    def _called(self, pattern: Pattern) -> Iterable[str]:
        """What exists of the name that an exact pattern states; a host's names are not for a source."""
        found = (id for name in (pattern.id, pattern.glob) for id in self.called(name))
        return (id for id in found if id not in self.forged)

    def _named(self, pattern: Pattern) -> Collection[str]:
        if pattern.target == "everything":
            return self._all
        if pattern.target == "host":
            return ()
        return (self._ids if pattern.target == "ids" else self._names).matching(pattern.glob)

    def _having(self, where: Attributes) -> set[str]:
        """What has every one of these attributes."""
        if self._by_value is None:
            self._by_value = by_value((one, self.trust_of(id)) for id, one in self.capabilities.items())
        having: list[set[str]] = []
        for name, stated in where.stated().items():
            values = self._by_value[name]
            fitting = [v for v in values if any(is_value(one, v) for one in stated)]
            having.append(set().union(*(values[value] for value in fitting)))
        return set.intersection(*having)

    def called(self, id: str) -> Sequence[str]:
        """What exists of this id, however its letters are written there."""
        return ([id] if id in self.capabilities else []) + self._apart.get(id, [])

    def named(self, name: str) -> Sequence[str]:
        """What exists of this name, whatever its kind."""
        if self._bare is None:
            bare: dict[str, list[str]] = {}
            for id in self.capabilities:
                bare.setdefault(composed(id.partition(":")[2]), []).append(id)
            self._bare = bare
        return self._bare.get(name, [])


def _by_spelling(pairs: Iterable[tuple[str, str]]) -> tuple[list[str], list[str]]:
    """Names as they are compared, in order, and the ids they lead to."""
    ordered = sorted((composed(name), id) for name, id in pairs)
    return [name for name, _ in ordered], [id for _, id in ordered]


def _joined(capabilities: Mapping[str, Capability]) -> dict[str, list[str]]:
    """Grant -> ids of the events whose handlers declare that they belong to it."""
    joined: dict[str, list[str]] = {}
    for capability in [c for c in capabilities.values() if c.metadata and c.kind == "event"]:
        grant = declared_grant(capability)
        if grant:
            joined.setdefault(grant, []).append(capability.id)
    return joined


def declared_grant(capability: Capability) -> str:
    """The grant a handler says it belongs to; what a file says of itself is no permission."""
    if capability.kind != "event" or capability.source_ref.kind not in HANDLERS:
        return ""
    grant = capability.metadata.get("capability")
    return grant if isinstance(grant, str) else ""


def host_names(patterns: Iterable[Pattern]) -> frozenset[str]:
    """The host tools that some rule names exactly: all that is known of what a host has."""
    return frozenset(p.glob for p in patterns if p.target == "host" and p.states)


def stated_ids(patterns: Iterable[Pattern]) -> frozenset[str]:
    """The host's tools and events that some rule names exactly: a host may have them, catalogued or not."""
    return frozenset(p.id for p in patterns if p.target in ("host", "names") and p.states)
