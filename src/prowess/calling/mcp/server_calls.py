"""Calls of MCP servers: the request for a tool, a prompt or a resource, over the connection that is kept."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from mcp_types import (
    LOG_LEVEL_META_KEY,
    CallToolRequest,
    CallToolRequestParams,
    CompleteRequest,
    CompleteRequestParams,
    GetPromptRequest,
    GetPromptRequestParams,
    PromptReference,
    ReadResourceRequest,
    ReadResourceRequestParams,
    RequestParamsMeta,
)

from prowess.calling.caller import Caller
from prowess.calling.client import Client
from prowess.calling.mcp.elicitation_client import Brought
from prowess.calling.mcp.relay import Dialogue, Make
from prowess.calling.mcp.tasks import FollowedTask, handle_in, task_wanted
from prowess.calling.mcp.upstream import Upstream
from prowess.calling.mcp.upstreams import Upstreams
from prowess.calling.results import Answer, passed
from prowess.errors import SourceError
from prowess.types import Capability

Arguments = Mapping[str, Any]
Meta = Mapping[str, Any] | None


@dataclass(frozen=True, slots=True)
class McpServerCalls:
    upstreams: Upstreams
    dialogue: Dialogue

    async def tool(self, capability: Capability, arguments: Arguments, client: Client) -> Answer:
        upstream = self._upstream(capability, client.caller)

        def make(brought: Brought) -> CallToolRequest:
            params = CallToolRequestParams(
                name=capability.source_ref.entry,
                arguments=dict(arguments),
                _meta=cast("RequestParamsMeta", _forwarded(client.meta)),
                input_responses=brought.responses,
                request_state=brought.state or None,
                task=task_wanted(capability, upstream, client),
            )
            return CallToolRequest(params=params)

        result = await self.dialogue.hold(upstream, capability.id, make, client)
        if handle := handle_in(result):
            result = await self.dialogue.aside(
                capability.id,
                client,
                lambda asked: FollowedTask(upstream, handle, client.progress, asked).result(),
            )
        return passed(result)

    async def prompt(
        self, capability: Capability, arguments: Mapping[str, str], client: Client
    ) -> dict[str, Any]:
        def make(brought: Brought) -> GetPromptRequest:
            params = GetPromptRequestParams(
                name=capability.name,
                arguments=dict(arguments),
                input_responses=brought.responses,
                request_state=brought.state or None,
            )
            return GetPromptRequest(params=params)

        return await self._asked(capability, make, client)

    async def resource(self, capability: Capability, uri: str, client: Client) -> dict[str, Any]:
        def make(brought: Brought) -> ReadResourceRequest:
            params = ReadResourceRequestParams(
                uri=uri, input_responses=brought.responses, request_state=brought.state or None
            )
            return ReadResourceRequest(params=params)

        return await self._asked(capability, make, client)

    async def complete(
        self, capability: Capability, asked: CompleteRequestParams, caller: Caller
    ) -> dict[str, Any]:
        """What may stand for an argument of a prompt or of a resource's template, by its server."""
        ref = asked.ref
        if isinstance(ref, PromptReference):
            ref = PromptReference(type="ref/prompt", name=capability.name)
        params = CompleteRequestParams(ref=ref, argument=asked.argument, context=asked.context)
        return passed(await self._upstream(capability, caller).ask(CompleteRequest(params=params)))

    async def _asked(self, capability: Capability, make: Make, client: Client) -> dict[str, Any]:
        upstream = self._upstream(capability, client.caller)
        return passed(await self.dialogue.hold(upstream, capability.id, make, client))

    def _upstream(self, capability: Capability, caller: Caller) -> Upstream:
        upstream = self.upstreams.of(capability.source, caller)
        if upstream is None:
            raise SourceError(capability.source, "is not configured any more", "sync again")
        return upstream


def _forwarded(meta: Meta) -> dict[str, Any] | None:
    """What the client sent along, without what concerns only the connection between it and us."""
    kept = {
        key: value
        for key, value in (meta or {}).items()
        if key not in ("progressToken", "progress_token")
        and (key == LOG_LEVEL_META_KEY or not key.startswith("io.modelcontextprotocol/"))
    }
    return kept or None
