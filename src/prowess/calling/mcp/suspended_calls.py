"""Calls that go on while their client is away to fetch an answer.

A server of the older revisions asks in the middle of a call and waits; a client of the newest can only be
asked by ending its own call with the question, and answers by calling again. In between the call behind
stands here, for the agent that made it alone; if it ends meanwhile, so does its result.
"""

import secrets
from collections import OrderedDict
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import anyio
from anyio.abc import TaskGroup
from mcp_types import (
    INVALID_REQUEST,
    ErrorData,
    InputRequest,
    InputResponses,
    LoggingMessageNotificationParams,
)

from prowess.calling.client import Client
from prowess.calling.mcp.elicitation_client import PARKED, cannot, signed
from prowess.calling.results import failed
from prowess.errors import SourceError
from prowess.sources.mcp.connection import Reply

MOST_PARKED = 64
"""Calls that may wait at once; the one that has waited longest is given up for another."""

Work = Callable[["SuspendedCall"], Awaitable[dict[str, Any]]]


@dataclass(eq=False, slots=True)
class _Open:
    """A question that waits for its answer."""

    question: InputRequest
    reply: Reply | None = None
    answered: anyio.Event = field(default_factory=anyio.Event)

    def close(self, reply: Reply) -> None:
        self.reply = reply
        self.answered.set()


@dataclass(eq=False, slots=True)
class SuspendedCall:
    """One such call; to the server it is the audience."""

    client: Client
    id: str
    scope: anyio.CancelScope = field(default_factory=anyio.CancelScope)
    news: anyio.Event = field(default_factory=anyio.Event)
    result: dict[str, Any] | SourceError | None = None
    open: dict[str, _Open] = field(default_factory=dict)
    shown: tuple[str, ...] = ()
    """What its client went away to answer; what was asked since then it has not heard of."""

    @property
    def of(self) -> object:
        return self.client.elicitation_client.of if self.client.elicitation_client else self

    async def answer(self, question: InputRequest, server: str) -> Reply:
        if self.client.elicitation_client is None or not self.client.elicitation_client.can(question):
            return cannot(question)
        waiting = _Open(signed(question, server))
        key = secrets.token_hex(4)
        self.open[key] = waiting
        self.news.set()
        try:
            await waiting.answered.wait()
        finally:
            self.open.pop(key, None)
        assert waiting.reply is not None
        return waiting.reply

    async def log(self, message: LoggingMessageNotificationParams, server: str) -> None:
        # What is logged while the client is away to fetch an answer is heard by nobody.
        if self.client.elicitation_client is not None and not self.open:
            await self.client.elicitation_client.log(message, server)

    async def report(self, progress: float, total: float | None, message: str | None) -> None:
        if self.client.progress is not None:
            await self.client.progress(progress, total, message)

    def come_back(self, client: Client, responses: InputResponses | None) -> None:
        self.client = client
        for key in self.shown:
            if waiting := self.open.pop(key, None):
                given = (responses or {}).get(key)
                waiting.close(given or ErrorData(code=INVALID_REQUEST, message="the client did not answer"))


class Parking:
    def __init__(self) -> None:
        self._tasks: TaskGroup | None = None
        self._waiting: OrderedDict[str, SuspendedCall] = OrderedDict()

    @property
    def waiting(self) -> int:
        """How many calls wait for their client."""
        return len(self._waiting)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        async with anyio.create_task_group() as tasks:
            self._tasks = tasks
            try:
                yield
            finally:
                tasks.cancel_scope.cancel()

    async def begin(self, client: Client, id: str, work: Work) -> dict[str, Any]:
        """Start a call; returns its result, or what its client must bring an answer to."""
        assert self._tasks is not None, "calls are made while the gateway runs"
        suspended = SuspendedCall(client, id)
        self._tasks.start_soon(self._carry_out, suspended, work)
        return await self._next(suspended)

    async def resume(self, client: Client, id: str, handle: str) -> dict[str, Any]:
        suspended = self._waiting.get(handle)
        if suspended is None or (suspended.client.caller, suspended.id) != (client.caller, id):
            return failed(f"What {id} asked is no longer open; call it again from the beginning.")
        del self._waiting[handle]
        suspended.come_back(
            client, client.elicitation_client.brought.responses if client.elicitation_client else None
        )
        return await self._next(suspended)

    async def _next(self, suspended: SuspendedCall) -> dict[str, Any]:
        while suspended.result is None and not suspended.open:
            suspended.news = anyio.Event()
            try:
                await suspended.news.wait()
            except BaseException:
                suspended.scope.cancel()
                raise
        if isinstance(suspended.result, SourceError):
            raise suspended.result
        return suspended.result if suspended.result is not None else self._park(suspended)

    def _park(self, suspended: SuspendedCall) -> dict[str, Any]:
        handle = secrets.token_urlsafe(18)
        suspended.shown = tuple(suspended.open)
        self._waiting[handle] = suspended
        while len(self._waiting) > MOST_PARKED:
            self._waiting.popitem(last=False)[1].scope.cancel()
        return {
            "resultType": "input_required",
            "inputRequests": _shown({key: one.question for key, one in suspended.open.items()}),
            "requestState": f"{PARKED}{handle}",
        }

    async def _carry_out(self, suspended: SuspendedCall, work: Work) -> None:
        with suspended.scope:
            try:
                suspended.result = await work(suspended)
            except SourceError as error:
                suspended.result = error
            suspended.news.set()


def _shown(questions: Mapping[str, InputRequest]) -> dict[str, Any]:
    return {
        key: question.model_dump(by_alias=True, mode="json", exclude_none=True)
        for key, question in questions.items()
    }
