"""The client of one call over MCP, asked in whichever way its revision has for it."""

from contextlib import suppress
from typing import Any

import anyio
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
    LoggingLevel,
    LoggingMessageNotification,
    LoggingMessageNotificationParams,
)
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import ValidationError

from prowess.calling.mcp.elicitation_client import Brought, cannot, signed
from prowess.calling.mcp.news import LEVELS
from prowess.sources.mcp.connection import Reply


class RelayedClient:
    def __init__(
        self, context: ServerRequestContext[Any], brought: Brought, of: object, log_level: LoggingLevel | None
    ) -> None:
        self.brought = brought
        self._context = context
        self.of = of
        self._log_level = log_level
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

    async def log(self, message: LoggingMessageNotificationParams, server: str) -> None:
        if not self._wants(message.level):
            return
        name = f"{server}/{message.logger}" if message.logger else server
        params = LoggingMessageNotificationParams(level=message.level, data=message.data, logger=name)
        with suppress(MCPError, anyio.BrokenResourceError, anyio.ClosedResourceError):  # it has left
            await self._context.session.send_notification(
                LoggingMessageNotification(params=params), related_request_id=self._context.request_id
            )

    def _wants(self, level: LoggingLevel) -> bool:
        """A client of the newest revision hears only what it asked for; an older one, whatever is said."""
        if self._log_level not in LEVELS:
            return not self.by_return
        return LEVELS.index(level) >= LEVELS.index(self._log_level)

    @property
    def _able(self) -> ClientCapabilities:
        return self._context.session.client_capabilities or ClientCapabilities()


def _kind_of_answer(question: InputRequest) -> type[InputResponse]:
    if isinstance(question, ElicitRequest):
        return ElicitResult
    if isinstance(question, CreateMessageRequest):
        return CreateMessageResultWithTools if question.params.tools is not None else CreateMessageResult
    return ListRootsResult
