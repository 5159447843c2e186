"""OpenAI's Responses.

`discover_capabilities` becomes the tool search that the client runs: what it finds comes in with the answer,
the list of tools stays the same, and so does the prompt's cache.
"""

from collections.abc import Collection, Iterable

from prowess.prompt.formats.content import IMAGES, Image, is_named, members, objects, shown, shown_text
from prowess.prompt.formats.nulls import meant_calls
from prowess.prompt.formats.openai import openai_parameters
from prowess.types import DISCOVER, CallResult, Json, JsonObject, ToolCall


class OpenAIResponsesFormat:
    """Items of `responses`. The tool that searches must be among the tools where any is deferred."""

    name = "responses"

    def tools(
        self, definitions: Iterable[Json], *, strict: bool = False, defer: Collection[str] = ()
    ) -> list[Json]:
        return [
            _search(one) if one["name"] == DISCOVER else _function(one, strict, one["name"] in defer)
            for one in definitions
        ]

    def calls(self, said: object, definitions: Iterable[Json] = ()) -> tuple[ToolCall, ...]:
        listed = objects(said) or members(said, "output") or objects([said])
        return meant_calls([call for item in listed for call in _called(item)], definitions)

    def result(self, call: ToolCall, result: CallResult) -> Json:
        if call.name == DISCOVER:  # a search is answered with tools, and with nothing else
            return {**_searched(call, []), "status": "incomplete" if result.is_error else "completed"}
        parts = shown(result, IMAGES)
        mixed = any(isinstance(part, Image) for part in parts) and not result.is_error
        output = [_part(part) for part in parts] if mixed else shown_text(result)
        return {"type": "function_call_output", "call_id": call.id, "output": output}

    def found(self, call: ToolCall, definitions: Iterable[Json], *, strict: bool = False) -> Json:
        return _searched(
            call, [_function(one, strict, True) for one in definitions if one["name"] != DISCOVER]
        )


def _function(definition: JsonObject, strict: bool, deferred: bool) -> Json:
    parameters, is_strict = openai_parameters(definition, strict)
    return {
        "type": "function",
        "name": definition["name"],
        "description": definition.get("description", ""),
        "parameters": parameters,
        "strict": is_strict,
        **({"defer_loading": True} if deferred else {}),
    }


def _search(definition: JsonObject) -> Json:
    return {
        "type": "tool_search",
        "execution": "client",
        "description": definition.get("description", ""),
        "parameters": openai_parameters(definition, False)[0],
    }


def _searched(call: ToolCall, tools: list[Json]) -> dict[str, Json]:
    return {
        "type": "tool_search_output",
        "call_id": call.id,
        "execution": "client",
        "status": "completed",
        "tools": tools,
    }


def _called(item: JsonObject) -> list[ToolCall]:
    id = item.get("call_id") or ""
    if item.get("type") == "function_call" and is_named(item):
        return [ToolCall(name=item["name"], arguments=item.get("arguments") or "{}", id=id)]
    if item.get("type") == "tool_search_call" and item.get("execution") == "client":
        return [ToolCall(name=DISCOVER, arguments=item.get("arguments") or {}, id=id)]
    return []


def _part(part: str | Image) -> Json:
    if isinstance(part, Image):
        return {"type": "input_image", "image_url": part.url, "detail": "auto"}
    return {"type": "input_text", "text": part}
