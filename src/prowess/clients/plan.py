"""What connecting a client would do, before anything is done: to its file, to prowess.toml, and what is said.

Above: the commands, which show it, ask and write. Below: `connection` for the client's file, the importers
for what is in it.
"""

from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass, field

from prowess.clients.client import McpClient
from prowess.clients.connection import ClientFile
from prowess.clients.entry import Entry
from prowess.clients.files import SettingsFile
from prowess.errors import SourceError
from prowess.sources.imports.addition import Addition, add_sources
from prowess.sources.imports.importers import Imported, take_over

MakeEntry = Callable[[Mapping[str, str]], Entry]
"""The entry of prowess, given the variables that the client has to hand on to it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectionPlan:
    """A client's file as it is, as it will be, and as it is kept; and prowess.toml with its servers."""

    file: SettingsFile
    now: str | None = field(repr=False)
    kept: str | None = field(repr=False)
    after: str = field(repr=False)
    imported: Imported
    addition: Addition
    notes: tuple[str, ...] = ()

    @property
    def is_done(self) -> bool:
        """Whether the client's file is already as it will be."""
        return self.now == self.after

    def write(self) -> None:
        """Keep the old text, then put the new one in its place."""
        if self.is_done:
            return
        if self.kept is None or not self._is_kept_for_this():
            self.file.set_kept_aside()
        self.file.keep(self.kept)
        self.file.write(self.after, self.now)

    def _is_kept_for_this(self) -> bool:
        """Whether what is kept is of this connection, so that the new text to keep replaces it."""
        return self.now != self.kept or self.file.kept_text() == self.kept


def planned(
    client: McpClient,
    file: SettingsFile,
    config: str,
    make_entry: MakeEntry,
    *,
    place: str = "prowess.toml",
    workspace: str = "",
    given: Container[str] = (),
) -> ConnectionPlan:
    """What connecting a client would do.

    config: the text of prowess.toml, and place its name in messages.
    workspace: the folder that `${workspaceFolder}` means, where the place of the file does not say it.
    given: variables that prowess gets in another way, so that the client need not hand them on.
    """
    form = ClientFile(client, str(file.path))
    now = file.text()
    restored = form.restored(now, file.kept_text()) if now and form.own_entries(now) else None
    before = restored.text if restored else now
    imported = _imported(str(file.path), before, workspace)
    entry = make_entry(_handed_on(imported, given)).fields(client)
    taken = [at for server in imported.servers for at in server.at]
    return ConnectionPlan(
        file=file,
        now=now,
        kept=before,
        after=form.connected(before or "", taken, entry, imported.itself),
        imported=imported,
        addition=add_sources(config, imported.servers, place, client.name),
        notes=(*imported.notes, *(restored.notes if restored else ())),
    )


def _imported(path: str, text: str | None, workspace: str) -> Imported:
    if not (text or "").strip("\ufeff \t\r\n"):
        return Imported(())
    try:
        return take_over(path, (text or "").removeprefix("\ufeff"), workspace)
    except SourceError as error:
        if error.what.startswith("has no MCP servers"):
            return Imported(())
        raise


def secrets_in(place: str, text: str | None) -> list[str]:
    """The values in a client's file that are not to be shown."""
    try:
        found = _imported(place, text, "").servers
    except SourceError:
        return []
    return [value for server in found for value in server.values.values()]


def _handed_on(imported: Imported, given: Container[str]) -> dict[str, str]:
    """The variables that only this client's file has: values, and references that it resolves itself."""
    handed: dict[str, str] = {}
    for server in imported.servers:
        handed |= {name: text for name, text in server.originals.items() if name in server.variables}
        handed |= server.values
    return {name: text for name, text in sorted(handed.items()) if name not in given}
