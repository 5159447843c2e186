"""Asking the person at the client, in whichever way the agreed revision has for it.

Nobody proves that a person is there: a client that is a program answers just as well. So it is asked only
where `[gateway] approvals` says that it may answer, and only over the pipes of whoever started it.
"""

from collections.abc import Mapping
from typing import Any

from mcp.server import ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp_types import (
    ClientCapabilities,
    ElicitationCapability,
    ElicitRequest,
    ElicitRequestFormParams,
    ElicitResult,
    InputRequiredResult,
)
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from prowess.calling.client import ClientAnswer
from prowess.calling.mcp.elicitation_client import Brought
from prowess.errors import ApprovalNeeded
from prowess.policy.arguments import folded
from prowess.types import Capability

KEY = "approval"
LONGEST_NAME = 80
CONFIRM: dict[str, Any] = {"type": "object", "properties": {}}


async def ask_person(
    context: ServerRequestContext[Any],
    brought: Brought,
    needed: ApprovalNeeded,
    capability: Capability,
    arguments: Mapping[str, str],
) -> ClientAnswer:
    """Put a question to the client; `arguments` are as a person is shown them."""
    if not context.session.check_client_capability(ClientCapabilities(elicitation=ElicitationCapability())):
        return ClientAnswer()
    question = _question(needed, capability, arguments)
    if context.protocol_version in MODERN_PROTOCOL_VERSIONS:
        return _by_return(brought, needed, question, _name_of(context))
    if not context.session.can_send_request:
        return ClientAnswer()
    try:
        answer = await context.session.elicit_form(question, CONFIRM, related_request_id=context.request_id)
    except MCPError:
        return ClientAnswer()
    return _said(answer, _name_of(context))


def _by_return(brought: Brought, needed: ApprovalNeeded, question: str, by: str) -> ClientAnswer:
    """The newest revision has no requests to clients: the question is a result, the answer a new call."""
    answer = (brought.responses or {}).get(KEY)
    if isinstance(answer, ElicitResult) and brought.state == needed.approval:
        return _said(answer, by)
    form = ElicitRequestFormParams(message=question, requested_schema=CONFIRM)
    required = InputRequiredResult(
        input_requests={KEY: ElicitRequest(params=form)}, request_state=needed.approval
    )
    return ClientAnswer(answer=required.model_dump(by_alias=True, mode="json", exclude_none=True))


def _said(answer: ElicitResult, by: str) -> ClientAnswer:
    return ClientAnswer(yes=answer.action == "accept", by=by) if answer.action != "cancel" else ClientAnswer()


def _name_of(context: ServerRequestContext[Any]) -> str:
    """The client by the name it gave itself; who sat there nobody has proved."""
    params = context.session.client_params
    name = folded(params.client_info.name)[:LONGEST_NAME] if params and params.client_info else ""
    return f"client {name!r}" if name else "a client without a name"


def _question(needed: ApprovalNeeded, capability: Capability, arguments: Mapping[str, str]) -> str:
    of = capability.provider or capability.source
    lines = [f"Agent {needed.agent} wants to use {needed.id} of {of} once, with"]
    lines += [f"- {name}: {value}" for name, value in arguments.items()] or ["- no arguments"]
    return "\n".join([*lines, f"Allow this one use? ({needed.decision.reason})"])
