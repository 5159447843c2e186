"""Sync: the sources are read, judged and written into the catalogue, and everybody is told what changed.

Above: the engine. Below: the sources, and the intake, which judges before it writes.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from prowess.catalogue import findings as flagged
from prowess.catalogue.catalogue import Catalogue
from prowess.catalogue.claims import collisions
from prowess.catalogue.findings import Judge
from prowess.catalogue.health import ReadingNode, release, vouch
from prowess.catalogue.intake import Intake
from prowess.catalogue.merge import Arrival
from prowess.catalogue.verdicts import TextVerdicts
from prowess.catalogue.view import View
from prowess.errors import NotFound
from prowess.journal import Clock, Journal
from prowess.journal.entries import PolicyShifted
from prowess.policy.policy import Policy
from prowess.sources.lock.lock import NO_LOCK, verdicts
from prowess.sources.lock.lock_file import read_lock
from prowess.sources.overrides import NO_OVERRIDES, overridden
from prowess.sources.read_all import SyncProgress, read_all
from prowess.sources.source import Source
from prowess.store.database import Database
from prowess.types import Capability, Problem, SourceReading, SyncReport
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

    def run(self, sources: SourceSet, names: Sequence[str], progress: SyncProgress) -> SyncReport:
        """Read the sources, or some of them, and make the catalogue hold exactly what they offer."""
        return self.take_in(sources, names, self.read(sources, names, progress))

    def read(
        self, sources: SourceSet, names: Sequence[str], progress: SyncProgress, afresh: bool = False
    ) -> Readings:
        """What the sources offer now, worded as prowess.toml wants it.

        afresh: also what has not changed since the last time.
        """
        chosen = [_named(name, sources.current) for name in names] or sources.current
        # What is compared with a lock is read every time: the lock may be another.
        lock = read_lock(sources.lock_file)
        stamps = {} if afresh else self.catalogue.known(sources.definitions)
        known = {name: one for name, one in stamps.items() if lock is None or name not in lock.servers}
        readings = read_all(chosen, known, progress)
        sources.outputs.update({name: reading.output for name, reading in readings.items()})
        return {
            name: overridden(name, reading, sources.overrides.get(name, NO_OVERRIDES))
            for name, reading in readings.items()
        }

    def take_in(self, sources: SourceSet, names: Sequence[str], readings: Readings) -> SyncReport:
        """Make the catalogue hold what was read."""
        before = self.worlds.now()
        trust = {source.name: sources.trust_of(source) for source in sources.current}
        lock = read_lock(sources.lock_file)
        locked = verdicts(lock, sources.current, readings) if lock else NO_LOCK
        arrival = Arrival.of(readings, trust, sources.owner, sources.definitions, locked)
        judge = TextVerdicts(self.database, self.guard.judge)
        intake = Intake(self.database, self.catalogue, self.journal, self.clock, judge, self.node)
        changes = intake.take_in(arrival)
        after = self.worlds.now()
        for shift in self.policy.shifts(before.view, after.view) if changes else ():
            entry = PolicyShifted(profile=shift.profile, gained=shift.gained, lost=shift.lost)
            self.journal.record(entry)
        return SyncReport(
            changes=changes,
            problems=(
                *self._problems(names, after.view),
                *collisions(after.view),
                *flagged.standing(self.journal, after.view, self.finding_stands),
                *flagged.left_unjudged(after.view, (*changes.added, *changes.changed)),
            ),
            version=after.view.version,
            total=len(after.view.capabilities),
        )

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


def _named(name: str, sources: Sequence[Source]) -> Source:
    for source in sources:
        if source.name == name:
            return source
    raise NotFound("source", name, [s.name for s in sources], "see: prowess sources")
