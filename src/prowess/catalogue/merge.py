"""What the catalogue should hold, given what it holds and what the sources read. Pure."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from prowess.journal import canonical
from prowess.types import Changes, Draft, Problem, Reading, SourceRef


@dataclass(frozen=True, slots=True)
class Row:
    """Who offers a capability, from where, and with which content."""

    source: str
    place: str
    provider: str
    digest: str


@dataclass(slots=True)
class Wanted:
    """What the catalogue should hold, being put together source by source."""

    rows: dict[str, Row] = field(default_factory=dict)
    drafts: dict[str, Draft] = field(default_factory=dict)
    stamps: dict[tuple[str, str], str] = field(default_factory=dict)
    problems: dict[str, list[Problem]] = field(default_factory=dict)

    def keep(self, current: Mapping[str, Row], ids: Iterable[str]) -> None:
        for id in ids:
            self.add(id, current[id], None)

    def add(self, id: str, row: Row, draft: Draft | None) -> None:
        first = self.rows.get(id)
        if first is None:
            self.rows[id] = row
            if draft is not None:
                self.drafts[id] = draft
            return
        self.stamps.pop((row.source, row.place), None)  # read again once the first one goes
        self.problems.setdefault(row.source, []).append(
            Problem(
                row.source,
                row.place,
                f"{id} is already defined by {first.source} ({first.place}), which wins",
                "rename one of the two, or remove the one you do not want",
                "warning",
            )
        )


def digest(draft: Draft) -> str:
    """What a capability says, as a hash; where it was read does not matter."""
    content = replace(draft.capability, source="", source_ref=SourceRef("", ""), digest="", unavailable=())
    return hashlib.sha256(canonical([content, draft.detail]).encode()).hexdigest()


def merge(current: Mapping[str, Row], readings: Mapping[str, Reading], configured: Iterable[str]) -> Wanted:
    """Go through the sources in order; of two that define one id, the first wins."""
    held: dict[str, dict[str, list[str]]] = {}
    for id, row in current.items():
        held.setdefault(row.source, {}).setdefault(row.place, []).append(id)
    wanted = Wanted()
    for source in configured:
        reading = readings.get(source)
        mine = held.get(source, {})
        if reading is None or reading.down:
            wanted.keep(current, [id for ids in mine.values() for id in ids])
        else:
            _take(wanted, source, reading, current, mine)
        if reading is not None:
            wanted.problems.setdefault(source, []).extend(reading.problems)
    return wanted


def _take(
    wanted: Wanted,
    source: str,
    reading: Reading,
    current: Mapping[str, Row],
    held: Mapping[str, Sequence[str]],
) -> None:
    for entry in reading.entries:
        if entry.stamp:
            wanted.stamps[source, entry.place] = entry.stamp
        if entry.drafts is None:
            wanted.keep(current, held.get(entry.place, ()))
        for draft in entry.drafts or ():
            provider = draft.capability.provider or source
            wanted.add(draft.capability.id, Row(source, entry.place, provider, digest(draft)), draft)


def compare(current: Mapping[str, Row], wanted: Mapping[str, Row]) -> Changes:
    return Changes(
        added=tuple(sorted(wanted.keys() - current.keys())),
        changed=tuple(
            sorted(id for id in wanted.keys() & current.keys() if wanted[id].digest != current[id].digest)
        ),
        removed=tuple(sorted(current.keys() - wanted.keys())),
    )


def moved_only(current: Mapping[str, Row], wanted: Wanted) -> list[str]:
    """Same content, other place: only where it is read from changes."""
    return [
        id
        for id in wanted.drafts
        if id in current and wanted.rows[id] != current[id] and wanted.rows[id].digest == current[id].digest
    ]
