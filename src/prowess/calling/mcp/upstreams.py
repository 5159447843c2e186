"""All the MCP servers behind the gateway, and the sources that read over their connections."""

import asyncio
import shlex
from collections.abc import AsyncIterator, Callable, Iterable
from concurrent.futures import CancelledError
from contextlib import asynccontextmanager
from dataclasses import dataclass, fields
from threading import Event

import anyio
from anyio.abc import TaskGroup
from anyio.from_thread import BlockingPortal

from prowess.calling.mcp.news import Audience
from prowess.calling.mcp.upstream import Upstream
from prowess.config import CallsConfig
from prowess.errors import LoginNeeded, SourceError
from prowess.sources.mcp.diagnostics import Conduct
from prowess.sources.mcp.listing import Listing
from prowess.sources.mcp.login import has_login
from prowess.sources.mcp.source import McpSource
from prowess.sources.source import Source

SECONDS_TO_END = 3.0
SECONDS_TO_HEAR = 0.3
"""How long a server that fails is not yet a failure: everything may be about to end."""

Surveyed = tuple[Listing, Conduct]


def _has_login(source: McpSource, agent: str = "") -> bool:
    return has_login(source.name, source.address, source.environment, agent)


def _unset(name: str) -> Surveyed:
    raise NotImplementedError(name)


@dataclass(frozen=True, slots=True, kw_only=True)
class WarmSource(McpSource):
    """An MCP source that asks over the connection the gateway keeps.

    A server that changes its tools changes them in the process that runs, so that one must be asked.
    """

    survey: Callable[[str], Surveyed] = _unset

    def ask(self) -> Surveyed:
        return self.survey(self.name)


class Upstreams:
    """`serves_many`: agents come over HTTP, and the login of whoever runs prowess is lent to none of them."""

    def __init__(self, sources: Iterable[Source], config: CallsConfig, serves_many: bool = False) -> None:
        self._serves_many = serves_many
        self._portal: BlockingPortal | None = None
        self._closing = Event()
        self._stopping = anyio.Event()
        self._ended = anyio.Event()
        self.audience = Audience()
        self._config = config
        self._servers: dict[str, Upstream] = {}
        self._of_agents: dict[tuple[str, str], Upstream] = {}
        self._scopes: dict[Upstream, anyio.CancelScope] = {}
        self._tasks: TaskGroup | None = None
        self.sources: tuple[Source, ...] = ()
        self.use(sources)

    def use(self, sources: Iterable[Source]) -> None:
        """These sources from now on: servers that are not among them any more end, new ones are kept."""
        chosen = tuple(sources)
        wanted = {source.name: source for source in chosen if isinstance(source, McpSource)}
        for name in [name for name, server in self._servers.items() if wanted.get(name) != server.source]:
            own = [key for key in self._of_agents if key[0] == name]
            for server in (self._servers.pop(name), *map(self._of_agents.pop, own)):
                if scope := self._scopes.pop(server, None):
                    scope.cancel()
        for name, source in wanted.items():
            if name not in self._servers:
                server = self._servers[name] = Upstream(source, self._config, self._audience(source))
                if self._tasks is not None:
                    self._tasks.start_soon(self._keep, server)
        self.sources = tuple(map(self._warmed, chosen))

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._servers)

    def of(self, name: str, agent: str) -> Upstream | None:
        """The connection for an agent's calls: one of its own where it has a login of its own."""
        server = self._servers.get(name)
        if server is None or server.source.login == "shared":
            return server
        if _has_login(server.source, agent):
            return self._of_agents.get((name, agent)) or self._connecting(server.source, agent)
        if self._serves_many and _has_login(server.source):
            remedy = f"run: prowess login {name} --agent {shlex.quote(agent)}"
            raise LoginNeeded(name, "the server wants a login of this agent's own", remedy)
        return server

    def _connecting(self, source: McpSource, agent: str) -> Upstream:
        audience = Audience(changed=lambda server: self.audience.changed(server))
        server = self._of_agents[source.name, agent] = Upstream(source, self._config, audience, agent)
        if self._tasks is not None:
            self._tasks.start_soon(self._keep, server)
        return server

    def _audience(self, source: McpSource) -> Audience:
        """Who hears of a server: of resources only those who may have the login that is shown to it."""
        if not self._serves_many or source.login == "shared":
            return self.audience

        def watched(server: str) -> frozenset[str]:
            return frozenset() if _has_login(source) else self.audience.watched(server)

        return Audience(
            changed=lambda server: self.audience.changed(server),
            updated=lambda server, uri: self.audience.updated(server, uri),
            watched=watched,
        )

    def output(self, name: str) -> str:
        """The end of what a server wrote to standard error, without the values it was given."""
        server = self._servers.get(name)
        return server.source.safe(server.output) if server else ""

    def restart(self, name: str) -> None:
        """End a server and the connections that agents have of their own; the next to ask starts it anew."""
        own = [server for (of, _), server in self._of_agents.items() if of == name]
        for server in (*filter(None, [self._servers.get(name)]), *own):
            if self._portal is not None:
                self._portal.call(server.restart)

    def stir(self) -> None:
        """Other resources are to be heard of."""
        for server in self._servers.values():
            server.news.stir()

    @asynccontextmanager
    async def running(self) -> AsyncIterator[BlockingPortal]:
        """While this lasts, servers are started and kept; all of them end with it."""
        async with BlockingPortal() as portal, anyio.create_task_group() as tasks:
            self._portal = portal
            tasks.start_soon(self._keep_all)
            try:
                yield portal
            finally:
                with anyio.CancelScope(shield=True):
                    await self.stop()
                    await portal.stop(cancel_remaining=True)

    async def stop(self) -> None:
        """End every server; returns when they have ended."""
        self._closing.set()
        self._stopping.set()
        with anyio.move_on_after(SECONDS_TO_END):
            await self._ended.wait()

    async def _keep_all(self) -> None:
        async with anyio.create_task_group() as servers:
            self._tasks = servers
            for server in self._servers.values():
                servers.start_soon(self._keep, server)
            await self._stopping.wait()
            servers.cancel_scope.cancel()
        self._ended.set()

    async def _keep(self, server: Upstream) -> None:
        with anyio.CancelScope() as scope:
            self._scopes[server] = scope
            await server.keep()

    def _warmed(self, source: Source) -> Source:
        if not isinstance(source, McpSource):
            return source
        same = {part.name: getattr(source, part.name) for part in fields(McpSource)}
        return WarmSource(**same, survey=self._survey)

    def _survey(self, name: str) -> Surveyed:
        """Ask a server from the thread of a sync."""
        if self._portal is None or self._closing.is_set():
            # Not an error of the server: the sync as a whole ends, and nothing is recorded as down.
            raise asyncio.CancelledError
        try:
            listing, conduct = self._portal.call(self._servers[name].survey)
        except (CancelledError, RuntimeError, SourceError):
            # Whoever ends a server and us together may tell the server first.
            if self._closing.wait(SECONDS_TO_HEAR):
                raise asyncio.CancelledError from None
            raise
        if listing.failed and self._closing.is_set():
            raise asyncio.CancelledError
        return listing, conduct
