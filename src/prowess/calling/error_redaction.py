"""What the journal may know of a call that failed: where and how, and nothing of what was given.

The client is told everything; the journal is kept for ever and read by many.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from prowess.types import JsonObject

SHORTEST_WORD = 3
LEFT_OUT = "[…]"
TYPES = re.compile(r"'(array|boolean|integer|null|number|object|string)'")
_WORD = re.compile(r"\w+", re.UNICODE)
_REQUIRED = re.compile(r"'([^']{1,100})' is a required property")


def fault_without_values(fault: str, schema: JsonObject | None) -> str:
    """What is wrong with arguments, such as `to: not a string`."""
    names = (schema or {}).get("properties")
    known = set(names) if isinstance(names, Mapping) else set()
    place = next((name for name in known if fault.startswith((f"{name}: ", f"{name}."))), "")
    where = f"{place}: " if place else ""
    if " is not of type " in fault:
        types = TYPES.findall(fault.rpartition(" is not of type ")[2])
        return f"{where}not {_one_of(types)}" if types else f"{where}of another type"
    if " is not one of " in fault:
        return f"{where}not one of the values it may have"
    required = _REQUIRED.search(fault)
    if required and fault.endswith(required[0]) and required[1] in known:
        return f"{where}{required[1]} is missing"
    if fault.startswith("unknown "):
        return "unknown arguments"
    return f"{where}does not fit"


def without_values(text: str, *given: object) -> str:
    """A text of somebody else, such as an error, without any word of what was given."""
    values = [value.casefold() for one in given for value in _values(one)]
    if not text or not values:
        return text
    together = "\n".join(values)
    words = {word for word in _WORD.findall(together) if len(word) > SHORTEST_WORD}

    def masked(match: re.Match[str]) -> str:
        word = match[0].casefold()
        if len(word) < SHORTEST_WORD:
            return LEFT_OUT if word in values or (word.isdigit() and word in together) else match[0]
        return LEFT_OUT if word in together or any(one in word for one in words) else match[0]

    return re.sub(
        rf"{re.escape(LEFT_OUT)}(?:\W{{0,3}}{re.escape(LEFT_OUT)})+", LEFT_OUT, _WORD.sub(masked, text)
    )


def _values(value: Any) -> Iterator[str]:
    """Every value, and every name that is no argument's own."""
    if isinstance(value, Mapping):
        for one in value.values():
            yield from _values(one)
            if isinstance(one, Mapping):
                yield from map(str, one)
    elif isinstance(value, list | tuple):
        for one in value:
            yield from _values(one)
    elif value is not None and not isinstance(value, bool):
        yield str(value)


def _one_of(types: list[str]) -> str:
    return " or ".join(f"{'an' if one[0] in 'aio' else 'a'} {one}" if one != "null" else one for one in types)
