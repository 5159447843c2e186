"""How what was read gets into the catalogue: judged first, then written briefly.

Above: the part of the engine that syncs. Below: the catalogue, the guard and the journal. The guard takes
seconds where there is much to read, so it works while nobody waits for the store; what is shown in the end is
exactly what was judged, by its digest, and if the catalogue changed meanwhile what is new then is judged too.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from prowess.catalogue import findings as flagged
from prowess.catalogue.catalogue import Catalogue
from prowess.catalogue.health import ReadingNode
from prowess.catalogue.merge import Arrival
from prowess.catalogue.planning import Plan, PlannedWrite, prepared
from prowess.catalogue.verdicts import TextVerdicts
from prowess.catalogue.writing import Written
from prowess.journal import Clock, Journal, stamp
from prowess.journal.entries import Quarantined, Synced
from prowess.store.database import Database
from prowess.types import Changes

Key = tuple[str, str, bool]
"""An id, the digest of what it says, and whether it says so instead of something else."""


@dataclass(frozen=True, slots=True)
class Intake:
    database: Database
    catalogue: Catalogue
    journal: Journal
    clock: Clock
    verdicts: TextVerdicts
    """The guard, which is loaded when there is something to judge."""
    node: ReadingNode
    """Who read what arrives."""

    def take_in(self, arrival: Arrival) -> Changes:
        """Make the catalogue hold what arrived; nothing of it is seen before it was judged."""
        reasons: dict[Key, str] = {}
        while True:
            plan = self.catalogue.plan(arrival)
            self._judge(plan, arrival, reasons)
            changes = self._write(plan, arrival, reasons)
            if changes is not None:
                return changes

    def _judge(self, plan: Plan, arrival: Arrival, reasons: dict[Key, str]) -> None:
        for key, is_own in suspects(plan, arrival).items():
            if key not in reasons:
                draft = plan.wanted.drafts[key[0]]
                reasons[key] = self.verdicts(draft.original or draft, is_own, key[2])

    def _write(self, plan: Plan, arrival: Arrival, reasons: Mapping[Key, str]) -> Changes | None:
        """Write what was judged; nothing, where the catalogue changed so that more must be judged."""
        ready = self._ready(plan, arrival, reasons)
        assert ready is not None, "everything in the plan was judged above"
        kept = self.catalogue.keep_texts(ready.rows)
        with self.database.writing() as transaction:
            current = self.catalogue.confirm(transaction, arrival, plan)
            if current is not plan:
                again = self._ready(current, arrival, reasons)
                if again is None:
                    return None
                ready, kept = again, frozenset()
            self.catalogue.apply(transaction, arrival, ready.step, kept, self.node, self.clock())
            if current.changes:
                self.journal.append(transaction, _synced(current.changes))
            for held in ready.held:
                self.journal.append(transaction, held)
            flagged.note(self.journal, transaction, ready.found)
            self.verdicts.keep(transaction)
        return current.changes

    def _ready(self, plan: Plan, arrival: Arrival, reasons: Mapping[Key, str]) -> "PreparedSync | None":
        """Everything the write needs, made before it; nothing where something was not judged yet."""
        judged = suspects(plan, arrival)
        if not judged.keys() <= reasons.keys():
            return None
        unsafe = {key[0]: reasons[key] for key, is_own in judged.items() if reasons[key] and not is_own}
        step = prepared(plan, arrival, unsafe, stamp(self.clock()))
        return PreparedSync(
            step=step,
            held=[Quarantined(capability=id, reason=unsafe[id]) for id in step.newly_held if id in unsafe],
            found=[
                (key[0], key[1], reasons[key]) for key, is_own in judged.items() if is_own and reasons[key]
            ],
        )


@dataclass(frozen=True, slots=True)
class PreparedSync:
    """A sync that only has to be written down."""

    step: PlannedWrite
    held: Sequence[Quarantined]
    """What the guard holds back, as the journal says it."""
    found: Sequence[tuple[str, str, str]]
    """What the guard found in texts of this machine."""

    @property
    def rows(self) -> Mapping[str, Written]:
        return self.step.rows


def suspects(plan: Plan, arrival: Arrival) -> dict[Key, bool]:
    """What must be judged before anybody sees it, and whether it is of this machine."""
    changed = {*plan.changes.changed}
    new = {*plan.changes.added, *changed}
    found: dict[Key, bool] = {}
    own = 0
    for id in plan.wanted.drafts:
        row = plan.wanted.rows[id]
        is_own = arrival.trust[row.source] == "full"
        if id not in new and (is_own or row.source not in plan.first_seen):
            continue
        own += is_own
        if not is_own or own <= flagged.MOST_JUDGED:
            found[id, row.digest, id in changed] = is_own
    return found


def _synced(changes: Changes) -> Synced:
    return Synced(added=changes.added, changed=changes.changed, removed=changes.removed)
