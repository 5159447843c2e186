"""The embedded store: one file in WAL mode, safe under many processes and kill -9."""

import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

from prowess.errors import StoreError

BUSY_SECONDS = 30.0


class SQLite:
    begin_reading = "BEGIN"
    # Taking the write lock at once means a transaction waits at its start, never fails half-way.
    begin_writing = "BEGIN IMMEDIATE"
    lock_for_migration = ""
    adapt: Callable[[str], str] = str  # it takes `:name` as it is written
    failures: tuple[type[Exception], ...] = (sqlite3.Error,)

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as failure:
            raise StoreError(
                f"the store {path} cannot be made: {failure.strerror}",
                "choose another place with PROWESS_STORE",
            ) from failure

    @property
    def place(self) -> str:
        return str(self.path)

    def connect(self) -> Any:
        try:
            connection = sqlite3.connect(
                self.path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False
            )
            connection.execute("PRAGMA journal_mode = WAL")
            # FULL: what was acknowledged survives a power cut, not only a killed process.
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute("PRAGMA foreign_keys = ON")
        except sqlite3.Error as failure:
            raise self.explain(failure) from failure
        return connection

    def usable(self, connection: Any) -> bool:
        return not connection.in_transaction

    def explain(self, failure: Exception) -> StoreError:
        text = str(failure)
        if "locked" in text or "busy" in text:
            remedy = "another process holds it; wait for that one, or use PostgreSQL for many writers"
        elif "not a database" in text or "malformed" in text:
            remedy = "move the file away and run prowess sync, or restore it from a backup"
        elif "readonly" in text or "unable to open" in text:
            remedy = "check the permissions of the file and its folder, or set PROWESS_STORE"
        elif "full" in text:
            remedy = "free some disk space and try again; nothing was changed"
        else:
            remedy = "run prowess doctor"
        return StoreError(f"the store {self.path}: {text}", remedy)
