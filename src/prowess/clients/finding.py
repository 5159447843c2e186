"""Which file of a client is meant: the one that is named, else the one that is there.

Above: the commands.
"""

from pathlib import Path
from typing import get_args

from prowess.clients.client import McpClient, Scope, Surroundings
from prowess.clients.connection import ClientFile
from prowess.clients.files import SettingsFile
from prowess.errors import ConfigError

SCOPES: tuple[Scope, ...] = get_args(Scope)


def file_to_connect(client: McpClient, here: Surroundings, named: str = "", scope: str = "") -> SettingsFile:
    """The file that is named, or of the scope, or the first that exists; a person's own if none does."""
    if named:
        return SettingsFile(Path(named).expanduser().absolute())
    usual = files_of(client, here, scope)
    return next((file for file in usual if file.path.exists()), usual[0])


def file_to_disconnect(
    client: McpClient, here: Surroundings, named: str = "", scope: str = ""
) -> SettingsFile:
    """The same, but the one that prowess is in comes first."""
    if named:
        return SettingsFile(Path(named).expanduser().absolute())
    usual = files_of(client, here, scope)
    connected = (file for file in usual if file.kept.exists() or _holds_prowess(client, file))
    return next(connected, usual[0])


def files_of(client: McpClient, here: Surroundings, scope: str = "") -> list[SettingsFile]:
    """Every file it may have: a person's own first, then the project's."""
    scopes = [one for one in SCOPES if one == scope or (not scope and (one == "user" or client.project))]
    return [SettingsFile(client.file(one, here)) for one in scopes]


def _holds_prowess(client: McpClient, file: SettingsFile) -> bool:
    try:
        return bool(ClientFile(client, str(file.path)).own_entries(file.text() or ""))
    except ConfigError:
        return False
