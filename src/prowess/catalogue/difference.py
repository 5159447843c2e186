"""How the text of a capability changed, in lines a person reads. Pure."""

import difflib
from collections.abc import Sequence

import msgspec

from prowess.types import Capability, Detail, JsonObject

ABOUT = ("category", "tags", "required_secrets", "required_tools", "has_side_effects", "metadata")


def difference(before: Sequence[str], after: Sequence[str], names: tuple[str, str]) -> tuple[str, ...]:
    """The lines that went and came, with those around them."""
    return tuple(difflib.unified_diff(before, after, *names, lineterm=""))


def readable(capability: Capability, detail: Detail) -> tuple[str, ...]:
    """Everything a capability says, line by line."""
    about = {name: getattr(capability, name) for name in ABOUT}
    said = [
        capability.display_name,
        *(capability.description.splitlines() or [""]),
        *_lines({name: value for name, value in about.items() if value}),
        *_lines(detail.input_schema),
        *_lines(detail.output_schema),
        *(detail.content or "").splitlines(),
    ]
    return tuple(said)


def _lines(value: JsonObject | None) -> list[str]:
    return msgspec.json.format(msgspec.json.encode(value), indent=2).decode().splitlines() if value else []
