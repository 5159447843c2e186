"""One MCP server behind the gateway: started when first needed, kept, and started again after it ended.

Above: `upstreams`, which holds them all. Below: `sources.upstream`, which connects. Whatever one server
does (ends, hangs, floods, talks nonsense) costs its own callers a bounded time and nobody else anything.
"""

import math
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, cast

import anyio
from anyio.abc import TaskGroup
from mcp import Client, MCPError
from mcp.client.session import IncomingMessage
from mcp.client.subscriptions import SubscriptionLost
from mcp.shared.dispatcher import ProgressFnT
from mcp_types import (
    CONNECTION_CLOSED,
    PromptListChangedNotification,
    Request,
    ResourceListChangedNotification,
    ToolListChangedNotification,
)
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import TypeAdapter, ValidationError

from prowess.errors import SourceError
from prowess.sources.conduct import Conduct
from prowess.sources.listing import Listing, _fill
from prowess.sources.mcp import McpSource
from prowess.sources.upstream import cause, connect

LIST_CHANGES = (ToolListChangedNotification, PromptListChangedNotification, ResourceListChangedNotification)

LONGEST_WAIT = 60.0
"""Seconds between two attempts to start a server that does not start."""
MOST_SILENCES = 3
"""Calls in a row without an answer before a server is started anew."""

RAW = TypeAdapter(dict[str, Any])

Changed = Callable[[str], None]


@dataclass(slots=True)
class Attempt:
    """One connection, from the wish for it to its end."""

    wanted: anyio.Event = field(default_factory=anyio.Event)
    settled: anyio.Event = field(default_factory=anyio.Event)
    over: anyio.Event = field(default_factory=anyio.Event)
    conduct: Conduct = field(default_factory=Conduct)
    client: Client | None = None
    failure: str = ""
    not_before: float = 0.0

    @property
    def stands(self) -> bool:
        return self.client is not None and not self.over.is_set() and _is_open(self.client)


def _is_open(client: Client) -> bool:
    # The SDK does not tell whether a connection still stands; a call on one that does not is never sent.
    dispatcher = getattr(client.session, "_dispatcher", None)
    return not getattr(dispatcher, "_closed", False)


class Upstream:
    def __init__(self, source: McpSource, concurrency: int, timeout: float, changed: Changed) -> None:
        self.source = source
        self._places = anyio.Semaphore(concurrency)
        self._timeout = timeout
        self._changed = changed
        self._attempt = Attempt()
        self._failures = 0
        self._silences = 0

    @property
    def running(self) -> bool:
        return self._attempt.stands

    # --- asking --------------------------------------------------------------------------------

    async def ask(self, request: Request[Any, Any], progress: ProgressFnT | None = None) -> dict[str, Any]:
        """Send one request and return the result as it came. Raises `SourceError` when there is none."""
        with anyio.move_on_after(self._timeout) as patience:

            async def heard(progress_so_far: float, total: float | None, message: str | None) -> None:
                patience.deadline = anyio.current_time() + self._timeout
                if progress is not None:
                    await progress(progress_so_far, total, message)

            told = cast(ProgressFnT, heard) if progress else None
            async with self._places:
                attempt = await self._connected()
                result: dict[str, Any] = await self._guarded(
                    attempt,
                    lambda client: client.session.send_request(request, RAW, progress_callback=told),
                )
                self._silences = 0
                return result
        raise self._silent()

    async def survey(self) -> tuple[Listing, Conduct]:
        """Everything the server offers now, over the connection that stands."""
        listing = Listing()
        with anyio.move_on_after(self.source.timeout):
            attempt = await self._connected()
            attempt.conduct.unusable.clear()
            await self._guarded(attempt, lambda client: _fill(listing, client, self.source.max_items))
        if not listing.complete:
            raise self._silent()
        return listing, attempt.conduct

    async def _guarded(self, attempt: Attempt, ask: Callable[[Client], Awaitable[Any]]) -> Any:
        assert attempt.client is not None
        try:
            return await ask(attempt.client)
        except MCPError as error:
            if error.code == CONNECTION_CLOSED:
                attempt.over.set()
                raise self._error(self._ended(attempt), "it is started again at the next call") from error
            raise self._error(error.message.partition("\n")[0][:400], "") from error
        except (ValidationError, RuntimeError) as error:
            raise self._error("the server's answer does not follow the protocol", "") from error

    async def _connected(self) -> Attempt:
        attempt = self._attempt
        if attempt.settled.is_set() and not attempt.stands:
            attempt.over.set()
            while self._attempt is attempt:
                await anyio.sleep(0.005)
            attempt = self._attempt
        wait = attempt.not_before - time.monotonic()
        if not attempt.wanted.is_set() and wait > 0:
            raise self._error(attempt.failure, f"it is tried again in {math.ceil(wait)} s")
        attempt.wanted.set()
        await attempt.settled.wait()
        if attempt.client is None:
            raise self._error(attempt.failure, "")
        return attempt

    def _silent(self) -> SourceError:
        self._silences += 1
        if self._silences >= MOST_SILENCES:
            self._silences = 0
            self._attempt.over.set()
        return self._error(f"no answer within {self._timeout:g} s", "whether it took effect is not known")

    def _ended(self, attempt: Attempt) -> str:
        if attempt.conduct.too_long:
            return "the server sent a message without end and was stopped"
        words = attempt.conduct.last_words
        return f"the server stopped before it had answered{f' ({words})' if words else ''}"

    def _error(self, what: str, remedy: str) -> SourceError:
        return SourceError(self.source.name, self.source.safe(what), remedy)

    # --- connecting ----------------------------------------------------------------------------

    async def keep(self) -> None:
        """Connect whenever somebody wants to, for as long as the connection lasts."""
        while True:
            attempt = self._attempt
            await attempt.wanted.wait()
            failure = await self._held(attempt)
            self._failures = self._failures + 1 if attempt.client is None else 0
            wait = min(LONGEST_WAIT, 2.0 ** (self._failures - 1)) if self._failures else 0.0
            attempt.failure = failure
            self._attempt = Attempt(failure=failure, not_before=time.monotonic() + wait)
            attempt.settled.set()

    async def _held(self, attempt: Attempt) -> str:
        """Hold a connection until it is over; returns why it could not be had."""
        try:
            address = self.source.address.resolve(self.source.environment)
            with anyio.CancelScope(deadline=anyio.current_time() + self.source.timeout) as start:
                async with connect(address, attempt.conduct) as client, anyio.create_task_group() as tasks:
                    start.deadline = math.inf
                    attempt.client = client
                    self._follow(client, attempt, tasks)
                    attempt.settled.set()
                    await attempt.over.wait()
                    tasks.cancel_scope.cancel()
        except SourceError as error:
            return error.what
        except Exception as error:  # whatever ends a connection, the next call starts another
            return self._why(cause(error), attempt)
        return f"the server did not answer within {self.source.timeout:g} s" if attempt.client is None else ""

    def _why(self, error: BaseException, attempt: Attempt) -> str:
        words = attempt.conduct.last_words
        told = str(error).partition("\n")[0][:200] or type(error).__name__
        return f"the server cannot be reached: {told}{f' ({words})' if words else ''}"

    def _follow(self, client: Client, attempt: Attempt, tasks: TaskGroup) -> None:
        """Hear of changed lists, in whichever way the agreed revision tells of them."""
        if client.protocol_version in MODERN_PROTOCOL_VERSIONS:
            tasks.start_soon(self._listen, client, attempt)
            return

        async def heard(message: IncomingMessage) -> None:
            if isinstance(message, LIST_CHANGES):
                self._changed(self.source.name)

        client.session._message_handler = heard

    async def _listen(self, client: Client, attempt: Attempt) -> None:
        with suppress(MCPError, TimeoutError):  # a server need not offer it; polling finds changes too
            try:
                async with client.listen(
                    tools_list_changed=True, prompts_list_changed=True, resources_list_changed=True
                ) as events:
                    async for _ in events:
                        self._changed(self.source.name)
            except SubscriptionLost:
                if not _is_open(client):
                    attempt.over.set()
