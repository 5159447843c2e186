"""What one server tells without being asked: that a list or a resource has changed, and what it logs.

Above: the connection, which hands over each message and follows a server while it lasts. Below: whoever wants
to know. Servers of the newest revision tell what they were asked to over a stream; older ones tell of lists
by themselves, and of a resource once it was subscribed to.
"""

from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field

import anyio
from mcp import Client, MCPError
from mcp.client.session import IncomingMessage
from mcp.client.subscriptions import SubscriptionLost
from mcp.shared.subscriptions import ResourceUpdated
from mcp_types import (
    EmptyResult,
    LoggingLevel,
    LoggingMessageNotification,
    PromptListChangedNotification,
    ResourceListChangedNotification,
    ResourceUpdatedNotification,
    SetLevelRequest,
    SetLevelRequestParams,
    SubscribeRequest,
    SubscribeRequestParams,
    ToolListChangedNotification,
    UnsubscribeRequest,
    UnsubscribeRequestParams,
)
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from prowess.calling.caller import Caller
from prowess.calling.mcp.questions import Questions

LIST_CHANGES = (ToolListChangedNotification, PromptListChangedNotification, ResourceListChangedNotification)
LEVELS: tuple[LoggingLevel, ...] = (
    "debug",
    "info",
    "notice",
    "warning",
    "error",
    "critical",
    "alert",
    "emergency",
)
LONGEST_WAIT = 60.0
"""Seconds until a server that stopped telling is listened to again."""


Hears = Callable[[Caller], bool]
"""Whether news that come over a connection are for this caller."""


async def _nobody(server: str, uri: str, hears: Hears) -> None:
    """Nobody wants to hear of resources."""


@dataclass(slots=True)
class Audience:
    """Who is told what servers say."""

    changed: Callable[[str], None] = lambda server: None
    updated: Callable[[str, str, Hears], Awaitable[None]] = _nobody
    watched: Callable[[str, Hears], frozenset[str]] = lambda server, hears: frozenset()
    """The resources of a server that somebody among those wants to hear of."""
    hears: Hears = lambda caller: True


@dataclass(slots=True)
class News:
    server: str
    audience: Audience
    questions: Questions
    _stirred: anyio.Event = field(default_factory=anyio.Event)
    _wanted: frozenset[str] = frozenset()
    _listening: anyio.CancelScope | None = None
    _level: LoggingLevel | None = None
    _told_level: LoggingLevel | None = None

    def stir(self) -> None:
        """Other resources may be to be heard of."""
        self._stirred.set()
        if self._listening is not None and self._wanted != self._watched:
            self._listening.cancel()

    @property
    def is_wanted(self) -> bool:
        """Whether somebody wants to hear of resources."""
        return bool(self._watched)

    @property
    def _watched(self) -> frozenset[str]:
        return self.audience.watched(self.server, self.audience.hears)

    async def heard(self, message: IncomingMessage) -> None:
        match message:
            case LoggingMessageNotification(params=params):
                await self.questions.log(params)
            case ResourceUpdatedNotification(params=params):
                await self.audience.updated(self.server, str(params.uri), self.audience.hears)
            case _ if isinstance(message, LIST_CHANGES):
                self.audience.changed(self.server)

    # --- while a connection stands ---------------------------------------------------------------

    async def follow(self, client: Client, is_over: Callable[[], bool]) -> None:
        """Have the server tell what is wanted, for as long as it does."""
        self._told_level = None
        with suppress(MCPError, TimeoutError):  # a server need not offer it; polling finds changes too
            if client.protocol_version in MODERN_PROTOCOL_VERSIONS:
                await self._listen(client, is_over)
            elif client.server_capabilities.resources and client.server_capabilities.resources.subscribe:
                await self._subscribe(client)

    async def _listen(self, client: Client, is_over: Callable[[], bool]) -> None:
        wait = 1.0
        while not is_over():
            self._wanted = self._watched
            with suppress(SubscriptionLost), anyio.CancelScope() as self._listening:
                await self._told(client, self._wanted)
            if not self._listening.cancel_called:
                await anyio.sleep(wait)
                wait = min(LONGEST_WAIT, 2 * wait)
            # Nobody told what happened in between.
            self.audience.changed(self.server)

    async def _told(self, client: Client, wanted: frozenset[str]) -> None:
        async with client.listen(
            tools_list_changed=True,
            prompts_list_changed=True,
            resources_list_changed=True,
            resource_subscriptions=sorted(wanted),
        ) as events:
            async for event in events:
                if not isinstance(event, ResourceUpdated):  # of those the message handler hears, too
                    self.audience.changed(self.server)

    async def _subscribe(self, client: Client) -> None:
        subscribed: frozenset[str] = frozenset()
        while True:
            self._stirred = anyio.Event()
            wanted = self._watched
            for uri in wanted - subscribed:
                with suppress(MCPError):
                    request = SubscribeRequest(params=SubscribeRequestParams(uri=uri))
                    await client.session.send_request(request, EmptyResult)
            for uri in subscribed - wanted:
                with suppress(MCPError):
                    ended = UnsubscribeRequest(params=UnsubscribeRequestParams(uri=uri))
                    await client.session.send_request(ended, EmptyResult)
            subscribed = wanted
            await self._stirred.wait()

    async def log_from(self, client: Client, level: LoggingLevel) -> None:
        """Have an older server log from this level on; it keeps the one that says most of those wanted."""
        if level not in LEVELS or client.server_capabilities.logging is None:
            return
        if client.protocol_version in MODERN_PROTOCOL_VERSIONS:  # there each request says it
            return
        most = level if self._level is None else min(level, self._level, key=LEVELS.index)
        self._level = most
        if self._told_level != most:
            self._told_level = most
            request = SetLevelRequest(params=SetLevelRequestParams(level=most))
            with suppress(MCPError):
                await client.session.send_request(request, EmptyResult)
