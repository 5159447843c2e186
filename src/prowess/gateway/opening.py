"""From a configuration to a gateway: the engine over sources that read through kept connections."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

from prowess import config as configuration
from prowess.calling.mcp.upstreams import Upstreams
from prowess.catalogue.health import ReadingNode
from prowess.config import Settings
from prowess.engine.engine import Engine
from prowess.engine.options import EngineOptions, node_name
from prowess.gateway.config_reload import Reloading, refuse_nothing
from prowess.gateway.gateway import Gateway
from prowess.opening import address_of, now, of_workspace, options_of, owned, workspace_of
from prowess.secrets.environment import with_secrets
from prowess.sources.configured import configured_sources
from prowess.store.database import DEFAULT_WORKSPACE, Database
from prowess.store.opening import StoreAddress, driver

VOUCHES = timedelta(minutes=3)
"""How long others go by what a gateway saw after it was killed; while it runs, it says so again."""
PATIENCE = 5.0
"""Seconds a call waits while others write to the store, before it is refused."""


@contextmanager
def opened(
    file: Path | None, store: str | None, environment: Mapping[str, str], workspace: str | None = None,
    replica: str | None = None,
) -> Iterator[Gateway]:  # fmt: skip
    settings = configuration.load(file, Path.cwd(), environment)
    address = address_of(settings, environment, store, replica)
    environment = with_secrets(settings, environment)
    workspace = workspace_of(workspace, environment, settings)
    options = options_of(settings, environment, {})
    database = database_at(address, settings.root, workspace)
    with over(settings, database, environment, options) as gateway:
        yield gateway


def database_at(address: StoreAddress, root: Path, workspace: str = DEFAULT_WORKSPACE) -> Database:
    """No call of a client waits for the disk; what was written survives the end of this process."""
    opened_driver = driver(address.url, root, PATIENCE, synchronous="NORMAL")
    return Database(opened_driver, workspace, replica=address.replica)


@contextmanager
def over(
    settings: Settings, database: Database, environment: Mapping[str, str], options: EngineOptions,
    refuse: Callable[[Settings], None] = refuse_nothing,
) -> Iterator[Gateway]:  # fmt: skip
    """A gateway over a database that is open; it is closed with it."""
    try:
        refuse(settings)
        environment_of_sources = of_workspace(database.workspace, environment)
        sources = configured_sources(settings, environment_of_sources)
    except BaseException:
        database.close()
        raise
    upstreams = Upstreams(sources, settings.config.calls)
    # It reads every source itself and keeps the servers: what it could read is there for as long as it runs.
    node = ReadingNode(id=node_name(), vouches=VOUCHES)
    options = replace(owned(options, settings, sources), node=node)
    with Engine(database, upstreams.sources, now, environment, options) as engine:
        reloading = Reloading(settings.file, environment_of_sources, refuse) if settings.file else None
        yield Gateway(engine, upstreams, environment, settings.config.gateway, reloading)
