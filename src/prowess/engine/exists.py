"""What exists? The part of the engine that keeps the catalogue in step with its sources."""

import shutil
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

from prowess.catalogue.catalogue import Catalogue, Version
from prowess.catalogue.difference import difference, readable
from prowess.catalogue.merge import digest
from prowess.catalogue.view import View, with_availability
from prowess.engine import flagged
from prowess.engine.reading import SyncProgress, read_all
from prowess.engine.records import sync_data
from prowess.engine.ways import Ways
from prowess.errors import JournalBroken, NotFound
from prowess.journal import Clock, Journal, stamp
from prowess.sources.source import Source
from prowess.store.database import Database, Transaction
from prowess.types import Capability, Detail, Draft, Held, Problem, Provider, Reading, SyncReport, Trust

if TYPE_CHECKING:
    from prowess.context.classifier import Classifier
    from prowess.context.sanitise import Provenance
    from prowess.engine.guarding import Judged

SERVED = ("mcp", "openapi")


class WhatExists:
    def __init__(
        self,
        database: Database,
        sources: Sequence[Source],
        clock: Clock,
        environment: Mapping[str, str],
        ways: Ways | None = None,
    ) -> None:
        self.journal = Journal(database, clock)
        self.sources = tuple(sources)
        self._database = database
        self._catalogue = Catalogue(database)
        self._clock = clock
        self._environment = environment
        self._ways = ways or Ways()
        self._view: View | None = None
        self._secrets_set: frozenset[str] = frozenset()

    @property
    def store(self) -> str:
        """Where the store is, without any password."""
        return self._database.place

    @property
    def database(self) -> Database:
        """Where faces keep tables of their own, such as the one of people."""
        return self._database

    def view(self) -> View:
        """The catalogue as it is now: one cheap query when nothing changed since the last turn."""
        held = self._view
        if held is None or held.version != self._catalogue.version() or self._secrets_changed(held):
            fresh = self._catalogue.view(held)
            self._secrets_set = self._secrets(fresh)
            held = self._view = with_availability(fresh, self._environment, shutil.which)
        return held

    def capability(self, id: str) -> Capability:
        return self.view().get(id)

    def detail(self, id: str) -> Detail:
        """The full schema and content of one capability."""
        return self._catalogue.detail(self.view().get(id).id)

    def history(self, id: str) -> tuple[Version, ...]:
        """Every text a capability had, oldest first, also when it is gone."""
        return self._catalogue.history(id)

    def providers(self, agent: str | None = None) -> tuple[Provider, ...]:
        view = self.view()
        return tuple(replace(p, off=view.off(p.name, agent or "")) for p in view.providers.values())

    def problems(self) -> tuple[Problem, ...]:
        """Everything the last syncs could not read, each with what to do about it."""
        return self._catalogue.problems()

    def diagnose(self) -> tuple[Problem, ...]:
        """Everything that is wrong with this installation, for `prowess doctor`."""
        found = [*self.problems(), *self.flagged(), *(_waiting(held) for held in self.quarantined())]
        try:
            self.journal.verify()
        except JournalBroken as broken:
            found.append(Problem("journal", self.store, broken.message, broken.remedy))
        return tuple(found)

    def flagged(self) -> tuple[Problem, ...]:
        """What the guard found in texts of this machine and nobody has accepted."""
        return flagged.standing(self.journal, self.view())

    def accept_finding(self, id: str, by: str) -> Problem:
        """A person takes what the guard found in a capability, for exactly the content it has now."""
        return flagged.accept(self.journal, self.view(), id, by)

    def activate(self, provider: str, agent: str = "") -> None:
        """Switch a provider on again, for everybody or for one agent."""
        self._switch(provider, agent, None)

    def deactivate(self, provider: str, agent: str = "", reason: str = "switched off by a person") -> None:
        """Switch a provider off, for everybody or for one agent: what it brings is in no answer."""
        self._switch(provider, agent, reason)

    def quarantined(self) -> tuple[Held, ...]:
        """What is held back until a person has looked at it."""
        return tuple(self.view().quarantined.values())

    def approve(self, id: str, by: str, digest: str = "") -> Held:
        """A person lets a held capability go, with exactly the content it has now, or that of this digest."""
        with self._database.writing() as transaction:
            held = self._catalogue.approve(transaction, id, by, stamp(self._clock()), digest)
            data = {"capability": id, "digest": held.digest, "by": by, "was": held.reason}
            self.journal.append(transaction, "quarantine.approved", data)
        return held

    def reject(self, id: str, by: str, digest: str = "") -> Held:
        """A person keeps a capability out until its content changes."""
        with self._database.writing() as transaction:
            held = self._catalogue.reject(transaction, id, digest)
            data = {"capability": id, "digest": held.digest, "by": by, "was": held.reason}
            self.journal.append(transaction, "quarantine.rejected", data)
        return held

    def approved_version(self, id: str) -> Version | None:
        """The text of a capability that was approved last, to compare a changed one with."""
        return self._catalogue.approved_version(id)

    def difference(self, id: str) -> tuple[str, ...]:
        """How a capability differs from what was approved last; everything, where nothing was approved."""
        approved = self.approved_version(id)
        before = readable(approved.capability, approved.detail) if approved else ()
        return difference(before, readable(self.capability(id), self.detail(id)), ("approved", "now"))

    def findings(self, id: str) -> "tuple[Judged, ...]":
        """What the guard finds in each text of a capability as it is now."""
        from prowess.engine.guarding import judged

        draft = Draft(self.capability(id), self.detail(id))
        provenance: Provenance = "changed" if self.approved_version(id) else "unapproved"
        found = judged(draft, self._classifier, self._classifier, provenance)
        return tuple(one for one in found if one.judgement.findings)

    def trusts(self, source: str) -> bool:
        """Whether what a source says is taken as one's own."""
        return any(self._trust(each) == "full" for each in self.sources if each.name == source)

    def speaks_to_the_model(self, result: str) -> bool:
        """Whether the result of a call holds text that looks like instructions."""
        from prowess.context.quick import speaks_to_the_model

        return speaks_to_the_model(result, self._classifier)

    @cached_property
    def _classifier(self) -> "Classifier | None":
        # It brings numpy: loaded when something is to be judged, not at the first import.
        from prowess.context.classifier import Classifier

        return Classifier.open()

    def _switch(self, provider: str, agent: str, why_off: str | None) -> None:
        with self._database.writing() as transaction:
            if self._catalogue.switch(transaction, provider, agent, why_off):
                type = "provider.on" if why_off is None else "provider.off"
                self.journal.append(transaction, type, {"provider": provider, "reason": why_off or ""}, agent)

    def _take_in(self, names: Sequence[str], progress: SyncProgress) -> SyncReport:
        """Read the sources, and make the catalogue hold exactly what they offer."""
        chosen = [self._source(name) for name in names] or self.sources
        readings = read_all(chosen, self._catalogue.known(), progress)
        configured = {source.name: self._trust(source) for source in self.sources}
        with self._database.writing() as transaction:
            changes = self._catalogue.apply(transaction, readings, configured, stamp(self._clock()))
            if changes:
                self.journal.append(transaction, "catalogue.synced", sync_data(changes))
                new = {*changes.added, *changes.changed}
                self._hold_unsafe(transaction, self._drafts(readings, new, trusted=False), changes.changed)
                if own := self._drafts(readings, new, trusted=True):
                    flagged.note(self.journal, transaction, own, self._classifier)
        view = self.view()
        problems = [p for p in self.problems() if not names or p.source in names]
        return SyncReport(
            changes=changes,
            problems=(*problems, *self.flagged()),
            version=view.version,
            total=len(view.capabilities),
        )

    def _drafts(self, readings: Mapping[str, Reading], new: Collection[str], trusted: bool) -> list[Draft]:
        """What is new, of the sources that are trusted fully or of the others."""
        return [
            draft
            for source in self.sources
            if source.name in readings and (self._trust(source) == "full") == trusted
            for entry in readings[source.name].entries
            for draft in entry.drafts or ()
            if draft.capability.id in new
        ]

    def _hold_unsafe(
        self, transaction: Transaction, suspects: Sequence[Draft], changed: Collection[str]
    ) -> None:
        """Judge what servers now say, in the transaction that would show it."""
        if not suspects:
            return
        from prowess.engine.guarding import unsafe

        for draft in suspects:
            id, now = draft.capability.id, stamp(self._clock())
            reason = unsafe(draft, self._classifier, provenance="changed" if id in changed else "unapproved")
            if reason and self._catalogue.hold(transaction, id, digest(draft), reason, now):
                self.journal.append(transaction, "quarantine.held", {"capability": id, "reason": reason})

    def _trust(self, source: Source) -> Trust:
        """What is read from this machine is trusted; what others serve is pinned, unless told otherwise."""
        usual: Trust = "pinned" if source.kind in SERVED else "full"
        return self._ways.trust.get(source.name, usual)

    def _source(self, name: str) -> Source:
        for source in self.sources:
            if source.name == name:
                return source
        raise NotFound("source", name, [s.name for s in self.sources], "see: prowess sources")

    def _secrets(self, view: View) -> frozenset[str]:
        return frozenset(name for name in view.secret_names if self._environment.get(name))

    def _secrets_changed(self, view: View) -> bool:
        return self._secrets(view) != self._secrets_set


def _waiting(held: Held) -> Problem:
    remedy = f"look at it: prowess quarantine show {held.id}"
    return Problem("quarantine", held.id, f"held back: {held.reason}", remedy, "warning")
