"""An event loop of the engine's own, and the MCP servers that are kept in it.

Above: the call service. Below: AnyIO, and `mcp/`. A program that never calls anything starts nothing: a
thread starts with the first call that needs one, a server with the first call that goes to it. Both end with
the engine, and with the program: the thread holds nothing up.
"""

import asyncio
import threading
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import anyio
from anyio.abc import TaskGroup
from anyio.from_thread import BlockingPortal

from prowess.calling.client import Client
from prowess.calling.results import Answer
from prowess.calling.routing import Routes
from prowess.config import CallsConfig
from prowess.errors import MissingExtra
from prowess.sources.source import Source
from prowess.types import Capability
from prowess.world import SourceSet

if TYPE_CHECKING:
    from prowess.calling.mcp.server_calls import McpServerCalls
    from prowess.calling.mcp.upstreams import Upstreams

Returned = TypeVar("Returned")
Arguments = Mapping[str, Any]

SECONDS_TO_END = 5.0


class CallLoop:
    """The event loop in which synchronous calls are made, and connections are kept."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._portal: BlockingPortal | None = None
        self._tasks: TaskGroup | None = None

    def run(self, work: Callable[..., Awaitable[Returned]], *arguments: object) -> Returned:
        """Do this in the loop, and wait for it."""
        future = self._started().start_task_soon(work, *arguments)
        try:
            return future.result()
        except KeyboardInterrupt:
            future.cancel()
            raise

    async def join(self, work: Callable[..., Awaitable[Returned]], *arguments: object) -> Returned:
        """Do this in the loop, and wait for it in another one; whoever stops waiting stops it."""
        portal = self._started()
        if threading.current_thread() is self._thread:
            return await work(*arguments)
        return await asyncio.wrap_future(portal.start_task_soon(work, *arguments))

    def start(self, work: Callable[[], Coroutine[Any, Any, object]]) -> None:
        """Let this go on beside, until it ends or the loop does; said from within the loop."""
        assert self._tasks is not None, "the loop runs"
        self._tasks.start_soon(work)

    def close(self) -> None:
        """End the loop and everything in it."""
        with self._lock:
            portal, thread = self._portal, self._thread
            self._portal = self._thread = None
        if portal is not None and thread is not None:
            portal.call(portal.stop)
            thread.join(SECONDS_TO_END)

    def _started(self) -> BlockingPortal:
        with self._lock:
            if self._portal is None:
                ready = threading.Event()
                self._thread = threading.Thread(
                    target=anyio.run, args=(self._serve, ready), name="prowess-calls", daemon=True
                )
                self._thread.start()
                ready.wait()
            assert self._portal is not None
            return self._portal

    async def _serve(self, ready: threading.Event) -> None:
        async with anyio.create_task_group() as tasks, BlockingPortal() as portal:
            self._portal, self._tasks = portal, tasks
            ready.set()
            await portal.sleep_until_stopped()
            tasks.cancel_scope.cancel()


@dataclass(frozen=True, slots=True)
class InLoop:
    """Routes whose every call is made in the loop, while the thread that asks waits."""

    routes: Routes
    loop: CallLoop

    async def go(self, capability: Capability, arguments: Arguments, client: Client) -> Answer:
        """Carry out a call that was allowed."""
        return self.loop.run(self.routes.go, capability, arguments, client)


class BackgroundServers:
    """The MCP servers of a program: each is started by the first call that goes to it."""

    def __init__(self, loop: CallLoop, sources: SourceSet, config: CallsConfig) -> None:
        self._loop = loop
        self._sources = sources
        self._config = config
        self._read: tuple[Source, ...] = ()
        self._upstreams: Upstreams | None = None
        self._calls: McpServerCalls | None = None
        self._opening: anyio.Lock | None = None

    async def tool(self, capability: Capability, arguments: Arguments, client: Client) -> Answer:
        return await self._loop.join(self._tool, capability, arguments, client)

    async def prompt(
        self, capability: Capability, arguments: Mapping[str, str], client: Client
    ) -> dict[str, Any]:
        return await self._loop.join(self._prompt, capability, arguments, client)

    async def resource(self, capability: Capability, uri: str, client: Client) -> dict[str, Any]:
        return await self._loop.join(self._resource, capability, uri, client)

    @property
    def upstreams(self) -> "Upstreams | None":
        return self._upstreams

    def close(self) -> None:
        """End every server."""
        if self._upstreams is not None:
            self._loop.run(self._upstreams.stop)
            self._upstreams = self._calls = None

    # --- in the loop -----------------------------------------------------------------------------

    async def _tool(self, capability: Capability, arguments: Arguments, client: Client) -> Answer:
        return await (await self._ready()).tool(capability, arguments, client)

    async def _prompt(
        self, capability: Capability, arguments: Mapping[str, str], client: Client
    ) -> dict[str, Any]:
        return await (await self._ready()).prompt(capability, arguments, client)

    async def _resource(self, capability: Capability, uri: str, client: Client) -> dict[str, Any]:
        return await (await self._ready()).resource(capability, uri, client)

    async def _ready(self) -> "McpServerCalls":
        """The calls of the servers that are configured now."""
        if self._opening is None:
            self._opening = anyio.Lock()
        async with self._opening:
            if self._calls is None:
                await self._open()
            assert self._calls is not None and self._upstreams is not None
            if self._read is not self._sources.current:
                self._read = self._sources.current
                self._upstreams.use(self._read)
            return self._calls

    async def _open(self) -> None:
        try:
            from prowess.calling.mcp.relay import Dialogue
            from prowess.calling.mcp.server_calls import McpServerCalls
            from prowess.calling.mcp.suspended_calls import Parking
            from prowess.calling.mcp.upstreams import Upstreams
        except ImportError as missing:
            raise MissingExtra("calling an MCP server", "gateway") from missing
        self._read = self._sources.current
        upstreams = Upstreams(self._read, self._config)
        is_running = anyio.Event()

        async def keep() -> None:
            async with upstreams.running():
                is_running.set()
                await anyio.sleep_forever()

        self._loop.start(keep)
        await is_running.wait()
        self._upstreams, self._calls = upstreams, McpServerCalls(upstreams, Dialogue(Parking()))
