"""Keeping the catalogue in step: each server by itself, so that a slow one keeps nobody waiting.

What changes is told by the servers, by the file system, or found by asking again now and then.
"""

import logging
import math
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Collection
from contextlib import asynccontextmanager, suppress
from datetime import timedelta
from functools import partial
from pathlib import Path
from threading import Event

import anyio
from anyio import to_thread
from anyio.abc import TaskGroup
from anyio.from_thread import BlockingPortal

from prowess.calling.mcp.upstreams import Upstreams
from prowess.engine.engine import Engine
from prowess.errors import ProwessError
from prowess.gateway.config_reload import Reloading
from prowess.gateway.listeners import Listeners
from prowess.jobs import Lease
from prowess.sources.files.watch import watch
from prowess.sources.learned import NAME as LEARNT

logger = logging.getLogger("prowess")

FIRST_RETRY = 5.0
LONGEST_RETRY = 60.0

AT_ONCE = 5
QUIET = 120.0
"""So many readings of a server that says it changed are made at once; after so many quiet seconds, again."""

SECONDS_BETWEEN_SIGNS = 60.0

SETTLE = 0.05
"""Seconds to gather what changes at once into one sync."""


class Pace:
    """How soon something that says it changed is read again.

    At once a few times; one that goes on saying so is read less and less often, until it was quiet again.
    """

    def __init__(self, elapsed: Callable[[], float] = time.monotonic) -> None:
        self._elapsed = elapsed
        self._readings = 0
        self._last = -math.inf

    def pause(self) -> float:
        """Seconds to wait before the reading that begins now."""
        now = self._elapsed()
        since = now - self._last
        if since > QUIET:
            self._readings = 0
        beyond = self._readings - AT_ONCE
        apart = 0.0 if beyond < 0 else min(LONGEST_RETRY, 2.0**beyond)
        wait = max(0.0, apart - since)
        self._readings += 1
        self._last = now + wait
        return wait


class SourceRefresher:
    """Syncs some sources whenever it is told to, one sync at a time."""

    def __init__(
        self, engine: Engine, names: tuple[str, ...], bus: Listeners, pace: Pace | None = None
    ) -> None:
        self.names = names
        self.synced = anyio.Event()
        self._engine = engine
        self._bus = bus
        self._pace = pace
        self._scope: anyio.CancelScope | None = None
        self._over = False
        self._lease: Lease | None = None
        self._stale = anyio.Event()
        self._stale.set()

    def stir(self, lease: Lease | None = None) -> None:
        """Read them again; a lease says what came of it, where one process does it for all."""
        self._lease = lease or self._lease
        self._stale.set()

    def end(self) -> None:
        """It is not among the sources any more."""
        self._over = True
        self.synced.set()
        if self._scope is not None:
            self._scope.cancel()

    async def follow(self) -> None:
        with anyio.CancelScope() as self._scope:
            if not self._over:
                await self._follow()

    async def _follow(self) -> None:
        again = math.inf
        while True:
            with anyio.move_on_after(again):
                await self._stale.wait()
            await anyio.sleep(SETTLE if self.synced.is_set() else 0)
            await anyio.sleep(self._pace.pause() if self._pace else 0)
            self._stale = anyio.Event()
            again = self._soon(again) if await self._fails() else math.inf
            self.synced.set()

    async def _fails(self) -> bool:
        lease, self._lease = self._lease, None
        try:
            await self._sync()
            is_down = await to_thread.run_sync(self._is_down, abandon_on_cancel=True)
            if lease:
                await to_thread.run_sync(lease.end, "it cannot be read" if is_down else "")
            return is_down
        except Exception:  # one source must not end the others; the next change or poll tries again
            logger.exception("%s could not be synced", ", ".join(self.names))
            return True

    def _is_down(self) -> bool:
        providers = self._engine.catalogue.view().providers.values()
        return any(provider.down for provider in providers if provider.source in self.names)

    def _soon(self, last: float) -> float:
        """Seconds until something that is down is looked at again."""
        return min(LONGEST_RETRY, 2 * last) if last < math.inf else FIRST_RETRY

    async def _sync(self) -> None:
        sync = partial(self._engine.sync, *self.names, vectors=False)
        # Cancelled together with the servers it asks, so it does not outlive them for long.
        report = await to_thread.run_sync(sync, abandon_on_cancel=True)
        await self._bus.look()
        if report.changes:
            # A search makes what it needs (vectors, an index), so that the first client does not wait.
            await to_thread.run_sync(self._engine.find, "what changed", abandon_on_cancel=True)


class Following:
    def __init__(
        self, engine: Engine, upstreams: Upstreams, bus: Listeners, poll: float,
        reloading: Reloading | None = None,
    ) -> None:  # fmt: skip
        self._engine = engine
        self._upstreams = upstreams
        self._bus = bus
        self._poll = poll
        self._reloading = reloading
        self._tasks: TaskGroup | None = None
        self._local: list[SourceRefresher] = []
        self._servers: dict[str, SourceRefresher] = {}
        self._paths: list[Path] = []
        self._look_again = Event()
        self._follow_sources()

    @property
    def followers(self) -> tuple[SourceRefresher, ...]:
        return (*self._local, *self._servers.values())

    def changed(self, server: str) -> None:
        if follower := self._servers.get(server):
            follower.stir()

    @asynccontextmanager
    async def running(self, portal: BlockingPortal) -> AsyncIterator[None]:
        stop = Event()
        async with anyio.create_task_group() as tasks:
            self._tasks = tasks
            for follower in self.followers:
                tasks.start_soon(follower.follow)
            tasks.start_soon(self._vouch)
            if self._poll:
                tasks.start_soon(self._ask_again)
            tasks.start_soon(self._watch, portal, stop)
            if self._reloading:
                tasks.start_soon(self._watch_configuration, self._reloading, portal, stop)
                if project := self._engine.internals.project:
                    project.reload = partial(portal.call, self._reload, self._reloading)
            try:
                yield
            finally:
                stop.set()
                self._look_again.set()
                tasks.cancel_scope.cancel()

    async def synced(self, seconds: float, known: Collection[str] = ()) -> None:
        """Wait until everything but what is known was read once, and not for ever."""
        with anyio.move_on_after(seconds):
            for follower in self.followers:
                if not set(follower.names) <= set(known):
                    await follower.synced.wait()

    def _follow_sources(self) -> None:
        """A follower for each server and one for all that lies on this machine; those that stay, stay."""
        sources, servers = self._engine.sources, self._upstreams.names
        local = tuple(source.name for source in sources if source.name not in servers)
        self._paths = self._engine.internals.sources.paths
        for gone in [name for name in self._servers if name not in servers]:
            self._servers.pop(gone).end()
        for name in servers:
            if name not in self._servers:
                self._servers[name] = self._started(SourceRefresher(self._engine, (name,), self._bus, Pace()))
        if local != tuple(name for follower in self._local for name in follower.names):
            for old in self._local:
                old.end()
            self._local = [self._started(SourceRefresher(self._engine, local, self._bus))] if local else []

    def _started(self, follower: SourceRefresher) -> SourceRefresher:
        if self._tasks is not None:
            self._tasks.start_soon(follower.follow)
        return follower

    async def _vouch(self) -> None:
        """Say now and then that this gateway still runs, for processes that have not looked themselves."""
        while True:
            await anyio.sleep(SECONDS_BETWEEN_SIGNS)
            try:
                await to_thread.run_sync(self._engine.internals.syncing.vouch, abandon_on_cancel=True)
            except ProwessError as error:  # a store that is busy now may not be at the next sign
                logger.warning("other processes were not told that this gateway runs: %s", error)

    async def _ask_again(self) -> None:
        """One of all gateways reads a server now and then; the others see in the store what that brings."""
        every = timedelta(seconds=self._poll / 2)
        while True:
            await anyio.sleep(self._poll)
            for name, follower in list(self._servers.items()):
                try:
                    lease = await to_thread.run_sync(self._engine.internals.jobs.claim, f"sync {name}", every)
                except ProwessError as error:  # a store that is away; the next time asks again
                    logger.warning("%s is not read again now: %s", name, error)
                    continue
                if lease:
                    follower.stir(lease)

    async def _watch(self, portal: BlockingPortal, stop: Event) -> None:
        """Look at the files of local sources; at others, once the configuration names others."""
        while not stop.is_set():
            self._look_again = Event()
            look = partial(watch, self._paths, partial(_tell, portal, self._stir_local), self._look_again)
            wait = look if self._paths else self._look_again.wait
            try:
                await to_thread.run_sync(wait, abandon_on_cancel=True)
            except OSError as error:
                logger.warning("files are not watched: %s", error)
                return

    async def _stir_local(self) -> None:
        for follower in self._local:
            follower.stir()

    # --- prowess.toml ----------------------------------------------------------------------------

    async def _watch_configuration(self, reloading: Reloading, portal: BlockingPortal, stop: Event) -> None:
        reload = partial(self._reload, reloading)
        look = partial(watch, reloading.paths, partial(_tell, portal, reload), stop)
        try:
            await to_thread.run_sync(look, abandon_on_cancel=True)
        except OSError as error:
            logger.warning("%s is not watched: %s", reloading.file.name, error)

    async def _reload(self, reloading: Reloading) -> None:
        now = await to_thread.run_sync(reloading.read)
        if now is None:
            return
        before = {source.name for source in self._engine.sources}
        self._upstreams.use(now.sources)
        known = self._engine.internals.sources
        known.configure(self._upstreams.sources, now.definitions, now.trust, now.overrides)
        after = {source.name for source in now.sources}
        logger.warning(
            "prowess.toml or a secret changed: sources added: %s; removed: %s",
            ", ".join(sorted(after - before)) or "none",
            ", ".join(sorted(before - after - {LEARNT})) or "none",
        )
        self._follow_sources()
        self._look_again.set()
        # What is gone goes with the next sync of anything; what was defined anew is read anew.
        for follower in self.followers:
            follower.stir()
        if not self.followers:
            await to_thread.run_sync(partial(self._engine.sync, vectors=False))


def _tell(portal: BlockingPortal, news: Callable[[], Awaitable[None]]) -> None:
    """Bring news from a thread, unless nobody is there any more."""
    with suppress(RuntimeError):
        portal.start_task_soon(news)
