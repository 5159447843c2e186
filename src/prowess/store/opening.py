"""Which database a store URL means."""

from pathlib import Path

from prowess.errors import StoreError
from prowess.store.database import DEFAULT_WORKSPACE, Database, Driver
from prowess.store.postgres import Postgres
from prowess.store.sqlite import BUSY_SECONDS, SQLite


def open_database(
    url: str, root: Path, patience: float = BUSY_SECONDS, workspace: str = DEFAULT_WORKSPACE
) -> Database:
    """Open the store at `url`: `postgresql://...`, `sqlite:PATH` or a plain path below `root`.

    `patience` is for how many seconds to wait while others write, before it is a `StoreBusy`.
    Everything that is read and written is of one `workspace`.
    """
    return Database(driver(url, root, patience), workspace)


def driver(url: str, root: Path, patience: float = BUSY_SECONDS) -> Driver:
    if url.startswith(("postgresql://", "postgres://")):
        return Postgres(url, patience)
    scheme, colon, _ = url.partition(":")
    if colon and "//" in url and scheme != "sqlite":
        raise StoreError(f"no store speaks {scheme!r} in {url!r}", "use postgresql://... or sqlite:PATH")
    path = url.removeprefix("sqlite:").removeprefix("//") if url.startswith("sqlite:") else url
    return SQLite(root / path, patience)
