"""Where in a configuration the servers stand, and in which folder each of them works.

Above: the importers. Claude Desktop, Claude Code, Cursor, Windsurf, Cline and many others keep `mcpServers`,
VS Code `servers`, Codex `[mcp_servers]`, Zed `context_servers`, opencode `mcp`; Claude Code has some for each
project.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from prowess.errors import SourceError
from prowess.sources.imports.documents import Table
from prowess.sources.imports.placeholders import names_the_folder

KeyPath = tuple[str, ...]

CONTAINERS: tuple[KeyPath, ...] = (
    ("mcpServers",),
    ("servers",),
    ("mcp_servers",),
    ("context_servers",),
    ("mcp", "servers"),
    ("mcp",),
)
PROJECT_FOLDERS = frozenset(
    {".vscode", ".cursor", ".gemini", ".codex", ".roo", ".zed", ".opencode", ".kiro", ".amazonq", ".qwen"}
)
PROJECT_FILES = frozenset({".mcp.json", "opencode.json", "opencode.jsonc"})


@dataclass(frozen=True, slots=True)
class FoundServer:
    """One entry as it stands there: the keys that lead to it, and the folder it is started in, if known."""

    at: KeyPath
    table: object
    folder: str = ""

    @property
    def name(self) -> str:
        return self.at[-1]


def servers_in(path: str, data: Table, folder: str = "") -> tuple[FoundServer, ...]:
    """Every server in a file: those for all projects, then those of each; repeated ones once."""
    found = list(_everywhere(path, data, folder))
    if not found:
        raise SourceError(
            path,
            "has no MCP servers (looked for mcpServers, servers, mcp_servers, context_servers and mcp)",
            "name the configuration file in which the program keeps its MCP servers",
        )
    return tuple(found)


def _everywhere(path: str, data: Table, folder: str) -> Iterator[FoundServer]:
    for keys in CONTAINERS:
        yield from _named(path, data, keys, folder)
    projects = data.get("projects")
    for place in projects if isinstance(projects, dict) else ():
        yield from _named(path, data, ("projects", place, "mcpServers"), place)


def _named(path: str, data: Table, keys: KeyPath, folder: str) -> Iterator[FoundServer]:
    servers: Any = data
    for key in keys:
        servers = servers.get(key) if isinstance(servers, Mapping) else None
    if servers is None:
        return
    if not isinstance(servers, dict):
        where = ".".join(keys)
        raise SourceError(path, f"{where!r} is not a table of servers", "correct it, or name another file")
    for name, table in servers.items():
        # VS Code kept other settings beside its servers under `mcp`, and opencode its servers there.
        if keys != ("mcp",) or (isinstance(table, dict) and {"command", "url"} & table.keys()):
            yield FoundServer((*keys, name), table, folder)


def together(found: Iterable[FoundServer]) -> list[tuple[FoundServer, ...]]:
    """Entries that are one server: programs repeat one for every project that uses it."""
    groups: list[list[FoundServer]] = []
    for server in found:
        same = (g for g in groups if (g[0].name, g[0].table) == (server.name, server.table))
        group = next((g for g in same if g[0].folder == server.folder or not needs_folder(server)), None)
        if group is None:
            groups.append([server])
        else:
            group.append(server)
    return [tuple(group) for group in groups]


def needs_folder(server: FoundServer) -> bool:
    """Whether an entry says something that depends on the folder it is started in."""
    return any(names_the_folder(text) or _is_relative(text) for text in texts(server.table))


def _is_relative(text: str) -> bool:
    return text in (".", "..") or text.startswith(("./", "../", ".\\", "..\\"))


def texts(value: object) -> Iterator[str]:
    """Every text in an entry."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for one in value.values():
            yield from texts(one)
    elif isinstance(value, list):
        for one in value:
            yield from texts(one)


def folder_of(file: Path, home: Path) -> str:
    """The folder whose project a configuration file belongs to; empty for a person's own file."""
    file = file.absolute()
    if file.name in PROJECT_FILES and file.parent.name != "opencode":
        return str(file.parent if file.parent.name not in PROJECT_FOLDERS else file.parent.parent)
    folder = file.parent.parent if file.parent.name == "settings" else file.parent
    if folder.name in PROJECT_FOLDERS and folder.parent != home:
        return str(folder.parent)
    return ""
