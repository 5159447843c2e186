"""Calls from a program: one implementation, which the synchronous form drives.

Above: the engine. Below: `calls`, and the event loop of the engine's own.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import anyio

from prowess.calling.background import BackgroundServers, CallLoop, InLoop
from prowess.calling.call_end import CallRequest
from prowess.calling.caller import Caller
from prowess.calling.calls import CallParts, Calls
from prowess.calling.client import Client
from prowess.calling.results import Remainders, ResultPiece
from prowess.calling.routing import Routes
from prowess.calling.worker import InlineWorker, ThreadWorker, driven
from prowess.types import CallResult

if TYPE_CHECKING:
    from prowess.calling.mcp.upstreams import Upstreams

OwnTool = Callable[[CallRequest, Caller], CallResult]
"""A tool of prowess itself."""


class CallService:
    """Everything that a program calls goes through here."""

    def __init__(self, parts: CallParts, environment: Mapping[str, str], own: Mapping[str, OwnTool]) -> None:
        self._own = own
        self._worker = ThreadWorker()
        self._parts = parts
        self._loop = CallLoop()
        self._servers = BackgroundServers(self._loop, parts.sources, parts.config)
        self._remainders = Remainders()
        routes = Routes(
            parts.sources, parts.finder.details, lambda: self._servers, environment, parts.config.timeout
        )
        self._calls = Calls(parts, routes, self._remainders, self._worker)
        inline = InLoop(routes, self._loop)
        self._waited_for = Calls(parts, inline, self._remainders, InlineWorker())

    async def acall(self, request: CallRequest, caller: Caller) -> CallResult:
        if own := self._own.get(request.name):
            return await self._worker.do(own, request, caller)
        return await self._calls.result(request, Client(caller))

    def call(self, request: CallRequest, caller: Caller) -> CallResult:
        """The same, in the thread that waits for it; only what is called goes on in the loop."""
        if own := self._own.get(request.name):
            return own(request, caller)
        return driven(self._waited_for.result(request, Client(caller)))

    async def acall_many(self, requests: Sequence[CallRequest], caller: Caller) -> tuple[CallResult, ...]:
        """All of them at once; the results in the order of the requests."""
        results: dict[int, CallResult] = {}

        async def one(number: int, request: CallRequest) -> None:
            results[number] = await self.acall(request, caller)

        async with anyio.create_task_group() as tasks:
            for number, request in enumerate(requests):
                tasks.start_soon(one, number, request)
        return tuple(results[number] for number in range(len(requests)))

    def call_many(self, requests: Sequence[CallRequest], caller: Caller) -> tuple[CallResult, ...]:
        return self._loop.run(self.acall_many, requests, caller)

    def read(self, agent: str, reference: str, offset: int) -> ResultPiece | None:
        """The rest of a result that was too long to be given at once."""
        return self._remainders.read(agent, reference, offset, self._parts.config.max_result_characters)

    @property
    def is_connected(self) -> bool:
        """Whether any call went to an MCP server, so that connections are kept."""
        return self._servers.upstreams is not None

    @property
    def upstreams(self) -> "Upstreams | None":
        """The MCP servers that calls started."""
        return self._servers.upstreams

    def close(self) -> None:
        self._servers.close()
        self._loop.close()
        self._parts.records.log.close()
