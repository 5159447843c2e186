"""OpenAI's chat completions, which many other providers speak, too."""

from collections.abc import Collection, Iterable

from prowess.prompt.formats.content import found_text, is_named, members, objects, shown_text
from prowess.prompt.formats.format import not_deferred
from prowess.prompt.formats.nulls import meant_calls
from prowess.prompt.formats.schemas import object_schema
from prowess.prompt.formats.strict import StrictRules, strict_schema
from prowess.types import CallResult, Json, JsonObject, ToolCall

OBJECT = frozenset({"properties", "required", "additionalProperties"})
NUMBER = frozenset({"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"})
OPENAI_STRICT = StrictRules(
    keywords={
        "object": OBJECT,
        "array": frozenset({"items", "minItems", "maxItems"}),
        "string": frozenset({"pattern", "format", "minLength", "maxLength"}),
        "number": NUMBER,
        "integer": NUMBER,
        "boolean": frozenset(),
        "null": frozenset(),
    },
    formats=frozenset({"date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"}),
    all_required=True,
    recursive=True,
    max_objects=10,
    max_values=1000,
    max_characters=120_000,
)
"""https://developers.openai.com/api/docs/guides/structured-outputs, "Supported schemas"."""


def openai_parameters(definition: JsonObject, strict: bool) -> tuple[JsonObject, bool]:
    """A tool's parameters, and whether they are in the subset of strict mode."""
    made = strict_schema(definition["input_schema"], OPENAI_STRICT) if strict else None
    return (made, True) if made is not None else (object_schema(definition["input_schema"]), False)


class OpenAIChatFormat:
    """Messages of `chat.completions`. Results are text: what is none is named in its place."""

    name = "openai"

    def tools(
        self, definitions: Iterable[Json], *, strict: bool = False, defer: Collection[str] = ()
    ) -> list[Json]:
        return [_tool(one, strict) for one in not_deferred(definitions, defer)]

    def calls(self, said: object, definitions: Iterable[Json] = ()) -> tuple[ToolCall, ...]:
        choices = members(said, "choices")
        message = choices[0].get("message") if choices else said
        made = [call for one in members(message, "tool_calls") for call in _called(one)]
        return meant_calls(made, definitions)

    def result(self, call: ToolCall, result: CallResult) -> Json:
        return {"role": "tool", "tool_call_id": call.id, "content": shown_text(result)}

    def found(self, call: ToolCall, definitions: Iterable[Json], *, strict: bool = False) -> Json:
        return {"role": "tool", "tool_call_id": call.id, "content": found_text(definitions)}


def _tool(definition: JsonObject, strict: bool) -> Json:
    parameters, is_strict = openai_parameters(definition, strict)
    described = {"name": definition["name"], "description": definition.get("description", "")}
    function = {**described, "parameters": parameters, **({"strict": True} if is_strict else {})}
    return {"type": "function", "function": function}


def _called(wanted: JsonObject) -> list[ToolCall]:
    return [
        ToolCall(name=one["name"], arguments=one.get("arguments") or "{}", id=wanted.get("id") or "")
        for one in objects([wanted.get("function")])
        if is_named(one)
    ]
