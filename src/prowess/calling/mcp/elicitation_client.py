"""The client of one call, as somebody who can be asked what a server wants to know."""

from dataclasses import dataclass
from typing import Protocol

from mcp_types import (
    INVALID_REQUEST,
    ElicitRequest,
    ErrorData,
    InputRequest,
    InputResponses,
    LoggingMessageNotificationParams,
)

from prowess.sources.mcp.connection import Reply

PASSED = "passed"
"""Begins a state that belongs to the server behind."""
PARKED = "parked:"
"""Begins a state that names a call which goes on here."""


@dataclass(frozen=True, slots=True)
class Brought:
    """What a client of the newest revision brought back with a call that it makes again."""

    responses: InputResponses | None = None
    state: str = ""

    @property
    def handle(self) -> str:
        return self.state.removeprefix(PARKED) if self.state.startswith(PARKED) else ""

    @property
    def for_server(self) -> "Brought":
        """What the server behind asked for; nothing where the answer was meant for us."""
        if not self.state.startswith(PASSED):
            return Brought()
        return Brought(self.responses, self.state.removeprefix(PASSED).removeprefix(":"))


def passed_state(state: str | None) -> str:
    """A server's state, marked so that it goes back to the server."""
    return f"{PASSED}:{state}" if state is not None else PASSED


class AskableClient(Protocol):
    """The client of a call, as somebody who can be asked what a server wants to know."""

    brought: Brought

    @property
    def of(self) -> object:
        """Which client; two calls of one client have the same."""

    @property
    def by_return(self) -> bool:
        """Whether it is asked by a result, and answers by calling again."""

    @property
    def answers(self) -> bool:
        """Whether it can be asked anything at all."""

    def can(self, question: InputRequest) -> bool:
        """Whether it can be asked this."""

    async def answer(self, question: InputRequest, server: str) -> Reply:
        """Its answer, or why there is none."""

    async def log(self, message: LoggingMessageNotificationParams, server: str) -> None:
        """Hear what the server logs during the call."""


def cannot(question: InputRequest) -> ErrorData:
    what = {
        "elicitation/create": "elicitation (a question to the person)",
        "sampling/createMessage": "sampling (a question to its model)",
        "roots/list": "roots (its folders)",
    }[question.method]
    return ErrorData(code=INVALID_REQUEST, message=f"the client does not support {what}")


def signed(question: InputRequest, server: str) -> InputRequest:
    """The question with the name of the server that asks it: to the person we look like one server."""
    if not isinstance(question, ElicitRequest):
        return question
    params = question.params.model_copy(update={"message": f"{server}: {question.params.message}"})
    return ElicitRequest(params=params)
