"""The tools, resources and prompts of the gateway itself, each answered by what lies behind it."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from anyio import to_thread
from mcp_types import CallToolRequestParams

from prowess.calling.call_end import CallRequest
from prowess.calling.caller import Caller
from prowess.calling.calls import Execute
from prowess.calling.client import Client
from prowess.calling.finding import named
from prowess.calling.results import REFERENCE, Answer, data, failed, first_text, read_on, said
from prowess.calling.skill_files import FILE
from prowess.calling.wording import EFFECTS, NO_SUCH, READ, REJECTED, TEXT_KINDS, Way, unknown
from prowess.catalogue.view import View
from prowess.engine.engine import Engine
from prowess.engine.model_query import QUERY_MISSING, ModelQuery
from prowess.engine.turn_log import record_search
from prowess.errors import NotFound, ProwessError, SourceError
from prowess.gateway.descriptions import described, found, held_back, is_rejected, listed, never_read
from prowess.gateway.gateway import Gateway
from prowess.gateway.resources import MARKDOWN, prompt_named, resource_named, skill_file_at
from prowess.gateway.told_down import ToldDown
from prowess.gateway.tools import META_NAMES
from prowess.types import Capability

if TYPE_CHECKING:
    from prowess.engine.candidates import Candidates

TEXTS = tuple(f"{kind}:" for kind in TEXT_KINDS)

Given = Mapping[str, Any]


class MetaTools:
    def __init__(self, gateway: Gateway) -> None:
        self._gateway = gateway
        self._told_down = ToldDown()

    @property
    def _engine(self) -> Engine:
        return self._gateway.engine

    async def tool(self, params: CallToolRequestParams, client: Client) -> Answer:
        """Answer a tool call, whichever of our tools it is for."""
        given = params.arguments or {}
        way = next((one for one in (READ, EFFECTS) if one == params.name), None)
        if way:
            request = _call_of(given, way)
            return await self._gateway.calls.call(request, client)
        if params.name == "read_reference" and _text(given, "reference").startswith(TEXTS):
            return await self._gateway.calls.call(
                CallRequest(name=_text(given, "reference"), way=READ), client
            )
        if params.name in META_NAMES:
            try:
                return await to_thread.run_sync(self._told, params.name, given, client.caller)
            except ProwessError as error:
                return failed(str(error))
        name = await to_thread.run_sync(self._by_own_name, params.name, client.caller)
        return await self._gateway.calls.call(CallRequest(name=name, arguments=given, way="pinned"), client)

    def _by_own_name(self, name: str, caller: Caller) -> str:
        """The id of what a server calls so: the pages of MCP Apps know its tools by no other name."""
        visible = self._visible(caller)
        if named(name, visible) is not None:
            return name
        meant = visible.tools_called(name)
        return meant[0] if len(meant) == 1 else name

    # --- what is only told: in a worker thread ---------------------------------------------------

    def _told(self, name: str, given: Given, caller: Caller) -> Answer:
        match name:
            case "discover_capabilities":
                return self._discover(given, caller)
            case "describe_capability":
                visible, name = self._visible(caller), _text(given, "id")
                capability = named(name, visible)
                if capability is None:
                    return failed(unknown(name, visible.capabilities))
                if is_rejected(self._engine, capability):
                    return failed(f"{capability.id} {REJECTED}")
                return data(described(self._engine, capability))
            case "list_capabilities":
                parts = (_text(given, "kind"), _text(given, "provider"), _text(given, "after"))
                return data(listed(self._engine, caller, *parts))
        return self._reference(_text(given, "reference"), given.get("offset"), caller)

    def _discover(self, given: Given, caller: Caller) -> Answer:
        from prowess.engine.candidates import candidates  # numpy, at the first search

        asked = ModelQuery.read(given)
        if not asked.each:
            return failed(QUERY_MISSING)
        with self._gateway.tracer.span("search", caller.agent) as span:
            near = candidates(self._engine.internals, asked, caller)
            answer = {**found(self._engine, caller, near), **self._missing(asked, near, caller)}
            search = record_search(self._engine.internals, asked, near, answer, caller)
            span.add(offer=search, hits=[hit.id for hit in near.hits])
        return data(answer)

    def _missing(self, asked: ModelQuery, near: "Candidates", caller: Caller) -> dict[str, Any]:
        """What is not here but may be meant: servers that are down, and what waits for a person."""
        down = self._told_down.new(caller, near, never_read(self._engine, caller), asked.text)
        held = held_back(self._engine, caller, asked.text)
        told = {"servers_down": down, "waiting_for_a_person": held}
        return {key: value for key, value in told.items() if value}

    def _reference(self, reference: str, offset: object, caller: Caller) -> Answer:
        start = offset if isinstance(offset, int) else 0
        most = self._gateway.limits.max_result_characters
        if reference.startswith(REFERENCE):
            piece = self._gateway.remainders.read(caller.agent, reference, start, most)
            if piece is None:
                return failed(f"There is no {reference[:80]!r} any more; call again.")
            return read_on(piece, self._gateway.limits.neutralise_results)
        return self._document(reference)

    def _document(self, path: str) -> Answer:
        """The deep reference, from the places that [cards] names; what stands in the way is for people."""
        try:
            return said(self._engine.cards.read_reference(path))
        except ProwessError:
            return failed(f"There is no reference {path[:80]!r} to read here.")

    def _visible(self, caller: Caller) -> View:
        return self._engine.catalogue.visible(caller.agent, caller.authenticated, over_mcp=True)

    # --- resources and prompts -----------------------------------------------------------------

    async def resource(self, uri: str, client: Client) -> dict[str, Any]:
        if inside := await to_thread.run_sync(self._skill_file_at, uri, client.caller):
            return await self._skill_file(*inside, uri, client)
        capability = await to_thread.run_sync(self._resource_named, uri, client.caller)
        # What is not there, or not for this caller, is refused and remembered like everything else.
        id = capability.id if capability else ""

        async def do(capability: Capability, arguments: Given) -> Answer:
            if capability.kind in TEXT_KINDS:
                text = await self._gateway.routes.text(capability)
                return {"contents": [{"uri": uri, "mimeType": MARKDOWN, "text": text}]}
            place = str(capability.metadata.get("uri") or uri)
            return await self._gateway.servers.resource(capability, place, client)

        return await self._used(
            CallRequest(name=id, arguments={"uri": uri}, way="resource"), client, do, _no("resource", uri)
        )

    async def _skill_file(self, skill: Capability, path: str, uri: str, client: Client) -> dict[str, Any]:
        async def do(capability: Capability, arguments: Given) -> Answer:
            file = await self._gateway.routes.file(capability, path)
            return {"contents": [file.resource(uri)]}

        request = CallRequest(name=skill.id, arguments={FILE: path}, way="resource")
        return await self._used(request, client, do, _no("resource", uri))

    def _skill_file_at(self, uri: str, caller: Caller) -> tuple[Capability, str] | None:
        return skill_file_at(self._visible(caller), uri)

    def _resource_named(self, uri: str, caller: Caller) -> Capability | None:
        return resource_named(self._engine.catalogue.view(), self._visible(caller), uri)

    async def prompt(self, name: str, arguments: Mapping[str, str], client: Client) -> dict[str, Any]:
        visible = await to_thread.run_sync(self._visible, client.caller)
        capability = prompt_named(visible, name)
        if capability is None:
            raise _no("prompt", name)

        async def do(capability: Capability, arguments: Given) -> Answer:
            if capability.kind in TEXT_KINDS:
                text = await self._gateway.routes.text(capability)
                return {"messages": [{"role": "user", "content": {"type": "text", "text": text}}]}
            return await self._gateway.servers.prompt(capability, arguments, client)

        return await self._used(
            CallRequest(name=capability.id, arguments=arguments, way="prompt"),
            client,
            do,
            _no("prompt", name),
        )

    async def _used(self, request: CallRequest, client: Client, do: Execute, missing: NotFound) -> Answer:
        answer = await self._gateway.calls.call(request, client, do)
        if answer.get("isError"):
            text = first_text(answer)
            raise missing if text.startswith(NO_SUCH) else SourceError(request.name, text, "")
        return answer


def _no(what: str, name: str) -> NotFound:
    """The one answer for what does not exist and for what the caller may not know of."""
    return NotFound(what, name[:200])


def _call_of(given: Given, way: Way) -> CallRequest:
    fields = given.get("fields")
    wanted = tuple(filter(None, map(str, fields))) if isinstance(fields, list) else ()
    return CallRequest(
        name=_text(given, "id"), arguments=given.get("arguments"), way=way, fields=wanted,
        key=_text(given, "key"),
    )  # fmt: skip


def _text(given: Given, key: str) -> str:
    value = given.get(key)
    return value if isinstance(value, str) else ""
