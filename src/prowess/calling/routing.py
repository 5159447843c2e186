"""Where a call goes: to an MCP server, to Python, over HTTP, to a text, or back to the host program."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import anyio
from anyio import to_thread

from prowess.calling.arguments import DetailCache
from prowess.calling.client import Client
from prowess.calling.python import call_function
from prowess.calling.results import Answer, said
from prowess.calling.skill_files import FILE, SkillFile, files_named, read_skill_file
from prowess.calling.wording import TEXT_KINDS, clean
from prowess.errors import SourceError
from prowess.guard.clean import clean_detail
from prowess.sources.overrides import own_arguments
from prowess.sources.python.events import Events
from prowess.sources.python.functions import Functions
from prowess.types import Capability
from prowess.world import SourceSet

Arguments = Mapping[str, Any]


class ServerCalls(Protocol):
    """What is asked of an MCP server, over a connection that is kept. Raises `SourceError`."""

    async def tool(self, capability: Capability, arguments: Arguments, client: Client) -> Answer: ...

    async def prompt(
        self, capability: Capability, arguments: Mapping[str, str], client: Client
    ) -> dict[str, Any]: ...

    async def resource(self, capability: Capability, uri: str, client: Client) -> dict[str, Any]: ...


@dataclass(frozen=True, slots=True)
class Routes:
    sources: SourceSet
    details: DetailCache
    servers: Callable[[], ServerCalls]
    """Opened at the first call that goes to one."""
    environment: Mapping[str, str]
    timeout: float

    async def go(self, capability: Capability, arguments: Arguments, client: Client) -> Answer:
        """Carry out a call that was allowed. Raises `SourceError` or `CallFailed` when it cannot be done."""
        if capability.kind in TEXT_KINDS:
            if path := arguments.get(FILE):
                return (await self.file(capability, str(path))).answer
            return said(await self.text(capability))
        arguments = own_arguments(capability, arguments)
        match capability.source_ref.kind:
            case "mcp":
                return await self._over_mcp(capability, arguments, client)
            case "functions" | "events":
                return await self._in_time(capability, arguments)
        return await self._over_http(capability, arguments)

    async def text(self, capability: Capability) -> str:
        """What a skill or a card says, as an offer would show it."""
        return await to_thread.run_sync(self._text, capability)

    def _text(self, capability: Capability) -> str:
        content = clean_detail(capability.kind, self.details.of(capability)).content
        return (content or clean(capability.description)) + files_named(capability)

    async def file(self, capability: Capability, path: str) -> SkillFile:
        """One of the files that lie beside a skill."""
        is_own = self.sources.trusts(capability.source)
        return await to_thread.run_sync(read_skill_file, capability, path, is_own)

    async def _over_mcp(self, capability: Capability, arguments: Arguments, client: Client) -> Answer:
        if capability.kind == "prompt":
            given = {name: str(value) for name, value in arguments.items()}
            return _as_answer(await self.servers().prompt(capability, given, client))
        if capability.kind == "resource":
            # Before this, the uri was found to be one that the capability stands for.
            uri = str(capability.metadata.get("uri") or arguments["uri"])
            return _as_answer(await self.servers().resource(capability, uri, client))
        return await self.servers().tool(capability, arguments, client)

    async def _over_http(self, capability: Capability, arguments: Arguments) -> Answer:
        from prowess.calling.openapi import call_operation  # the HTTP client, at the first such call

        return await call_operation(capability, arguments, self.environment, self.timeout)

    async def _in_time(self, capability: Capability, arguments: Arguments) -> Answer:
        source = next((one for one in self.sources.current if one.name == capability.source), None)
        if not isinstance(source, Functions | Events):
            raise SourceError(capability.source, "is not configured any more", "sync again")
        with anyio.move_on_after(self.timeout):
            return await call_function(source, capability, arguments)
        raise SourceError(capability.source, f"no answer within {self.timeout:g} s", "")


def _as_answer(result: Mapping[str, Any]) -> Answer:
    """A prompt or a resource as the result of a call; what the server asks stays as it is."""
    if "messages" not in result and "contents" not in result:
        return dict(result)
    messages = [message["content"] for message in result.get("messages", [])]
    contents = [{"type": "resource", "resource": one} for one in result.get("contents", [])]
    return {"content": [*messages, *contents], "isError": False}
