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

from prowess.calling.caller import Caller
from prowess.calling.mcp.news import Audience
from prowess.calling.mcp.upstream import Upstream
from prowess.config import CallsConfig
from prowess.errors import LoginNeeded, SourceError
from prowess.sources.mcp.diagnostics import Conduct
from prowess.sources.mcp.listing import Listing
from prowess.sources.mcp.login import agent_of_login, login_mark, may_have_login
from prowess.sources.mcp.source import McpSource
from prowess.sources.source import Source

SECONDS_TO_END = 3.0
SECONDS_TO_HEAR = 0.3
"""How long a server that fails is not yet a failure: everything may be about to end."""

Surveyed = tuple[Listing, Conduct]


SECONDS_BETWEEN_LOOKS = 1.0
"""How soon a connection ends after the login that it shows was forgotten."""


def _has_login(source: McpSource, agent: str = "") -> bool:
    return bool(login_mark(source.name, source.address, source.environment, agent))


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
    """A connection for each server, and one more for each agent that has a login of its own there."""

    def __init__(self, sources: Iterable[Source], config: CallsConfig) -> None:
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
                self._end(server)
        for name, source in wanted.items():
            if name not in self._servers:
                server = self._servers[name] = Upstream(source, self._config, self._audience(source))
                if self._tasks is not None:
                    self._tasks.start_soon(self._keep, server)
        self.sources = tuple(map(self._warmed, chosen))

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._servers)

    def of(self, name: str, caller: Caller) -> Upstream | None:
        """The connection for a caller's calls."""
        server = self._servers.get(name)
        if server is None or not (agent := self._whose(server.source, caller)):
            return server
        found = self._of_agents.get((name, agent)) or self._connecting(server.source, agent)
        found.touch()
        return found

    def _whose(self, source: McpSource, caller: Caller) -> str:
        """The agent whose login a caller's calls show, its own and no other; empty for the shared connection.

        This is the one rule, whichever face a call comes through. Raises `LoginNeeded`.
        """
        if source.login == "shared" or not may_have_login(source.address):
            return ""
        agent = agent_of_login(caller.agent)
        if not _has_login(source, agent):
            if agent and _has_login(source):
                remedy = f"run: prowess login {source.name} --agent {shlex.quote(agent)}"
                raise LoginNeeded(source.name, "the server wants a login of this agent's own", remedy)
        elif not caller.authenticated:
            remedy = f"give the client a token: prowess agent access-token add {shlex.quote(caller.agent)}"
            raise LoginNeeded(source.name, "the login is for an agent that proves who it is", remedy)
        else:
            return agent
        return ""

    def _connecting(self, source: McpSource, agent: str) -> Upstream:
        server = self._of_agents[source.name, agent] = Upstream(
            source, self._config, self._audience(source, agent), agent
        )
        if self._tasks is not None:
            self._tasks.start_soon(self._keep, server)
        return server

    def _audience(self, source: McpSource, agent: str = "") -> Audience:
        """Who hears of a server over a connection: of resources only those whose calls go over it."""

        def hears(caller: Caller) -> bool:
            try:
                return self._whose(source, caller) == agent
            except LoginNeeded:
                return False

        return Audience(
            changed=lambda server: self.audience.changed(server),
            updated=lambda server, uri, hears: self.audience.updated(server, uri, hears),
            watched=lambda server, hears: self.audience.watched(server, hears),
            hears=hears,
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
        for server in self._all:
            server.news.stir()

    @property
    def _all(self) -> tuple[Upstream, ...]:
        return (*self._servers.values(), *self._of_agents.values())

    async def _look_after(self) -> None:
        """End connections that show a login which is kept no more, and an agent's own that nobody uses."""
        while True:
            await anyio.sleep(SECONDS_BETWEEN_LOOKS)
            for server in self._all:
                if may_have_login(server.source.address):
                    server.look()
            for key, server in list(self._of_agents.items()):
                if server.seconds_unused > (self._config.idle if _has_login(server.source, key[1]) else 0):
                    self._end(self._of_agents.pop(key))

    def _end(self, server: Upstream) -> None:
        if scope := self._scopes.pop(server, None):
            scope.cancel()

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
            for server in self._all:
                servers.start_soon(self._keep, server)
            servers.start_soon(self._look_after)
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
