"""`prowess.open()`: from a URL and a prowess.toml to an engine."""

import os
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from prowess import config as configuration
from prowess.engine import Engine
from prowess.journal import Clock
from prowess.sources.configured import configured_sources
from prowess.sources.source import Source
from prowess.store.opening import open_database


def now() -> datetime:
    return datetime.now(UTC)


def open(
    store: str | None = None,
    *,
    config: str | None = None,
    sources: Sequence[Source] | None = None,
    environment: Mapping[str, str] | None = None,
    clock: Clock = now,
) -> Engine:
    """Open the store and everything around it.

    `store` is a path or `postgresql://...`; without it PROWESS_STORE, then prowess.toml, decide.
    `sources` replaces the ones that prowess.toml configures.
    """
    environment = os.environ if environment is None else environment
    file = Path(config) if config else configuration.find(environment, Path.cwd())
    settings = configuration.load(file, Path.cwd())
    if sources is None:
        sources = configured_sources(settings, environment)
    url = store or environment.get("PROWESS_STORE") or settings.config.store
    return Engine(open_database(url, settings.root), sources, clock, environment)
