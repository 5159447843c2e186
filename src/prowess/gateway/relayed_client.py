"""The client of one call over MCP, asked in whichever way its revision has for it."""

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
    ListRootsResult,
)
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import ValidationError

from prowess.calling.mcp.elicitation_client import Brought, cannot, signed
from prowess.sources.mcp.connection import Reply


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


def _kind_of_answer(question: InputRequest) -> type[InputResponse]:
    if isinstance(question, ElicitRequest):
        return ElicitResult
    if isinstance(question, CreateMessageRequest):
        return CreateMessageResultWithTools if question.params.tools is not None else CreateMessageResult
    return ListRootsResult
