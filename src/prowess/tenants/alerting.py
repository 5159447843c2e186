"""Telling people of every workspace what is wrong there, also where nobody has asked for anything lately.

A workspace is not opened for it: no source is read, and no index or model is loaded. Where nothing was
written since the last look and nothing waits to be sent, a look is one query. Of several processes that serve
the same workspaces one looks.

Above: the process that serves. Below: the alert service, over what a workspace's own configuration says.
"""

import logging
import os
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import NamedTuple

from prowess import config as configuration
from prowess.alerts.service import AlertService
from prowess.config import Settings
from prowess.config_alerts import AlertsConfig
from prowess.engine.internals import Internals
from prowess.engine.recurring import RecurringWork, recurring
from prowess.errors import ProwessError
from prowess.opening import now
from prowess.store.database import Database
from prowess.tenants.opening import SharedParts, configuration_of, environment_of
from prowess.tenants.served_folder import FolderOfWorkspaces

logger = logging.getLogger("prowess")

WORK = "alerts"
SECONDS = 1.0
"""Between two times it is asked whose turn it is."""
PACE = 0.05
"""Seconds between the first looks at two workspaces, so that many do not come at once, now or later."""
LOOKS_AT_ONCE = 4
"""One webhook that does not answer keeps nobody else waiting."""
MAX_SKIPPED = 10
"""So many looks in a row are saved where nothing was written; time alone can change what is reached."""


class _Written(NamedTuple):
    """What is different once anything happened in a workspace, or was configured otherwise."""

    entries: int = 0
    read_at: str = ""
    configured_at: int = 0


NOTHING_WRITTEN = _Written()


@dataclass(slots=True)
class _Watched:
    """One workspace, as it was at the last look."""

    due: float
    written: _Written = NOTHING_WRITTEN
    skipped: int = 0
    problem: str = ""


class WorkspaceAlerts:
    """Whose turn it is, and what was seen of whom.

    seconds: gives a time that only grows.
    """

    def __init__(
        self, served: FolderOfWorkspaces, shared: SharedParts, seconds: Callable[[], float] = time.monotonic
    ) -> None:
        self._served = served
        self._shared = shared
        self._seconds = seconds
        self._watched: dict[str, _Watched] = {}

    @contextmanager
    def watching(self) -> Iterator[None]:
        """While this lasts, people are told."""
        with recurring(RecurringWork("telling people of workspaces", SECONDS, self.tell)):
            yield

    def tell(self, is_over: Callable[[], bool]) -> None:
        """Look at every workspace whose turn it is, and send what is due there."""
        due = self._due()
        if not due:
            return
        with ThreadPoolExecutor(min(LOOKS_AT_ONCE, len(due)), "prowess-alerts") as pool:
            list(pool.map(lambda name: None if is_over() else self._tell(name), due))

    def _due(self) -> list[str]:
        at = self._seconds()
        found = set(_names(self._served.folder))
        for gone in self._watched.keys() - found:
            del self._watched[gone]
        for place, name in enumerate(sorted(found - self._watched.keys())):
            self._watched[name] = _Watched(at + place * PACE)
        return [name for name, watched in self._watched.items() if watched.due <= at]

    def _tell(self, name: str) -> None:
        watched = self._watched[name]
        every = AlertsConfig().every_seconds
        problem = ""
        try:
            if name in self._served:
                file = configuration_of(self._served.folder, name)
                settings = configuration.load(file, self._served.folder, {})
                every = settings.config.alerts.every_seconds
                self._look(settings, name, watched)
        except ProwessError as error:
            problem = error.message
        except Exception:  # what is wrong with one must not end the others
            problem = "it failed"
            logger.exception("people of the workspace %s cannot be told what is wrong", name)
        if problem and problem != watched.problem:
            logger.warning("people of the workspace %s cannot be told what is wrong: %s", name, problem)
        watched.problem = problem
        watched.due = max(watched.due + every, self._seconds())

    def _look(self, settings: Settings, name: str, watched: _Watched) -> None:
        database = self._shared.store.of(name)
        try:
            written, waits = _written(database, settings)
            if not written.entries:
                return  # nothing ever happened there, and a look would be the first that is written of it
            if written == watched.written and not waits and watched.skipped < MAX_SKIPPED:
                watched.skipped += 1
                return
            with self._opened(settings, database) as inner:
                # Whoever did it a moment ago has done it for this time.
                every = timedelta(seconds=settings.config.alerts.every_seconds * 0.9)
                with inner.jobs.held(WORK, every) as lease:
                    if lease is None:
                        return
                    service = AlertService(inner)
                    raised = service.look()
                    lease.result = f"{len(raised)} raised, {service.deliver()} sent"
            watched.written, watched.skipped = written, 0
        finally:
            database.close()

    @contextmanager
    def _opened(self, settings: Settings, database: Database) -> Iterator[Internals]:
        environment = environment_of(settings, self._shared)
        options = self._shared.options(settings, environment)
        yield Internals(database, (), now, environment, options)


def _names(folder: Path) -> Iterable[str]:
    try:
        with os.scandir(folder) as places:
            return [place.name for place in places]
    except OSError:
        return ()  # the folder is being replaced; requests are told the same


def _written(database: Database, settings: Settings) -> tuple[_Written, bool]:
    """What was written there, and whether an alert is open or waits to be sent."""
    with database.reading() as transaction:
        row = transaction.one(
            "SELECT (SELECT SUM(count) FROM journal_head WHERE workspace = :workspace),"
            " (SELECT MAX(at) FROM source_health WHERE workspace = :workspace),"
            " (SELECT COUNT(*) FROM alert WHERE workspace = :workspace AND ended_at = ''),"
            " (SELECT COUNT(*) FROM alert_delivery WHERE workspace = :workspace AND state = 'waiting')"
        )
    assert row is not None, "a row of counts"
    changed = settings.file.stat().st_mtime_ns if settings.file else 0
    return _Written(int(row[0] or 0), row[1] or "", changed), bool(row[2] or row[3])
