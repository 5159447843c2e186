"""The MCP servers of other programs' configurations, without the secrets in them.

Above: `prowess import`. Below: text. Claude Desktop, Claude Code, Cursor and Gemini keep `mcpServers`,
VS Code `servers`, Codex `[mcp_servers]`. Whatever may be a secret becomes a reference to the environment:
an env value or header is kept only when its name is known to be harmless, so that a doubt never costs a
secret, only a variable that a person sets.
"""

import json
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Any

import tomlkit
import tomlkit.items

from prowess.errors import ConfigError, SourceError
from prowess.sources.imports.redaction import Redaction
from prowess.sources.mcp.self_check import answers_as_prowess, runs_prowess

Table = Mapping[str, Any]

MAX_CONFIG_BYTES = 16 * 1024 * 1024
ITSELF = "is prowess itself"
NOT_A_SERVER = re.compile(r"[^A-Za-z0-9_.-]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedServer:
    """A server as another program reaches it; `variables` says which ones to set and where each came from."""

    name: str
    command: str = ""
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    cwd: str = ""
    url: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    variables: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Imported:
    """Everything a configuration offers, and what in it could not be used."""

    servers: tuple[ImportedServer, ...]
    skipped: tuple[SourceError, ...] = ()


def read_config(path: str) -> Imported:
    """Read another program's configuration file."""
    try:
        with open(path, "rb") as file:
            content = file.read(MAX_CONFIG_BYTES + 1)
    except OSError as error:
        reason = (
            "does not exist" if isinstance(error, FileNotFoundError) else f"cannot be read: {error.strerror}"
        )
        raise SourceError(path, reason, "name the configuration file of the program to import from") from None
    if len(content) > MAX_CONFIG_BYTES:
        raise SourceError(path, "is too large to be a configuration", "name another file")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise SourceError(path, "is not UTF-8 text", "save it as UTF-8, or name another file") from None
    return import_servers(path, text)


def import_servers(path: str, text: str) -> Imported:
    """The servers in a configuration of any of the known programs."""
    data = _toml(path, text) if PurePath(path).suffix.lower() == ".toml" else _json(path, text)
    found = list(_tables(path, data))
    if not found:
        raise SourceError(
            path,
            "has no MCP servers (looked for mcpServers, servers and mcp_servers)",
            "name the configuration file in which the program keeps its MCP servers",
        )
    servers: dict[str, ImportedServer] = {}
    skipped: list[SourceError] = []
    taken: dict[str, str] = {}
    for name, table in _distinct(found):
        try:
            server = _server(path, Redaction(_free_name(_safe_name(name), servers), taken), table)
        except SourceError as error:
            skipped.append(error)
        else:
            servers[server.name] = server
    others = [error for error in skipped if error.what != ITSELF]
    if not servers and others:
        raise others[0]
    return Imported(tuple(servers.values()), tuple(skipped))


# --- writing ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Addition:
    """A configuration with servers added: the new text, and their names in it; `known` were there before."""

    text: str
    added: tuple[str, ...]
    known: tuple[str, ...]


def add_sources(text: str, servers: Iterable[ImportedServer], place: str = "prowess.toml") -> Addition:
    """Add servers as `[[source]]` tables at the end of a configuration; what was written stays as it was."""
    sources = _sources(text, place)
    names = {str(source.get("name", "")): None for source in sources}
    reached = {_reached(source) for source in sources}
    tables: list[tomlkit.items.Table] = []
    known: list[str] = []
    for server in servers:
        table = _source_table(server, _free_name(server.name, names))
        if _reached(table.unwrap()) in reached:
            known.append(server.name)
            continue
        tables.append(table)
        names[table["name"]] = None
        reached.add(_reached(table.unwrap()))
    added = tuple(str(table["name"]) for table in tables)
    return Addition("".join((text, *_rendered(text, tables))), added, tuple(known))


def _sources(text: str, place: str) -> list[dict[str, Any]]:
    try:
        sources = tomllib.loads(text).get("source", [])
        # Only tables can be followed by more of them; a list in brackets is closed.
        tomllib.loads(f"{text}\n[[source]]\n")
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise ConfigError(
            place, f"cannot be added to: {error}", "mend it, and write sources as [[source]]"
        ) from None
    return [source for source in sources if isinstance(source, dict)]


def _rendered(text: str, tables: Sequence[tomlkit.items.Table]) -> Iterator[str]:
    if tables and text and not text.endswith("\n"):
        yield "\n"
    for number, table in enumerate(tables):
        yield "\n" if text or number else ""
        yield f"[[source]]\n{table.as_string()}"


def _source_table(server: ImportedServer, name: str) -> tomlkit.items.Table:
    table = tomlkit.table()
    table.add("type", "mcp")
    table.add("name", name)
    values = (
        ("command", server.command),
        ("args", list(server.args)),
        ("env", _inline(server.env)),
        ("cwd", server.cwd),
        ("url", server.url),
        ("headers", _inline(server.headers)),
    )
    for key, value in values:
        if value:
            table.add(key, value)
    return table


def _inline(values: Mapping[str, str]) -> tomlkit.items.InlineTable:
    table = tomlkit.inline_table()
    table.update(values)
    return table


def _reached(source: Table) -> tuple[str, ...]:
    """What makes two sources the same server: how it is reached, whatever it is called."""
    return tuple(json.dumps(source.get(key) or "", default=str) for key in ("command", "args", "cwd", "url"))


# --- reading ---------------------------------------------------------------------------------


def _toml(path: str, text: str) -> Table:
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        # The message of the parser names the line and none of its text.
        raise SourceError(path, f"is not TOML: {error}", "correct that line") from None


def _json(path: str, text: str) -> Table:
    try:
        data = json.loads(_without_comments(text))
    except json.JSONDecodeError as error:
        what = f"is not JSON: line {error.lineno}, column {error.colno}: {error.msg}"
        raise SourceError(path, what, "correct it there, or name another file") from None
    except RecursionError:
        raise SourceError(path, "is nested too deeply", "name another file") from None
    if not isinstance(data, dict):
        raise SourceError(path, "is not an object with MCP servers in it", "name another file")
    return data


_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|//[^\n]*|/\*.*?\*/', re.DOTALL)
_TRAILING = re.compile(r'("(?:[^"\\]|\\.)*")|,(?=\s*[}\]])')


def _without_comments(text: str) -> str:
    """JSON as editors write it, with comments and trailing commas, as JSON; lines keep their numbers."""
    bare = _TOKEN.sub(lambda m: m[0] if m[0].startswith('"') else "\n" * m[0].count("\n"), text)
    return _TRAILING.sub(lambda m: m[1] or "", bare)


def _tables(path: str, data: Table) -> Iterator[tuple[str, Any]]:
    """Every server in the file: the user's own, VS Code's, Codex's, then those of each project."""
    settings = data.get("mcp")
    for holder, key in (
        (data, "mcpServers"),
        (data, "servers"),
        (data, "mcp_servers"),
        (settings, "servers"),
    ):
        yield from _named(path, holder, key)
    projects = data.get("projects")
    for project in projects.values() if isinstance(projects, dict) else ():
        yield from _named(path, project, "mcpServers")


def _named(path: str, holder: object, key: str) -> Iterator[tuple[str, Any]]:
    servers = holder.get(key) if isinstance(holder, dict) else None
    if servers is not None and not isinstance(servers, dict):
        raise SourceError(path, f"{key!r} is not a table of servers", "correct it, or name another file")
    yield from (servers or {}).items()


def _distinct(found: Iterable[tuple[str, Any]]) -> Iterator[tuple[str, Any]]:
    """Each server once: programs repeat one for every project that uses it."""
    seen: list[tuple[str, Any]] = []
    for pair in found:
        if pair not in seen:
            seen.append(pair)
            yield pair


def _safe_name(name: str) -> str:
    return NOT_A_SERVER.sub("-", name).strip("-.")[:64] or "server"


def _free_name(name: str, taken: Mapping[str, object]) -> str:
    """The name itself, or with the first number that is free."""
    number, free = 1, name
    while free in taken:
        number += 1
        free = f"{name}-{number}"
    return free


# --- one server ------------------------------------------------------------------------------


def _server(path: str, redaction: Redaction, table: object) -> ImportedServer:
    name = redaction.server
    place = f"{path}: server {name!r}"
    if not isinstance(table, dict):
        raise SourceError(place, "is not a table", "correct it, or remove it")
    command, args = _command(place, table)
    _check_useful(place, table, command, args)
    url = _text(place, table, "url") or _text(place, table, "httpUrl") or _text(place, table, "serverUrl")
    if bool(command) == bool(url):
        raise SourceError(place, "has neither a command nor a url, or both", "give it one of the two")
    if url and answers_as_prowess(url):
        raise SourceError(place, ITSELF, "nothing is to be done")
    return ImportedServer(
        name=name,
        command=redaction.plain(command),
        args=redaction.arguments(args),
        env=redaction.environment(_texts(place, table, "env")),
        cwd=redaction.plain(_text(place, table, "cwd")),
        url=redaction.url(url),
        headers=redaction.headers(_headers(place, table)),
        variables=redaction.variables,
    )


def _check_useful(place: str, table: Table, command: str, args: tuple[str, ...]) -> None:
    if table.get("disabled") is True or table.get("enabled") is False:
        raise SourceError(
            place, "is switched off there", "switch it on there and import again, if it is wanted"
        )
    if table.get("type") == "sse":
        raise SourceError(
            place, "speaks only the old SSE transport", "ask its provider for a streamable HTTP url"
        )
    if runs_prowess(command, args):
        raise SourceError(place, ITSELF, "nothing is to be done")


def _command(place: str, table: Table) -> tuple[str, tuple[str, ...]]:
    command, args = table.get("command", ""), table.get("args", [])
    if isinstance(command, list) and command and not args:
        command, args = command[0], command[1:]
    if not isinstance(command, str) or not isinstance(args, list):
        raise SourceError(
            place, "its command or args have the wrong type", "write a text and a list of texts"
        )
    return command, tuple(_scalar(place, "args", arg) for arg in args)


def _headers(place: str, table: Table) -> dict[str, str]:
    """Headers as most programs keep them, and as Codex does: by name of the variable that holds the value."""
    headers = _texts(place, table, "headers") | _texts(place, table, "http_headers")
    for header, variable in _texts(place, table, "env_http_headers").items():
        headers[header] = f"${{{variable}}}"
    bearer = _text(place, table, "bearer_token_env_var")
    if bearer:
        headers["Authorization"] = f"Bearer ${{{bearer}}}"
    return headers


def _text(place: str, table: Table, key: str) -> str:
    value = table.get(key) or ""
    if not isinstance(value, str):
        raise SourceError(place, f"{key!r} is not a text", "correct it")
    return value


def _texts(place: str, table: Table, key: str) -> dict[str, str]:
    values = table.get(key) or {}
    if not isinstance(values, dict):
        raise SourceError(place, f"{key!r} is not a table of texts", "correct it")
    return {str(name): _scalar(place, key, value) for name, value in values.items()}


def _scalar(place: str, key: str, value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if not isinstance(value, str | int | float):
        raise SourceError(place, f"a value in {key!r} is not a text", "correct it")
    return str(value)
