"""What the connection that a wish came over can do."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from mcp.shared.dispatcher import ProgressFnT

from prowess.errors import ApprovalNeeded
from prowess.gateway.caller import Caller
from prowess.gateway.elicitation.client import RelayedClient
from prowess.gateway.results import Answer
from prowess.types import Capability


@dataclass(frozen=True, slots=True)
class ClientAnswer:
    """What was said at the client to a question; `answer` is for the client where nobody spoke yet."""

    yes: bool | None = None
    by: str = ""
    answer: Answer | None = None


AskPerson = Callable[[ApprovalNeeded, Capability, Mapping[str, str]], Awaitable[ClientAnswer]]


@dataclass(frozen=True, slots=True)
class Client:
    caller: Caller
    ask: AskPerson
    progress: ProgressFnT | None = None
    meta: Mapping[str, Any] | None = None
    elicitation_client: RelayedClient | None = None
