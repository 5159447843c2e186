"""The open connections of one store: lent to one transaction at a time, shared by the workspaces in it.

Above: a `Database`, which is one workspace. Below: a driver. Nothing here knows what a transaction says.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from threading import BoundedSemaphore, Lock
from typing import Any

from prowess.errors import StoreAway, StoreError
from prowess.store.changes import StoreChanges
from prowess.store.driver import Driver

CONNECTIONS = 8
PAUSE = 0.02
PAUSE_WHILE_AWAY = 0.5
SECONDS_TO_ASK = 5.0


class Connections:
    """What is open is closed when the last of those who use it has closed."""

    def __init__(self, driver: Driver, replica: str = "") -> None:
        """replica: the URL of a copy that may answer what only reads."""
        self.driver = driver
        self.replica = driver.replica(replica, self.asked) if replica else None
        self.changes = StoreChanges(driver)
        self._idle: list[Any] = []
        self._lent = BoundedSemaphore(CONNECTIONS)
        self._users = 1
        self._counting = Lock()
        self._closed = False
        self._again_at = 0.0
        """When the server is asked for again, while it is away."""

    def share(self) -> None:
        """From now on there is one more who will close them."""
        with self._counting:
            self._users += 1

    def close(self) -> None:
        with self._counting:
            self._users -= 1
            if self._users or self._closed:
                return
            self._closed = True
        self.changes.close()
        if self.replica is not None:
            self.replica.close()
        while self._idle:
            self._idle.pop().close()
        self.driver.close()

    @contextmanager
    def transaction(self, workspace: str, writing: bool, flush: bool) -> Iterator[Any]:
        """A cursor in a transaction that sees one workspace; what it did is kept when the block ends."""
        before, within, after = ("", "", "") if flush else self.driver.unflushed
        with self._lent:
            connection, cursor = self._begun(lambda cursor: self._begin(cursor, writing, workspace), before)
            committed = False
            try:
                try:
                    _say(cursor, within)
                    yield cursor
                    cursor.execute("COMMIT")
                    committed = True
                except BaseException:
                    self._abandon(connection, cursor)
                    raise
                finally:
                    if committed:
                        _say(cursor, after)
            except self.driver.failures as failure:
                if self.driver.is_away(failure):
                    self._is_away()
                raise self.driver.explain(failure) from failure
            finally:
                self._give_back(connection, committed)

    def asked(self, question: str) -> Any:
        """The row that answers a question in one message, outside any transaction."""
        with self._lent:
            connection, cursor = self._begun(lambda cursor: self.driver.ask(cursor, question))
            row = cursor.fetchone()
            self._give_back(connection, True)
            return row

    def _begun(self, begin: Callable[[Any], None], before: str = "") -> tuple[Any, Any]:
        """A connection whose server has begun; one that was kept does not say whether it is there now."""
        self._refuse_while_away()
        while True:
            is_kept, connection = self._borrow()
            try:
                cursor = connection.cursor()
                _say(cursor, before)
                begin(cursor)
            except self.driver.failures as failure:
                is_away = self.driver.is_away(failure)
                if is_away:
                    connection.close()
                    self._is_away()
                self._give_back(connection, False)
                if not (is_away and is_kept):
                    raise self.driver.explain(failure) from failure
            except BaseException:
                self._give_back(connection, False)
                raise
            else:
                self._again_at = 0.0
                return connection, cursor

    def _refuse_while_away(self) -> None:
        """While the server is away one asks for it now and then, and nobody else waits for that."""
        with self._counting:
            now = time.monotonic()
            if not self._again_at or now >= self._again_at:
                self._again_at = now + SECONDS_TO_ASK if self._again_at else 0.0
                return
        raise StoreAway(self.driver.place, "it did not just now")

    def _is_away(self) -> None:
        """No connection that was kept is of use; the next one is asked for in a moment."""
        self._again_at = time.monotonic() + PAUSE_WHILE_AWAY
        while self._idle:
            with suppress(IndexError):
                self._idle.pop().close()

    def _begin(self, cursor: Any, writing: bool, workspace: str) -> None:
        """A database that is busy mostly waits by itself; where it refuses at once, wait here."""
        deadline = time.monotonic() + self.driver.patience
        while True:
            try:
                self.driver.begin(cursor, writing, workspace)
                return
            except self.driver.failures as failure:
                if not self.driver.is_busy(failure) or time.monotonic() >= deadline:
                    raise
                time.sleep(PAUSE)

    def _borrow(self) -> tuple[bool, Any]:
        """A connection, and whether it was kept from before."""
        if self._closed:
            raise StoreError(f"the store {self.driver.place} is closed", "open it again with prowess.open()")
        with suppress(IndexError):  # another thread took the last idle one
            if self._idle:
                return True, self._idle.pop()
        try:
            return False, self.driver.connect()
        except StoreAway:
            self._is_away()
            raise

    def _abandon(self, connection: Any, cursor: Any) -> None:
        try:
            cursor.execute("ROLLBACK")
        except self.driver.failures:
            connection.close()  # the server is gone, and with it whatever was not committed

    def _give_back(self, connection: Any, committed: bool) -> None:
        if self._closed or not (committed or self.driver.usable(connection)):
            connection.close()
        else:
            self._idle.append(connection)


def _say(cursor: Any, statement: str) -> None:
    if statement:
        cursor.execute(statement)
