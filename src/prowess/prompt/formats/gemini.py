"""Google's Gemini: declarations of functions, and answers as parts."""

from collections.abc import Collection, Iterable

from prowess.prompt.formats.content import Image, found_text, is_named, members, objects, shown
from prowess.prompt.formats.format import not_deferred
from prowess.prompt.formats.schemas import object_schema
from prowess.types import CallResult, Json, JsonObject, ToolCall

IMAGE_TYPES = frozenset({"image/png", "image/jpeg", "image/webp"})


class GeminiFormat:
    """Parts of `generate_content`. It has no strict mode and defers nothing."""

    name = "gemini"

    def tools(
        self, definitions: Iterable[Json], *, strict: bool = False, defer: Collection[str] = ()
    ) -> list[Json]:
        made = [_declaration(one) for one in not_deferred(definitions, defer)]
        return [{"function_declarations": made}] if made else []

    def calls(self, said: object, definitions: Iterable[Json] = ()) -> tuple[ToolCall, ...]:
        candidates = members(said, "candidates")
        content = candidates[0].get("content") if candidates else said
        parts = objects(content) or members(content, "parts")
        # The SDK writes function_call, the API functionCall.
        wanted = objects([one.get("function_call") or one.get("functionCall") for one in parts])
        return tuple(
            ToolCall(name=one["name"], arguments=one.get("args") or {}, id=one.get("id") or "")
            for one in wanted
            if is_named(one)
        )

    def result(self, call: ToolCall, result: CallResult) -> Json:
        parts = shown(result, () if result.is_error else IMAGE_TYPES)
        text = "\n".join(part for part in parts if isinstance(part, str))
        data = text if result.structured is None or result.is_error else result.structured
        images = [_part(part) for part in parts if isinstance(part, Image)]
        return _response(call, {"error" if result.is_error else "output": data}, images)

    def found(self, call: ToolCall, definitions: Iterable[Json], *, strict: bool = False) -> Json:
        return _response(call, {"output": found_text(definitions)}, [])


def _declaration(definition: JsonObject) -> Json:
    return {
        "name": definition["name"],
        "description": definition.get("description", ""),
        "parameters_json_schema": object_schema(definition["input_schema"]),
    }


def _part(image: Image) -> Json:
    return {"inline_data": {"mime_type": image.media_type, "data": image.data}}


def _response(call: ToolCall, response: JsonObject, images: list[Json]) -> Json:
    named = {"id": call.id, "name": call.name} if call.id else {"name": call.name}
    return {"function_response": {**named, "response": response, **({"parts": images} if images else {})}}
