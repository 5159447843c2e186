"""What sources offer, in portions: each is judged and written by itself, so that a sync holds no more.

Above: the intake. Below: readings, which may come one after the other while others are still being made. A
portion is of several small sources or of a part of a large one; sources follow each other in the order in
which they count.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from prowess.types import SourceEntry, SourceReading

PORTION = 2000
"""How many capabilities one transaction writes at most."""


@dataclass(frozen=True, slots=True)
class Portion:
    """Some of what arrives: source by source, the entries of each that are in it."""

    readings: dict[str, SourceReading]
    ended: frozenset[str]
    """The sources of which nothing more comes."""
    is_last: bool = False


def portions(arriving: Iterable[tuple[str, SourceReading]], most: int) -> Iterator[Portion]:
    """Everything that arrives, with at most so many drafts in each; there is always a last one."""
    before: Portion | None = None
    for one in _portions(arriving, most):
        if before is not None:
            yield before
        before = one
    yield replace(before or Portion({}, frozenset()), is_last=True)


def _portions(arriving: Iterable[tuple[str, SourceReading]], most: int) -> Iterator[Portion]:
    readings: dict[str, SourceReading] = {}
    ended: set[str] = set()
    room = most
    for source, reading in arriving:
        waiting = list(reversed(reading.entries))
        while True:
            entries: list[SourceEntry] = []
            while waiting and room:
                entry = waiting.pop()
                if len(entry.drafts or ()) > room:
                    entry, rest = _split(entry, room)
                    waiting.append(rest)
                entries.append(entry)
                room -= len(entry.drafts or ())
            readings[source] = replace(reading, entries=tuple(entries))
            if not waiting:
                ended.add(source)
                break
            yield Portion(readings, frozenset(ended))
            readings, ended, room = {}, set(), most
        if not room:
            yield Portion(readings, frozenset(ended))
            readings, ended, room = {}, set(), most
    if readings:
        yield Portion(readings, frozenset(ended))


def _split(entry: SourceEntry, room: int) -> tuple[SourceEntry, SourceEntry]:
    """The beginning of an entry, which is not known before its end is, and the rest."""
    drafts = entry.drafts or ()
    return replace(entry, stamp="", drafts=drafts[:room]), replace(entry, drafts=drafts[room:])
