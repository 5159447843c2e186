"""Which database a store URL means."""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal, NamedTuple

from prowess.errors import StoreError
from prowess.store.database import DEFAULT_WORKSPACE, Database
from prowess.store.driver import Driver
from prowess.store.postgres import Postgres
from prowess.store.sqlite import BUSY_SECONDS, SQLite

MEMORY = ":memory:"
IN_MEMORY = "/dev/shm"


class StoreAddress(NamedTuple):
    """Where a store is, and where a copy of it, if any may answer what only reads."""

    url: str
    replica: str = ""


def open_database(
    url: str, root: Path, patience: float = BUSY_SECONDS, workspace: str = DEFAULT_WORKSPACE,
    replica: str = "",
) -> Database:  # fmt: skip
    """Open the store at `url`: `postgresql://...`, `sqlite:PATH` or a plain path below `root`.
    `sqlite::memory:` is a store that goes when it is closed.

    `patience` is for how many seconds to wait while others write, before it is a `StoreBusy`.
    Everything that is read and written is of one `workspace`. A `replica` is the URL of a copy of a
    PostgreSQL store that may answer what only reads.
    """
    return Database(driver(url, root, patience), workspace, replica=replica)


def driver(
    url: str, root: Path, patience: float = BUSY_SECONDS, synchronous: Literal["FULL", "NORMAL"] = "FULL"
) -> Driver:
    if url.startswith(("postgresql://", "postgres://")):
        return Postgres(url, patience)
    scheme, colon, _ = url.partition(":")
    if colon and "//" in url and scheme != "sqlite":
        raise StoreError(f"no store speaks {scheme!r} in {url!r}", "use postgresql://... or sqlite:PATH")
    path = url.removeprefix("sqlite:").removeprefix("//") if url.startswith("sqlite:") else url
    return _temporary(patience) if path == MEMORY else SQLite(root / path, patience, synchronous)


def _temporary(patience: float) -> SQLite:
    """A store that nobody keeps, for tests and trials.

    Threads and connections share it, which SQLite's own memory mode does not allow in this way; so it is a
    file, in memory where the system has a folder for that, and goes when it is closed or with the process.
    """
    folder = TemporaryDirectory(prefix="prowess-", dir=IN_MEMORY if Path(IN_MEMORY).is_dir() else None)
    return SQLite(Path(folder.name) / "store.db", patience, "NORMAL", folder)
