"""A configuration file of another program as data: JSON with comments, or TOML.

Above: the importers. A message names the line and nothing of the text, since secrets stand in it.
"""

import json
import re
import tomllib
from collections.abc import Mapping
from pathlib import PurePath
from typing import Any

from prowess.errors import SourceError

Table = Mapping[str, Any]

MAX_CONFIG_BYTES = 16 * 1024 * 1024


def read_document(path: str) -> str:
    """The text of a configuration file, within bounds."""
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
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise SourceError(path, "is not UTF-8 text", "save it as UTF-8, or name another file") from None


def parsed(path: str, text: str) -> Table:
    """What a text says; the ending of its name says which format it is in."""
    return _toml(path, text) if PurePath(path).suffix.lower() == ".toml" else _json(path, text)


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
