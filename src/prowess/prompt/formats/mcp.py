"""The Model Context Protocol: tools as a server lists them, and what it answers a call."""

from collections.abc import Collection, Iterable, Mapping

from prowess.prompt.formats.content import found_text, is_named, objects, plain, text_block, with_text
from prowess.prompt.formats.format import not_deferred
from prowess.types import CallResult, Json, JsonObject, ToolCall

OPTIONAL = {"title": "title", "output_schema": "outputSchema", "annotations": "annotations", "meta": "_meta"}
"""In a definition -> in MCP."""


class McpFormat:
    """Tools and results of MCP. A tool that is no longer deferred is a change of the list of tools."""

    name = "mcp"

    def tools(
        self, definitions: Iterable[Json], *, strict: bool = False, defer: Collection[str] = ()
    ) -> list[Json]:
        return [_tool(one) for one in not_deferred(definitions, defer)]

    def calls(self, said: object, definitions: Iterable[Json] = ()) -> tuple[ToolCall, ...]:
        request = plain(said)
        if not isinstance(request, dict):
            return ()
        asked = objects([request.get("params", request)])
        id = request.get("id")
        return tuple(
            ToolCall(name=one["name"], arguments=one.get("arguments") or {}, id="" if id is None else str(id))
            for one in asked
            if is_named(one)
        )

    def result(self, call: ToolCall, result: CallResult) -> Json:
        data = result.structured
        return {
            "content": with_text(result),
            # Other data may stand here since the version of 2026-07-28 alone; the text says it everywhere.
            **({"structuredContent": data} if isinstance(data, Mapping) else {}),
            "isError": result.is_error,
            **({"_meta": result.meta} if result.meta else {}),
        }

    def found(self, call: ToolCall, definitions: Iterable[Json], *, strict: bool = False) -> Json:
        return {"content": [text_block(found_text(definitions))], "isError": False}


def _tool(definition: JsonObject) -> Json:
    named = {"name": definition["name"], "description": definition.get("description", "")}
    more = {there: definition[here] for here, there in OPTIONAL.items() if definition.get(here)}
    return {**named, "inputSchema": definition["input_schema"], **more}
