"""What a sync means for the catalogue, worked out before anything is locked.

Above: the engine, which has what is new judged, and the catalogue, which carries a step out. A plan holds for
one version of the catalogue; where that moved meanwhile, a new plan is made.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from prowess.catalogue import ownership, quarantine
from prowess.catalogue.merge import (
    Arrival,
    MergedCatalogue,
    OwnedContent,
    compare,
    digest,
    merge,
    moved_only,
    redefined,
)
from prowess.catalogue.ownership import Ownership
from prowess.catalogue.quarantine import QuarantineChange
from prowess.catalogue.writing import Written, encoded, originals
from prowess.sources.mcp.presentation import SHOWN
from prowess.store.database import Transaction
from prowess.types import Changes


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What a sync means for the catalogue at one version of it."""

    version: int
    current: Mapping[str, OwnedContent]
    wanted: MergedCatalogue
    changes: Changes
    moved: tuple[str, ...]
    redefined: tuple[str, ...]
    ownership: Ownership
    known: quarantine.Known
    judged: Mapping[str, OwnedContent]
    """What the sync decides about; what others configured is not in it."""
    first_seen: tuple[str, ...]
    """Sources that offer something for the first time."""

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
    def first_seen(self) -> tuple[str, ...]:
        """Sources that count as seen from now on; not those that the guard could not judge."""
        return tuple(source for source in self.plan.first_seen if source not in self.unjudged)

    @property
    def newly_held(self) -> tuple[str, ...]:
        return tuple(self.standing.fresh)

    @property
    def changes_anything(self) -> bool:
        plan = self.plan
        return bool(plan.changes or self.rows or plan.redefined or self.standing or plan.first_seen)


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
    present = {row.judged(id)[0] for id, row in plan.current.items()}
    verdicts = quarantine.judge(
        plan.judged, present, arrival.trust, plan.known, unsafe, arrival.lock, _shown_otherwise(plan)
    )
    return PlannedWrite(
        plan=plan,
        now=now,
        rows=encoded(plan.wanted, plan.written, plan.version + 1, now),
        originals=originals(plan.wanted, plan.written, plan.version + 1, now),
        standing=quarantine.standing(plan.judged, plan.known, verdicts, now),
        unjudged=frozenset(
            plan.judged[id].source for id, why in verdicts.held.items() if why.startswith(quarantine.UNJUDGED)
        ),
    )


def _rows(transaction: Transaction) -> dict[str, OwnedContent]:
    rows = transaction.all(
        "SELECT id, source, place, provider, digest, definition, original_id, original_digest"
        " FROM capability WHERE workspace = :workspace"
    )
    return {row[0]: OwnedContent(*row[1:]) for row in rows}


def plan_of(transaction: Transaction, arrival: Arrival, version: int) -> Plan:
    whose = ownership.read(transaction, arrival.owner, arrival.claimed)
    current = _rows(transaction)
    wanted = merge(current, arrival, whose)
    known = quarantine.known(transaction)
    offering = {row.source for row in wanted.rows.values() if whose.is_ours(row.source, row.definition)}
    return Plan(
        version=version,
        current=current,
        wanted=wanted,
        changes=compare(current, wanted.rows),
        moved=tuple(moved_only(current, wanted)),
        redefined=tuple(redefined(current, wanted)),
        ownership=whose,
        known=known,
        judged=_judged(wanted, arrival, whose),
        first_seen=tuple(
            source
            for source, level in arrival.trust.items()
            if level != "full" and arrival.was_read(source) and source in offering - set(known.seen)
        ),
    )


def _judged(wanted: MergedCatalogue, arrival: Arrival, whose: Ownership) -> dict[str, OwnedContent]:
    """What this sync decides about: everything it read, and what is fully trusted now."""
    return {
        id: row
        for id, row in wanted.rows.items()
        if not whose.is_foreign(row.source, row.definition)
        and (arrival.was_read(row.source) or arrival.trust[row.source] == "full")
    }
