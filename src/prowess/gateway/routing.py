"""Where a call goes: to an MCP server, to Python, over HTTP, to a text, or back to the host program."""

from collections.abc import Mapping
from typing import Any, cast

import anyio
from anyio import CapacityLimiter, to_thread
from mcp_types import (
    CallToolRequest,
    CallToolRequestParams,
    GetPromptRequest,
    GetPromptRequestParams,
    ReadResourceRequest,
    ReadResourceRequestParams,
    RequestParamsMeta,
)

from prowess.engine.engine import Engine
from prowess.errors import SourceError
from prowess.gateway.call_openapi import call_operation
from prowess.gateway.call_python import call_function
from prowess.gateway.client import Client
from prowess.gateway.descriptions import TEXT_KINDS, clean
from prowess.gateway.elicitation.client import Brought
from prowess.gateway.elicitation.relay import Dialogue, Make
from prowess.gateway.results import Answer, failed, passed, said
from prowess.gateway.suspended_calls import Parking
from prowess.gateway.upstream import Upstream
from prowess.gateway.upstreams import Upstreams
from prowess.guard.clean import clean_detail
from prowess.sources.python.events import Events
from prowess.sources.python.functions import Functions
from prowess.types import Capability

Arguments = Mapping[str, Any]
Meta = Mapping[str, Any] | None

SHORTEST_SECRET = 4


class Routes:
    def __init__(
        self, engine: Engine, upstreams: Upstreams, environment: Mapping[str, str], timeout: float
    ) -> None:
        self._engine = engine
        self._upstreams = upstreams
        self._environment = environment
        self._timeout = timeout
        self._threads = CapacityLimiter(32)
        self.parking = Parking()
        self._dialogue = Dialogue(self.parking)

    async def go(self, capability: Capability, arguments: Arguments, client: Client) -> Answer:
        """Carry out a call that was allowed. Raises `SourceError` when it cannot be done."""
        if capability.kind in TEXT_KINDS:
            return said(await self.text(capability))
        match capability.source_ref.kind:
            case "mcp":
                return await self._over_mcp(capability, arguments, client)
            case "functions" | "events":
                return await self._in_time(capability, arguments)
            case "openapi":
                return await call_operation(capability, arguments, self._environment, self._timeout)
        return failed(
            f"{capability.id} is not called through this server: the host program must act on it."
            " Tell it, or the person, what should be done."
        )

    async def text(self, capability: Capability) -> str:
        """What a skill or a card says, as an offer would show it."""
        return await to_thread.run_sync(self._text, capability)

    def _text(self, capability: Capability) -> str:
        content = clean_detail(capability.kind, self._engine.catalogue.detail(capability.id)).content
        return content or clean(capability.description)

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

    def redacted(self, text: str, names: frozenset[str]) -> str:
        """A text without the values of these variables."""
        for name in names:
            value = self._environment.get(name, "")
            if len(value) >= SHORTEST_SECRET:
                text = text.replace(value, f"${{{name}}}")
        return text

    # --- ways ----------------------------------------------------------------------------------

    async def _over_mcp(self, capability: Capability, arguments: Arguments, client: Client) -> Answer:
        if capability.kind == "prompt":
            given = {k: str(v) for k, v in arguments.items()}
            return _as_answer(await self.prompt(capability, given, client))
        if capability.kind == "resource":
            # Before this, the uri was found to be one that the capability stands for.
            uri = str(capability.metadata.get("uri") or arguments["uri"])
            return _as_answer(await self.resource(capability, uri, client))

        def make(brought: Brought) -> CallToolRequest:
            params = CallToolRequestParams(
                name=capability.name,
                arguments=dict(arguments),
                _meta=cast("RequestParamsMeta", _forwarded(client.meta)),
                input_responses=brought.responses,
                request_state=brought.state or None,
            )
            return CallToolRequest(params=params)

        return await self._asked(capability, make, client)

    async def _asked(self, capability: Capability, make: Make, client: Client) -> dict[str, Any]:
        upstream = self._upstream(capability)
        return passed(await self._dialogue.hold(upstream, capability.id, make, client))

    async def _in_time(self, capability: Capability, arguments: Arguments) -> Answer:
        source = next((one for one in self._engine.sources if one.name == capability.source), None)
        if not isinstance(source, Functions | Events):
            raise SourceError(capability.source, "is not configured any more", "sync again")
        with anyio.move_on_after(self._timeout):
            return await call_function(source, capability, arguments, self._threads)
        raise SourceError(capability.source, f"no answer within {self._timeout:g} s", "")

    def _upstream(self, capability: Capability) -> Upstream:
        upstream = self._upstreams.get(capability.source)
        if upstream is None:
            raise SourceError(capability.source, "is not configured any more", "sync again")
        return upstream


def _forwarded(meta: Meta) -> dict[str, Any] | None:
    """What the client sent along, without what concerns only the connection between it and us."""
    kept = {
        key: value
        for key, value in (meta or {}).items()
        if key not in ("progressToken", "progress_token") and not key.startswith("io.modelcontextprotocol/")
    }
    return kept or None


def _as_answer(result: Mapping[str, Any]) -> Answer:
    """A prompt or a resource as the result of a call; what the server asks stays as it is."""
    if "messages" not in result and "contents" not in result:
        return dict(result)
    messages = [message["content"] for message in result.get("messages", [])]
    contents = [{"type": "resource", "resource": one} for one in result.get("contents", [])]
    return {"content": [*messages, *contents], "isError": False}
