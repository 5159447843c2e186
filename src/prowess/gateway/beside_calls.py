"""What passes between a client and the servers behind beside calls: completion, subscriptions, log levels.

Above: `server`, which registers these. Below: the servers, and who listens. What the caller may not see is
completed with nothing, and nobody hears of its changes.
"""

from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from typing import Any

from anyio import to_thread
from mcp.server import Server, ServerRequestContext
from mcp.server.subscriptions import ListenHandler
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INVALID_PARAMS,
    CompleteRequestParams,
    EmptyResult,
    PromptReference,
    SetLevelRequestParams,
    SubscribeRequestParams,
    SubscriptionsListenRequestParams,
    SubscriptionsListenResult,
    UnsubscribeRequestParams,
)

from prowess.calling.caller import Caller
from prowess.catalogue.view import View
from prowess.errors import SourceError
from prowess.gateway.gateway import Gateway
from prowess.gateway.listeners import Listener, Watched
from prowess.gateway.resources import prompt_named, resource_named
from prowess.types import Capability

Context = ServerRequestContext[Any]
NOTHING: Mapping[str, Any] = {"completion": {"values": []}, "resultType": "complete"}


class BesideCalls:
    def __init__(
        self,
        gateway: Gateway,
        caller_of: Callable[[Context], Caller],
        met: Callable[[Context], Awaitable[Listener | None]],
    ) -> None:
        self._gateway = gateway
        self._caller_of = caller_of
        self._met = met

    def register(self, server: Server[Any]) -> None:
        # Some of them exist in the older revisions alone, which the SDK's own registration warns of.
        server.add_request_handler("completion/complete", CompleteRequestParams, self.complete)
        server.add_request_handler("resources/subscribe", SubscribeRequestParams, self.subscribe)
        server.add_request_handler("resources/unsubscribe", UnsubscribeRequestParams, self.unsubscribe)
        server.add_request_handler("logging/setLevel", SetLevelRequestParams, self.set_level)

    async def complete(self, context: Context, params: CompleteRequestParams) -> dict[str, Any]:
        await self._gateway.ready()
        caller = self._caller_of(context)
        capability = await to_thread.run_sync(self._completed, params, caller)
        if capability is None:
            return dict(NOTHING)
        with suppress(SourceError):  # a suggestion is worth no error
            found = await self._gateway.servers.complete(capability, params, caller)
            return {**found, "resultType": "complete"}
        return dict(NOTHING)

    def _completed(self, params: CompleteRequestParams, caller: Caller) -> Capability | None:
        visible = self._visible(caller)
        if isinstance(params.ref, PromptReference):
            found = prompt_named(visible, params.ref.name)
        else:
            uri = params.ref.uri
            resources = visible.of_kinds("resource")
            templates = (c for c in resources if c.metadata.get("uri_template") == uri)
            found = next(templates, None)
        if found is None or found.source_ref.kind != "mcp":
            return None
        policy, view = self._gateway.engine.internals.policy, self._gateway.engine.catalogue.view()
        # What waits for a person gives nothing away before.
        allowed = policy.decide(caller.agent, found.id, view, caller.authenticated).verdict == "allow"
        return found if allowed else None

    # --- resources that change -------------------------------------------------------------------

    async def listen(
        self, context: Context, params: SubscriptionsListenRequestParams
    ) -> SubscriptionsListenResult:
        caller = self._caller_of(context)
        asked = params.notifications.resource_subscriptions or []
        watched = await to_thread.run_sync(self._watched, asked, caller) if asked else {}
        honoured = params.notifications.model_copy(update={"resource_subscriptions": sorted(watched)})
        async with self._gateway.bus.listening(caller, watched.values()) as bus:
            return await ListenHandler(bus)(context, params.model_copy(update={"notifications": honoured}))

    async def subscribe(self, context: Context, params: SubscribeRequestParams) -> EmptyResult:
        await self._gateway.ready()
        watched = await to_thread.run_sync(self._watched, [params.uri], self._caller_of(context))
        if not watched:
            raise MCPError(INVALID_PARAMS, f"There is no resource {params.uri[:200]!r} here.")
        if listener := await self._met(context):
            self._gateway.bus.watch(listener, watched[params.uri])
        return EmptyResult()

    async def unsubscribe(self, context: Context, params: UnsubscribeRequestParams) -> EmptyResult:
        if listener := await self._met(context):
            self._gateway.bus.unwatch(listener, params.uri)
        return EmptyResult()

    def _watched(self, uris: list[str], caller: Caller) -> dict[str, Watched]:
        view, visible = self._gateway.engine.catalogue.view(), self._visible(caller)
        found = {uri: resource_named(view, visible, uri) for uri in uris}
        return {
            uri: Watched(uri, capability.source, str(capability.metadata.get("uri") or uri))
            for uri, capability in found.items()
            if capability is not None
        }

    def _visible(self, caller: Caller) -> View:
        return self._gateway.engine.catalogue.visible(caller.agent, caller.authenticated, over_mcp=True)

    # --- logs ------------------------------------------------------------------------------------

    async def set_level(self, context: Context, params: SetLevelRequestParams) -> EmptyResult:
        """From which level on an older client wants to hear what servers log during its calls."""
        if listener := await self._met(context):
            listener.log_level = params.level
        return EmptyResult()
