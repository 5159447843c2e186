"""What a lock says, what servers offer now, and how the two differ.

A digest is of what a server says in its own words, not of how prowess keeps it: it is the same with every
version of prowess, and whatever prowess.toml calls a tool.
"""

import hashlib
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from prowess.journal import canonical
from prowess.sources.lock.packages import package_of
from prowess.sources.source import Source
from prowess.types import Draft, SourceReading

LOCKED_KINDS = frozenset({"mcp", "openapi"})
"""The kinds of source that others serve."""
REASON = "prowess.lock"
"""How the reason begins for which something is held back only because the lock says otherwise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LockedServer:
    """One server: the package that its command names, what it says it is, and what it offers, by digest."""

    package: str = ""
    version: str = ""
    offers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Lock:
    servers: Mapping[str, LockedServer] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class LockDifference:
    """One thing that is not as the lock has it."""

    server: str
    what: str

    def __str__(self) -> str:
        return f"{self.server}: {self.what}"


@dataclass(frozen=True, slots=True)
class LockVerdicts:
    """By id: what is exactly as the lock has it, and why the rest of a locked server is held back."""

    approved: frozenset[str] = frozenset()
    held: Mapping[str, str] = field(default_factory=dict)
    servers: frozenset[str] = frozenset()
    """The sources that the lock speaks of."""


NO_LOCK = LockVerdicts()


def is_locked_kind(source: Source) -> bool:
    return source.kind in LOCKED_KINDS


def server_now(source: Source, reading: SourceReading, without: Collection[str] = ()) -> LockedServer:
    """A server as it is now; `without` names what is left out, by id."""
    offers = {_key(draft): _digest(draft) for draft in _drafts(reading) if draft.capability.id not in without}
    return LockedServer(package=_package(source), version=reading.server, offers=offers)


def verdicts(lock: Lock, sources: Iterable[Source], readings: Mapping[str, SourceReading]) -> LockVerdicts:
    """What a lock says about what was read."""
    approved: set[str] = set()
    held: dict[str, str] = {}
    for source in sources:
        reading, locked = readings.get(source.name), lock.servers.get(source.name)
        if reading is None or reading.down or locked is None:
            continue
        changed = "; ".join(_versions(locked, server_now(source, reading, ())))
        for draft in _drafts(reading):
            key = _key(draft)
            if changed:
                held[draft.capability.id] = f"{REASON}: {changed}"
            elif key not in locked.offers:
                held[draft.capability.id] = f"{REASON} does not have it"
            elif _digest(draft) != locked.offers[key]:
                held[draft.capability.id] = f"{REASON} has it with another text"
            else:
                approved.add(draft.capability.id)
    return LockVerdicts(frozenset(approved), held, frozenset(lock.servers))


def differences(before: Lock, now: Lock) -> tuple[LockDifference, ...]:
    """What another lock would say, server by server."""
    found: list[LockDifference] = []
    for name in sorted({*before.servers, *now.servers}):
        if name not in now.servers:
            found.append(LockDifference(name, "is not among the sources any more"))
        elif name not in before.servers:
            count = len(now.servers[name].offers)
            found.append(LockDifference(name, f"is not in the lock; it offers {count}"))
        else:
            between = _between(before.servers[name], now.servers[name])
            found += [LockDifference(name, what) for what in between]
    return tuple(found)


def _versions(before: LockedServer, now: LockedServer) -> Iterator[str]:
    if before.package != now.package:
        yield f"the package was {before.package or 'not named'} and is {now.package or 'not named'}"
    if before.version != now.version:
        yield f"the server was {before.version or 'without a version'} and is {now.version or 'without one'}"


def _between(before: LockedServer, now: LockedServer) -> Iterator[str]:
    yield from _versions(before, now)
    for key in sorted({*before.offers, *now.offers}):
        if key not in now.offers:
            yield f"- {key}"
        elif key not in before.offers:
            yield f"+ {key}"
        elif before.offers[key] != now.offers[key]:
            yield f"~ {key}"


def _drafts(reading: SourceReading) -> Iterator[Draft]:
    for entry in reading.entries:
        yield from entry.drafts or ()


def _own(draft: Draft) -> Draft:
    return draft.original or draft


def _key(draft: Draft) -> str:
    capability = _own(draft).capability
    return f"{capability.kind}:{capability.name}"


def _digest(draft: Draft) -> str:
    capability, detail = _own(draft).capability, _own(draft).detail
    said = (
        capability.kind,
        capability.name,
        capability.display_name,
        capability.description,
        capability.has_side_effects,
        capability.metadata,
        detail.input_schema,
        detail.output_schema,
        detail.content,
    )
    return f"sha256:{hashlib.sha256(canonical(said).encode()).hexdigest()}"


def _package(source: Source) -> str:
    return package_of(getattr(source, "command", ""), getattr(source, "args", ()))
