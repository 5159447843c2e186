"""Anthropic's messages.

Deferred tools are in the request and not in the prompt; the answer to a search refers to them by name, so the
list of tools stays the same, and so does the prompt's cache.
"""

from collections.abc import Collection, Iterable, Sequence

from prowess.prompt.formats.content import FOUND_NOTHING, IMAGES, Image, is_named, members, objects, shown
from prowess.prompt.formats.parameter_names import with_own_names, with_taken_names
from prowess.prompt.formats.schemas import (
    object_schema,
    parts_of,
    properties_of,
    required_of,
)
from prowess.prompt.formats.strict import StrictRules, strict_schema
from prowess.types import DISCOVER, CallResult, Json, JsonObject, ToolCall

MAX_STRICT_TOOLS = 20
MAX_OPTIONAL_PARAMETERS = 24
MAX_CHOICES = 16
"""Values of several types or with alternatives. All three are for all strict tools of a request together."""
ANTHROPIC_STRICT = StrictRules(
    keywords={
        "object": frozenset({"properties", "required", "additionalProperties"}),
        "array": frozenset({"items", "minItems"}),
        "string": frozenset({"pattern", "format"}),
        "number": frozenset(),
        "integer": frozenset(),
        "boolean": frozenset(),
        "null": frozenset(),
    },
    formats=frozenset(
        {"date-time", "time", "date", "duration", "email", "hostname", "uri", "ipv4", "ipv6", "uuid"}
    ),
    all_required=False,
    recursive=False,
    max_items=1,
)
"""https://platform.claude.com/docs/en/build-with-claude/structured-outputs, "JSON Schema limitations".

What may be left out stays so: a null for it would count among the choices, of which there may be few."""


class AnthropicFormat:
    """Blocks of `messages`. At least one tool must not be deferred; the one that searches never is."""

    name = "anthropic"

    def tools(
        self, definitions: Iterable[Json], *, strict: bool = False, defer: Collection[str] = ()
    ) -> list[Json]:
        given = list(definitions)
        schemas = _strict_schemas(given) if strict else [None] * len(given)
        return [_tool(one, made, defer) for one, made in zip(given, schemas, strict=True)]

    def calls(self, said: object, definitions: Iterable[Json] = ()) -> tuple[ToolCall, ...]:
        blocks = objects(said) or members(said, "content")
        schemas = {one["name"]: one["input_schema"] for one in definitions}
        return tuple(
            ToolCall(
                name=block["name"],
                arguments=with_own_names(block.get("input") or {}, schemas.get(block["name"], {})),
                id=block.get("id") or "",
            )
            for block in blocks
            if block.get("type") == "tool_use" and is_named(block)
        )

    def result(self, call: ToolCall, result: CallResult) -> Json:
        # Beside an error the API takes text alone.
        parts = shown(result, () if result.is_error else IMAGES)
        return _result(call, [_block(part) for part in parts], result.is_error)

    def found(self, call: ToolCall, definitions: Iterable[Json], *, strict: bool = False) -> Json:
        references = [{"type": "tool_reference", "tool_name": one["name"]} for one in definitions]
        return _result(call, references or [_block(FOUND_NOTHING)], False)


def _tool(definition: JsonObject, made: JsonObject | None, defer: Collection[str]) -> Json:
    name = definition["name"]
    return {
        "name": name,
        "description": definition.get("description", ""),
        "input_schema": with_taken_names(object_schema(definition["input_schema"]) if made is None else made),
        **({"strict": True} if made is not None else {}),
        **({"defer_loading": True} if name in defer and name != DISCOVER else {}),
    }


def _strict_schemas(definitions: Sequence[JsonObject]) -> list[JsonObject | None]:
    """A strict schema for each tool, the first ones first, as long as one request may hold them."""
    found: list[JsonObject | None] = []
    tools = optional = choices = 0
    for one in definitions:
        made = strict_schema(one["input_schema"], ANTHROPIC_STRICT)
        more = (tools + 1, optional + _optional(made or {}), choices + _choices(made or {}))
        limits = (MAX_STRICT_TOOLS, MAX_OPTIONAL_PARAMETERS, MAX_CHOICES)
        if made is None or any(count > limit for count, limit in zip(more, limits, strict=True)):
            found.append(None)
        else:
            tools, optional, choices = more
            found.append(made)
    return found


def _optional(schema: JsonObject) -> int:
    parts = [part.schema for part in parts_of(schema)]
    return sum(len(properties_of(one)) - len(required_of(one)) for one in parts)


def _choices(schema: JsonObject) -> int:
    parts = [part.schema for part in parts_of(schema)]
    return sum("anyOf" in one or isinstance(one.get("type"), list) for one in parts)


def _block(part: str | Image) -> Json:
    if isinstance(part, Image):
        source = {"type": "base64", "media_type": part.media_type, "data": part.data}
        return {"type": "image", "source": source}
    return {"type": "text", "text": part}


def _result(call: ToolCall, content: Sequence[Json], is_error: bool) -> Json:
    return {
        "type": "tool_result",
        "tool_use_id": call.id,
        **({"content": list(content)} if content else {}),
        **({"is_error": True} if is_error else {}),
    }
