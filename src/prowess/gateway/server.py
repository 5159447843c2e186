"""The server that clients see, on the SDK's low-level `Server`.

Above: `stdio` and `http`, which carry it. Below: the gateway. Each handler asks who is calling, runs the
engine in a worker thread and answers in the protocol's own shapes.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

from anyio import to_thread
from mcp.server import NotificationOptions, Server, ServerRequestContext
from mcp.server.caching import CacheableMethod, CacheHint
from mcp.server.context import CallNext
from mcp.server.models import InitializationOptions
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INVALID_PARAMS,
    LOG_LEVEL_META_KEY,
    CallToolRequestParams,
    GetPromptRequestParams,
    InputResponseRequestParams,
    ListPromptsResult,
    ListResourcesResult,
    ListResourceTemplatesResult,
    ListToolsResult,
    PaginatedRequestParams,
    ReadResourceRequestParams,
)
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import BaseModel, ValidationError

from prowess.calling.caller import Caller
from prowess.calling.client import Client, ask_nobody
from prowess.calling.mcp.elicitation_client import Brought
from prowess.calling.wording import clean
from prowess.errors import ProwessError
from prowess.gateway.approval import ask_person
from prowess.gateway.beside_calls import BesideCalls
from prowess.gateway.gateway import Gateway
from prowess.gateway.greeting import EXTENSIONS, INSTRUCTIONS, NAME, TASK_VERSION, TASKS, package_version
from prowess.gateway.introduction import introduction
from prowess.gateway.listeners import Listener
from prowess.gateway.meta_tools import MetaTools
from prowess.gateway.relayed_client import RelayedClient
from prowess.gateway.resources import page, prompts, resources, templates
from prowess.gateway.task_calls import TaskCalls
from prowess.gateway.tools import tool_list

Context = ServerRequestContext[Any]
CallerOf = Callable[[Context], Caller]
Page = PaginatedRequestParams | None
Returned = TypeVar("Returned")

CHANGES = NotificationOptions(prompts_changed=True, resources_changed=True, tools_changed=True)
FRESH = CacheHint(ttl_ms=60_000, scope="private")
FIRST = ("initialize", "server/discover")
LISTS: tuple[CacheableMethod, ...] = (
    "tools/list",
    "prompts/list",
    "resources/list",
    "resources/templates/list",
)


def build(gateway: Gateway, caller_of: CallerOf, may_answer: bool = False) -> Server[Any]:
    """`may_answer` trusts the client with what policy asks a person."""
    return _Face(gateway, caller_of, may_answer).server()


class _Telling(Server[Any]):
    """A server that says at the beginning that it will tell of changed lists."""

    def create_initialization_options(
        self,
        notification_options: NotificationOptions | None = None,
        experimental_capabilities: dict[str, dict[str, Any]] | None = None,
        extensions: dict[str, dict[str, Any]] | None = None,
    ) -> InitializationOptions:
        return super().create_initialization_options(
            notification_options or CHANGES, experimental_capabilities, extensions
        )


class _Face:
    def __init__(self, gateway: Gateway, caller_of: CallerOf, may_answer: bool) -> None:
        self._gateway = gateway
        self._may_answer = may_answer
        self._who = caller_of
        self._answering = MetaTools(gateway)
        self._seal = gateway.seal
        self._beside = BesideCalls(gateway, self._caller_of, self._met)
        self._tasks = TaskCalls(gateway, self._client, self._owner)

    def server(self) -> Server[Any]:
        server: Server[Any] = _Telling(
            NAME,
            version=package_version(),
            instructions=INSTRUCTIONS,
            cache_hints=dict.fromkeys(LISTS, FRESH) | {"resources/read": CacheHint()},
            # No tool of ours wants arguments in headers; the list need not be made at every call.
            get_tool_input_schema=lambda name: None,
            on_list_tools=self._tools,
            on_list_resources=self._resources,
            on_list_resource_templates=self._templates,
            on_list_prompts=self._prompts,
            on_subscriptions_listen=self._beside.listen,
        )
        server.extensions = dict(EXTENSIONS)
        server.middleware.extend([self._introduced, self._begun])
        # These pass on what servers answered as it came, which the typed registrations do not allow.
        server.add_request_handler("tools/call", CallToolRequestParams, self._call)
        server.add_request_handler("resources/read", ReadResourceRequestParams, self._read)
        server.add_request_handler("prompts/get", GetPromptRequestParams, self._prompt)
        self._beside.register(server)
        self._tasks.register(server)
        return server

    async def _introduced(self, ctx: Context, call_next: CallNext) -> Any:
        """The first answer says which servers are behind, to each caller those that it may use."""
        result = await call_next(ctx)
        if ctx.method not in FIRST or ctx.request_id is None:
            return result
        told = await _in_thread(introduction, self._gateway.engine, self._caller_of(ctx))
        if isinstance(result, BaseModel):
            result = result.model_dump(by_alias=True, mode="json", exclude_none=True)
        if not isinstance(result, dict):
            return result
        able = result.get("capabilities") or {}
        tasks = {"tasks": dict(TASKS)} if result.get("protocolVersion") == TASK_VERSION else {}
        return {**result, "capabilities": {**able, **tasks}, "instructions": told}

    async def _begun(self, ctx: Context, call_next: CallNext) -> Any:
        """A call that shall be a task is answered with its handle, which the SDK takes for no answer."""
        is_call = ctx.method == "tools/call" and ctx.protocol_version == TASK_VERSION
        if not (is_call and ctx.request_id is not None and (ctx.params or {}).get("task") is not None):
            return await call_next(ctx)
        try:
            params = CallToolRequestParams.model_validate(ctx.params, by_name=False)
        except ValidationError as error:
            raise MCPError(INVALID_PARAMS, "Invalid request parameters") from error

        async def call(params: CallToolRequestParams, client: Client) -> dict[str, Any]:
            return self._whole(ctx, await self._answering.tool(params, client))

        return await self._tasks.begin(ctx, params, call)

    def _owner(self, context: Context) -> object:
        """Whose tasks a client sees: those of its agent, or of its session where nothing proves the agent."""
        caller = self._caller_of(context)
        return caller.agent if caller.authenticated else self._of(context, caller)

    async def _met(self, context: Context) -> Listener | None:
        """Who is told of changes to this client; one of the newest revision listens where it wants to."""
        if context.protocol_version in MODERN_PROTOCOL_VERSIONS:
            return None
        caller = self._caller_of(context)
        return await self._gateway.bus.met(self._of(context, caller), caller, context.session)

    def _caller_of(self, context: Context) -> Caller:
        return replace(self._who(context), over_mcp=True)

    def _of(self, context: Context, caller: Caller) -> object:
        """Which client this is: one of a pipe, or a session over HTTP."""
        return (id(self), caller, _session(context))

    # --- lists ---------------------------------------------------------------------------------

    async def _tools(self, context: Context, params: Page) -> ListToolsResult:
        await self._gateway.ready()
        await self._met(context)
        caller = self._caller_of(context)
        config = self._gateway.config
        return ListToolsResult(tools=await _in_thread(tool_list, self._gateway.engine, caller, config.tools))

    async def _resources(self, context: Context, params: Page) -> ListResourcesResult:
        await self._gateway.ready()
        await self._met(context)
        found = await _in_thread(lambda: resources(self._gateway.engine, self._visible(context)))
        shown, following = page(found, params.cursor if params else None)
        return ListResourcesResult(resources=shown, next_cursor=following)

    async def _templates(self, context: Context, params: Page) -> ListResourceTemplatesResult:
        await self._gateway.ready()
        await self._met(context)
        found = await _in_thread(lambda: templates(self._visible(context)))
        shown, following = page(found, params.cursor if params else None)
        return ListResourceTemplatesResult(resource_templates=shown, next_cursor=following)

    async def _prompts(self, context: Context, params: Page) -> ListPromptsResult:
        await self._gateway.ready()
        await self._met(context)
        found = await _in_thread(lambda: prompts(self._gateway.engine, self._visible(context)))
        shown, following = page(found, params.cursor if params else None)
        return ListPromptsResult(prompts=shown, next_cursor=following)

    def _visible(self, context: Context) -> Any:
        caller = self._caller_of(context)
        return self._gateway.engine.catalogue.visible(caller.agent, caller.authenticated, over_mcp=True)

    # --- uses ----------------------------------------------------------------------------------

    async def _call(self, context: Context, params: CallToolRequestParams) -> dict[str, Any]:
        await self._gateway.ready()
        client = await self._client(context, params)
        return self._whole(context, await self._answering.tool(params, client))

    async def _read(self, context: Context, params: ReadResourceRequestParams) -> dict[str, Any]:
        with _as_protocol_error({"uri": str(params.uri)}):
            client = await self._client(context, params)
            return self._whole(context, await self._answering.resource(params.uri, client))

    async def _prompt(self, context: Context, params: GetPromptRequestParams) -> dict[str, Any]:
        with _as_protocol_error():
            client = await self._client(context, params)
            answer = await self._answering.prompt(params.name, params.arguments or {}, client)
            return self._whole(context, answer)

    def _whole(self, context: Context, answer: dict[str, Any]) -> dict[str, Any]:
        """An answer with what the client's revision demands of it."""
        if context.protocol_version in MODERN_PROTOCOL_VERSIONS:
            if state := answer.get("requestState"):
                answer = {**answer, "requestState": self._seal.closed(state, self._who(context).agent)}
            return {"resultType": "complete", **answer}
        if isinstance(answer.get("structuredContent", {}), dict):
            return answer
        # Older revisions know only objects there; the text says the same.
        return {key: value for key, value in answer.items() if key != "structuredContent"}

    async def _client(self, context: Context, params: InputResponseRequestParams) -> Client:
        meta: Mapping[str, Any] = dict(context.meta or {})
        asks_for_progress = "progress_token" in meta or "progressToken" in meta
        caller, listener = self._caller_of(context), await self._met(context)
        if listener is not None and listener.log_level is not None:
            meta = {LOG_LEVEL_META_KEY: listener.log_level, **meta}
        brought = Brought(params.input_responses, self._seal.opened(params.request_state, caller.agent))
        return Client(
            caller=replace(caller, conversation=f"{id(self)}/{_session(context)}"),
            ask=partial(ask_person, context, brought) if self._may_answer else ask_nobody,
            progress=context.session.report_progress if asks_for_progress else None,
            meta=meta,
            elicitation_client=RelayedClient(
                context, brought, self._of(context, caller), meta.get(LOG_LEVEL_META_KEY)
            ),
        )


def _session(context: Context) -> str:
    """The session of a client of an older revision over HTTP."""
    headers = getattr(context.request, "headers", None) or {}
    return str(headers.get("mcp-session-id", ""))


@contextmanager
def _as_protocol_error(about: Mapping[str, str] | None = None) -> Iterator[None]:
    """Turn our errors into those of the protocol; `about` is what was asked for."""
    try:
        yield
    except ProwessError as error:
        raise MCPError(INVALID_PARAMS, clean(str(error)), about) from None


async def _in_thread(work: Callable[..., Returned], *arguments: Any) -> Returned:
    return await to_thread.run_sync(work, *arguments)
