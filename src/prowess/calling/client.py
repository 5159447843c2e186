"""Who a call is made for, and what can be done at the other end: ask a person, hear of progress."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from prowess.calling.caller import Caller
from prowess.calling.results import Answer
from prowess.errors import ApprovalNeeded
from prowess.types import Capability

if TYPE_CHECKING:
    from prowess.calling.mcp.elicitation_client import AskableClient


@dataclass(frozen=True, slots=True)
class ClientAnswer:
    """What was said at the client to a question; `answer` is for the client where nobody spoke yet."""

    yes: bool | None = None
    by: str = ""
    answer: Answer | None = None


AskPerson = Callable[[ApprovalNeeded, Capability, Mapping[str, str]], Awaitable[ClientAnswer]]


class ReportProgress(Protocol):
    """Told of progress, in the words of the protocol."""

    async def __call__(self, progress: float, total: float | None, message: str | None) -> None: ...


async def ask_nobody(
    needed: ApprovalNeeded, capability: Capability, arguments: Mapping[str, str]
) -> ClientAnswer:
    """The client is not the one to answer: the question waits for a person elsewhere."""
    return ClientAnswer()


@dataclass(frozen=True, slots=True)
class Client:
    caller: Caller
    ask: AskPerson = ask_nobody
    progress: ReportProgress | None = None
    meta: Mapping[str, Any] | None = None
    elicitation_client: "AskableClient | None" = None
    is_task: bool = False
    """Whether it fetches the result later, so that the call may take long."""
