"""Plain values as JSON and YAML know them, and texts that are safe to keep and to show."""

from collections.abc import Mapping
from typing import Any, TypeAlias

Json: TypeAlias = bool | int | float | str | list[Any] | Mapping[str, Any] | None

_LONGEST_QUOTE = 60


def quoted(text: str) -> str:
    """A stranger's text as a message may show it: one line, short, nothing a terminal would obey."""
    return repr(text if len(text) <= _LONGEST_QUOTE else text[: _LONGEST_QUOTE - 3] + "...")


def is_storable(text: str) -> bool:
    """Whether a database can hold this text: no null character, no half of a surrogate pair."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return "\0" not in text
