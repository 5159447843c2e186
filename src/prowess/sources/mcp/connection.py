"""Who we are to a server: how we prove it, who answers its questions, and who hears its news.

Above: whoever connects. Below: the SDK's types. Importing this module imports the SDK.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import httpx2
from mcp.client.session import MessageHandlerFnT
from mcp_types import (
    INVALID_REQUEST,
    ErrorData,
    InputRequest,
    InputResponse,
    ListRootsRequest,
    ListRootsResult,
)

Reply = InputResponse | ErrorData
Answer = Callable[[InputRequest], Awaitable[Reply]]


async def nobody(question: InputRequest) -> Reply:
    """The answer where no person and no model can be asked; we have no folders of our own."""
    if isinstance(question, ListRootsRequest):
        return ListRootsResult(roots=[])
    return ErrorData(code=INVALID_REQUEST, message="nobody can be asked now: no client is calling")


@dataclass(frozen=True, slots=True, kw_only=True)
class Party:
    """What a connection needs from our side.

    Questions are always declared as welcome: some servers hide tools from those who cannot be asked, and
    what a server offers must not depend on who is connected when it is listed.
    """

    answer: Answer = nobody
    heard: MessageHandlerFnT | None = None
    auth: httpx2.Auth | None = None
    login: str = ""
    """The name to log in under, where a login can help."""
