"""Servers of others as `[[source]]` tables of prowess.toml.

Above: `prowess import` and `prowess connect`.
"""

import json
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import tomlkit
import tomlkit.items

from prowess.errors import ConfigError
from prowess.sources.imports.documents import Table
from prowess.sources.imports.imported_server import ImportedServer
from prowess.sources.imports.importers import free_name


@dataclass(frozen=True, slots=True)
class Addition:
    """A configuration with servers added: the new text, and their names in it; `known` were there before."""

    text: str
    added: tuple[str, ...]
    known: tuple[str, ...]


def add_sources(
    text: str, servers: Iterable[ImportedServer], place: str = "prowess.toml", label: str = ""
) -> Addition:
    """Add servers as `[[source]]` tables at the end of a configuration; what was written stays as it was.

    label: whose servers they are; a server whose name is taken by another gets it behind its name.
    """
    sources = _sources(text, place)
    names = {str(source.get("name", "")): None for source in sources}
    reached = {_reached(source) for source in sources}
    tables: list[tomlkit.items.Table] = []
    known: list[str] = []
    for server in servers:
        table = _source_table(server, free_name(server.name, names, label))
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
    """What makes two sources the same server, whatever they are called: all that is given to reach it."""
    keys = ("command", "args", "env", "cwd", "url", "headers")
    return tuple(json.dumps(source.get(key) or "", default=str, sort_keys=True) for key in keys)
