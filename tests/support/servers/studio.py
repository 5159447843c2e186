"""An MCP server that uses all of the protocol beside calls; stdio, in the revision that its client prefers.

A page of MCP Apps with a tool that it calls, icons, an output schema, completion, logs, and a resource that
changes: `paint` says so to those who subscribed.
"""

from typing import Any

import anyio
from mcp.server import Server, ServerRequestContext
from mcp.server.stdio import stdio_server
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler
from mcp.shared.subscriptions import ResourceUpdated
from mcp_types import (
    CallToolRequestParams,
    CallToolResult,
    CompleteRequestParams,
    CompleteResult,
    Completion,
    EmptyResult,
    GetPromptRequestParams,
    GetPromptResult,
    Icon,
    ListPromptsResult,
    ListResourcesResult,
    ListResourceTemplatesResult,
    ListToolsResult,
    LoggingLevel,
    Prompt,
    PromptArgument,
    PromptMessage,
    ReadResourceRequestParams,
    ReadResourceResult,
    Resource,
    ResourceTemplate,
    SetLevelRequestParams,
    SubscribeRequestParams,
    TextContent,
    TextResourceContents,
    Tool,
    ToolAnnotations,
    UnsubscribeRequestParams,
)

Context = ServerRequestContext[Any]
PAGE = "ui://studio/easel.html"
CANVAS = "studio://canvas"
ICON = Icon(src="https://studio.example/icon.png", mime_type="image/png", sizes=["48x48"])
COLOURS = ("red", "rose", "blue")
NOTHING: dict[str, Any] = {"type": "object", "properties": {}}
PAINTED: dict[str, Any] = {
    "type": "object",
    "properties": {"colour": {"type": "string"}},
    "required": ["colour"],
}

bus = InMemorySubscriptionBus()
subscribed: set[str] = set()
levels: list[str] = []


async def tools(context: Context, params: object) -> ListToolsResult:
    return ListToolsResult(
        tools=[
            Tool(
                name="show_easel",
                description="Show the easel.",
                input_schema=NOTHING,
                output_schema=PAINTED,
                icons=[ICON],
                annotations=ToolAnnotations(read_only_hint=True, idempotent_hint=True),
                _meta={"ui": {"resourceUri": PAGE}, "studio/room": 4},
            ),
            Tool(
                name="paint",
                description="Paint the canvas.",
                input_schema=NOTHING,
                _meta={"ui": {"visibility": ["app"]}},
            ),
        ]
    )


async def call(context: Context, params: CallToolRequestParams) -> CallToolResult:
    if params.name == "paint":
        heard: tuple[LoggingLevel, ...] = ("debug", "warning")
        for level in heard:
            await context.session.send_log_message(
                level, f"paint is wet ({level})", "brush", related_request_id=context.request_id
            )
        await bus.publish(ResourceUpdated(uri=CANVAS))
        if CANVAS in subscribed:
            await context.session.send_resource_updated(CANVAS)
        return CallToolResult(content=[TextContent(type="text", text=f"painted, {levels}")])
    said = "red " * 4000
    return CallToolResult(content=[TextContent(type="text", text=said)], structured_content={"colour": "red"})


async def resources(context: Context, params: object) -> ListResourcesResult:
    page = Resource(
        name="easel",
        uri=PAGE,
        mime_type="text/html;profile=mcp-app",
        icons=[ICON],
        _meta={"ui": {"prefersBorder": True}},
    )
    return ListResourcesResult(resources=[page, Resource(name="canvas", uri=CANVAS)])


async def templates(context: Context, params: object) -> ListResourceTemplatesResult:
    return ListResourceTemplatesResult(
        resource_templates=[ResourceTemplate(name="paint", uri_template="studio://paint/{colour}")]
    )


async def read(context: Context, params: ReadResourceRequestParams) -> ReadResourceResult:
    contents = TextResourceContents(
        uri=params.uri,
        mime_type="text/html;profile=mcp-app",
        text="<p>easel</p>",
        _meta={"ui": {"csp": {"connectDomains": ["https://studio.example"]}}},
    )
    return ReadResourceResult(contents=[contents])


async def prompts(context: Context, params: object) -> ListPromptsResult:
    argument = PromptArgument(name="colour", required=True)
    return ListPromptsResult(prompts=[Prompt(name="sketch", arguments=[argument], icons=[ICON])])


async def prompt(context: Context, params: GetPromptRequestParams) -> GetPromptResult:
    text = TextContent(type="text", text="Sketch.")
    return GetPromptResult(messages=[PromptMessage(role="user", content=text)])


async def complete(context: Context, params: CompleteRequestParams) -> CompleteResult:
    begun = params.argument.value
    return CompleteResult(completion=Completion(values=[one for one in COLOURS if one.startswith(begun)]))


async def subscribe(context: Context, params: SubscribeRequestParams) -> EmptyResult:
    subscribed.add(params.uri)
    return EmptyResult()


async def unsubscribe(context: Context, params: UnsubscribeRequestParams) -> EmptyResult:
    subscribed.discard(params.uri)
    return EmptyResult()


async def set_level(context: Context, params: SetLevelRequestParams) -> EmptyResult:
    levels.append(params.level)
    return EmptyResult()


async def main() -> None:
    server: Server[Any] = Server(
        "studio",
        on_list_tools=tools,
        on_call_tool=call,
        on_list_resources=resources,
        on_list_resource_templates=templates,
        on_read_resource=read,
        on_list_prompts=prompts,
        on_get_prompt=prompt,
        on_completion=complete,
        on_subscribe_resource=subscribe,
        on_unsubscribe_resource=unsubscribe,
        on_set_logging_level=set_level,
        on_subscriptions_listen=ListenHandler(bus),
    )
    async with stdio_server() as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())


if __name__ == "__main__":
    anyio.run(main)
