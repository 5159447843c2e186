"""Sync: the sources are read, judged and written into the catalogue, and everybody is told what changed.

Above: the engine. Below: the sources, and the intake, which judges before it writes.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from prowess.catalogue import findings as flagged
from prowess.catalogue.arrival import ConfiguredSources
from prowess.catalogue.catalogue import Catalogue
from prowess.catalogue.claims import collisions
from prowess.catalogue.findings import Judge
from prowess.catalogue.health import ReadingNode, release, vouch
from prowess.catalogue.intake import Intake, TakenIn
from prowess.catalogue.portions import PORTION
from prowess.catalogue.verdicts import TextVerdicts
from prowess.catalogue.view import View
from prowess.errors import NotFound
from prowess.journal import Clock, Journal
from prowess.journal.entries import PolicyShifted
from prowess.policy.policy import Policy
from prowess.sources.lock.lock import NO_LOCK, LockVerdicts, verdicts
from prowess.sources.lock.lock_file import read_lock
from prowess.sources.overrides import NO_OVERRIDES, overridden
from prowess.sources.read_all import Stamps, SyncProgress, read_all
from prowess.sources.source import Source
from prowess.store.database import Database
from prowess.types import Capability, Changes, Problem, SourceReading, SyncReport, Trust
from prowess.world import SourceSet, Worlds

if TYPE_CHECKING:
    from prowess.guard.classifier import Classifier
    from prowess.guard.prefilter import ResultCheck


Readings = Mapping[str, SourceReading]


class OpenedGuard:
    """The classifier, opened when there is something to judge: it brings numpy."""

    @cached_property
    def classifier(self) -> "Classifier | None":
        from prowess.guard.classifier import Classifier

        return Classifier.open()

    @cached_property
    def _judge(self) -> Judge:
        return flagged.guard(self.classifier)

    def judge(self) -> Judge:
        return self._judge

    @cached_property
    def _results(self) -> "ResultCheck":
        from prowess.guard.prefilter import ResultCheck
        from prowess.guard.word_network import WordNetworks

        return ResultCheck(WordNetworks.open(), self.classifier)

    def points_at(self, texts: Sequence[str]) -> Sequence[str]:
        """The passages of a result that may be instructions to a model."""
        return [passage for text in texts for passage in self._results.pointed_at(text)]

    def speaks_to_the_model(self, passages: Sequence[str]) -> bool:
        """Whether one of these passages reads like instructions."""
        return any(map(self._results.is_order, passages))

    def close(self) -> None:
        self.__dict__.clear()


@dataclass(frozen=True, slots=True)
class Sync:
    """One way into the catalogue, whoever asks for it."""

    database: Database
    journal: Journal
    catalogue: Catalogue
    policy: Policy
    worlds: Worlds
    guard: OpenedGuard
    clock: Clock
    node: ReadingNode
    portion: int = PORTION
    """How many capabilities are taken in together."""

    def run(self, sources: SourceSet, names: Sequence[str], progress: SyncProgress) -> SyncReport:
        """Read the sources, or some of them, and make the catalogue hold exactly what they offer."""
        readings = self.read(sources, names, progress)
        return self.take_in(sources, names, readings)

    def read(
        self, sources: SourceSet, names: Sequence[str], progress: SyncProgress, afresh: bool = False
    ) -> Iterator[tuple[str, SourceReading]]:
        """What the sources offer now, worded as prowess.toml wants it, one after the other.

        afresh: also what has not changed since the last time.
        """
        for name in names:
            _check(name, sources.current)
        chosen = [source for source in sources.current if not names or source.name in names]
        # What is compared with a lock is read every time: the lock may be another.
        lock = read_lock(sources.lock_file)

        def known(some: Sequence[str]) -> Stamps:
            again = set(some) if afresh else lock.servers.keys() if lock else ()
            return self.catalogue.known(sources.definitions, [name for name in some if name not in again])

        for name, reading in read_all(chosen, known, progress):
            sources.outputs[name] = reading.output
            yield name, overridden(name, reading, sources.overrides.get(name, NO_OVERRIDES))

    def take_in(
        self, sources: SourceSet, names: Sequence[str], arriving: Iterable[tuple[str, SourceReading]]
    ) -> SyncReport:
        """Make the catalogue hold what is read."""
        trust = {source.name: sources.trust_of(source) for source in sources.current}
        lock = read_lock(sources.lock_file)

        def locked(readings: Readings) -> LockVerdicts:
            return verdicts(lock, sources.current, readings) if lock else NO_LOCK

        judge = TextVerdicts(self.database, self.guard.judge)
        intake = Intake(
            self.database, self.catalogue, self.journal, self.clock, judge, self.node, self.portion
        )  # fmt: skip
        configured = ConfiguredSources.of(trust, sources.owner, sources.definitions)
        changes, own = list[Changes](), 0
        for taken in intake.take_in(configured, frozenset(names or trust), arriving, locked):
            self._note_shifts(taken, trust)
            changes.append(taken.changes)
            own += taken.new_of_this_machine
        after = self.worlds.now().view
        return SyncReport(
            changes=_together(changes),
            problems=(
                *self._problems(names, after),
                *collisions(after),
                *flagged.standing(self.journal, after, self.finding_stands),
                *flagged.left_unjudged(own),
            ),
            version=after.version,
            total=len(after.capabilities),
        )

    def _note_shifts(self, taken: TakenIn, trust: Mapping[str, Trust]) -> None:
        """Write down what a portion means for those who have a profile."""
        if not taken.changes:
            return
        before, after = (Existed(some, trust) for some in (taken.before, taken.after))
        for shift in self.policy.shifts(before, after):
            entry = PolicyShifted(profile=shift.profile, gained=shift.gained, lost=shift.lost)
            self.journal.record(entry)

    def vouch(self) -> None:
        """Say that this process still runs, and has what it could read."""
        with self.database.writing() as transaction:
            vouch(transaction, self.node, self.clock())

    def release(self) -> None:
        """Say that this process ends: others look for themselves."""
        with self.database.writing() as transaction:
            release(transaction, self.node, self.clock())

    def finding_stands(self, capability: Capability) -> bool:
        """Whether nobody may accept what the guard finds in it: an order or a credential in a card."""
        if capability.kind != "card":
            return False
        from prowess.cards.card import guarded_whole
        from prowess.cards.guard import card_guard
        from prowess.guard.scan import card_parts

        content = self.catalogue.detail(capability.id).content or ""
        found = guarded_whole(card_parts(capability, content), card_guard(self.guard.classifier))
        return bool(found.absolute)

    def _problems(self, names: Sequence[str], view: View) -> tuple[Problem, ...]:
        found = [p for p in self.catalogue.problems(view) if not names or p.source in names]
        return (*found, *flagged.broken_guard())


@dataclass(frozen=True, slots=True)
class Existed:
    """Some capabilities, as policy looks at them."""

    capabilities: Mapping[str, Capability]
    trust: Mapping[str, Trust]
    version: int = 0


def _together(changes: Sequence[Changes]) -> Changes:
    return Changes(
        tuple(sorted(id for each in changes for id in each.added)),
        tuple(sorted(id for each in changes for id in each.changed)),
        tuple(sorted(id for each in changes for id in each.removed)),
    )


def _check(name: str, sources: Sequence[Source]) -> None:
    if all(source.name != name for source in sources):
        raise NotFound("source", name, [s.name for s in sources], "see: prowess sources")
