"""Opening one workspace of a process that serves many: its configuration, over what all of them share.

Shared are the connections to the store, the encoder and the models of the guard, which cost a process some
hundred megabytes once. A workspace's own are its configuration, sources, policy, index and secrets.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from importlib.machinery import PathFinder
from pathlib import Path

import msgspec

from prowess.config import FILE, Config, GatewayConfig, Settings
from prowess.discovery import embedders
from prowess.engine.engine import Engine
from prowess.engine.options import EngineOptions
from prowess.engine.recurring import recurring, work_between_turns
from prowess.engine.sync import OpenedGuard
from prowess.errors import ConfigError
from prowess.gateway.gateway import Gateway
from prowess.gateway.opening import over
from prowess.opening import now, of_workspace, options_of, owned
from prowess.secrets.environment import with_secrets
from prowess.sources.configured import configured_sources
from prowess.store.database import Database

OF_THE_MACHINE = (
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "LC_ALL",
    "TZ",
    "TMPDIR",
    "XDG_STATE_HOME",
)
"""What a workspace sees of the environment of the process: nothing that could be another's secret."""
SECRETS = ".prowess/secrets"
"""Where a workspace keeps secrets that says nothing of it, below its own folder."""


@dataclass(frozen=True, slots=True)
class SharedParts:
    """What all workspaces of a process use together."""

    store: Database
    """Any workspace of the store; others share its connections."""
    environment: Mapping[str, str]
    gateway: GatewayConfig
    """What the process allows its clients: hosts and rates are not for a workspace to say."""
    encoder: embedders.Opener = field(default_factory=lambda: embedders.opened_once(embedders.shipped))
    guard: OpenedGuard = field(default_factory=OpenedGuard)

    def options(self, settings: Settings, environment: Mapping[str, str]) -> EngineOptions:
        options = options_of(settings, environment, {})
        is_shipped = options.embedder is embedders.shipped
        return replace(options, guard=self.guard, embedder=self.encoder if is_shipped else options.embedder)


def configuration_of(folder: Path, name: str) -> Path:
    """Where a workspace is configured, if it is served here."""
    return folder / name / FILE


@contextmanager
def opened_gateway(settings: Settings, database: Database, shared: SharedParts) -> Iterator[Gateway]:
    of_process = shared.gateway
    said = msgspec.structs.replace(settings.config.gateway, hosts=of_process.hosts, rate=of_process.rate)
    settings = _with(settings, gateway=said)
    environment = environment_of(settings, shared)
    with over(settings, database, environment, shared.options(settings, environment), refuse) as opened:
        yield opened


@contextmanager
def opened_engine(settings: Settings, database: Database, shared: SharedParts) -> Iterator[Engine]:
    """Without a gateway: sources are read when somebody asks for it."""
    try:
        refuse(settings)
        environment = environment_of(settings, shared)
        sources = configured_sources(settings, of_workspace(database.workspace, environment))
        options = owned(shared.options(settings, environment), settings, sources)
    except BaseException:
        database.close()
        raise
    with (
        Engine(database, sources, now, environment, options) as engine,
        recurring(*work_between_turns(engine)),
    ):
        yield engine


def refuse(settings: Settings) -> None:
    """What cannot be in a configuration of one workspace among others."""
    place = str(settings.file)
    if settings.config.gateway.authorization:
        what = "[gateway.authorization] is for a process that serves one workspace"
        raise ConfigError(place, what, "serve it without --workspaces, or take it out")
    if settings.config.web.oidc:
        what = "[web.oidc] is for the configuration of the process, where its groups name workspaces"
        raise ConfigError(place, what, "move it there")
    for source in settings.config.source:
        package = source.module.partition(".")[0]
        if package and PathFinder.find_spec(package, [str(settings.root)]):
            what = f"the module {source.module!r} would run in a process that serves other workspaces"
            remedy = "offer its tools as an MCP server, or install it beside prowess for all workspaces"
            raise ConfigError(place, what, remedy)


def environment_of(settings: Settings, shared: SharedParts) -> Mapping[str, str]:
    said = settings.config.secrets
    settings = _with(
        settings, secrets=msgspec.structs.replace(said, folder=said.folder or SECRETS, keep="file")
    )
    own = {name: shared.environment[name] for name in OF_THE_MACHINE if name in shared.environment}
    return with_secrets(settings, own)


def _with(settings: Settings, **sections: object) -> Settings:
    config: Config = msgspec.structs.replace(settings.config, **sections)
    return replace(settings, config=config)
