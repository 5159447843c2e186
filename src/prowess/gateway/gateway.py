"""The gateway: an engine, the servers behind it, and what keeps the two in step.

Above: `server`, which speaks the protocol with clients. Below: the engine, called in worker threads.
"""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, closing, suppress
from dataclasses import replace
from secrets import token_bytes

from anyio import create_task_group, to_thread

from prowess.calling.calls import Calls
from prowess.calling.mcp.relay import Dialogue
from prowess.calling.mcp.server_calls import McpServerCalls
from prowess.calling.mcp.suspended_calls import Parking
from prowess.calling.mcp.upstreams import Upstreams
from prowess.calling.results import Remainders
from prowess.calling.routing import Routes
from prowess.config import GatewayConfig
from prowess.engine.engine import Engine
from prowess.engine.recurring import recurring, work_between_turns
from prowess.errors import ProwessError
from prowess.gateway.config_reload import Reloading
from prowess.gateway.engine_worker import EngineWorker
from prowess.gateway.in_thread import in_thread
from prowess.gateway.listed import Listed
from prowess.gateway.listeners import Listeners
from prowess.gateway.refresh import Following
from prowess.gateway.seal import Seal
from prowess.gateway.tasks import Tasks
from prowess.otel.tracer import SpanTracer

FIRST_SYNC = 8.0
"""Seconds a first client waits for sources that were never read."""


class Gateway:
    def __init__(
        self, engine: Engine, upstreams: Upstreams, environment: Mapping[str, str], config: GatewayConfig,
        reloading: Reloading | None = None,
    ) -> None:  # fmt: skip
        self.engine = engine
        self.config = config
        self.upstreams = upstreams
        self.limits = engine.internals.options.calls
        self.remainders = Remainders()
        self.seal = Seal(token_bytes(32))
        self.parking = Parking()
        self.tasks = Tasks(engine.internals.clock)
        self.servers = McpServerCalls(upstreams, Dialogue(self.parking))
        self.tracer = SpanTracer(joins_calls=True)
        self._parts = replace(engine.internals.call_parts(), tracer=self.tracer)
        details = self._parts.finder.details
        self.routes = Routes(
            engine.internals.sources, details, lambda: self.servers, environment, self.limits.timeout
        )
        # SQLite has one writer at a time; those in its own queue would sleep, those in ours wait their turn.
        self._worker = EngineWorker(8 if engine.store.startswith("postgres") else 1)
        self.calls = Calls(self._parts, self.routes, self.remainders, self._worker)
        self.bus = Listeners(Listed(engine, config.tools).of)
        self._following = Following(engine, upstreams, self.bus, config.poll, reloading)
        self._ready = False
        self.config_file = reloading.file if reloading else None

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Servers are kept and the catalogue is current while this lasts."""
        audience = self.upstreams.audience
        audience.changed, audience.updated = self._following.changed, self.bus.updated
        audience.watched, self.bus.watching = self.bus.watched_of, self.upstreams.stir
        with closing(self._parts.records.log), self._worker.working():
            self.engine.internals.upstreams = self.upstreams
            async with (
                self.upstreams.running() as portal,
                self._following.running(portal),
                self.parking.running(),
                self.tasks.running(),
                in_thread(recurring(*work_between_turns(self.engine), at_once=False)),
                create_task_group() as tasks,
            ):
                tasks.start_soon(self.bus.following, self.engine.internals.database.told)
                yield
                tasks.cancel_scope.cancel()
            await self._release()

    async def _release(self) -> None:
        """What was seen of servers is from now on only what somebody saw once."""
        with suppress(ProwessError):  # others stop going by it a little later
            await to_thread.run_sync(self.engine.internals.syncing.release)

    async def ready(self) -> None:
        """What was read before serves at once; a source that never was is waited for, once."""
        if not self._ready:
            view = await to_thread.run_sync(self.engine.catalogue.view)
            known = {provider.source for provider in view.providers.values()}
            await self._following.synced(FIRST_SYNC, known)
            self._ready = True

    async def synced(self, seconds: float) -> None:
        """Wait until every source was read once since the start."""
        await self._following.synced(seconds)
