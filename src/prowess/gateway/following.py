"""Keeping the catalogue in step: each server by itself, so that a slow one keeps nobody waiting.

What changes is told by the servers, by the file system, or found by asking again now and then.
"""

import logging
import math
from collections.abc import AsyncIterator, Awaitable, Callable, Collection
from contextlib import asynccontextmanager, suppress
from functools import partial
from threading import Event

import anyio
from anyio import to_thread
from anyio.from_thread import BlockingPortal
from mcp.server.subscriptions import SubscriptionBus
from mcp.shared.subscriptions import PromptsListChanged, ResourcesListChanged, ServerEvent, ToolsListChanged

from prowess.engine.engine import Engine
from prowess.sources.watch import watch
from prowess.types import Changes

logger = logging.getLogger("prowess")

FIRST_RETRY = 5.0
LONGEST_RETRY = 60.0

SETTLE = 0.05
"""Seconds to gather what changes at once into one sync."""


class Follower:
    """Syncs some sources whenever it is told to, one sync at a time."""

    def __init__(self, engine: Engine, names: tuple[str, ...], bus: SubscriptionBus) -> None:
        self.names = names
        self.synced = anyio.Event()
        self._engine = engine
        self._bus = bus
        self._stale = anyio.Event()
        self._stale.set()

    def stir(self) -> None:
        self._stale.set()

    async def follow(self) -> None:
        again = math.inf
        while True:
            with anyio.move_on_after(again):
                await self._stale.wait()
            await anyio.sleep(SETTLE if self.synced.is_set() else 0)
            self._stale = anyio.Event()
            again = self._soon(again) if await self._fails() else math.inf
            self.synced.set()

    async def _fails(self) -> bool:
        try:
            await self._sync()
            return await to_thread.run_sync(self._is_down, abandon_on_cancel=True)
        except Exception:  # one source must not end the others; the next change or poll tries again
            logger.exception("%s could not be synced", ", ".join(self.names))
            return True

    def _is_down(self) -> bool:
        providers = self._engine.view().providers.values()
        return any(provider.down for provider in providers if provider.source in self.names)

    def _soon(self, last: float) -> float:
        """Seconds until something that is down is looked at again."""
        return min(LONGEST_RETRY, 2 * last) if last < math.inf else FIRST_RETRY

    async def _sync(self) -> None:
        sync = partial(self._engine.sync, *self.names, vectors=False)
        # Cancelled together with the servers it asks, so it does not outlive them for long.
        report = await to_thread.run_sync(sync, abandon_on_cancel=True)
        for event in _events(report.changes):
            await self._bus.publish(event)
        if report.changes:
            # A search makes what it needs (vectors, an index), so that the first client does not wait.
            await to_thread.run_sync(self._engine.find, "what changed", abandon_on_cancel=True)


class Following:
    def __init__(self, engine: Engine, servers: tuple[str, ...], bus: SubscriptionBus, poll: float) -> None:
        local = tuple(source.name for source in engine.sources if source.name not in servers)
        self._local = [Follower(engine, local, bus)] if local else []
        self._servers = {name: Follower(engine, (name,), bus) for name in servers}
        self._paths = [path for source in engine.sources for path in getattr(source, "paths", ())]
        self._poll = poll

    @property
    def followers(self) -> tuple[Follower, ...]:
        return (*self._local, *self._servers.values())

    def changed(self, server: str) -> None:
        self._servers[server].stir()

    @asynccontextmanager
    async def running(self, portal: BlockingPortal) -> AsyncIterator[None]:
        stop = Event()
        async with anyio.create_task_group() as tasks:
            for follower in self.followers:
                tasks.start_soon(follower.follow)
            if self._poll:
                tasks.start_soon(self._ask_again)
            if self._paths:
                tasks.start_soon(self._watch, portal, stop)
            try:
                yield
            finally:
                stop.set()
                tasks.cancel_scope.cancel()

    async def synced(self, seconds: float, known: Collection[str] = ()) -> None:
        """Wait until everything but what is known was read once, and not for ever."""
        with anyio.move_on_after(seconds):
            for follower in self.followers:
                if not set(follower.names) <= set(known):
                    await follower.synced.wait()

    async def _ask_again(self) -> None:
        while True:
            await anyio.sleep(self._poll)
            for follower in self._servers.values():
                follower.stir()

    async def _watch(self, portal: BlockingPortal, stop: Event) -> None:
        look = partial(watch, self._paths, partial(_tell, portal, self._stir_local), stop)
        try:
            await to_thread.run_sync(look, abandon_on_cancel=True)
        except OSError as error:
            logger.warning("files are not watched: %s", error)

    async def _stir_local(self) -> None:
        for follower in self._local:
            follower.stir()


def _tell(portal: BlockingPortal, news: Callable[[], Awaitable[None]]) -> None:
    """Bring news from a thread, unless nobody is there any more."""
    with suppress(RuntimeError):
        portal.start_task_soon(news)


def _events(changes: Changes) -> list[ServerEvent]:
    """What clients that listen are told after a sync."""
    kinds = {id.partition(":")[0] for id in (*changes.added, *changes.changed, *changes.removed)}
    events: list[ServerEvent] = []
    if kinds & {"tool", "event"}:
        events.append(ToolsListChanged())
    if kinds & {"skill", "card", "resource"}:
        events.append(ResourcesListChanged())
    if kinds & {"skill", "card", "prompt"}:
        events.append(PromptsListChanged())
    return events
