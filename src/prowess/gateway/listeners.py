"""Who is told what: that a list has changed, each client when its own has; that a resource has, who asked.

Above: `server`, which knows the clients; `refresh` and time, which give occasion to look. Below: the lists as
a caller would be sent them. What changed a list is never asked: a policy, a sync, a switch, another process.
"""

from collections import OrderedDict
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import anyio
from anyio import to_thread
from mcp.server.session import ServerSession
from mcp.server.subscriptions import InMemorySubscriptionBus
from mcp.shared.exceptions import MCPError
from mcp.shared.subscriptions import (
    PromptsListChanged,
    ResourcesListChanged,
    ResourceUpdated,
    ServerEvent,
    ToolsListChanged,
)
from mcp_types import INTERNAL_ERROR, LoggingLevel

from prowess.calling.caller import Caller
from prowess.calling.mcp.news import Hears
from prowess.errors import ProwessError
from prowess.waking import Told, waking

MOST_KNOWN = 256
"""Older clients that are remembered; the one that was heard of longest ago is forgotten first."""
MOST_LISTENING = 1024
SECONDS_TO_TAKE = 1.0
SECONDS_BETWEEN_LOOKS = 1.0

Lists = Mapping[str, str]
"""What a caller's lists hold, as a digest for each: tools, resources, prompts."""
EVENTS: Mapping[str, Callable[[], ServerEvent]] = {
    "tools": ToolsListChanged,
    "resources": ResourcesListChanged,
    "prompts": PromptsListChanged,
}


@dataclass(frozen=True, slots=True)
class Watched:
    """A resource that a client wants to hear of: its own name for it, and the server's."""

    uri: str
    server: str
    place: str


@dataclass(slots=True)
class Listener:
    caller: Caller
    tell: Callable[[ServerEvent], Awaitable[None]]
    seen: Lists
    watched: dict[str, Watched] = field(default_factory=dict)
    log_level: LoggingLevel | None = None
    """What servers log below this is not for it; nothing: all they say."""


class Listeners:
    def __init__(self, lists: Callable[[Caller], Lists]) -> None:
        self._lists = lists
        self._older: OrderedDict[object, Listener] = OrderedDict()
        self._newest: dict[int, Listener] = {}
        self._looking = anyio.Lock()
        self.watching: Callable[[], None] = lambda: None
        """Told when somebody wants to hear of other resources."""

    # --- who listens -----------------------------------------------------------------------------

    async def met(self, client: object, caller: Caller, session: ServerSession) -> Listener:
        """Remember a client that cannot listen; telling one that has gone does nothing."""
        known = self._older.get(client)
        if known is None:
            seen = await to_thread.run_sync(self._lists, caller)
            known = self._older.setdefault(client, Listener(caller, _teller(session), seen))
        self._older.move_to_end(client)
        while len(self._older) > MOST_KNOWN:
            self._older.popitem(last=False)
        return known

    @asynccontextmanager
    async def listening(
        self, caller: Caller, watched: Iterable[Watched]
    ) -> AsyncIterator[InMemorySubscriptionBus]:
        """A client of the newest revision, which hears what comes over this bus while this lasts."""
        if len(self._newest) >= MOST_LISTENING:
            raise MCPError(INTERNAL_ERROR, "too many clients are listening")
        bus = InMemorySubscriptionBus()
        seen = await to_thread.run_sync(self._lists, caller)
        listener = Listener(caller, bus.publish, seen, {one.uri: one for one in watched})
        self._newest[id(listener)] = listener
        self.watching()
        try:
            yield bus
        finally:
            del self._newest[id(listener)]
            self.watching()

    def watch(self, listener: Listener, watched: Watched) -> None:
        listener.watched[watched.uri] = watched
        self.watching()

    def unwatch(self, listener: Listener, uri: str) -> None:
        listener.watched.pop(uri, None)
        self.watching()

    @property
    def _everybody(self) -> list[Listener]:
        return [*self._older.values(), *self._newest.values()]

    def watched_of(self, server: str, hears: Hears) -> frozenset[str]:
        """The resources of one server that some of those want to hear of, as the server names them."""
        wanted = ((each, one) for each in self._everybody for one in list(each.watched.values()))
        return frozenset(one.place for each, one in wanted if one.server == server and hears(each.caller))

    # --- what they are told ----------------------------------------------------------------------

    async def following(self, changed: Told) -> None:
        """Look now and then, and when the store says so: others may have changed policy or catalogue."""
        with waking(changed) as pause:
            while True:
                await pause(SECONDS_BETWEEN_LOOKS)
                if self._everybody:
                    await self.look()

    async def look(self) -> None:
        """Tell each client of those of its lists that are not what they were."""
        async with self._looking:
            callers = {each.caller for each in self._everybody}
            try:
                now = {caller: await to_thread.run_sync(self._lists, caller) for caller in callers}
            except ProwessError:  # a store that is busy, or a policy that is being written: the next look
                return
            async with anyio.create_task_group() as tasks:
                for each in self._everybody:
                    seen, each.seen = each.seen, now.get(each.caller, each.seen)
                    for name, event in EVENTS.items():
                        if seen[name] != each.seen[name]:
                            tasks.start_soon(_told, each, event())

    async def updated(self, server: str, place: str, hears: Hears) -> None:
        """A server says that a resource has changed, over a connection that is of those who hear it."""
        async with anyio.create_task_group() as tasks:
            for each in self._everybody:
                for one in list(each.watched.values()):
                    if (one.server, one.place) == (server, place) and hears(each.caller):
                        tasks.start_soon(_told, each, ResourceUpdated(uri=one.uri))


async def _told(listener: Listener, event: ServerEvent) -> None:
    # A client that does not read holds up nobody.
    with anyio.move_on_after(SECONDS_TO_TAKE):
        await listener.tell(event)


def _teller(session: ServerSession) -> Callable[[ServerEvent], Awaitable[None]]:
    async def tell(event: ServerEvent) -> None:
        match event:
            case ToolsListChanged():
                await session.send_tool_list_changed()
            case ResourcesListChanged():
                await session.send_resource_list_changed()
            case PromptsListChanged():
                await session.send_prompt_list_changed()
            case ResourceUpdated():
                await session.send_resource_updated(event.uri)

    return tell
