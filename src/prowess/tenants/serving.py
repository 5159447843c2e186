"""From a folder of configurations to a door that serves them all.

FOLDER/acme/prowess.toml configures the workspace acme of the one store; a folder that is added is served from
the next request on.
"""

from collections.abc import Iterator, Mapping
from contextlib import AbstractAsyncContextManager, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from starlette.types import ASGIApp

from prowess import config as configuration
from prowess.config import Config, Settings
from prowess.engine.engine import Engine
from prowess.errors import ConfigError
from prowess.gateway.opening import database_at
from prowess.listen import Bind, Rate
from prowess.opening import now
from prowess.secrets.environment import with_secrets
from prowess.store.database import Database
from prowess.store.opening import StoreAddress
from prowess.tenants.alerting import WorkspaceAlerts
from prowess.tenants.dispatcher import TenantDispatcher
from prowess.tenants.memory import MemoryBudget
from prowess.tenants.open_tenants import OpenTenants
from prowess.tenants.opening import SharedParts, configuration_of, opened_engine, opened_gateway
from prowess.tenants.presented import Presented
from prowess.tenants.proof import workspace_of
from prowess.tenants.served_folder import FolderOfWorkspaces
from prowess.tenants.tenant import Tenant, with_gateway, without_gateway
from prowess.web.app import create_app
from prowess.web.serving import limits_of

if TYPE_CHECKING:
    from prowess.web.provider import ProviderFace


@dataclass(frozen=True, slots=True)
class ServedFaces:
    """What a process serves of each workspace."""

    web: bool = True
    mcp: bool = True


@dataclass(frozen=True, slots=True)
class KeptOpen:
    """How many workspaces a process keeps open, and within how much memory."""

    most: int
    megabytes: float = 0.0
    """Of the whole process; 0: any."""


@contextmanager
def serving_workspaces(
    folder: Path, settings: Settings, store: StoreAddress, bind: Bind, faces: ServedFaces, kept: KeptOpen,
    environment: Mapping[str, str],
) -> Iterator[TenantDispatcher]:  # fmt: skip
    """The door of all workspaces of the store.

    settings: of the process, which say who may knock and how often.
    kept: how many workspaces are kept open.
    """
    if not folder.is_dir():
        remedy = "make it, with a folder for each workspace and a prowess.toml in that"
        raise ConfigError("--workspaces", f"there is no folder {folder}", remedy)
    memory = MemoryBudget(kept.megabytes) if kept.megabytes else None
    database = database_at(store, settings.root)
    shared = SharedParts(database, environment, settings.config.gateway)
    try:
        served = FolderOfWorkspaces(folder, database)
        provider = _provider(settings, environment, served)
        opening = WorkspaceOpening(folder, settings, bind, faces, shared, provider)
        tenants = OpenTenants(opening.tenant, kept.most, memory)
        recognise = partial(_recognised, database, folder)
        rate = Rate(settings.config.web.rate)
        with WorkspaceAlerts(served, shared).watching():
            yield TenantDispatcher(database, tenants, opening.strangers(), recognise, rate, provider)
    finally:
        shared.guard.close()
        database.close()


def _provider(
    settings: Settings, environment: Mapping[str, str], served: FolderOfWorkspaces
) -> "ProviderFace | None":
    config = settings.config.web.oidc
    if config is None:
        return None
    from prowess.web.provider import provider_face  # the optional part `oidc`

    return provider_face(config, with_secrets(settings, environment), served)


def _recognised(store: Database, folder: Path, said: Presented) -> str:
    """The workspace that a request proves to be of, if it has a folder here."""
    workspace = workspace_of(store, said, now)
    return workspace if workspace and configuration_of(folder, workspace).is_file() else ""


@dataclass(frozen=True, slots=True)
class WorkspaceOpening:
    """How a workspace is opened in this process."""

    folder: Path
    process: Settings
    bind: Bind
    faces: ServedFaces
    shared: SharedParts
    provider: "ProviderFace | None" = None

    def tenant(self, name: str) -> AbstractAsyncContextManager[Tenant]:
        settings = configuration.load(configuration_of(self.folder, name), self.folder, {})
        return self._opened(settings, self.shared.store.of(name))

    def strangers(self) -> AbstractAsyncContextManager[Tenant]:
        """A workspace of a store that nobody keeps: what those see who prove nothing."""
        return self._opened(
            Settings(Config(), self.process.root),
            database_at(StoreAddress("sqlite::memory:"), self.process.root),
        )

    def _opened(self, settings: Settings, database: Database) -> AbstractAsyncContextManager[Tenant]:
        web = self._web if self.faces.web else None
        if self.faces.mcp:
            return with_gateway(opened_gateway(settings, database, self.shared), self.bind, web)
        return without_gateway(opened_engine(settings, database, self.shared), self._web)

    def _web(self, engine: Engine) -> ASGIApp:
        limits = limits_of(self.process.config.web, self.bind)
        return create_app(engine, limits, secure=not self.bind.is_loopback, provider=self.provider)
