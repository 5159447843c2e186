"""The embedded store: one file in WAL mode, safe under many processes and kill -9."""

import json
import re
import sqlite3
import time
from collections.abc import Callable, Collection, Iterable
from operator import methodcaller
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event
from typing import Any, Literal, NoReturn

from prowess.errors import StoreBusy, StoreError, StoreFull
from prowess.store import modes
from prowess.store.driver import LISTED
from prowess.types import Problem

BUSY_SECONDS = 30.0
PAUSE = 0.02

REMEDIES = (
    ("not a database", "move the file away and run prowess sync, or restore it from a backup"),
    ("malformed", "move the file away and run prowess sync, or restore it from a backup"),
    ("readonly", "check the permissions of the file and its folder, or set PROWESS_STORE"),
    ("unable to open", "check the permissions of the file and its folder, or set PROWESS_STORE"),
    ("disk I/O error", "check the disk, which may be failing, and try again; nothing was changed"),
)
NO_ROOM = ("SQLITE_FULL", "SQLITE_IOERR_WRITE", "SQLITE_IOERR_FSYNC", "SQLITE_IOERR_SHMSIZE")
"""What a full disk, a quota and a limit on the size of files are called."""


def _finds(expression: str, text: str) -> bool:
    """What `text REGEXP expression` says."""
    return re.search(expression, text) is not None


class SQLite:
    lock_for_migration = ""
    analyze = set_aside = put_back = ""
    has_arrays = False
    # It takes `:name` as it is written, and a list as JSON.
    adapt: Callable[[str], str] = methodcaller("replace", LISTED, "IN (SELECT value FROM json_each(:listed))")
    era = 0
    can_listen = False
    announcement = ""
    failures: tuple[type[Exception], ...] = (sqlite3.Error,)

    def __init__(
        self, path: Path, patience: float = BUSY_SECONDS, synchronous: Literal["FULL", "NORMAL"] = "FULL",
        folder: "TemporaryDirectory[str] | None" = None,
    ) -> None:  # fmt: skip
        """With `synchronous` NORMAL no transaction waits for the disk, as `Database.writing` describes;
        a temporary `folder` goes with the store."""
        self._folder = folder
        self.path = path
        self.patience = patience
        self._synchronous = synchronous
        self.unflushed = ("PRAGMA synchronous = NORMAL", "", f"PRAGMA synchronous = {synchronous}")
        try:
            modes.make_folder(path.parent)
        except OSError as failure:
            raise StoreError(
                f"the store {path} cannot be made: {failure.strerror}",
                "choose another place with PROWESS_STORE",
            ) from failure

    @property
    def place(self) -> str:
        return str(self.path)

    def connect(self) -> Any:
        modes.make_file(self.path)
        try:
            connection = sqlite3.connect(
                self.path, timeout=self.patience, isolation_level=None, check_same_thread=False
            )
            self._use_wal(connection)
            # FULL: what was acknowledged survives a power cut, not only a killed process.
            connection.execute(f"PRAGMA synchronous = {self._synchronous}")
            connection.execute("PRAGMA foreign_keys = ON")
            connection.create_function("REGEXP", 2, _finds, deterministic=True)
        except sqlite3.Error as failure:
            raise self.explain(failure) from failure
        return connection

    def begin(self, cursor: Any, writing: bool, workspace: str) -> None:
        # Taking the write lock at once means a transaction waits at its start, never fails half-way.
        cursor.execute("BEGIN IMMEDIATE" if writing else "BEGIN")

    def ask(self, cursor: Any, question: str) -> None:
        cursor.execute(question)

    def replica(self, url: str, ask: Callable[[str], Any]) -> NoReturn:
        remedy = "take `replica` (PROWESS_REPLICA, --replica) out, or keep the store in PostgreSQL"
        raise StoreError(f"the store {self.path} is a file, which has no replica", remedy)

    def isolation(self, tables: Iterable[str]) -> str:
        """The file has one owner, who may read all of it: what statements say is all there is."""
        return ""

    def listed(self, values: Collection[int] | Collection[str]) -> object:
        return json.dumps(list(values))

    def usable(self, connection: Any) -> bool:
        try:
            return not connection.in_transaction
        except sqlite3.ProgrammingError:  # it was closed, since even giving up failed
            return False

    def is_busy(self, failure: Exception) -> bool:
        return isinstance(failure, sqlite3.OperationalError) and (
            "locked" in str(failure) or "busy" in str(failure)
        )

    def is_away(self, failure: Exception) -> bool:
        """A file is there, or it is an error that waiting does not mend."""
        return False

    def explain(self, failure: Exception) -> StoreError:
        if self.is_busy(failure):
            return StoreBusy(self.patience)
        if getattr(failure, "sqlite_errorname", "") in NO_ROOM:
            return StoreFull(self.place, str(failure))
        text = str(failure)
        remedy = next((remedy for sign, remedy in REMEDIES if sign in text), "run prowess doctor")
        return StoreError(f"the store {self.path}: {text}", remedy)

    def close(self) -> None:
        if self._folder is not None:
            self._folder.cleanup()

    def listen(self, heard: Callable[[str], None], over: Event) -> None:
        """A file tells nobody."""

    def problems(self) -> tuple[Problem, ...]:
        return modes.problems(self.path)

    def _use_wal(self, connection: sqlite3.Connection) -> None:
        """Many may open a new store at once, and the change of mode itself does not wait for the others."""
        deadline = time.monotonic() + self.patience
        while True:
            try:
                if connection.execute("PRAGMA journal_mode").fetchone() != ("wal",):
                    connection.execute("PRAGMA journal_mode = WAL")
                return
            except sqlite3.OperationalError as failure:
                if not self.is_busy(failure) or time.monotonic() >= deadline:
                    raise
                time.sleep(PAUSE)
