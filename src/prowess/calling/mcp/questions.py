"""What a server asks in the middle of a call, and whose call it is.

Servers of the older revisions send questions over a connection that many clients share, without saying
which call they belong to. A question goes to the client whose call it certainly belongs to, or to nobody:
the wrong person must never be asked.
"""

import math
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Protocol

import anyio
from mcp_types import (
    INVALID_REQUEST,
    ErrorData,
    InputRequest,
    ListRootsRequest,
    LoggingMessageNotificationParams,
)

from prowess.sources.mcp.connection import Reply, nobody

LONGEST_ANSWER = 600.0
"""Seconds a person or a model has for an answer."""


class ElicitationClient(Protocol):
    """The client of a call, as somebody who can be asked."""

    @property
    def of(self) -> object:
        """Which client; two calls of one client have the same."""

    async def answer(self, question: InputRequest, server: str) -> Reply: ...

    async def log(self, message: LoggingMessageNotificationParams, server: str) -> None:
        """Hear what the server logs during the call."""


class CallSlot:
    """One of the places that a server has for calls, and the time that a call has."""

    def __init__(self, places: anyio.Semaphore, patience: anyio.CancelScope, seconds: float) -> None:
        self._places = places
        self._patience = patience
        self._seconds = seconds
        self._held = False

    async def take(self) -> None:
        await self._places.acquire()
        self._held = True

    def leave(self) -> None:
        if self._held:
            self._held = False
            self._places.release()

    def rest(self) -> None:
        """Both measure the server, not the person it asks."""
        self.leave()
        self._patience.deadline = math.inf

    def go_on(self) -> None:
        self._patience.deadline = anyio.current_time() + self._seconds
        # Whoever has waited for a person does not wait again: for a moment there is one call too many.
        with suppress(anyio.WouldBlock):
            self._places.acquire_nowait()
            self._held = True


@dataclass(eq=False, slots=True)
class _Call:
    elicitation_client: ElicitationClient
    place: CallSlot
    open: list[anyio.CancelScope] = field(default_factory=list)

    @contextmanager
    def waiting(self) -> Iterator[None]:
        with anyio.move_on_after(LONGEST_ANSWER) as scope:
            self.open.append(scope)
            self.place.rest()
            try:
                yield
            finally:
                self.open.remove(scope)
                if not self.open:
                    self.place.go_on()

    def end(self) -> None:
        """Nobody need answer what a call asked that is over."""
        for scope in self.open:
            scope.cancel()


# Over HTTP what a server asks arrives in the context of the request that it asks about.
_asked_about: ContextVar[_Call | None] = ContextVar("asked_about", default=None)


class Questions:
    """The questions of one server."""

    def __init__(self, server: str) -> None:
        self._server = server
        self._calls: list[_Call] = []

    @contextmanager
    def during(self, elicitation_client: ElicitationClient | None, place: CallSlot) -> Iterator[None]:
        """While this lasts, the audience can be asked."""
        if elicitation_client is None:
            yield
            return
        call = _Call(elicitation_client, place)
        self._calls.append(call)
        token = _asked_about.set(call)
        try:
            yield
        finally:
            _asked_about.reset(token)
            self._calls.remove(call)
            call.end()

    async def answer(self, question: InputRequest) -> Reply:
        call = _asked_about.get() or self._only()
        if call is None:
            if not self._calls or isinstance(question, ListRootsRequest):
                return await nobody(question)
            what = "several clients are calling this server: whom it asks cannot be told"
            return ErrorData(code=INVALID_REQUEST, message=what)
        with call.waiting():
            return await call.elicitation_client.answer(question, self._server)
        return ErrorData(code=INVALID_REQUEST, message="nobody answered in time")

    async def log(self, message: LoggingMessageNotificationParams) -> None:
        """Pass on what the server logs to the client whose call it is about, and to nobody else."""
        call = _asked_about.get() or self._only()
        if call is not None:
            await call.elicitation_client.log(message, self._server)

    def _only(self) -> _Call | None:
        """A call of the one client that is calling, if there is just one."""
        clients = {call.elicitation_client.of for call in self._calls}
        return self._calls[-1] if len(clients) == 1 else None
