"""What the catalogue should hold, given what it holds and what the sources read. Pure."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Self

from prowess.catalogue.ownership import Ownership
from prowess.journal import canonical
from prowess.sources.lock.lock import NO_LOCK, LockVerdicts
from prowess.types import Changes, Draft, Problem, SourceReading, SourceRef, Trust


@dataclass(frozen=True, slots=True)
class OwnedContent:
    """Who offers a capability, from where, and with which content."""

    source: str
    place: str
    provider: str
    digest: str
    definition: str = ""
    """How the source that offers it is defined, where several configurations have one of that name."""
    original_id: str = ""
    original_digest: str = ""
    """What its author calls it and says, where prowess.toml words it otherwise."""

    def judged(self, id: str) -> tuple[str, str]:
        """The id and the digest of what its author wrote: what is judged, and what an approval is for."""
        return self.original_id or id, self.original_digest or self.digest


@dataclass(frozen=True, slots=True)
class Arrival:
    """What sources offer now, who configured them, and how far each is trusted."""

    readings: Mapping[str, SourceReading]
    trust: Mapping[str, Trust]
    """Of every source that is configured, in the order in which they count."""
    owner: str
    definitions: Mapping[str, str]
    digests: Mapping[int, str]
    """The digest of each draft by its identity: made once, before the store is locked."""
    lock: LockVerdicts = NO_LOCK
    """What prowess.lock says about what was read."""

    @classmethod
    def of(
        cls,
        readings: Mapping[str, SourceReading],
        trust: Mapping[str, Trust],
        owner: str = "",
        definitions: Mapping[str, str] | None = None,
        lock: LockVerdicts = NO_LOCK,
    ) -> Self:
        entries = [entry for reading in readings.values() for entry in reading.entries]
        drafts = [draft for entry in entries for draft in entry.drafts or ()]
        drafts += [draft.original for draft in drafts if draft.original]
        digests = {id(draft): digest(draft) for draft in drafts}
        return cls(readings, trust, owner, definitions or {}, digests, lock)

    @property
    def claimed(self) -> dict[str, str]:
        return {source: self.definitions.get(source, "") for source in self.trust}

    def was_read(self, source: str) -> bool:
        reading = self.readings.get(source)
        return reading is not None and not reading.down


@dataclass(slots=True)
class MergedCatalogue:
    """What the catalogue should hold, being put together source by source."""

    rows: dict[str, OwnedContent] = field(default_factory=dict)
    drafts: dict[str, Draft] = field(default_factory=dict)
    stamps: dict[tuple[str, str], str] = field(default_factory=dict)
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
    """What a capability says, as a hash; where it was read does not matter.

    What its author wrote counts as well, where prowess.toml words it otherwise.
    """
    content = replace(draft.capability, source="", source_ref=SourceRef("", ""), digest="", unavailable=())
    said = [content, draft.detail, *([digest(draft.original)] if draft.original else ())]
    return hashlib.sha256(canonical(said).encode()).hexdigest()


def merge(current: Mapping[str, OwnedContent], arrival: Arrival, ownership: Ownership) -> MergedCatalogue:
    """What others configured stays; then our sources in order: of two that define one id, the first wins."""
    held: dict[str, dict[str, list[str]]] = {}
    wanted = MergedCatalogue()
    for id, row in current.items():
        if ownership.is_foreign(row.source, row.definition):
            wanted.rows[id] = row
        elif ownership.is_ours(row.source, row.definition):
            held.setdefault(row.source, {}).setdefault(row.place, []).append(id)
    ours = {id: replace(row, definition=arrival.claimed.get(row.source, "")) for id, row in current.items()}
    for source in arrival.trust:
        reading = arrival.readings.get(source)
        mine = held.get(source, {})
        if reading is None or reading.down:
            wanted.keep(ours, [id for ids in mine.values() for id in ids])
        else:
            _take(wanted, source, arrival, ours, mine)
        if reading is not None and not reading.down:
            wanted.problems.setdefault(source, []).extend(reading.problems)
    return wanted


def _take(
    wanted: MergedCatalogue,
    source: str,
    arrival: Arrival,
    current: Mapping[str, OwnedContent],
    held: Mapping[str, Sequence[str]],
) -> None:
    for entry in arrival.readings[source].entries:
        if entry.stamp:
            wanted.stamps[source, entry.place] = entry.stamp
        if entry.drafts is None:
            wanted.keep(current, held.get(entry.place, ()))
        for draft in entry.drafts or ():
            provider = draft.capability.provider or source
            row = OwnedContent(
                source, entry.place, provider, arrival.digests[id(draft)], arrival.claimed[source],
                draft.original.capability.id if draft.original else "",
                arrival.digests[id(draft.original)] if draft.original else "",
            )  # fmt: skip
            wanted.add(draft.capability.id, row, draft)


def compare(current: Mapping[str, OwnedContent], wanted: Mapping[str, OwnedContent]) -> Changes:
    return Changes(
        added=tuple(sorted(wanted.keys() - current.keys())),
        changed=tuple(
            sorted(id for id in wanted.keys() & current.keys() if wanted[id].digest != current[id].digest)
        ),
        removed=tuple(sorted(current.keys() - wanted.keys())),
    )


def moved_only(current: Mapping[str, OwnedContent], wanted: MergedCatalogue) -> list[str]:
    """Same content, other place: only where it is read from changes."""
    return [
        id
        for id in wanted.drafts
        if id in current and wanted.rows[id] != current[id] and wanted.rows[id].digest == current[id].digest
    ]


def redefined(current: Mapping[str, OwnedContent], wanted: MergedCatalogue) -> list[str]:
    """Kept without being read, while the definition of its source changed."""
    return [
        id
        for id, row in wanted.rows.items()
        if id in current and id not in wanted.drafts and row.definition != current[id].definition
    ]
