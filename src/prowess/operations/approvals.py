"""The questions that wait for a person."""

from datetime import timedelta
from typing import Annotated

import msgspec

from prowess.engine.request_reports import RequestBehind, request_behind
from prowess.errors import NotFound, PolicyError
from prowess.operations.operation import Call, NoParams, Note, RequestParams, operation
from prowess.policy.approvals import Approval, ApprovalAnswer, Scope

Minutes = Annotated[int, msgspec.Meta(ge=1, le=525_600)]


class Every(RequestParams, frozen=True, kw_only=True):
    every: bool = False
    """Also those that are answered or expired."""


class ApprovalRequest(msgspec.Struct, frozen=True):
    request: RequestBehind | None = None


class AnswerApproval(RequestParams, frozen=True, kw_only=True):
    yes: bool
    note: Note = ""
    minutes: Minutes = 60
    """How long the answer holds."""
    scope: Scope = "once"
    """One use with the arguments shown, any number of uses with them (repeat), or any arguments."""


@operation("approvals.list", "GET /approvals", quotes=True)
def list_approvals(call: Call[Every]) -> tuple[Approval, ...]:
    """The questions that wait for a person."""
    return call.engine.approvals.list(call.params.every)


@operation("approvals.request", "GET /approvals/{id}/request", quotes=True, errors=(NotFound,))
def behind_approval(call: Call[NoParams]) -> ApprovalRequest:
    """The request that led to a question, where a recorded call says which."""
    id, known = call.path["id"], call.engine.approvals.list(every=True)
    approval = next((one for one in known if one.id == id), None)
    if approval is None:
        raise NotFound("approval", id, [one.id for one in known], "see: prowess approval list")
    return ApprovalRequest(request=request_behind(call.engine.internals, approval))


@operation("approvals.answer", "POST /approvals/{id}/answer", role="operator", signed=True,
           errors=(NotFound, PolicyError))  # fmt: skip
def answer_approval(call: Call[AnswerApproval]) -> Approval:
    """Answer a question."""
    said = call.params
    holds = timedelta(minutes=said.minutes)
    answer = ApprovalAnswer(yes=said.yes, by=call.by, note=said.note, holds=holds, scope=said.scope)
    return call.engine.approvals.answer(call.path["id"], answer)
