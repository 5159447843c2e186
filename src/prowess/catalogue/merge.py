"""What the catalogue should hold, given what it holds and what the sources read. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from prowess.catalogue.arrival import Arrival, OwnedContent
from prowess.catalogue.ownership import Ownership
from prowess.catalogue.sync_state import Place, SyncState
from prowess.types import Draft, Problem


@dataclass(slots=True)
class MergedCatalogue:
    """What the catalogue should hold, being put together source by source."""

    rows: dict[str, OwnedContent] = field(default_factory=dict)
    drafts: dict[str, Draft] = field(default_factory=dict)
    stamps: dict[Place, str] = field(default_factory=dict)
    """Of what was read again; empty where it is to be read every time."""
    refused: set[Place] = field(default_factory=set)
    """Where something is already defined by another: it is read again once the first one goes."""
    problems: dict[str, list[Problem]] = field(default_factory=dict)

    def keep(self, current: Mapping[str, OwnedContent], ids: Iterable[str]) -> None:
        for id in ids:
            self.add(id, current[id], None)

    def add(self, id: str, row: OwnedContent, draft: Draft | None) -> None:
        first = self.rows.get(id)
        if first is None:
            self.rows[id] = row
            if draft is not None:
                self.drafts[id] = draft
            return
        self.refuse(row.source, row.place, id, first)

    def refuse(self, source: str, place: str, id: str, first: OwnedContent) -> None:
        """Somebody else comes first."""
        self.refused.add((source, place))
        self.problems.setdefault(source, []).append(
            Problem(
                source,
                place,
                f"{id} is already defined by {first.source} ({first.place}), which wins",
                "rename one of the two, or remove the one you do not want",
                "warning",
            )
        )


def merge(
    current: Mapping[str, OwnedContent], arrival: Arrival, ownership: Ownership, so_far: SyncState
) -> MergedCatalogue:
    """What others configured stays; then our sources in order: of two that define one id, the first wins.

    current: what is there of the ids in this portion, and what else is to be decided about with it.
    """
    held: dict[str, dict[str, list[str]]] = {}
    wanted = MergedCatalogue()
    for id, row in current.items():
        if ownership.is_foreign(row.source, row.definition):
            wanted.rows[id] = row
        elif ownership.is_ours(row.source, row.definition) and id not in so_far.dropped:
            held.setdefault(row.source, {}).setdefault(row.place, []).append(id)
    ours = {id: replace(row, definition=arrival.claimed.get(row.source, "")) for id, row in current.items()}
    for source in sorted({*held, *arrival.readings}, key=lambda name: arrival.sources.ranks[name]):
        reading = arrival.readings.get(source)
        mine = held.get(source, {})
        if reading is None or reading.down:
            wanted.keep(ours, [id for ids in mine.values() for id in ids])
        else:
            _take(wanted, source, arrival, ours, mine, so_far)
    return wanted


def _take(
    wanted: MergedCatalogue, source: str, arrival: Arrival, current: Mapping[str, OwnedContent],
    held: Mapping[str, Sequence[str]], so_far: SyncState,
) -> None:  # fmt: skip
    passed = so_far.entries_of(source)
    wanted.refused |= {(source, place) for place in passed.refused}
    # What came in an earlier portion comes first, as it does within one.
    came = [each for place, ids in held.items() for each in ids if place in passed.kept or each in passed.ids]
    wanted.keep(current, came)
    for entry in arrival.readings[source].entries:
        if entry.drafts is None:
            wanted.keep(current, [each for each in held.get(entry.place, ()) if each not in passed.ids])
            for lost, first in so_far.taken.get((source, entry.place), {}).items():
                wanted.refuse(source, entry.place, lost, first)
            continue
        wanted.stamps[source, entry.place] = entry.stamp
        for draft in entry.drafts:
            provider = draft.capability.provider or source
            row = OwnedContent(
                source, entry.place, provider, arrival.digests[id(draft)], arrival.claimed[source],
                draft.original.capability.id if draft.original else "",
                arrival.digests[id(draft.original)] if draft.original else "",
            )  # fmt: skip
            wanted.add(draft.capability.id, row, draft)


def moved_only(current: Mapping[str, OwnedContent], wanted: MergedCatalogue) -> list[str]:
    """Same content, other place: only where it is read from changes."""
    return [
        id
        for id in wanted.drafts
        if id in current and wanted.rows[id] != current[id] and wanted.rows[id].digest == current[id].digest
    ]
