"""One MCP server behind the gateway: started when first needed, kept, and started again after it ended.

Above: `upstreams`, which holds them all. Below: `sources.upstream`, which connects. Whatever one server
does (ends, hangs, floods, talks nonsense) costs its own callers a bounded time and nobody else anything.
"""

import math
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from typing import Any, cast

import anyio
from mcp import Client, MCPError
from mcp.shared.dispatcher import ProgressFnT
from mcp_types import (
    CONNECTION_CLOSED,
    LOG_LEVEL_META_KEY,
    PARSE_ERROR,
    URL_ELICITATION_REQUIRED,
    Request,
)
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import TypeAdapter, ValidationError

from prowess.calling.mcp.news import Audience, News
from prowess.calling.mcp.progress import Report, Reports
from prowess.calling.mcp.questions import CallSlot, ElicitationClient, Questions
from prowess.config import CallsConfig
from prowess.errors import SourceError
from prowess.sources.mcp.address import Address
from prowess.sources.mcp.connection import Party
from prowess.sources.mcp.diagnostics import SECONDS_BETWEEN, Conduct
from prowess.sources.mcp.failure import explained
from prowess.sources.mcp.listing import Listing, fill
from prowess.sources.mcp.login import login_mark, party_of
from prowess.sources.mcp.repair import UNREADABLE
from prowess.sources.mcp.source import McpSource
from prowess.sources.mcp.upstream import connect

SECONDS_TO_RESTART = 5.0
LONGEST_WAIT = 60.0
"""Seconds between two attempts to start a server that does not start."""
MOST_SILENCES = 3
"""Calls in a row without an answer before a server is started anew."""
MOST_CRASHES = 3
"""Times in a row that a server ends by itself without an answer before starting it again takes a while."""

UNAUTHORIZED = 401
SDK_UNREADABLE = ("Failed to parse", UNREADABLE)

RAW = TypeAdapter(dict[str, Any])


@dataclass(frozen=True, slots=True)
class Destination:
    """Where a connection leads, and which login it shows there."""

    address: Address
    login: str


@dataclass(slots=True)
class ConnectionAttempt:
    """One connection, from the wish for it to its end."""

    wanted: anyio.Event = field(default_factory=anyio.Event)
    settled: anyio.Event = field(default_factory=anyio.Event)
    over: anyio.Event = field(default_factory=anyio.Event)
    conduct: Conduct = field(default_factory=Conduct)
    party: Party = field(default_factory=Party)
    client: Client | None = None
    failure: SourceError | None = None
    not_before: float = 0.0
    destination: Destination | None = None
    """With the values of that moment; of an attempt to come, that of the last one."""
    calls: int = 0
    """How many wait for an answer over it."""

    @property
    def stands(self) -> bool:
        return self.client is not None and not self.over.is_set() and not self.conduct.ended


class Upstream:
    """`agent`: whose login is shown; without one, that of the agent `default`."""

    def __init__(self, source: McpSource, config: CallsConfig, audience: Audience, agent: str = "") -> None:
        self.source = source
        self._agent = agent
        self._places = anyio.Semaphore(config.concurrency)
        self._timeout = config.timeout
        self.longest = max(config.timeout, config.max_timeout)
        """Seconds a call may take altogether, while it shows that it goes on."""
        self._questions = Questions(source.name)
        self.news = News(source.name, audience, self._questions)
        self._attempt = ConnectionAttempt()
        self._failures = 0
        self._silences = 0
        self._crashes = 0
        self._is_over = False
        self._asking = 0
        self._used = time.monotonic()
        self._last_output = ""
        self._unlisted = False
        """Whether it could not say what it offers when it was last asked."""

    @property
    def asks_by_return(self) -> bool:
        """Whether what the server asks comes as a result: it speaks the newest revision."""
        client = self._attempt.client
        return client is not None and client.protocol_version in MODERN_PROTOCOL_VERSIONS

    # --- how long it is kept -------------------------------------------------------------------

    def touch(self) -> None:
        """It is about to be used."""
        self._used = time.monotonic()

    @property
    def seconds_unused(self) -> float:
        """How long nobody has waited for an answer, or wanted to hear of its resources."""
        is_used = self._asking or self._attempt.calls or self.news.is_wanted
        return 0.0 if is_used else time.monotonic() - self._used

    def look(self) -> None:
        """End a connection that shows a login which is not the one that is kept now."""
        attempt = self._attempt
        is_known = attempt.destination is not None and not attempt.calls
        if is_known and attempt.destination != self._destination():
            attempt.destination = None
            if attempt.stands:
                attempt.over.set()
            self.news.audience.changed(self.source.name)
        elif self._agent and self.news.is_wanted and attempt.not_before <= time.monotonic():
            attempt.wanted.set()  # what is told over an agent's own connection nobody else asks for

    @property
    def output(self) -> str:
        """The end of what the server wrote to standard error: the one that runs, or else the last."""
        return self._attempt.conduct.output or self._last_output

    async def restart(self) -> None:
        """End the connection, and forget what failed before: the next to ask starts the server anew."""
        self._failures = self._crashes = self._silences = 0
        attempt = self._attempt
        attempt.not_before = 0.0
        if attempt.wanted.is_set():
            attempt.over.set()
            with anyio.move_on_after(SECONDS_TO_RESTART):
                while self._attempt is attempt:
                    await anyio.sleep(SECONDS_BETWEEN)
            self._failures = self._crashes = 0
            self._attempt.not_before = 0.0

    # --- asking --------------------------------------------------------------------------------

    async def ask(
        self,
        request: Request[Any, Any],
        progress: ProgressFnT | None = None,
        elicitation_client: ElicitationClient | None = None,
    ) -> dict[str, Any]:
        """Send one request and return the result as it came. Raises `SourceError` when there is none."""
        self._asking += 1
        try:
            return await self._asked(request, progress, elicitation_client)
        finally:
            self._asking -= 1
            self.touch()

    async def _asked(
        self,
        request: Request[Any, Any],
        progress: ProgressFnT | None,
        elicitation_client: ElicitationClient | None,
    ) -> dict[str, Any]:
        began = anyio.current_time()
        reports = Reports(progress) if progress is not None else None
        with anyio.move_on_after(self._timeout) as patience:

            async def heard(so_far: float, total: float | None, message: str | None) -> None:
                patience.deadline = min(anyio.current_time() + self._timeout, began + self.longest)
                if reports is not None:
                    await reports.add(Report(so_far, total, message))

            told = cast(ProgressFnT, heard) if progress else None
            place = CallSlot(self._places, patience, self._timeout)
            await place.take()
            try:
                attempt = await self._connected()
                await self._set_log_level(attempt, request)
                with self._questions.during(elicitation_client, place):
                    result: dict[str, Any] = await self._guarded(
                        attempt,
                        lambda client: client.session.send_request(request, RAW, progress_callback=told),
                    )
            finally:
                place.leave()
                if reports is not None:
                    reports.end()
            self._silences = self._crashes = 0
            if self._unlisted:  # it was taken to be down, and works
                self._unlisted = False
                self.news.audience.changed(self.source.name)
            return result
        took = anyio.current_time() - began
        raise self._silent(self.longest if took >= self.longest else self._timeout)

    async def _set_log_level(self, attempt: ConnectionAttempt, request: Request[Any, Any]) -> None:
        meta = getattr(request.params, "meta", None) or {}
        if attempt.client is not None and (level := meta.get(LOG_LEVEL_META_KEY)):
            await self.news.log_from(attempt.client, level)

    async def survey(self) -> tuple[Listing, Conduct]:
        """Everything the server offers now, over the connection that stands."""
        listing = Listing()
        try:
            with anyio.move_on_after(self.source.timeout):
                attempt = await self._connected()
                attempt.conduct.unusable.clear()
                await self._guarded(attempt, lambda client: fill(listing, client, self.source.max_items))
        finally:
            self._unlisted = not listing.complete or bool(listing.failed)
        if not listing.complete:
            raise self._silent(self.source.timeout)
        return listing, attempt.conduct

    async def _guarded(self, attempt: ConnectionAttempt, ask: Callable[[Client], Awaitable[Any]]) -> Any:
        assert attempt.client is not None
        attempt.calls += 1
        try:
            return await ask(attempt.client)
        except MCPError as error:
            if error.code == CONNECTION_CLOSED:
                attempt.over.set()
                raise self._error(self._ended(attempt), "it is started again at the next call") from error
            if attempt.conduct.status == UNAUTHORIZED:
                why = explained(error, self.source.address, attempt.conduct, attempt.party)
                raise self._error(why.what, why.remedy, type(why)) from error
            raise self._error(_told(error), _places_to_go(error)) from error
        except (ValidationError, RuntimeError) as error:
            raise self._error("the server's answer does not follow the protocol", "") from error
        finally:
            attempt.calls -= 1

    async def _connected(self) -> ConnectionAttempt:
        attempt = self._attempt
        if attempt.stands and attempt.destination != self._destination():
            # A secret was set or changed, or somebody logged in or out: the server gets it at its start, once
            # nobody waits for it.
            while attempt.calls and attempt.stands:
                await anyio.sleep(SECONDS_BETWEEN)
            attempt.over.set()
            self.news.audience.changed(self.source.name)
        if attempt.settled.is_set() and not attempt.stands:
            attempt.over.set()
            while self._attempt is attempt and not self._is_over:
                await anyio.sleep(0.005)
            attempt = self._attempt
        wait = attempt.not_before - time.monotonic()
        if not attempt.wanted.is_set() and wait > 0 and attempt.destination == self._destination():
            raise self._failed(attempt, f"it is tried again in {math.ceil(wait)} s")
        attempt.wanted.set()
        await attempt.settled.wait()
        if attempt.client is None or self._is_over:
            raise self._failed(attempt)
        return attempt

    def _failed(self, attempt: ConnectionAttempt, later: str = "") -> SourceError:
        what, remedy = (attempt.failure.what, attempt.failure.remedy) if attempt.failure else ("", "")
        kind = type(attempt.failure) if attempt.failure else SourceError
        return self._error(what, "; ".join(part for part in (remedy, later) if part), kind)

    def _silent(self, seconds: float) -> SourceError:
        self._silences += 1
        if self._silences >= MOST_SILENCES:
            self._silences = 0
            self._attempt.over.set()
        return self._error(f"no answer within {seconds:g} s", "whether it took effect is not known")

    def _ended(self, attempt: ConnectionAttempt) -> str:
        if attempt.conduct.too_long:
            return "the server sent a message without end and was stopped"
        words = attempt.conduct.last_words
        return f"the server stopped before it had answered{f' ({words})' if words else ''}"

    def _error(self, what: str, remedy: str, kind: type[SourceError] = SourceError) -> SourceError:
        return kind(self.source.name, self.source.safe(what), remedy)

    # --- connecting ----------------------------------------------------------------------------

    async def keep(self) -> None:
        """Connect whenever somebody wants to, for as long as the connection lasts."""
        try:
            await self._kept()
        finally:  # whoever waits for it learns that it is not kept any more
            self._is_over = True
            self._attempt.failure = self._error("the connection was closed", "call again")
            self._attempt.settled.set()

    async def _kept(self) -> None:
        while True:
            attempt = self._attempt
            await attempt.wanted.wait()
            failure = await self._held(attempt)
            self._last_output = attempt.conduct.output or self._last_output
            self._failures = self._failures + 1 if attempt.client is None else 0
            wait = min(LONGEST_WAIT, 2.0 ** (self._failures - 1)) if self._failures else 0.0
            self._crashes = self._crashes + 1 if attempt.client is not None and attempt.conduct.ended else 0
            if self._crashes > MOST_CRASHES:
                wait = min(LONGEST_WAIT, 2.0 ** (self._crashes - MOST_CRASHES - 1))
                failure = self._error("the server stopped again and again", "look at its own log")
            attempt.failure = failure
            self._attempt = ConnectionAttempt(
                failure=failure, not_before=time.monotonic() + wait, destination=attempt.destination
            )
            attempt.settled.set()

    def _destination(self) -> Destination | None:
        """Where the server is now; nothing while a value that it needs is missing."""
        source = self.source
        try:
            address = source.address.resolve(source.environment)
        except SourceError:
            return None
        mark = login_mark(source.name, source.address, source.environment, self._agent)
        return Destination(address, mark)

    async def _held(self, attempt: ConnectionAttempt) -> SourceError | None:
        """Hold a connection until it is over; returns why it could not be had."""
        address = self.source.address
        try:
            attempt.destination = self._destination()
            party = party_of(self.source.name, address, self.source.environment, self._agent)
            address = address.resolve(self.source.environment)
            attempt.party = replace(party, answer=self._questions.answer, heard=self.news.heard)
            with anyio.CancelScope(deadline=anyio.current_time() + self.source.timeout) as start:
                async with (
                    connect(address, attempt.conduct, attempt.party) as client,
                    anyio.create_task_group() as tasks,
                ):
                    start.deadline = math.inf
                    attempt.client = client
                    tasks.start_soon(self._follow, client, attempt)
                    attempt.settled.set()
                    await attempt.over.wait()
                    tasks.cancel_scope.cancel()
        except Exception as error:  # whatever ends a connection, the next call starts another
            return explained(error, address, attempt.conduct, attempt.party)
        late = f"the server did not answer within {self.source.timeout:g} s"
        return self._error(late, "") if attempt.client is None else None

    async def _follow(self, client: Client, attempt: ConnectionAttempt) -> None:
        await self.news.follow(client, lambda: attempt.conduct.ended)
        if attempt.conduct.ended:
            attempt.over.set()


def _told(error: MCPError) -> str:
    """What the server says went wrong, or what is wrong with what it said."""
    first = error.message.partition("\n")[0][:400]
    if error.code != PARSE_ERROR or not first.startswith(SDK_UNREADABLE):
        return first
    # A parser's own words help nobody; why a body could not be had does.
    return UNREADABLE + (f": {why}" if (why := first.partition(": ")[2]).startswith("it ") else "")


def _places_to_go(error: MCPError) -> str:
    """Where a server sends the person before it can answer."""
    data = error.error.data if error.code == URL_ELICITATION_REQUIRED else None
    asked = data.get("elicitations") if isinstance(data, dict) else None
    urls = [str(one.get("url", "")) for one in asked or [] if isinstance(one, dict)]
    return f"a person must first go to {' and '.join(urls)}" if urls else ""
