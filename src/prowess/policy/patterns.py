"""Which names a rule speaks of: exact names, and `*` for any run of characters.

Above: grants and profiles, whose rules are patterns. Below: nothing. A pattern that starts with a
kind the words know (`tool:...`) is matched against ids, any other against event names; `*` alone
is everything. A host's own tools are named `host:NAME`, so that they are decided like any other id.
A kind of a user's own has no prefix the words know, so its ids are matched beside the event names.
Rules and names are compared in one normal form, so no way to write a letter gets around a rule.
"""

import re
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from prowess.errors import PolicyError
from prowess.policy.spelling import composed
from prowess.types import KINDS, Capability

EVENT = "event:"
HOST = "host:"
HANDLERS = ("events", "")
"""The kinds of source whose metadata a program wrote: handlers, and what a program made itself."""
MAX_PATTERN_LENGTH = 256
AFTER_ANY = "\U0010ffff"

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

    @property
    def exact(self) -> bool:
        # A host's rule such as `Bash(git:*)` is one name; its star is the host's business.
        return "*" not in self.glob or (self.target == "host" and "(" in self.glob)

    @property
    def id(self) -> str:
        """The id an exact pattern names, whether or not anything provides it."""
        if self.target == "names":
            return EVENT + self.glob
        return HOST + self.glob if self.target == "host" else self.glob

    def matches(self, id: str) -> bool:
        """Whether it gives this: a wildcard never gives a name that climbs."""
        id = composed(id)
        return (self.exact or not self._climbs(id)) and self._speaks_of(id)

    def restricts(self, id: str) -> bool:
        """Whether it denies or asks about this: a wildcard means names that climb as well."""
        return self._speaks_of(composed(id))

    def covers(self, other: "Pattern") -> bool:
        """Whether everything the other can ever match is matched here; false when in doubt."""
        return self.covers_as_denial(other) and (
            self.exact or self.target == "everything" or not self._climbs(other.id)
        )

    def covers_as_denial(self, other: "Pattern") -> bool:
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


def glob_matches(glob: str, name: str) -> bool:
    """In time linear in the name: no backtracking, so no pattern can make a decision slow."""
    first, *middle, last = _parts(glob)
    at, end = len(first), len(name) - len(last)
    if end < at or not name.startswith(first) or not name.endswith(last):
        return False
    for part in middle:
        found = name.find(part, at, end)
        if found < 0:
            return False
        at = found + len(part)
    return True


def climbs(name: str) -> bool:
    return ("." in name or "%" in name) and CLIMBS.search(name) is not None


def is_own_kind(id: str) -> bool:
    """Whether the id is of a kind that only its user knows."""
    return id.partition(":")[0] not in KNOWN


def shown(id: str) -> str:
    """An id as `allowed_events` lists it: events by their name, everything else by its id."""
    return id.removeprefix(EVENT)


@lru_cache(maxsize=4096)
def _parts(glob: str) -> tuple[str, ...]:
    parts = glob.split("*")
    return (parts[0], *(part for part in parts[1:-1] if part), parts[-1])


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


class Ordered:
    """Names in order, each with its id, so that a glob looks only where it can match."""

    def __init__(self, names: list[str], ids: list[str]) -> None:
        self._names = names
        self._ids = ids
        self._backwards: tuple[list[str], list[str]] | None = None

    def matching(self, glob: str) -> Sequence[str]:
        first, *middle, last = _parts(glob)
        names, ids = self._names, self._ids
        if first:
            low, high = _range(names, first)
        elif last:
            names, ids = self._reversed()
            low, high = _range(names, last[::-1])
            glob, last = glob[::-1], ""
        else:
            low, high = 0, len(names)
        if not middle and (not first or not last):
            return ids[low:high]
        if low == 0 and high == len(names) and len(middle) == 1 and glob == f"*{middle[0]}*":
            return [id for name, id in zip(names, ids, strict=True) if middle[0] in name]
        within = zip(names[low:high], ids[low:high], strict=True)
        return [id for name, id in within if name.endswith(last) and glob_matches(glob, name)]

    def _reversed(self) -> tuple[list[str], list[str]]:
        """The same names read backwards, for globs of which only the end is known."""
        if self._backwards is None:
            pairs = sorted(zip((name[::-1] for name in self._names), self._ids, strict=True))
            self._backwards = [name for name, _ in pairs], [id for _, id in pairs]
        return self._backwards


def _range(names: list[str], start: str) -> tuple[int, int]:
    low = bisect_left(names, start)
    return low, bisect_left(names, start + AFTER_ANY, low)


class CatalogueNames:
    """The capabilities of one catalogue version, so that a pattern finds what it matches."""

    def __init__(self, capabilities: Mapping[str, Capability]) -> None:
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
        self.joined = _joined(capabilities)
        self._apart: dict[str, list[str]] = {}
        for id in capabilities:
            if composed(id) != id:
                self._apart.setdefault(composed(id), []).append(id)
        self._bare: dict[str, list[str]] | None = None

    def matching(self, pattern: Pattern) -> Sequence[str]:
        """The ids of what exists and matches."""
        if pattern.exact:
            either = (pattern.id, pattern.glob)
            return [id for name in either for id in self.called(name) if self._is_given(id, pattern)]
        if pattern.target == "everything":
            return self._all
        if pattern.target == "host":
            return ()
        return (self._ids if pattern.target == "ids" else self._names).matching(pattern.glob)

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

    def _is_given(self, id: str, pattern: Pattern) -> bool:
        return id not in self.forged and pattern.matches(id)


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
    return frozenset(p.glob for p in patterns if p.target == "host" and p.exact)


def stated_ids(patterns: Iterable[Pattern]) -> frozenset[str]:
    """The host's tools and events that some rule names exactly: a host may have them, catalogued or not."""
    return frozenset(p.id for p in patterns if p.target in ("host", "names") and p.exact)
