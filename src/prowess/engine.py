"""The one turn, top to bottom. Only this module knows the order of the stages.

Above: the faces and user code. Below: every stage, none of which knows another. A change that
spans two owners is one transaction opened here, and every change is journalled in it.
"""

import shutil
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from threading import Event
from types import TracebackType
from typing import Self

from prowess.catalogue.catalogue import Catalogue, Version
from prowess.catalogue.view import View, with_availability
from prowess.errors import JournalBroken, NotFound
from prowess.journal import Clock, Journal, stamp
from prowess.sources.source import Source
from prowess.store.database import Database
from prowess.types import (
    Capability,
    Changes,
    Detail,
    Outcome,
    Problem,
    Provider,
    Reading,
    SyncReport,
)

READERS = 8
SyncProgress = Callable[[str, int, int], None]
"""Called with (source, done, total) while a sync reads."""


def no_progress(source: str, done: int, total: int) -> None:
    """The progress nobody watches."""


class Engine:
    """What an agent can do, turn after turn. Make one with `prowess.open()`."""

    def __init__(
        self, database: Database, sources: Sequence[Source], clock: Clock, environment: Mapping[str, str]
    ) -> None:
        self.journal = Journal(database, clock)
        self.sources = tuple(sources)
        self._database = database
        self._catalogue = Catalogue(database)
        self._clock = clock
        self._environment = environment
        self._view: View | None = None
        self._secrets_set: frozenset[str] = frozenset()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, type: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        self._database.close()

    @property
    def store(self) -> str:
        """Where the store is, without any password."""
        return self._database.place

    # --- what exists -------------------------------------------------------------------------

    def sync(self, *names: str, progress: SyncProgress = no_progress) -> SyncReport:
        """Make the catalogue hold exactly what the sources offer now; name some to read only those."""
        chosen = [self._source(name) for name in names] or self.sources
        known = self._catalogue.known()
        with ThreadPoolExecutor(READERS) as readers:
            jobs = {s.name: readers.submit(_read, s, known.get(s.name, {}), progress) for s in chosen}
            readings = {name: job.result() for name, job in jobs.items()}
        configured = [source.name for source in self.sources]
        with self._database.writing() as transaction:
            changes = self._catalogue.apply(transaction, readings, configured, stamp(self._clock()))
            if changes:
                self.journal.append(transaction, "catalogue.synced", _as_data(changes))
        view = self.view()
        return SyncReport(
            changes=changes,
            problems=tuple(p for p in self._catalogue.problems() if not names or p.source in names),
            version=view.version,
            total=len(view.capabilities),
        )

    def watch(
        self, changed: Callable[[SyncReport], None], stop: Event | None = None, debounce: float = 0.5
    ) -> None:
        """Keep the catalogue current while files change, until `stop` is set."""
        from prowess.sources.watch import watch

        paths = [path for source in self.sources for path in getattr(source, "paths", ())]
        watch(paths, lambda: changed(self.sync()), stop or Event(), debounce)

    def view(self) -> View:
        """The catalogue as it is now: one cheap query when nothing changed since the last turn."""
        held = self._view
        if held is None or held.version != self._catalogue.version() or self._secrets_changed(held):
            fresh = self._catalogue.view()
            self._secrets_set = self._secrets(fresh)
            held = self._view = with_availability(fresh, self._environment, shutil.which)
        return held

    def capabilities(self, agent: str | None = None, kind: str = "") -> tuple[Capability, ...]:
        """Everything that exists (for one agent: that is not switched off), in order of id."""
        view = self.view()
        found = view.active(agent or "").values()
        return tuple(c for c in found if not kind or c.kind == kind)

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
        return (*self.problems(), *self._journal_problems())

    def _journal_problems(self) -> tuple[Problem, ...]:
        try:
            self.journal.verify()
        except JournalBroken as broken:
            return (Problem("journal", self.store, broken.message, broken.remedy),)
        return ()

    def activate(self, provider: str, agent: str = "") -> None:
        """Switch a provider on again, for everybody or for one agent."""
        self._switch(provider, agent, None)

    def deactivate(self, provider: str, agent: str = "", reason: str = "switched off by a person") -> None:
        """Switch a provider off, for everybody or for one agent: what it brings is in no answer."""
        self._switch(provider, agent, reason)

    def _switch(self, provider: str, agent: str, why_off: str | None) -> None:
        with self._database.writing() as transaction:
            if self._catalogue.switch(transaction, provider, agent, why_off):
                data = {"provider": provider, "reason": why_off or ""}
                self.journal.append(
                    transaction, "provider.off" if why_off is not None else "provider.on", data, agent
                )

    # --- what was done -----------------------------------------------------------------------

    def record(self, outcome: Outcome) -> None:
        """Remember what was done with an offer, and whether it worked."""
        data = {
            "offer": outcome.offer,
            "capability": outcome.capability,
            "ok": outcome.ok,
            "detail": outcome.detail,
            "milliseconds": outcome.milliseconds,
            "key": outcome.key,
        }
        self.journal.record("outcome", data, outcome.agent)

    # --- small parts -------------------------------------------------------------------------

    def _source(self, name: str) -> Source:
        for source in self.sources:
            if source.name == name:
                return source
        raise NotFound("source", name, [s.name for s in self.sources], "see: prowess sources")

    def _secrets(self, view: View) -> frozenset[str]:
        return frozenset(name for name in view.secret_names if self._environment.get(name))

    def _secrets_changed(self, view: View) -> bool:
        return self._secrets(view) != self._secrets_set


def _read(source: Source, known: Mapping[str, str], progress: SyncProgress) -> Reading:
    try:
        return source.read(known, lambda done, total: progress(source.name, done, total))
    except Exception as failure:  # a source of a user's own may raise anything; the others go on
        why = f"{type(failure).__name__}: {failure}"
        problem = Problem(
            source.name, source.name, f"the source failed ({why})", "mend the source and sync again"
        )
        return Reading(down=why, problems=(problem,))


def _as_data(changes: Changes) -> dict[str, Sequence[str]]:
    return {"added": changes.added, "changed": changes.changed, "removed": changes.removed}
