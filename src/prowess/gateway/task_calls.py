"""The protocol's tasks, for clients of revision 2025-11-25: which calls may be one, what comes of them.

Above: `server`, which registers these. Below: `tasks`. Clients of the newest revision get the result of each
call.
"""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

from anyio import to_thread
from mcp.server import Server, ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp_types import (
    METHOD_NOT_FOUND,
    CallToolRequestParams,
    CancelTaskRequestParams,
    GetTaskPayloadRequestParams,
    GetTaskRequestParams,
    PaginatedRequestParams,
)

from prowess.calling.caller import Caller
from prowess.calling.client import Client, ask_nobody
from prowess.calling.finding import named
from prowess.calling.results import Answer
from prowess.gateway.definition import may_be_task
from prowess.gateway.gateway import Gateway
from prowess.gateway.greeting import TASK_VERSION
from prowess.gateway.tasks import Task

Context = ServerRequestContext[Any]
ClientOf = Callable[[Context, CallToolRequestParams], Awaitable[Client]]
Call = Callable[[CallToolRequestParams, Client], Awaitable[Answer]]


class TaskCalls:
    def __init__(self, gateway: Gateway, client_of: ClientOf, owner_of: Callable[[Context], object]) -> None:
        self._gateway = gateway
        self._client_of = client_of
        self._owner_of = owner_of

    def register(self, server: Server[Any]) -> None:
        server.add_request_handler("tasks/get", GetTaskRequestParams, self.get)
        server.add_request_handler("tasks/result", GetTaskPayloadRequestParams, self.fetch)
        server.add_request_handler("tasks/cancel", CancelTaskRequestParams, self.cancel)
        server.add_request_handler("tasks/list", PaginatedRequestParams, self.list)

    async def begin(self, context: Context, params: CallToolRequestParams, call: Call) -> Answer:
        """Answer a call with the handle of a task."""
        await self._gateway.ready()
        client = await self._client_of(context, params)
        if not await to_thread.run_sync(self._may_be_task, params.name, client.caller):
            raise MCPError(METHOD_NOT_FOUND, f"{params.name[:80]!r} takes no task; call it without.")
        assert params.task is not None and client.elicitation_client is not None

        async def work(task: Task) -> Answer:
            # What policy asks waits for a person elsewhere: the client has gone on meanwhile.
            aside = replace(
                client, ask=ask_nobody, progress=task.report, elicitation_client=task, is_task=True
            )
            return await call(params, aside)

        begun = self._gateway.tasks.begin(
            self._owner_of(context), client.elicitation_client, params.task.ttl, work
        )
        return {"task": begun.state()}

    def _may_be_task(self, name: str, caller: Caller) -> bool:
        visible = self._gateway.engine.catalogue.visible(caller.agent, caller.authenticated, over_mcp=True)
        found = named(name, visible)
        return found is not None and may_be_task(found)

    async def get(self, context: Context, params: GetTaskRequestParams) -> Answer:
        return self._kept(context, params.task_id).state()

    async def fetch(self, context: Context, params: GetTaskPayloadRequestParams) -> Answer:
        task = self._kept(context, params.task_id)
        client = await self._client_of(context, CallToolRequestParams(name=""))
        assert client.elicitation_client is not None
        return await task.fetch(client.elicitation_client)

    async def cancel(self, context: Context, params: CancelTaskRequestParams) -> Answer:
        owner = self._owner(context)
        return self._gateway.tasks.cancel(owner, params.task_id).state()

    async def list(self, context: Context, params: PaginatedRequestParams) -> Answer:
        return {"tasks": [task.state() for task in self._gateway.tasks.of(self._owner(context))]}

    def _kept(self, context: Context, id: str) -> Task:
        return self._gateway.tasks.get(self._owner(context), id)

    def _owner(self, context: Context) -> object:
        if context.protocol_version != TASK_VERSION:
            raise MCPError(METHOD_NOT_FOUND, "Method not found", context.method)
        return self._owner_of(context)
