"""What a portion of a sync means for the catalogue, worked out before anything is locked.

Above: the engine, which has what is new judged, and the catalogue, which carries a step out. A plan looks at
the rows that the portion speaks of and holds for one version of the catalogue; where that moved meanwhile, a
new plan is made.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from prowess.catalogue import ownership, quarantine, rows
from prowess.catalogue.arrival import Arrival, OwnedContent, digest
from prowess.catalogue.merge import MergedCatalogue, merge, moved_only
from prowess.catalogue.ownership import Ownership
from prowess.catalogue.quarantine import QuarantineChange
from prowess.catalogue.sync_state import Place, SyncState, Takeovers
from prowess.catalogue.writing import Written, encoded, originals
from prowess.sources.mcp.presentation import SHOWN
from prowess.store.database import Transaction
from prowess.types import Changes


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What a portion means for the catalogue at one version of it."""

    version: int
    since: int
    """The version that counts as the one in which everything of this sync came."""
    current: Mapping[str, OwnedContent]
    """What is there of what the portion speaks of."""
    present: Collection[str]
    """What authors call what is there, of that."""
    wanted: MergedCatalogue
    changes: Changes
    moved: tuple[str, ...]
    takeovers: Takeovers
    ownership: Ownership
    known: quarantine.Known
    judged: Mapping[str, OwnedContent]
    """What the sync decides about; what others configured is not in it."""
    first_seen: tuple[str, ...]
    """Sources that offer something for the first time."""
    dropped: Mapping[str, OwnedContent]
    """What is there and offered no more, and is not removed in this portion."""
    gone_places: frozenset[Place]
    """Entries that are offered no more."""
    is_closing: bool
    """Whether nothing more comes after it."""
    orphaned: tuple[str, ...]
    """Sources that this configuration does not have."""
    before: Mapping[str, str]
    """What changes or goes, as it was written."""

    @property
    def written(self) -> tuple[str, ...]:
        """The ids whose rows are written anew."""
        return (*self.changes.added, *self.changes.changed, *self.moved)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedWrite:
    """A plan with everything that is written for it."""

    plan: Plan
    now: str
    rows: Mapping[str, Written]
    originals: Sequence[Written]
    """What authors wrote, where prowess.toml words it otherwise."""
    standing: QuarantineChange
    unjudged: frozenset[str]
    """Sources of which something is held back because the guard is broken."""

    @property
    def newly_held(self) -> tuple[str, ...]:
        return tuple(self.standing.fresh)

    @property
    def changes_anything(self) -> bool:
        plan = self.plan
        return bool(plan.changes or self.rows or self.standing or plan.first_seen)


def _shown_otherwise(plan: Plan) -> dict[str, str]:
    """What a store of before knows without icons, `_meta` and the like, and is the same without them."""
    found: dict[str, str] = {}
    for id in plan.judged.keys() & plan.current.keys() & plan.wanted.drafts.keys():
        draft, before = plan.wanted.drafts[id], plan.current[id].digest
        if plan.current[id].judged(id) != (id, before):
            continue  # offered under other words, which are judged by the server's own
        bare = {name: one for name, one in draft.capability.metadata.items() if name not in SHOWN}
        if len(bare) < len(draft.capability.metadata):
            without = replace(draft, capability=replace(draft.capability, metadata=bare))
            if digest(without) == before:
                found[id] = before
    return found


def prepared(plan: Plan, arrival: Arrival, unsafe: Mapping[str, str], now: str) -> PlannedWrite:
    """What to write, given why each unsafe text is; those are held back with that reason."""
    verdicts = quarantine.judge(
        plan.judged, plan.present, arrival.trust, plan.known, unsafe, arrival.lock, _shown_otherwise(plan)
    )
    versions = plan.version + 1, plan.since
    return PlannedWrite(
        plan=plan,
        now=now,
        rows=encoded(plan.wanted, plan.written, versions, now),
        originals=originals(plan.wanted, plan.written, plan.since, now),
        standing=quarantine.standing(plan.judged, plan.known, verdicts, now),
        unjudged=frozenset(
            plan.judged[id].source for id, why in verdicts.held.items() if why.startswith(quarantine.UNJUDGED)
        ),
    )


def plan_of(transaction: Transaction, arrival: Arrival, so_far: SyncState, version: int) -> Plan:
    whose = ownership.read(transaction, arrival.sources.owner, arrival.claimed)
    dropped, gone = _dropped(transaction, arrival, whose, so_far)
    current = {
        **rows.of_ids(transaction, arrival.drafted),
        **_to_be_decided(transaction, arrival, so_far),
    }
    wanted = merge(current, arrival, whose, so_far)
    orphaned = _sources_of_nobody(transaction, arrival) if arrival.is_last and not so_far.is_read else []
    left = {**so_far.dropped, **dropped, **_rows_of_nobody(transaction, orphaned, whose)}
    left = {id: row for id, row in left.items() if id not in wanted.rows}
    chosen = set(sorted(left)[: max(so_far.most - len(wanted.drafts), 1)] if arrival.is_last else ())
    there = rows.of_ids(transaction, chosen)
    removed = {id: row for id, row in there.items() if row.source == left[id].source}
    changes = _changes(current, wanted, removed)
    moved = moved_only(current, wanted)
    judged = _judged(wanted, arrival, whose)
    known = quarantine.known(transaction, judged, arrival.readings)
    later = {id: row for id, row in left.items() if id not in chosen}
    return Plan(
        version=version,
        since=so_far.since or version + 1,
        current=current,
        present=_present(transaction, arrival, judged, known),
        wanted=wanted,
        changes=changes,
        moved=tuple(moved),
        takeovers=_takeovers(current, wanted),
        ownership=whose,
        known=known,
        judged=judged,
        first_seen=_first_seen(arrival, wanted, whose, known),
        dropped=later,
        is_closing=arrival.is_last and not later,
        gone_places=gone,
        orphaned=tuple(orphaned),
        before=rows.texts(transaction, [*changes.changed, *changes.removed, *moved]),
    )


def _to_be_decided(transaction: Transaction, arrival: Arrival, so_far: SyncState) -> rows.Rows:
    """What is as it was, and waits or has no approval: how far its source is trusted may have changed."""
    trust = arrival.trust
    looked_at = [name for name in arrival.ended if arrival.was_read(name) or trust[name] == "full"]
    if arrival.is_last and not so_far.is_read:
        looked_at += [name for name, level in trust.items() if level == "full" and name not in so_far.reads]
    doubted = [name for name in looked_at if trust[name] != "full"]
    found = {**rows.waiting(transaction, looked_at), **rows.unapproved(transaction, doubted)}
    # What came in an earlier portion of this sync was decided about there.
    return {id: row for id, row in found.items() if id not in so_far.entries_of(row.source).ids}


def _dropped(
    transaction: Transaction, arrival: Arrival, whose: Ownership, so_far: SyncState
) -> tuple[rows.Rows, frozenset[Place]]:
    """What sources of which nothing more comes do not offer any more, and the entries that are gone."""
    ended = [name for name in arrival.ended if arrival.was_read(name)]
    unstamped, stamped = rows.unstamped(transaction, ended), rows.stamped_places(transaction, ended)
    dropped: rows.Rows = {}
    gone: set[Place] = set()
    for source in ended:
        passed, entries = so_far.entries_of(source), arrival.readings[source].entries
        read = passed.read.union(entry.place for entry in entries if entry.drafts is not None)
        kept = passed.kept.union(entry.place for entry in entries if entry.drafts is None)
        said = {draft.capability.id for entry in entries for draft in entry.drafts or ()}
        own = {p for p, definition in stamped.get(source, ()) if not whose.is_foreign(source, definition)}
        vanished = own - read - kept
        gone |= {(source, place) for place in vanished}
        known = rows.at_places(transaction, source, vanished | (own & read))
        dropped |= {
            id: row
            for id, row in {**unstamped.get(source, {}), **known}.items()
            if whose.is_ours(source, row.definition)
            and not (row.place in kept or id in said or id in passed.ids)
        }
    return dropped, frozenset(gone)


def _sources_of_nobody(transaction: Transaction, arrival: Arrival) -> list[str]:
    """Sources of which something is there and that this configuration does not have, or not any more."""
    there = {*rows.sources_there(transaction, "capability"), *rows.sources_there(transaction, "source_entry")}
    return sorted(there - arrival.trust.keys())


def _rows_of_nobody(transaction: Transaction, sources: Sequence[str], whose: Ownership) -> rows.Rows:
    found = rows.of_sources(transaction, sources)
    return {id: row for id, row in found.items() if not whose.is_foreign(row.source, row.definition)}


def _changes(current: rows.Rows, wanted: MergedCatalogue, removed: Collection[str]) -> Changes:
    return Changes(
        added=tuple(sorted(wanted.rows.keys() - current.keys())),
        changed=tuple(
            sorted(
                id for id in wanted.drafts if id in current and wanted.rows[id].digest != current[id].digest
            )
        ),
        removed=tuple(sorted(removed)),
    )


def _takeovers(current: rows.Rows, wanted: MergedCatalogue) -> Takeovers:
    both = {id: (current[id], wanted.rows[id]) for id in wanted.drafts if id in current}
    return {
        id: (before, now)
        for id, (before, now) in both.items()
        if (before.source, before.place) != (now.source, now.place)
    }


def _judged(wanted: MergedCatalogue, arrival: Arrival, whose: Ownership) -> dict[str, OwnedContent]:
    """What this sync decides about: everything it read, and what is fully trusted now."""
    return {
        id: row
        for id, row in wanted.rows.items()
        if not whose.is_foreign(row.source, row.definition)
        and (arrival.was_read(row.source) or arrival.trust[row.source] == "full")
    }


def _present(
    transaction: Transaction, arrival: Arrival, judged: Mapping[str, OwnedContent], known: quarantine.Known
) -> Collection[str]:
    """What authors call what is there already, where it counts that something was never there."""
    growing = [row.judged(id)[0] for id, row in judged.items() if arrival.trust[row.source] == "growing"]
    return rows.own_ids_present(transaction, {id for id in growing if id not in known.approved})


def _first_seen(
    arrival: Arrival, wanted: MergedCatalogue, whose: Ownership, known: quarantine.Known
) -> tuple[str, ...]:
    offering = {row.source for row in wanted.rows.values() if whose.is_ours(row.source, row.definition)}
    return tuple(
        source
        for source in arrival.readings
        if arrival.trust[source] != "full"
        and arrival.was_read(source)
        and source in offering - set(known.seen)
    )
