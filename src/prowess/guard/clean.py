"""Capabilities as they may be shown: every text that somebody wrote, through the sanitiser."""

from collections.abc import Mapping
from dataclasses import replace

from prowess.guard.sanitise import Channel, admit
from prowess.types import Capability, Detail, Json, JsonObject

DEEPEST = 32
"""How deep a schema is followed; what lies deeper is cut off, because nothing there was looked at."""


def clean_capability(capability: Capability) -> Capability:
    return replace(
        capability,
        name=_line(capability.name),
        display_name=_line(capability.display_name),
        description=str(admit(capability.description, "tool_description")),
        category=_line(capability.category),
        tags=tuple(map(_line, capability.tags)),
        parameters=tuple(map(_line, capability.parameters)),
        required_tools=tuple(map(_line, capability.required_tools)),
    )


def clean_detail(kind: str, detail: Detail) -> Detail:
    channel: Channel = "card" if kind == "card" else "skill"
    return Detail(
        input_schema=_clean_schema(detail.input_schema),
        output_schema=_clean_schema(detail.output_schema),
        content=None if detail.content is None else str(admit(detail.content, channel)),
    )


def _clean_schema(schema: JsonObject | None) -> JsonObject | None:
    return None if schema is None else {_line(key): _clean(value, 1) for key, value in schema.items()}


def _clean(value: Json, depth: int) -> Json:
    if isinstance(value, str):
        return str(admit(value, "schema_field"))
    if depth >= DEEPEST:
        return None
    if isinstance(value, Mapping):
        return {_line(str(key)): _clean(each, depth + 1) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_clean(each, depth + 1) for each in value]
    return value


def _line(text: str) -> str:
    """A name stays on its line, where it begins no other voice; the sanitiser is last, so nothing rejoins."""
    if text.isascii() and text.isidentifier():
        return text
    return str(admit(" ".join(text.split()), "schema_field"))
