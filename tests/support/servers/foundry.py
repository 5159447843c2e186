"""An MCP server whose work takes a while: FOUNDRY WAY. `older` takes calls as tasks, `newest` makes them so.

`cast` takes no call but as a task, with `older`; `polish` both ways. What is asked of it, `log` tells.
"""

import json
import sys
from collections.abc import AsyncIterator
from typing import Any, Literal

import anyio
from mcp.server import NotificationOptions, Server, ServerRequestContext
from mcp.server.context import CallNext
from mcp.server.models import InitializationOptions
from mcp.server.stdio import stdio_server
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INVALID_PARAMS,
    METHOD_NOT_FOUND,
    CallToolRequestParams,
    ElicitRequest,
    ElicitRequestFormParams,
    ElicitResult,
    ListToolsResult,
    PaginatedRequestParams,
    RequestParams,
    ServerTasksCapability,
    Tool,
    ToolExecution,
)

Context = ServerRequestContext[Any]
OLDER = sys.argv[1] == "older"
SCHEMA = {"type": "object", "properties": {"what": {"type": "string"}, "way": {"type": "string"}}}
NAME = {"type": "object", "properties": {"name": {"type": "string"}}}
SUPPORT: dict[str, Literal["required", "optional"]] = {"cast": "required", "polish": "optional"}
seen: list[str] = []
tasks: dict[str, dict[str, Any]] = {}


class About(RequestParams):
    task_id: str
    input_responses: dict[str, Any] | None = None


async def list_tools(context: Context, params: PaginatedRequestParams | None) -> ListToolsResult:
    return ListToolsResult(
        tools=[
            Tool(
                name=name,
                description=f"{name} a bell",
                input_schema=SCHEMA,
                execution=ToolExecution(task_support=SUPPORT.get(name))
                if OLDER and name in SUPPORT
                else None,
            )
            for name in ("cast", "polish", "log")
        ]
    )


def said(text: str, is_error: bool = False) -> dict[str, Any]:
    marked = {} if OLDER else {"resultType": "complete"}
    return {"content": [{"type": "text", "text": text}], "isError": is_error, **marked}


def made(arguments: dict[str, Any]) -> dict[str, Any]:
    return said(f"a bell for {arguments.get('what')}", arguments.get("way") == "fail")


def state(id: str) -> dict[str, Any]:
    """As `tasks/get` tells it: every look is a step towards the end."""
    task = tasks[id]
    way = task["arguments"].get("way", "")
    task["looks"] += 1
    if task["status"] == "working" and task["looks"] > 2 and way != "hang":
        asks = way == "ask" and "name" not in task
        task["status"] = "input_required" if asks else "failed" if way == "fail" else "completed"
    task["message"] = f"step {task['looks']}"
    ttl, poll = ("ttl", "pollInterval") if OLDER else ("ttlMs", "pollIntervalMs")
    at = "2026-01-01T00:00:00Z"
    shown = {"taskId": id, "status": task["status"], "statusMessage": task["message"], "createdAt": at}
    return {**shown, "lastUpdatedAt": at, ttl: 60_000, poll: 20}


def begun(params: CallToolRequestParams) -> str:
    id = f"task-{len(tasks)}"
    tasks[id] = {"status": "working", "looks": 0, "arguments": params.arguments or {}}
    seen.append(f"{params.name} as a task")
    return id


async def call_tool(context: Context, params: CallToolRequestParams) -> dict[str, Any]:
    if params.name == "log":
        return said("; ".join(seen))
    if OLDER:
        if SUPPORT.get(params.name) == "required":
            raise MCPError(METHOD_NOT_FOUND, f"{params.name} has to be called as a task")
        seen.append(f"{params.name} at once")
        return made(params.arguments or {})
    able = context.session.client_capabilities
    if not (able and able.extensions and "io.modelcontextprotocol/tasks" in able.extensions):
        return made(params.arguments or {})
    return {"resultType": "task", **state(begun(params))}


async def as_task(ctx: Context, call_next: CallNext) -> Any:
    if not OLDER or ctx.method != "tools/call" or "task" not in (ctx.params or {}):
        return await call_next(ctx)
    params = CallToolRequestParams.model_validate(ctx.params)
    if params.name not in SUPPORT:
        raise MCPError(METHOD_NOT_FOUND, "no tasks here")
    return {"task": state(begun(params))}


async def get(context: Context, params: About) -> dict[str, Any]:
    shown, task = state(params.task_id), tasks[params.task_id]
    if OLDER:
        return shown
    if shown["status"] == "completed":
        arguments = {**task["arguments"], "what": task.get("name", task["arguments"].get("what"))}
        shown["result"] = made(arguments)
    if shown["status"] == "failed":
        shown["error"] = {"code": -32000, "message": "the bell cracked"}
    if shown["status"] == "input_required":
        question = ElicitRequestFormParams(message="For whom?", requested_schema=NAME)
        asked = ElicitRequest(params=question).model_dump(by_alias=True, mode="json", exclude_none=True)
        shown["inputRequests"] = {"name": asked}
    return {"resultType": "complete", **shown}


async def update(context: Context, params: About) -> dict[str, Any]:
    answer = (params.input_responses or {})["name"]
    tasks[params.task_id].update(status="working", name=answer["content"]["name"])
    return {"resultType": "complete"}


async def fetch(context: Context, params: About) -> dict[str, Any]:
    task = tasks[params.task_id]
    if task["status"] == "input_required":
        question = ElicitRequestFormParams(message="For whom?", requested_schema=NAME)
        answer = await context.session.send_request(ElicitRequest(params=question), ElicitResult)
        task["name"] = (answer.content or {}).get("name")
    while state(params.task_id)["status"] == "working":
        await anyio.sleep(0.02)
    return made({**task["arguments"], "what": task.get("name", task["arguments"].get("what"))})


async def cancel(context: Context, params: About) -> dict[str, Any]:
    if params.task_id not in tasks:
        raise MCPError(INVALID_PARAMS, "no such task")
    tasks[params.task_id]["status"] = "cancelled"
    seen.append("cancelled")
    return state(params.task_id) if OLDER else {"resultType": "complete"}


class Older:
    """What a client says, for a server that does not know how clients of the newest revision begin."""

    async def __aiter__(self) -> AsyncIterator[str]:
        async for line in anyio.wrap_file(sys.stdin):
            message = json.loads(line)
            if message.get("method") != "server/discover":
                yield line
                continue
            error = {"code": METHOD_NOT_FOUND, "message": "Method not found"}
            print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "error": error}), flush=True)


async def main() -> None:
    extensions: dict[str, dict[str, Any]] = {} if OLDER else {"io.modelcontextprotocol/tasks": {}}
    server: Server[Any] = Server("foundry", on_list_tools=list_tools)
    server.extensions = extensions
    server.add_request_handler("tools/call", CallToolRequestParams, call_tool)
    handlers = {
        "tasks/get": get,
        "tasks/cancel": cancel,
        **({"tasks/result": fetch} if OLDER else {"tasks/update": update}),
    }
    for method, handler in handlers.items():
        server.add_request_handler(method, About, handler)
    server.middleware.append(as_task)
    able = ServerTasksCapability.model_validate({"cancel": {}, "requests": {"tools": {"call": {}}}})
    options = InitializationOptions(
        server_name="foundry",
        server_version="1",
        capabilities=server.get_capabilities(NotificationOptions(), {}).model_copy(
            update={"tasks": able} if OLDER else {}
        ),
    )
    async with stdio_server(Older() if OLDER else None) as (incoming, outgoing):  # type: ignore[arg-type]
        await server.run(incoming, outgoing, options)


if __name__ == "__main__":
    anyio.run(main)
