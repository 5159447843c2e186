"""The entry that other programs need in their configuration to start this server.

Nothing but text and files: importing this does not import the SDK. A file that cannot be understood is
never written; one that is written keeps everything else it held, and a copy of it stays beside it.
"""

import json
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tomlkit
from tomlkit.exceptions import TOMLKitError

from prowess.errors import ConfigError
from prowess.types import DEFAULT_AGENT

NAME = "prowess"


@dataclass(frozen=True, slots=True)
class ServerEntry:
    command: str
    args: tuple[str, ...]

    @classmethod
    def here(cls, python: str, config: str, agent: str) -> "ServerEntry":
        """This installation, by its full path: a client that is started from a desktop has no PATH."""
        chosen = ("--config", config) if config else ()
        named = ("--agent", agent) if agent != DEFAULT_AGENT else ()
        return cls(python, ("-m", "prowess", *chosen, "serve", "mcp", *named))

    @property
    def fields(self) -> dict[str, Any]:
        return {"command": self.command, "args": list(self.args)}


@dataclass(frozen=True, slots=True)
class ConfigLocation:
    """Where a client keeps its servers, under which key, in which form."""

    file: Path
    key: str = "mcpServers"
    is_toml: bool = False
    says_type: bool = False


def place_of(client: str, home: Path, project: Path, platform: str) -> ConfigLocation:
    match client:
        case "claude-code":
            return ConfigLocation(project / ".mcp.json", says_type=True)
        case "claude-desktop":
            return ConfigLocation(_desktop(home, platform) / "claude_desktop_config.json")
        case "codex":
            return ConfigLocation(home / ".codex" / "config.toml", "mcp_servers", is_toml=True)
        case "cursor":
            return ConfigLocation(home / ".cursor" / "mcp.json")
        case "gemini":
            return ConfigLocation(home / ".gemini" / "settings.json")
        case "vscode":
            return ConfigLocation(project / ".vscode" / "mcp.json", "servers", says_type=True)
    raise ConfigError("--install", f"{client!r} is not a client I know", "see: prowess serve mcp --help")


def _desktop(home: Path, platform: str) -> Path:
    if platform == "darwin":
        return home / "Library" / "Application Support" / "Claude"
    if platform == "win32":
        return Path(os.environ.get("APPDATA", str(home / "AppData" / "Roaming"))) / "Claude"
    return home / ".config" / "Claude"


def printed(entry: ServerEntry, place: ConfigLocation) -> str:
    """The entry alone, as the client's file would have it."""
    return _rendered({place.key: {NAME: _fields(entry, place)}}, place)


def written(entry: ServerEntry, place: ConfigLocation) -> Path | None:
    """Put the entry into the client's file; returns where the old content is kept."""
    old = _text(place.file)
    new = _with_entry(old, entry, place)
    if new == old:
        return None
    backup = _backup(place.file, old) if old else None
    _replace(place.file, new)
    return backup


def _fields(entry: ServerEntry, place: ConfigLocation) -> dict[str, Any]:
    return {"type": "stdio", **entry.fields} if place.says_type else entry.fields


def _with_entry(old: str, entry: ServerEntry, place: ConfigLocation) -> str:
    try:
        document: Any = tomlkit.parse(old) if place.is_toml else json.loads(old or "{}")
    except (ValueError, RecursionError, TOMLKitError):
        what = "cannot be understood, so it is left as it is"
        raise ConfigError(str(place.file), what, "put the printed entry in by hand") from None
    servers = document.setdefault(place.key, {}) if isinstance(document, dict) else None
    if not isinstance(servers, dict):
        raise ConfigError(str(place.file), f"{place.key!r} is not a table", "put the entry in by hand")
    servers[NAME] = _fields(entry, place)
    return _rendered(document, place)


def _rendered(document: Any, place: ConfigLocation) -> str:
    if place.is_toml:
        return tomlkit.dumps(document)
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except FileNotFoundError:
        return ""
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(str(file), f"cannot be read ({error})", "put the entry in by hand") from None


def _backup(file: Path, text: str) -> Path:
    number = 1
    while (kept := file.with_name(f"{file.name}.backup{number}")).exists():
        number += 1
    _replace(kept, text)
    return kept


def _behind_links(file: Path) -> Path:
    try:
        return file.resolve()
    except (OSError, RuntimeError):
        raise ConfigError(str(file), "is a link that leads back to itself", "mend it, or remove it") from None


def _replace(file: Path, text: str) -> None:
    """Write whole or not at all, readable by whoever could read it before; through a link, not over it."""
    file = _behind_links(file)
    file.parent.mkdir(parents=True, exist_ok=True)
    mode = file.stat().st_mode if file.exists() else 0o600
    with tempfile.NamedTemporaryFile("w", dir=file.parent, delete=False, encoding="utf-8") as fresh:
        fresh.write(text)
    os.chmod(fresh.name, mode & 0o777)
    os.replace(fresh.name, file)
