"""The workspaces that a folder configures, and the people of each."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from prowess import config as configuration
from prowess.errors import ConfigError
from prowess.journal import Journal
from prowess.opening import now
from prowess.store.database import WORKSPACE_NAME, Database
from prowess.tenants.opening import configuration_of, refuse
from prowess.web.users import Users


@dataclass(frozen=True, slots=True)
class FolderOfWorkspaces:
    folder: Path
    store: Database

    def __contains__(self, name: object) -> bool:
        is_name = isinstance(name, str) and WORKSPACE_NAME.fullmatch(name)
        return bool(is_name) and configuration_of(self.folder, str(name)).is_file()

    def __iter__(self) -> Iterator[str]:
        return (place.name for place in self.folder.iterdir() if place.name in self)

    def refused(self) -> Iterator[str]:
        """Which workspaces cannot be served as they are configured now, in which file, and what to do."""
        for name in sorted(self):
            file = configuration_of(self.folder, name)
            try:
                refuse(configuration.load(file, self.folder, {}))
            except ConfigError as error:
                place = "" if error.place == str(file) else f"{file}: "
                yield f"the workspace {name} cannot be served: {place}{error}"

    @contextmanager
    def people(self, name: str) -> Iterator[Users]:
        database = self.store.of(name)
        try:
            yield Users(database, Journal(database, now), now)
        finally:
            database.close()
