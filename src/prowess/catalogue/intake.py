"""How what was read gets into the catalogue: judged first, then written briefly, a portion after the other.

Above: the part of the engine that syncs. Below: the catalogue, the guard and the journal. The guard takes
seconds where there is much to read, so it works while nobody waits for the store; what is shown in the end is
exactly what was judged, by its digest, and if the catalogue changed meanwhile what is new then is judged too.
A sync that is interrupted has written whole portions; the next one brings the rest, and removes what is gone.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import msgspec

from prowess.catalogue import findings as flagged
from prowess.catalogue.arrival import Arrival, ConfiguredSources
from prowess.catalogue.catalogue import Catalogue
from prowess.catalogue.health import ReadingNode
from prowess.catalogue.planning import Plan, PlannedWrite, prepared
from prowess.catalogue.portions import PORTION, Portion, portions
from prowess.catalogue.sync_state import SyncState
from prowess.catalogue.verdicts import TextVerdicts
from prowess.catalogue.writing import Written
from prowess.journal import Clock, Journal, stamp
from prowess.journal.entries import Quarantined, Synced
from prowess.sources.lock.lock import LockVerdicts
from prowess.store.database import Database
from prowess.types import Capability, Changes, SourceReading

Key = tuple[str, str, bool]
"""An id, the digest of what it says, and whether it says so instead of something else."""
Locked = Callable[[Mapping[str, SourceReading]], LockVerdicts]
"""What prowess.lock says about what was read."""
Decode = msgspec.json.Decoder(Capability)


@dataclass(frozen=True, slots=True)
class TakenIn:
    """What one portion changed: the ids, and the capabilities as they were and as they are."""

    changes: Changes
    before: Mapping[str, Capability]
    after: Mapping[str, Capability]
    new_of_this_machine: int
    """How many texts of this machine were new."""


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
    portion: int = PORTION
    """How many capabilities are taken in together."""

    def take_in(
        self, sources: ConfiguredSources, reads: frozenset[str],
        arriving: Iterable[tuple[str, SourceReading]], locked: Locked,
    ) -> Iterator[TakenIn]:  # fmt: skip
        """Make the catalogue hold what arrives; nothing of it is seen before it was judged.

        reads: the names of all that arrive, which they do in the order in which they count.
        """
        so_far = SyncState(reads, self.portion)
        for portion in portions(arriving, self.portion):
            yield self._take_in(Arrival.of(sources, portion, locked(portion.readings)), so_far)
        while so_far.dropped:
            rest = Portion({}, frozenset(), is_last=True)
            yield self._take_in(Arrival.of(sources, rest), so_far)

    def _take_in(self, arrival: Arrival, so_far: SyncState) -> TakenIn:
        reasons: dict[Key, str] = {}
        while True:
            plan = self.catalogue.plan(arrival, so_far)
            self._judge(plan, arrival, so_far, reasons)
            done = self._write(plan, arrival, so_far, reasons)
            if done is not None:
                return self._moved_on(done, arrival, so_far)

    def _judge(self, plan: Plan, arrival: Arrival, so_far: SyncState, reasons: dict[Key, str]) -> None:
        for key, is_own in suspects(plan, arrival, so_far).judged.items():
            if key not in reasons:
                draft = plan.wanted.drafts[key[0]]
                reasons[key] = self.verdicts(draft.original or draft, is_own, key[2])

    def _write(
        self, plan: Plan, arrival: Arrival, so_far: SyncState, reasons: Mapping[Key, str]
    ) -> "PreparedSync | None":
        """Write what was judged; nothing, where the catalogue changed so that more must be judged."""
        ready = self._ready(plan, arrival, so_far, reasons)
        assert ready is not None, "everything in the plan was judged above"
        kept = self.catalogue.keep_texts(ready.rows)
        with self.database.writing() as transaction:
            current = self.catalogue.confirm(transaction, arrival, so_far, plan)
            if current is not plan:
                again = self._ready(current, arrival, so_far, reasons)
                if again is None:
                    return None
                ready, kept = again, frozenset()
            self.catalogue.apply(transaction, arrival, so_far, ready.step, kept, self.node, self.clock())
            if current.changes:
                self.journal.append(transaction, _synced(current.changes))
            for held in ready.held:
                self.journal.append(transaction, held)
            flagged.note(self.journal, transaction, ready.found)
            self.verdicts.keep(transaction)
        return ready

    def _ready(
        self, plan: Plan, arrival: Arrival, so_far: SyncState, reasons: Mapping[Key, str]
    ) -> "PreparedSync | None":
        """Everything the write needs, made before it; nothing where something was not judged yet."""
        found = suspects(plan, arrival, so_far)
        judged = found.judged
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
            own=found.own,
        )

    def _moved_on(self, done: "PreparedSync", arrival: Arrival, so_far: SyncState) -> TakenIn:
        """What a portion did, of which the next ones need to know."""
        plan = done.step.plan
        so_far.since = plan.since
        so_far.dropped = dict(plan.dropped)
        so_far.unjudged |= done.step.unjudged
        so_far.first_seen.update(plan.first_seen)
        so_far.own_new += done.own
        so_far.move_on(arrival, plan.wanted.problems, plan.wanted.refused, plan.takeovers)
        return TakenIn(
            plan.changes,
            {id: Decode.decode(text) for id, text in plan.before.items()},
            {id: Decode.decode(str(row["capability"])) for id, row in done.rows.items()},
            done.own,
        )


@dataclass(frozen=True, slots=True)
class PreparedSync:
    """A portion that only has to be written down."""

    step: PlannedWrite
    held: Sequence[Quarantined]
    """What the guard holds back, as the journal says it."""
    found: Sequence[tuple[str, str, str]]
    """What the guard found in texts of this machine."""
    own: int
    """How many new texts of this machine there are."""

    @property
    def rows(self) -> Mapping[str, Written]:
        return self.step.rows


@dataclass(frozen=True, slots=True)
class Suspects:
    """What must be judged before anybody sees it, and whether it is of this machine."""

    judged: Mapping[Key, bool]
    own: int
    """How many are of this machine, judged or not."""


def suspects(plan: Plan, arrival: Arrival, so_far: SyncState) -> Suspects:
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
        if not is_own or so_far.own_new + own <= flagged.MOST_JUDGED:
            found[id, row.digest, id in changed] = is_own
    return Suspects(found, own)


def _synced(changes: Changes) -> Synced:
    return Synced(added=changes.added, changed=changes.changed, removed=changes.removed)
