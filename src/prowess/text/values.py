"""Plain values as JSON and YAML know them, and texts that are safe to keep and to show."""

from collections.abc import Callable, Mapping
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


def redacted_values(value: Any, redact: Callable[[str], str]) -> Any:
    """JSON whose texts were redacted one by one, so that it stays JSON."""
    match value:
        case str():
            return redact(value)
        case Mapping():
            return {key: redacted_values(each, redact) for key, each in value.items()}
        case list() | tuple():
            return [redacted_values(each, redact) for each in value]
    return value
