"""The workspaces that a folder configures, and the people of each."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from prowess.journal import Journal
from prowess.opening import now
from prowess.store.database import WORKSPACE_NAME, Database
from prowess.tenants.opening import configuration_of
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

    @contextmanager
    def people(self, name: str) -> Iterator[Users]:
        database = self.store.of(name)
        try:
            yield Users(database, Journal(database, now), now)
        finally:
            database.close()
