"""The MCP servers of other programs' configurations, without the secrets in them.

Above: `prowess import` and `prowess connect`. Whatever may be a secret becomes a reference to the
environment: a value is kept only when its name and its form say that it is none, so that a doubt never costs
a secret, only a variable that a person sets.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from prowess.errors import SourceError
from prowess.sources.imports.bundles import Bundle, is_bundle, read_bundle
from prowess.sources.imports.documents import parsed, read_document
from prowess.sources.imports.found import FoundServer, KeyPath, folder_of, servers_in, together
from prowess.sources.imports.imported_server import ITSELF, ImportedServer, imported_server
from prowess.sources.imports.placeholders import Placeholders
from prowess.sources.imports.redaction import Redaction
from prowess.sources.imports.registry import DescribedServer, described, is_registry_entry

NOT_A_SERVER = re.compile(r"[^A-Za-z0-9_.-]+")


@dataclass(frozen=True, slots=True)
class Imported:
    """Everything a configuration offers, and what in it could not be used."""

    servers: tuple[ImportedServer, ...]
    skipped: tuple[SourceError, ...] = ()
    itself: tuple[KeyPath, ...] = ()
    """Where prowess itself stands in it."""
    notes: tuple[str, ...] = field(default=())
    """What a person should know of what was taken over."""
    bundle: Bundle | None = None
    """What has to be unpacked for it."""


def read_config(path: str, workspace: str = "", bundles: Path = Path()) -> Imported:
    """Read another program's configuration file, an entry of the MCP registry, or a bundle.

    workspace: the folder that `${workspaceFolder}` means, where the place of the file does not say it.
    bundles: the folder that a bundle is unpacked into, in one of its own.
    """
    if is_bundle(path):
        bundle = read_bundle(path, bundles)
        return replace(_described(path, bundle.server), bundle=bundle)
    return read_text(path, read_document(path), workspace)


def read_text(path: str, text: str, workspace: str = "") -> Imported:
    """The same from a text: what `path` is called says in which format it is, and whose it is."""
    if path.endswith(".json") and is_registry_entry(data := parsed(path, text)):
        return _described(path, described(path, data))
    return import_servers(path, text, workspace)


def _described(path: str, server: DescribedServer) -> Imported:
    """A server that is told of in a file of its own."""
    redaction = Redaction(safe_name(server.name))
    found = imported_server(path, redaction, server.table, "", ())
    return Imported((found,), notes=server.notes)


def import_servers(path: str, text: str, workspace: str = "") -> Imported:
    """The servers in a configuration of any known program; raises where there is none to take over."""
    found = take_over(path, text, workspace)
    others = [error for error in found.skipped if error.what != ITSELF]
    if not found.servers and others:
        raise others[0]
    return found


def take_over(path: str, text: str, workspace: str = "") -> Imported:
    """The servers in a configuration, and why some of them stay where they are."""
    own = folder_of(Path(path).expanduser(), Path.home())
    found = servers_in(path, parsed(path, text), own)
    servers: dict[str, ImportedServer] = {}
    skipped: list[SourceError] = []
    itself: list[KeyPath] = []
    notes: list[str] = []
    taken: dict[str, str] = {}
    for group in together(found):
        folder = group[0].folder if len({one.folder for one in group}) == 1 else ""
        label = Path(folder).name if folder != own else ""
        name = free_name(safe_name(group[0].name), servers, label)
        redaction = Redaction(name, taken, Placeholders(folder or workspace))
        try:
            server = imported_server(path, redaction, group[0].table, folder, [one.at for one in group])
        except SourceError as error:
            skipped.append(error)
            if error.what == ITSELF:
                itself.extend(one.at for one in group)
        else:
            servers[name] = server
            notes.extend(_notes(server, group))
    return Imported(tuple(servers.values()), tuple(skipped), tuple(itself), tuple(notes))


def _notes(server: ImportedServer, group: tuple[FoundServer, ...]) -> list[str]:
    """What was decided for a person and may have to be decided otherwise."""
    folders = [one.folder for one in group if one.folder]
    if len(folders) > 1 and not server.cwd and server.command:
        return [f"{server.name} is started in no project's folder: it was in {' and in '.join(folders)}"]
    if server.cwd and server.command:
        return [f"{server.name} is started in {server.cwd}"]
    return []


def safe_name(name: str) -> str:
    """A name that can stand in an id."""
    return NOT_A_SERVER.sub("-", name).strip("-.")[:64] or "server"


def free_name(name: str, taken: Mapping[str, object], label: str = "") -> str:
    """The name itself, or with whose it is, or with the first number that is free."""
    if name not in taken:
        return name
    if label and (named := safe_name(f"{name}-{label}")) not in taken:
        return named
    number = 2
    while f"{name}-{number}" in taken:
        number += 1
    return f"{name}-{number}"
