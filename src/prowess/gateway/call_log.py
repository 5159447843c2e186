"""Calls that were made are in the journal, also when the store is busy at that moment.

Above: the calls. Below: the journal. What cannot be written at once waits here and is tried again until it is
written, in the order in which it came; while anything waits, new calls are refused before they are made, so
that little can wait. When the gateway ends, what waits gets a last chance and is then told to the log.
"""

import json
import logging
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from threading import Event, Lock, Thread

from prowess.errors import StoreError
from prowess.journal import Entry, Journal, plain
from prowess.journal.payloads import Payload, Payloads

logger = logging.getLogger("prowess")

PAUSE = 0.2
LAST_CHANCE = 3.0
"""Seconds that the end of the gateway waits for a store that is busy."""
MOST_WAITING = 10_000
"""Refusals beyond this many are not remembered; calls that were made always are."""

Entries = Sequence[Entry]
Kept = Sequence[Payload]


class CallLog:
    def __init__(self, journal: Journal, payloads: Payloads) -> None:
        self._journal = journal
        self._payloads = payloads
        self._waiting: deque[tuple[str, Entries, Kept]] = deque()
        self._lock = Lock()
        self._ending = Event()
        self._came = Event()

    @property
    def is_behind(self) -> bool:
        """Whether something that happened is not written down yet."""
        return bool(self._waiting)

    def record(self, entries: Entries, agent: str, made: bool, kept: Kept = ()) -> None:
        """Write down what happened, with the contents it refers to; where that fails now, it waits."""
        if not self.is_behind:
            try:
                self._payloads.record(self._journal, entries, agent, kept)
                return
            except StoreError as error:
                logger.warning("a call waits to be written down: %s", error)
        if made or len(self._waiting) < MOST_WAITING:
            with self._lock:
                self._waiting.append((agent, entries, kept))
            self._came.set()

    @contextmanager
    def running(self) -> Iterator[None]:
        """While this lasts, what waits is tried again and again."""
        self._ending.clear()
        thread = Thread(target=self._write, name="recording", daemon=True)
        thread.start()
        try:
            yield
        finally:
            self._ending.set()
            self._came.set()
            thread.join(LAST_CHANCE)
            for agent, entries, _ in list(self._waiting):
                logger.error("not in the journal of %s: %s", agent, _told(entries))

    def _write(self) -> None:
        while not self._ending.is_set() or self._waiting:
            if not self._waiting:
                self._came.wait()
                self._came.clear()
            elif not self._wrote_first():
                self._came.clear()
                self._came.wait(PAUSE)

    def _wrote_first(self) -> bool:
        agent, entries, kept = self._waiting[0]
        try:
            self._payloads.record(self._journal, entries, agent, kept)
        except StoreError:
            return False
        except Exception:  # one entry that cannot be written must not keep all others, and all calls, waiting
            logger.exception("not in the journal of %s: %s", agent, _told(entries))
        with self._lock:
            self._waiting.popleft()
        return True


def _told(entries: Entries) -> str:
    return json.dumps([{"type": one.type, **plain(one)} for one in entries], default=str)
