"""The open connections of one store: lent to one transaction at a time, shared by the workspaces in it.

Above: a `Database`, which is one workspace. Below: a driver. Nothing here knows what a transaction says.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from threading import BoundedSemaphore, Lock
from typing import Any

from prowess.errors import StoreError
from prowess.store.driver import Driver

CONNECTIONS = 8
PAUSE = 0.02


class Connections:
    """What is open is closed when the last of those who use it has closed."""

    def __init__(self, driver: Driver) -> None:
        self.driver = driver
        self._idle: list[Any] = []
        self._lent = BoundedSemaphore(CONNECTIONS)
        self._users = 1
        self._counting = Lock()
        self._closed = False

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
        while self._idle:
            self._idle.pop().close()
        self.driver.close()

    @contextmanager
    def transaction(self, workspace: str, writing: bool, flush: bool) -> Iterator[Any]:
        """A cursor in a transaction that sees one workspace; what it did is kept when the block ends."""
        before, within, after = ("", "", "") if flush else self.driver.unflushed
        with self._lent:
            connection, committed = self._borrow(), False
            try:
                cursor = connection.cursor()
                _say(cursor, before)
                self._begin(cursor, writing, workspace)
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
                raise self.driver.explain(failure) from failure
            finally:
                self._give_back(connection, committed)

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

    def _borrow(self) -> Any:
        if self._closed:
            raise StoreError(f"the store {self.driver.place} is closed", "open it again with prowess.open()")
        try:
            return self._idle.pop() if self._idle else self.driver.connect()
        except IndexError:  # another thread took the last idle one
            return self.driver.connect()

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
