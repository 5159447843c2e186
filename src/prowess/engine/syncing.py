"""Sync: the sources are read, judged and written into the catalogue, and everybody is told what changed.

Above: the engine. Below: the sources, the guard and the catalogue.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from prowess.catalogue.catalogue import Catalogue
from prowess.catalogue.merge import digest
from prowess.engine import flagged
from prowess.engine.reading import SyncProgress, read_all
from prowess.engine.records import sync_data
from prowess.engine.world import Worlds
from prowess.errors import NotFound
from prowess.journal import Journal
from prowess.policy.policy import Policy
from prowess.sources.source import Source
from prowess.store.database import Database, Transaction
from prowess.types import Draft, Reading, SyncReport, Trust

if TYPE_CHECKING:
    from prowess.context.classifier import Classifier
    from prowess.context.sanitise import Provenance

SERVED = ("mcp", "openapi")


class OpenedGuard:
    """The classifier, opened when there is something to judge: it brings numpy."""

    @cached_property
    def classifier(self) -> "Classifier | None":
        from prowess.context.classifier import Classifier

        return Classifier.open()

    def close(self) -> None:
        self.__dict__.pop("classifier", None)


@dataclass(frozen=True, slots=True)
class Sync:
    """One way into the catalogue, whoever asks for it."""

    database: Database
    journal: Journal
    catalogue: Catalogue
    policy: Policy
    worlds: Worlds
    guard: OpenedGuard
    now: Callable[[], str]
    trust: Mapping[str, Trust]

    def run(self, sources: Sequence[Source], names: Sequence[str], progress: SyncProgress) -> SyncReport:
        """Read the sources, or some of them, and make the catalogue hold exactly what they offer."""
        before = self.worlds.now()
        chosen = [_named(name, sources) for name in names] or sources
        readings = read_all(chosen, self.catalogue.known(), progress)
        configured = {source.name: self._trust(source) for source in sources}
        with self.database.writing() as transaction:
            changes = self.catalogue.apply(transaction, readings, configured, self.now())
            if changes:
                self.journal.append(transaction, "catalogue.synced", sync_data(changes))
                new = {*changes.added, *changes.changed}
                self._hold_unsafe(transaction, _drafts(readings, new, configured, False), changes.changed)
                if own := _drafts(readings, new, configured, True):
                    flagged.note(self.journal, transaction, own, self.guard.classifier)
        after = self.worlds.now()
        for shift in self.policy.shifts(before.view, after.view) if changes else ():
            data = {"profile": shift.profile, "gained": shift.gained, "lost": shift.lost}
            self.journal.record("policy.shifted", data)
        problems = [p for p in self.catalogue.problems() if not names or p.source in names]
        return SyncReport(
            changes=changes,
            problems=(*problems, *flagged.standing(self.journal, after.view)),
            version=after.view.version,
            total=len(after.view.capabilities),
        )

    def _hold_unsafe(
        self, transaction: Transaction, suspects: Sequence[Draft], changed: Collection[str]
    ) -> None:
        """Judge what servers now say, in the transaction that would show it."""
        if not suspects:
            return
        from prowess.engine.guarding import unsafe

        for draft in suspects:
            id, now = draft.capability.id, self.now()
            provenance: Provenance = "changed" if id in changed else "unapproved"
            reason = unsafe(draft, self.guard.classifier, provenance=provenance)
            if reason and self.catalogue.hold(transaction, id, digest(draft), reason, now):
                self.journal.append(transaction, "quarantine.held", {"capability": id, "reason": reason})

    def _trust(self, source: Source) -> Trust:
        """What is read from this machine is trusted; what others serve is pinned, unless told otherwise."""
        usual: Trust = "pinned" if source.kind in SERVED else "full"
        return self.trust.get(source.name, usual)


def _drafts(
    readings: Mapping[str, Reading], new: Collection[str], configured: Mapping[str, Trust], trusted: bool
) -> list[Draft]:
    """What is new, of the sources that are trusted fully or of the others."""
    return [
        draft
        for name, trust in configured.items()
        if name in readings and (trust == "full") == trusted
        for entry in readings[name].entries
        for draft in entry.drafts or ()
        if draft.capability.id in new
    ]


def _named(name: str, sources: Sequence[Source]) -> Source:
    for source in sources:
        if source.name == name:
            return source
    raise NotFound("source", name, [s.name for s in sources], "see: prowess sources")
