"""Asking the person at the client, in whichever way the agreed revision has for it."""

import json
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

from prowess.errors import ApprovalNeeded
from prowess.gateway.audience import Brought
from prowess.gateway.client import Asked
from prowess.types import Capability

KEY = "approval"
BY = "the person at the client"
LONGEST_ARGUMENTS = 600
CONFIRM: dict[str, Any] = {"type": "object", "properties": {}}


async def ask_person(
    context: ServerRequestContext[Any],
    brought: Brought,
    needed: ApprovalNeeded,
    capability: Capability,
    arguments: Mapping[str, Any],
) -> Asked:
    if not context.session.check_client_capability(ClientCapabilities(elicitation=ElicitationCapability())):
        return Asked()
    question = _question(needed, capability, arguments)
    if context.protocol_version in MODERN_PROTOCOL_VERSIONS:
        return _by_return(brought, needed, question)
    if not context.session.can_send_request:
        return Asked()
    try:
        answer = await context.session.elicit_form(question, CONFIRM, related_request_id=context.request_id)
    except MCPError:
        return Asked()
    return _said(answer)


def _by_return(brought: Brought, needed: ApprovalNeeded, question: str) -> Asked:
    """The newest revision has no requests to clients: the question is a result, the answer a new call."""
    answer = (brought.responses or {}).get(KEY)
    if isinstance(answer, ElicitResult) and brought.state == needed.approval:
        return _said(answer)
    form = ElicitRequestFormParams(message=question, requested_schema=CONFIRM)
    required = InputRequiredResult(
        input_requests={KEY: ElicitRequest(params=form)}, request_state=needed.approval
    )
    return Asked(answer=required.model_dump(by_alias=True, mode="json", exclude_none=True))


def _said(answer: ElicitResult) -> Asked:
    return Asked(yes=answer.action == "accept", by=BY) if answer.action != "cancel" else Asked()


def _question(needed: ApprovalNeeded, capability: Capability, arguments: Mapping[str, Any]) -> str:
    shown = json.dumps(arguments, ensure_ascii=False)
    if len(shown) > LONGEST_ARGUMENTS:
        shown = f"{shown[:LONGEST_ARGUMENTS]}…"
    return (
        f"Agent {needed.agent} wants to use {needed.id} of {capability.provider or capability.source}"
        f" with {shown}. Allow it for the next hour? ({needed.decision.reason})"
    )
