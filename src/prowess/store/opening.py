"""Which database a store URL means."""

from pathlib import Path

from prowess.errors import StoreError
from prowess.store.database import Database, Driver
from prowess.store.postgres import Postgres
from prowess.store.sqlite import SQLite


def open_database(url: str, root: Path) -> Database:
    """Open the store at `url`: `postgresql://...`, `sqlite:PATH` or a plain path below `root`."""
    return Database(driver(url, root))


def driver(url: str, root: Path) -> Driver:
    if url.startswith(("postgresql://", "postgres://")):
        return Postgres(url)
    scheme, colon, _ = url.partition(":")
    if colon and "//" in url and scheme != "sqlite":
        raise StoreError(f"no store speaks {scheme!r} in {url!r}", "use postgresql://... or sqlite:PATH")
    path = url.removeprefix("sqlite:").removeprefix("//") if url.startswith("sqlite:") else url
    return SQLite(root / path)
