"""The store for many machines: PostgreSQL through psycopg 3 (extra `postgres`)."""

import re
import time
from functools import lru_cache
from typing import Any
from urllib.parse import urlsplit

from prowess.errors import MissingExtra, StoreBusy, StoreError
from prowess.types import Problem

BUSY_SECONDS = 30.0
PAUSE = 0.1
FULL = ("53300", "57P03")
"""Too many connections, or the server is starting: both pass."""
BUSY = ("55P03", "40P01", "40001")
"""A lock was not given in time, or two waited for each other."""

TOKEN = re.compile(r"'(?:[^']|'')*'|::|:([a-z_]+)|%")


@lru_cache(maxsize=512)
def adapt(sql: str) -> str:
    """Turn `:name` into psycopg's `%(name)s`, leaving string literals as they are."""

    def replace(match: re.Match[str]) -> str:
        if match[1]:
            return f"%({match[1]})s"
        return match[0].replace("%", "%%")

    return TOKEN.sub(replace, sql)


class Postgres:
    begin_reading = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
    begin_writing = "BEGIN"
    unflushed = ("", "SET LOCAL synchronous_commit = off", "")
    adapt = staticmethod(adapt)
    lock_for_migration = "SELECT pg_advisory_xact_lock(7077391)"
    # It comes by itself, but a minute later, and until then large tables are searched badly.
    analyze = "ANALYZE"

    def __init__(self, url: str, patience: float = BUSY_SECONDS) -> None:
        try:
            import psycopg  # an extra: only those who use PostgreSQL install it
        except ImportError as missing:
            raise MissingExtra("a PostgreSQL store", "postgres") from missing
        self._url = url
        self.patience = patience
        self._open = psycopg.connect
        self.failures: tuple[type[Exception], ...] = (psycopg.Error,)

    @property
    def place(self) -> str:
        """The address without its password."""
        parts = urlsplit(self._url)
        return f"postgresql://{parts.hostname or ''}{f':{parts.port}' if parts.port else ''}{parts.path}"

    def connect(self) -> Any:
        deadline = time.monotonic() + self.patience
        while True:
            try:
                connection = self._open(self._url, autocommit=True, connect_timeout=10)
                connection.execute(f"SET lock_timeout = {int(self.patience * 1000)}")
                return connection
            except self.failures as failure:
                if not _passes(failure) or time.monotonic() >= deadline:
                    raise self.explain(failure) from failure
                time.sleep(PAUSE)

    def usable(self, connection: Any) -> bool:
        return not connection.closed and connection.info.transaction_status == 0

    def close(self) -> None:
        """Nothing is held beside the connections."""

    def problems(self) -> tuple[Problem, ...]:
        return ()

    def is_busy(self, failure: Exception) -> bool:
        return getattr(failure, "sqlstate", None) in BUSY

    def explain(self, failure: Exception) -> StoreError:
        if self.is_busy(failure):
            return StoreBusy(self.patience)
        text = " ".join(str(failure).split()).replace(self._url, self.place)
        password = urlsplit(self._url).password
        if password:
            text = text.replace(password, "***")
        return StoreError(
            f"the store {self.place}: {text}", "check that the server runs and the URL is right"
        )


def _passes(failure: Exception) -> bool:
    """Whether to try again: libpq gives no state for what is refused while connecting, only the words."""
    state = getattr(failure, "sqlstate", None)
    return state in FULL or "too many clients" in str(failure) or "starting up" in str(failure)
