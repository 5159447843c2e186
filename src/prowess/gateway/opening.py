"""From a configuration to a gateway: the engine over sources that read through kept connections."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from prowess import config as configuration
from prowess.engine.engine import Engine
from prowess.gateway.config_reload import Reloading
from prowess.gateway.gateway import Gateway
from prowess.gateway.upstreams import Upstreams
from prowess.opening import now, options_of, owned
from prowess.sources.configured import configured_sources
from prowess.store.database import Database
from prowess.store.opening import driver
from prowess.store.sqlite import SQLite

PATIENCE = 5.0
"""Seconds a call waits while others write to the store, before it is refused."""


class Unhurried(SQLite):
    """The embedded store without a wait for the disk in every call.

    What is committed survives the end of this process, however it ends; a power cut may take the last
    moments with it, never a part of an entry.
    """

    def __init__(self, inner: SQLite) -> None:
        super().__init__(inner.path, inner.patience)

    def connect(self) -> Any:
        connection = super().connect()
        connection.execute("PRAGMA synchronous = NORMAL")
        return connection


@contextmanager
def opened(file: Path | None, store: str | None, environment: Mapping[str, str]) -> Iterator[Gateway]:
    settings = configuration.load(file, Path.cwd())
    url = store or environment.get("PROWESS_STORE") or settings.config.store
    sources = configured_sources(settings, environment)
    upstreams = Upstreams(sources, settings.config.gateway)
    chosen = driver(url, settings.root, PATIENCE)
    database = Database(Unhurried(chosen) if isinstance(chosen, SQLite) else chosen)
    options = owned(options_of(settings, environment, {}), settings, sources)
    with Engine(database, upstreams.sources, now, environment, options) as engine:
        reloading = Reloading(file, environment) if file else None
        yield Gateway(engine, upstreams, environment, settings.config.gateway, reloading)
