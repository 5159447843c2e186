"""The client of one call, as somebody who can be asked what a server wants to know."""

from dataclasses import dataclass
from typing import Any

from mcp.server import ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp.shared.message import ServerMessageMetadata
from mcp_types import (
    INVALID_REQUEST,
    ClientCapabilities,
    CreateMessageRequest,
    CreateMessageResult,
    CreateMessageResultWithTools,
    ElicitRequest,
    ElicitRequestURLParams,
    ElicitResult,
    ErrorData,
    InputRequest,
    InputResponse,
    InputResponses,
    ListRootsResult,
)
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import ValidationError

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


class RelayedClient:
    def __init__(self, context: ServerRequestContext[Any], brought: Brought, of: object) -> None:
        self.brought = brought
        self._context = context
        self.of = of
        self.by_return = context.protocol_version in MODERN_PROTOCOL_VERSIONS

    @property
    def answers(self) -> bool:
        """Whether it can be asked anything at all."""
        able = self._able
        return able.elicitation is not None or able.sampling is not None or able.roots is not None

    def can(self, question: InputRequest) -> bool:
        able = self._able
        if isinstance(question, ElicitRequest):
            by_page = isinstance(question.params, ElicitRequestURLParams)
            return able.elicitation is not None and (not by_page or able.elicitation.url is not None)
        if isinstance(question, CreateMessageRequest):
            tools = question.params.tools is not None
            return able.sampling is not None and (not tools or able.sampling.tools is not None)
        return able.roots is not None

    async def answer(self, question: InputRequest, server: str) -> Reply:
        if not self.can(question):
            return cannot(question)
        if not self._context.session.can_send_request:
            return ErrorData(code=INVALID_REQUEST, message="the client cannot be asked over this connection")
        about = ServerMessageMetadata(related_request_id=self._context.request_id)
        try:
            return await self._context.session.send_request(
                signed(question, server), _kind_of_answer(question), metadata=about
            )
        except MCPError as error:
            return error.error
        except ValidationError:
            return ErrorData(code=INVALID_REQUEST, message="the client's answer does not follow the protocol")

    @property
    def _able(self) -> ClientCapabilities:
        return self._context.session.client_capabilities or ClientCapabilities()


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


def _kind_of_answer(question: InputRequest) -> type[InputResponse]:
    if isinstance(question, ElicitRequest):
        return ElicitResult
    if isinstance(question, CreateMessageRequest):
        return CreateMessageResultWithTools if question.params.tools is not None else CreateMessageResult
    return ListRootsResult
