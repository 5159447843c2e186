"""How the text of a capability changed, in lines a person reads. Pure."""

import difflib
from collections.abc import Sequence

import msgspec

from prowess.types import Capability, Detail


def difference(before: Sequence[str], after: Sequence[str], names: tuple[str, str]) -> tuple[str, ...]:
    """The lines that went and came, with those around them."""
    return tuple(difflib.unified_diff(before, after, *names, lineterm=""))


def readable(capability: Capability, detail: Detail) -> tuple[str, ...]:
    """Everything a capability says, line by line."""
    schema = msgspec.json.format(msgspec.json.encode(detail.input_schema), indent=2).decode()
    said = [capability.description, *schema.splitlines(), *(detail.content or "").splitlines()]
    return tuple(said)
