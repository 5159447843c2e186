"""The store for many machines: PostgreSQL through psycopg 3 (extra `postgres`)."""

import re
from functools import lru_cache
from typing import Any
from urllib.parse import urlsplit

from prowess.errors import MissingExtra, StoreError

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
    adapt = staticmethod(adapt)
    lock_for_migration = "SELECT pg_advisory_xact_lock(7077391)"

    def __init__(self, url: str) -> None:
        try:
            import psycopg  # an extra: only those who use PostgreSQL install it
        except ImportError as missing:
            raise MissingExtra("a PostgreSQL store", "postgres") from missing
        self._url = url
        self._open = psycopg.connect
        self.failures: tuple[type[Exception], ...] = (psycopg.Error,)

    @property
    def place(self) -> str:
        """The address without its password."""
        parts = urlsplit(self._url)
        return f"postgresql://{parts.hostname or ''}{f':{parts.port}' if parts.port else ''}{parts.path}"

    def connect(self) -> Any:
        try:
            return self._open(self._url, autocommit=True, connect_timeout=10)
        except self.failures as failure:
            raise self.explain(failure) from failure

    def usable(self, connection: Any) -> bool:
        return not connection.closed and connection.info.transaction_status == 0

    def explain(self, failure: Exception) -> StoreError:
        text = " ".join(str(failure).split()).replace(self._url, self.place)
        password = urlsplit(self._url).password
        if password:
            text = text.replace(password, "***")
        return StoreError(
            f"the store {self.place}: {text}", "check that the server runs and the URL is right"
        )
