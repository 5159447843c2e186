"""From a configuration to a gateway: the engine over sources that read through kept connections."""

from collections import ChainMap
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

from prowess import config as configuration
from prowess.calling.mcp.upstreams import Upstreams
from prowess.catalogue.health import ReadingNode
from prowess.engine.engine import Engine
from prowess.engine.options import new_id
from prowess.gateway.config_reload import Reloading
from prowess.gateway.gateway import Gateway
from prowess.opening import now, options_of, owned, workspace_of
from prowess.secrets.environment import with_secrets
from prowess.sources.configured import configured_sources
from prowess.store.database import Database
from prowess.store.opening import driver

VOUCHES = timedelta(minutes=3)
"""How long others go by what a gateway saw after it was killed; while it runs, it says so again."""
PATIENCE = 5.0
"""Seconds a call waits while others write to the store, before it is refused."""


@contextmanager
def opened(
    file: Path | None, store: str | None, environment: Mapping[str, str], workspace: str | None = None,
    serves_many: bool = False,
) -> Iterator[Gateway]:  # fmt: skip
    """`serves_many`: agents come over HTTP, each with logins of its own."""
    settings = configuration.load(file, Path.cwd())
    url = store or environment.get("PROWESS_STORE") or settings.config.store
    environment = with_secrets(settings, environment)
    workspace = workspace_of(workspace, environment, settings)
    sources = configured_sources(settings, ChainMap({"PROWESS_WORKSPACE": workspace}, environment))  # type: ignore[arg-type]
    upstreams = Upstreams(sources, settings.config.calls, serves_many)
    # No call of a client waits for the disk; what was written survives the end of this process.
    database = Database(driver(url, settings.root, PATIENCE, synchronous="NORMAL"), workspace)
    # It reads every source itself and keeps the servers: what it could read is there for as long as it runs.
    node = ReadingNode(id=new_id(), vouches=VOUCHES)
    options = replace(owned(options_of(settings, environment, {}), settings, sources), node=node)
    with Engine(database, upstreams.sources, now, environment, options) as engine:
        reloading = Reloading(file, environment) if file else None
        yield Gateway(engine, upstreams, environment, settings.config.gateway, reloading)
