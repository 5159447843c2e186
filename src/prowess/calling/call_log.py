"""Calls that were made are in the journal, also when the store is busy at that moment.

Above: the calls. Below: the journal. What cannot be written at once waits here and is tried again until it is
written, in the order in which it came; while anything waits, new calls are refused before they are made, so
that little can wait. At the end, what waits gets a last chance and is then told to the log.
"""

import json
import logging
from collections import deque
from collections.abc import Sequence
from threading import Event, Lock, Thread

from prowess.errors import StoreError
from prowess.journal import Entry, Journal, plain
from prowess.journal.payloads import AlongWith, Payload, Payloads

logger = logging.getLogger("prowess")

PAUSE = 0.2
LAST_CHANCE = 3.0
"""Seconds that the end of a program waits for a store that is busy."""
MOST_WAITING = 10_000
"""Refusals beyond this many are not remembered; calls that were made always are."""

Entries = Sequence[Entry]
Kept = Sequence[Payload]


class CallLog:
    def __init__(self, journal: Journal, payloads: Payloads) -> None:
        self._journal = journal
        self._payloads = payloads
        self._waiting: deque[tuple[str, Entries, Kept, AlongWith | None]] = deque()
        self._lock = Lock()
        self._thread: Thread | None = None
        self._ending = Event()
        self._came = Event()

    @property
    def is_behind(self) -> bool:
        """Whether something that happened is not written down yet."""
        return bool(self._waiting)

    def record(
        self, entries: Entries, agent: str, made: bool, kept: Kept = (), along: AlongWith | None = None
    ) -> None:
        """Write down what happened, with the contents it refers to; where that fails now, it waits.

        `along` is written in the same transaction.
        """
        if not self.is_behind:
            try:
                self._payloads.record(self._journal, entries, agent, kept, along, flush=False)
                return
            except StoreError as error:
                logger.warning("a call waits to be written down: %s", error)
        if made or len(self._waiting) < MOST_WAITING:
            with self._lock:
                self._waiting.append((agent, entries, kept, along))
                self._start()
            self._came.set()

    def _start(self) -> None:
        """The thread that tries again, for as long as anything waits or may come."""
        if self._thread is None or not self._thread.is_alive():
            self._ending.clear()
            self._thread = Thread(target=self._write, name="recording", daemon=True)
            self._thread.start()

    def close(self) -> None:
        """What still waits gets a last chance, and is then told to the log."""
        if self._thread is None:
            return
        self._ending.set()
        self._came.set()
        self._thread.join(LAST_CHANCE)
        self._thread = None
        for agent, entries, *_ in list(self._waiting):
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
        agent, entries, kept, along = self._waiting[0]
        try:
            self._payloads.record(self._journal, entries, agent, kept, along)
        except StoreError:
            return False
        except Exception:  # one entry that cannot be written must not keep all others, and all calls, waiting
            logger.exception("not in the journal of %s: %s", agent, _told(entries))
        with self._lock:
            self._waiting.popleft()
        return True


def _told(entries: Entries) -> str:
    return json.dumps([{"type": one.type, **plain(one)} for one in entries], default=str)
