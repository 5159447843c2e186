"""Changes to the text of a TOML file that leave comments and layout as they were.

Above: `connection`.
"""

import tomllib
from collections.abc import Sequence
from typing import Any

import tomlkit
import tomlkit.items

Keys = Sequence[str]


def with_value(text: str, keys: Keys, value: Any) -> str:
    """The text with a value at a place, which is made where it is not there."""
    *above, key = keys
    if isinstance(value, dict) and (appended := _appended(text, keys, value)) is not None:
        return appended
    document: Any = tomlkit.parse(text)
    table = document
    for name in above:
        table = table.setdefault(name, tomlkit.table(is_super_table=True))
    if isinstance(value, dict):
        value = _inline(value) if isinstance(table, tomlkit.items.InlineTable) else _table(value)
    table[key] = value
    return _dumped(document, text)


def without(text: str, keys: Keys) -> str:
    """The text without a key."""
    *above, key = keys
    document: Any = tomlkit.parse(text)
    table = document
    for name in above:
        table = table[name]
    del table[key]
    return _dumped(document, text)


def _appended(text: str, keys: Keys, value: dict[str, Any]) -> str | None:
    """A table of its own at the end, which moves nothing; None where the text does not allow one there."""
    newline = "\r\n" if "\r\n" in text else "\n"
    gap = "" if not text else newline if text.endswith("\n") else newline * 2
    header = ".".join(tomlkit.key(key).as_string() for key in keys)
    written = f"{text}{gap}[{header}]{newline}{_table(value).as_string().replace(chr(10), newline)}"
    try:
        tomllib.loads(written)
    except tomllib.TOMLDecodeError:
        return None
    return written


def _table(value: dict[str, Any]) -> Any:
    table = tomlkit.table()
    for key, one in value.items():
        table.add(key, _inline(one) if isinstance(one, dict) else one)
    return table


def _inline(value: dict[str, Any]) -> Any:
    table = tomlkit.inline_table()
    table.update(value)
    return table


def _dumped(document: Any, text: str) -> str:
    dumped = tomlkit.dumps(document)
    return dumped.replace("\r\n", "\n").replace("\n", "\r\n") if "\r\n" in text else dumped
