"""The store for many machines: PostgreSQL through psycopg 3 (extra `postgres`)."""

import re
import time
from collections.abc import Callable, Collection, Iterable
from contextlib import closing
from functools import lru_cache
from threading import Event
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from prowess.errors import MissingExtra, StoreAway, StoreBusy, StoreError, StoreFull
from prowess.store.driver import EVERYWHERE, LISTED
from prowess.store.integers import Integers
from prowess.types import Problem

if TYPE_CHECKING:
    from prowess.store.replica import Replica

BUSY_SECONDS = 30.0
PAUSE = 0.1
BEGINS_WITHIN = 4.0
ANSWERS_WITHIN = 10.0
"""Seconds after which a server is taken to be away; nothing that a turn asks of it takes a tenth of that. A
transaction begins without waiting for anybody, so that a connection that hangs shows soon."""
FULL = "53300"
"""Too many connections: that passes."""
STARTING = "57P03"
AWAY_WITHOUT_STATE = ("OperationalError", "ConnectionTimeout", "InterfaceError", "NoAnswer", "NotThePrimary")
AWAY = ("08", "57P", "25006", "25P03")
"""Connections that were lost, or ended since nothing came over them, a server that ends or starts, and one
that became a copy of another."""
NO_ROOM = "53100"
UNNAMED, NOT_WRITTEN = "XX000", ("could not extend file", "could not write")
"""How a quota of the system is told, for which PostgreSQL has no state of its own."""
BUSY = ("55P03", "40P01", "40001")
"""A lock was not given in time, or two waited for each other."""

SILENT_FOR = "1min"
"""After this the server ends a transaction that says nothing more: what it locks would be locked for hours
where the network lost the connection, or the machine at its other end is gone. Work with many rows may say
nothing for seconds."""

SETTING = "prowess.workspace"
OF_ONE_WORKSPACE = (
    f"workspace = (SELECT current_setting('{SETTING}', true))"
    f" OR (SELECT current_setting('{SETTING}', true)) = '{EVERYWHERE}'"
)
"""What row-level security asks of each row; a transaction that says no workspace sees none."""
QUOTED = OF_ONE_WORKSPACE.replace("'", "''")
ISOLATION = f"""DO $$ DECLARE name TEXT;
BEGIN
    FOREACH name IN ARRAY ARRAY[TABLES] LOOP
        IF NOT (SELECT relforcerowsecurity FROM pg_class WHERE oid = CAST(name AS regclass)) THEN
            EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY', name);
            EXECUTE format('CREATE POLICY one_workspace ON %I USING ({QUOTED})', name);
        END IF;
    END LOOP;
END $$"""
SET_ASIDE = """DO $$ BEGIN
    IF EXISTS (SELECT 1 FROM pg_extension WHERE extname = 'vector'
               AND extnamespace = CAST(current_schema() AS regnamespace)) THEN
        CREATE SCHEMA prowess_aside;
        ALTER EXTENSION vector SET SCHEMA prowess_aside;
    END IF;
END $$"""
"""pgvector calls its type `vector`, as the migrations before 110 do a table of ours."""
PUT_BACK = """DO $$ BEGIN
    IF EXISTS (SELECT 1 FROM pg_namespace WHERE nspname = 'prowess_aside') THEN
        EXECUTE format('ALTER EXTENSION vector SET SCHEMA %I', current_schema());
        DROP SCHEMA prowess_aside;
    END IF;
END $$"""
CHANNEL = "prowess"
SECONDS_WITHOUT_A_SIGN = 15.0
SECONDS_TO_END = 0.1
POOLER = "pooler"
PREPARED_AFTER = 5
"""So often a statement is sent before the server keeps it; psycopg's own number."""

TOKEN = re.compile(r"'(?:[^']|'')*'|::|:([a-z_][a-z0-9_]*)|%")


@lru_cache(maxsize=512)
def adapt(sql: str) -> str:
    """Turn `:name` into psycopg's `%(name)s`, leaving string literals as they are; a list is an array."""

    def replace(match: re.Match[str]) -> str:
        if match[1]:
            return f"%({match[1]})s"
        return match[0].replace("%", "%%")

    return TOKEN.sub(replace, sql.replace(LISTED, "= ANY(:listed)"))


class Postgres:
    # A server that is killed would take along what is not flushed; those who commit at once share a flush.
    unflushed = ("", "", "")
    adapt = staticmethod(adapt)
    # Bringing a large store up to date takes longer than any write: who comes meanwhile waits for that.
    lock_for_migration = "SELECT set_config('lock_timeout', '30min', true), pg_advisory_xact_lock(7077391)"
    # It comes by itself, but a minute later, and until then large tables are searched badly.
    analyze = "ANALYZE"
    set_aside, put_back = SET_ASIDE, PUT_BACK
    has_arrays = True

    announcement = f"SELECT pg_notify('{CHANNEL}', :workspace)"

    def __init__(self, url: str, patience: float = BUSY_SECONDS) -> None:
        try:
            import psycopg  # an extra: only those who use PostgreSQL install it
        except ImportError as missing:
            raise MissingExtra("a PostgreSQL store", "postgres") from missing
        self._url, is_pooled = without_pooler(url)
        self.patience = patience
        # A pooler lends a connection for one transaction; the next one may not know what was prepared.
        threshold = None if is_pooled else PREPARED_AFTER
        from prowess.store.servers import Servers

        self.failures: tuple[type[Exception], ...] = (psycopg.Error,)
        try:
            self._servers = Servers(self._url, autocommit=True, prepare_threshold=threshold)
        except psycopg.Error as failure:
            raise _mistyped("store", self._url, failure) from failure
        self.can_listen = not is_pooled  # what it lends for one transaction hears nothing between two
        self._has_answered = False

    @property
    def place(self) -> str:
        return place_of(self._url)

    @property
    def era(self) -> int:
        """A promoted copy may lack what was never acknowledged by it."""
        return self._servers.timeline

    def connect(self) -> Any:
        deadline = time.monotonic() + self.patience
        while True:
            try:
                connection = self._servers.connect()
            except self.failures as failure:
                if not self._passes(failure) or time.monotonic() >= deadline:
                    raise self.explain(failure) from failure
                time.sleep(PAUSE)
            else:
                self._has_answered = True
                return connection

    def _passes(self, failure: Exception) -> bool:
        """Whether to wait: libpq gives no state for what is refused while connecting, only the words.

        One that was there and starts again is away for now, and nobody waits for it.
        """
        state = getattr(failure, "sqlstate", None)
        is_starting = state == STARTING or "starting up" in str(failure)
        return state == FULL or "too many clients" in str(failure) or (is_starting and not self._has_answered)

    def begin(self, cursor: Any, writing: bool, workspace: str) -> None:
        """What holds for a transaction is said with its begin, in one message, and ends with it."""
        kind = "" if writing else " ISOLATION LEVEL REPEATABLE READ READ ONLY"
        waits = f"; SET LOCAL lock_timeout = {int(self.patience * 1000)}" if writing else ""
        if writing and workspace != EVERYWHERE:
            waits += f"; SET LOCAL idle_in_transaction_session_timeout = '{SILENT_FOR}'"
        connection = cursor.connection
        connection.answers_within = BEGINS_WITHIN
        # Several statements at once are answered as text alone.
        several = f"BEGIN{kind}{waits}; SET LOCAL {SETTING} = '{workspace}'"
        cursor.execute(several, prepare=False, binary=False)
        # What concerns a whole store, such as a backup, may take any time.
        usual = ANSWERS_WITHIN + (self.patience if writing else 0)
        connection.answers_within = None if workspace == EVERYWHERE else usual

    def ask(self, cursor: Any, question: str) -> None:
        cursor.connection.answers_within = BEGINS_WITHIN
        cursor.execute(question, prepare=False)

    def replica(self, url: str, ask: Callable[[str], Any]) -> "Replica":
        from prowess.store.replica import Replica

        if not url.startswith(("postgresql://", "postgres://")):
            what = f"the replica {url.rpartition('@')[2]!r} is no PostgreSQL"
            raise StoreError(what, 'write replica = "postgresql://..."')
        try:
            return Replica(url, ask)
        except self.failures as failure:
            raise _mistyped("replica", url, failure) from failure

    def isolation(self, tables: Iterable[str]) -> str:
        return ISOLATION.replace("TABLES", ", ".join(f"'{table}'" for table in tables))

    def listed(self, values: Collection[int] | Collection[str]) -> object:
        numbers = [value for value in values if isinstance(value, int)]
        return Integers(numbers) if len(numbers) == len(values) else list(values)

    def usable(self, connection: Any) -> bool:
        return not connection.closed and connection.info.transaction_status == 0

    def close(self) -> None:
        """Nothing is held beside the connections."""

    def listen(self, heard: Callable[[str], None], over: Event) -> None:
        connection = self._servers.connect()
        with closing(connection):
            connection.execute(f"LISTEN {CHANNEL}")
            heard("")
            while not over.is_set():
                # A connection that is lost without a word is noticed by asking again what it leads to.
                self._servers.admit(connection)
                connection.answers_within = None
                asked_again = time.monotonic() + SECONDS_WITHOUT_A_SIGN
                while not over.is_set() and time.monotonic() < asked_again:
                    for told in connection.notifies(timeout=SECONDS_TO_END):
                        heard(told.payload)

    def problems(self) -> tuple[Problem, ...]:
        return ()

    def is_away(self, failure: Exception) -> bool:
        """What has no state never came from the server: it was not reached, or went away in between."""
        state: str | None = getattr(failure, "sqlstate", None)
        if state is None:
            return type(failure).__name__ in AWAY_WITHOUT_STATE
        return state.startswith(AWAY)

    def is_busy(self, failure: Exception) -> bool:
        return getattr(failure, "sqlstate", None) in BUSY

    def _is_full(self, failure: Exception) -> bool:
        state, text = getattr(failure, "sqlstate", None), str(failure)
        return state == NO_ROOM or (state == UNNAMED and any(sign in text for sign in NOT_WRITTEN))

    def explain(self, failure: Exception) -> StoreError:
        if self.is_busy(failure):
            return StoreBusy(self.patience)
        text = without_password(failure, self._url)
        if self._has_answered and self.is_away(failure):
            return StoreAway(self.place, text)
        if self._is_full(failure):
            return StoreFull(self.place, text)
        return StoreError(
            f"the store {self.place}: {text}", "check that the server runs and the URL is right"
        )


def _mistyped(what: str, url: str, failure: Exception) -> StoreError:
    text = f"the URL of the {what} {place_of(url)}: {without_password(failure, url)}"
    return StoreError(text, "write postgresql://USER@HOST/DB, and behind a ? what libpq knows")


def place_of(url: str) -> str:
    """The address without its password."""
    parts = urlsplit(url)
    return f"postgresql://{parts.netloc.rpartition('@')[2]}{parts.path}"


def without_password(failure: Exception, url: str) -> str:
    """What was wrong with the server at an address, in one line."""
    text = " ".join(str(failure).split()).replace(url, place_of(url))
    password = urlsplit(url).password
    return text.replace(password, "***") if password else text


def without_pooler(url: str) -> tuple[str, bool]:
    """The URL without `pooler=transaction`, which is no word of libpq, and whether it said so."""
    parts = urlsplit(url)
    query = parse_qsl(parts.query, keep_blank_values=True)
    kind = dict(query).get(POOLER, "")
    if kind not in ("", "transaction"):
        raise StoreError(f"{POOLER}={kind!r} in the URL of the store is unknown", "write pooler=transaction")
    if not kind:
        return url, False
    rest = urlencode([(name, value) for name, value in query if name != POOLER])
    return urlunsplit(parts._replace(query=rest)), True
