"""Changes of one source in the text of a prowess.toml; what else stands there stays as it was.

Above: the operations on servers. Below: TOML Kit.
"""

from collections.abc import MutableMapping
from typing import Any

import tomlkit
from tomlkit.exceptions import TOMLKitError

from prowess.errors import ConfigError, NotFound

WordedTable = MutableMapping[str, Any]


def reworded(text: str, source: str, tool: str, name: str, description: str) -> str:
    """The text with another name and other words for a tool; what is empty is as its author has it.

    tool: the name that its author gave it.
    """
    document = _document(text)
    table = _sources(document)[_place(document, source)]
    tools = table.get("tools")
    if tools is None:
        tools = table["tools"] = tomlkit.table(is_super_table=True)
    own = tools.get(tool)
    if own is None:
        own = tools[tool] = tomlkit.table()
    for key, value in (("name", name), ("description", description)):
        if value:
            own[key] = value
        else:
            own.pop(key, None)
    if not own:
        del tools[tool]
    if not tools:
        del table["tools"]
    return tomlkit.dumps(document)


def without_source(text: str, source: str) -> str:
    """The text without a source."""
    document = _document(text)
    del _sources(document)[_place(document, source)]
    return tomlkit.dumps(document)


def _document(text: str) -> tomlkit.TOMLDocument:
    try:
        return tomlkit.parse(text)
    except TOMLKitError as error:
        raise ConfigError("prowess.toml", f"is not TOML: {error}", "mend that line") from None


def _sources(document: tomlkit.TOMLDocument) -> Any:
    found = document.get("source")
    return [] if found is None else found


def _place(document: tomlkit.TOMLDocument, source: str) -> int:
    names = [str(table.get("name", "")) for table in _sources(document)]
    if source not in names:
        raise NotFound("source in prowess.toml", source, filter(None, names), "see: prowess sources")
    return names.index(source)
