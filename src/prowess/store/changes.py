"""That something changed in a workspace, heard of at once where the database can tell.

Above: whoever waits and looks again now and then: alerts, a gateway that tells its clients. Below: a driver
that listens. To hear of a change only saves waiting: who hears nothing looks at its own time, and what has
changed is read from the store in any case.
"""

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from prowess.errors import StoreError
from prowess.store.driver import Driver

logger = logging.getLogger("prowess")
PAUSE = 1.0
"""Seconds until the database is asked again that could not be listened to."""
Tell = Callable[[], None]


class StoreChanges:
    """One thread, and one connection, for all who wait in one process; none while nobody does."""

    def __init__(self, driver: Driver) -> None:
        self._driver = driver
        self._lock = threading.Lock()
        self._waiting: list[tuple[str, Tell]] = []
        self._over = threading.Event()
        self._thread: threading.Thread | None = None

    @contextmanager
    def told(self, workspace: str, tell: Tell) -> Iterator[None]:
        """While this lasts, `tell` is called when the workspace has changed, from another thread."""
        waiting = (workspace, tell)
        with self._lock:
            self._waiting.append(waiting)
            if self._thread is None and self._driver.can_listen and not self._over.is_set():
                self._thread = threading.Thread(target=self._listen, name="prowess-changes", daemon=True)
                self._thread.start()
        try:
            yield
        finally:
            with self._lock:
                self._waiting.remove(waiting)

    def close(self) -> None:
        self._over.set()
        if self._thread is not None:
            self._thread.join(PAUSE)

    def _listen(self) -> None:
        failures: tuple[type[Exception], ...] = (StoreError, *self._driver.failures)
        while not self._over.is_set():
            try:
                self._driver.listen(self._heard, self._over)
            except failures as failure:
                logger.debug("changes are not heard of now: %s", failure)
                self._over.wait(PAUSE)

    def _heard(self, workspace: str) -> None:
        """Nothing: nobody knows what was missed, so everybody looks."""
        with self._lock:
            told = [tell for name, tell in self._waiting if name == workspace or not workspace]
        for tell in told:
            tell()
