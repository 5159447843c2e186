"""A copy of the store that answers what only reads, while it has everything that the primary has.

Above: a `Database`, which says what may be asked of it. Below: psycopg. Before each read the primary is
asked, in one message, how far it is. A copy that has not come that far, that follows another server, hangs or
is away answers nothing, and the primary is asked instead; so what it answers is never older than what the
primary would have answered.
"""

import logging
import time
from collections.abc import Callable
from contextlib import suppress
from threading import BoundedSemaphore, Event, Lock, Thread
from typing import Any, NamedTuple, TypeVar

import psycopg

from prowess.errors import StoreAway, StoreError
from prowess.store.addresses import Addresses
from prowess.store.limited_connection import LimitedConnection
from prowess.store.postgres import PREPARED_AFTER, SETTING, place_of, without_password, without_pooler
from prowess.store.servers import named, noticing_loss, places
from prowess.types import Problem

logger = logging.getLogger("prowess")
Found = TypeVar("Found")
Ask = Callable[[str], Any]

CONNECTIONS = 8
CONNECTS_WITHIN = 2
BEGINS_WITHIN = 1.0
ANSWERS_WITHIN = 4.0
"""Seconds after which it is taken to be away; the primary answers then, so nobody waits longer than this."""
MAX_WAIT = 0.05
"""Seconds that one read waits for a copy that is behind; then the primary is asked for a while."""
PAUSE = 0.002
PAUSE_WHILE_BEHIND = PAUSE_WHILE_AWAY = 1.0
LOOKS_FOR = 2.0
"""Seconds that somebody who asks for problems waits for a copy that is behind."""

POSITION = (
    "SELECT substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8),"
    " CAST(CASE current_setting('synchronous_commit') WHEN 'off' THEN pg_current_wal_insert_lsn()"
    " ELSE pg_current_wal_flush_lsn() END AS TEXT)"
)
"""Nobody sees a change before it is flushed, unless commits are not waited for."""
IDENTITY = (
    "SELECT system_identifier, current_database(), current_schema(), pg_is_in_recovery()"
    " FROM pg_control_system()"
)
# It must be known before the snapshot is taken that the copy is there, so a transaction of its own asks.
# Who may not see what is received knows the timeline from the last checkpoint, which comes later.
BEGIN = """BEGIN READ ONLY;
SELECT pg_is_in_recovery() AND pg_last_wal_replay_lsn() >= '{place}'
    AND COALESCE((SELECT received_tli FROM pg_stat_wal_receiver),
                 (SELECT timeline_id FROM pg_control_checkpoint())) = {timeline};
COMMIT;
BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY;
SET LOCAL {setting} = '{workspace}'"""


class Position(NamedTuple):
    """How far the primary is in its log of writes: whatever was acknowledged until now lies below."""

    timeline: int
    place: str


class Replica:
    def __init__(self, url: str, ask: Ask) -> None:
        """ask: puts a question to the primary."""
        self._url, is_pooled = without_pooler(url)
        self._named, self._addresses = tuple(named(self._url)), Addresses()
        threshold = None if is_pooled else PREPARED_AFTER
        self._options: dict[str, Any] = {
            "autocommit": True,
            "prepare_threshold": threshold,
            "connect_timeout": CONNECTS_WITHIN,
            **noticing_loss(self._url),
        }
        self._ask = ask
        self._idle: list[LimitedConnection] = []
        self._lent = BoundedSemaphore(CONNECTIONS)
        self._over = Event()
        self._changing = Lock()
        self._why_away = self._told = ""
        self._asked_again_at = 0.0
        self.answered = 0
        """Reads that it answered."""

    @property
    def place(self) -> str:
        return place_of(self._url)

    @property
    def is_in_use(self) -> bool:
        """Whether the next read is asked of it."""
        return not self._why_away and time.monotonic() >= self._asked_again_at

    def answer(self, workspace: str, find: Callable[[Any, int], Found]) -> tuple[Found] | None:
        """What `find` finds with a cursor in a transaction of one workspace; nothing if the primary is to
        be asked, as if this had not been."""
        if not self.is_in_use or not self._lent.acquire(blocking=False):
            return None
        try:
            position = self._known_position()
            found = self._found(workspace, position, find, MAX_WAIT) if position else None
        except psycopg.Error as failure:
            self._is_away(failure)
            return None
        finally:
            self._lent.release()
        if found is None:
            self._asked_again_at = time.monotonic() + PAUSE_WHILE_BEHIND
            logger.debug("the replica %s is behind; the primary answers", self.place)
        else:
            self.answered += 1
        return found

    def problems(self) -> tuple[Problem, ...]:
        """Why the primary answers what it could answer, if it does."""
        try:
            found = self._found("", self._position(), lambda cursor, _: True, LOOKS_FOR)
            why = "" if found else "it is behind the primary, or follows another server"
        except (psycopg.Error, StoreError) as failure:
            why = self._said(failure)
        remedy = "look at its log and at pg_stat_replication of the primary, or take `replica` out"
        what = f"the replica is not used, and the primary answers: {why}"
        return (Problem("store", self.place, what, remedy, "warning"),) if why else ()

    def gauges(self) -> dict[str, tuple[str, float]]:
        """Name -> what it says, and its value now."""
        return {
            "prowess_replica_in_use": ("Whether reads go to the replica of the store.", self.is_in_use),
            "prowess_replica_reads_total": ("Reads that the replica of the store answered.", self.answered),
        }

    def close(self) -> None:
        self._over.set()
        while self._idle:
            self._idle.pop().close()

    def _known_position(self) -> Position | None:
        """Nothing from a service that speaks like PostgreSQL and does not say how far it is."""
        try:
            return self._position()
        except StoreAway:
            raise
        except StoreError:
            return None

    def _position(self) -> Position:
        timeline, place = self._ask(POSITION)
        return Position(int(timeline, 16), str(place))

    def _found(
        self, workspace: str, position: Position, find: Callable[[Any, int], Found], wait: float
    ) -> tuple[Found] | None:
        connection = self._borrow()
        try:
            cursor = connection.cursor()
            found = None
            if _begun(cursor, workspace, position, wait):
                connection.answers_within = ANSWERS_WITHIN
                found = (find(cursor, position.timeline),)
                cursor.execute("COMMIT")
        except BaseException:
            connection.close()
            raise
        if self._over.is_set():
            connection.close()
        else:
            self._idle.append(connection)
        return found

    def _borrow(self) -> LimitedConnection:
        with suppress(IndexError):
            return self._idle.pop()
        connection = self._connected()
        connection.answers_within = BEGINS_WITHIN
        try:
            *copied, is_copy = connection.execute(IDENTITY, prepare=False).fetchall()[0]
            if not is_copy:
                raise psycopg.OperationalError("this server follows no other")
            if copied != list(self._ask(IDENTITY)[:-1]):
                raise psycopg.OperationalError(
                    "it is no copy of the store: another cluster, database or schema"
                )
        except BaseException:
            connection.close()
            raise
        return connection

    def _connected(self) -> LimitedConnection:
        """To the first of several that answers."""
        failures: list[psycopg.Error] = []
        for place in (each for server in self._named for each in places(server, self._addresses)):
            try:
                return LimitedConnection.connect(self._url, **{**self._options, **place})
            except psycopg.Error as failure:
                failures.append(failure)
        raise failures[-1]

    def _is_away(self, failure: Exception) -> None:
        """Somebody looks for it beside all requests, so that none waits for it."""
        with self._changing:
            if self._why_away or self._over.is_set():
                return
            why = self._why_away = self._said(failure)
            while self._idle:
                self._idle.pop().close()
        # One that is there and cannot answer would say so every second.
        level, self._told = logging.DEBUG if why == self._told else logging.WARNING, why
        logger.log(level, "the replica %s is away, and the primary answers: %s", self.place, why)
        Thread(target=self._look_for_it, name="prowess-replica", daemon=True).start()

    def _look_for_it(self) -> None:
        while not self._over.wait(PAUSE_WHILE_AWAY):
            with suppress(psycopg.Error, StoreError):
                self._idle.append(self._borrow())
                break
        self._why_away = ""
        if self._over.is_set():
            self.close()
        else:
            logger.info("the replica %s is there again", self.place)

    def _said(self, failure: Exception) -> str:
        return failure.message if isinstance(failure, StoreError) else without_password(failure, self._url)


def _begun(cursor: Any, workspace: str, position: Position, wait: float) -> bool:
    """Begin where everything is there that the primary had; whether it was, in so many seconds."""
    text = BEGIN.format(setting=SETTING, workspace=workspace, **position._asdict())
    until = time.monotonic() + wait
    while True:
        cursor.connection.answers_within = BEGINS_WITHIN
        cursor.execute(text, prepare=False, binary=False)
        cursor.nextset()
        if cursor.fetchone() == (True,):
            return True
        cursor.execute("ROLLBACK")
        if time.monotonic() >= until:
            return False
        time.sleep(PAUSE)
