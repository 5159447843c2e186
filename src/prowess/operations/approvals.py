"""The questions that wait for a person."""

from datetime import timedelta
from typing import Annotated

import msgspec

from prowess.errors import NotFound, PolicyError
from prowess.operations.operation import Call, Note, RequestParams, operation
from prowess.policy.approvals import Approval, ApprovalAnswer, Scope

Minutes = Annotated[int, msgspec.Meta(ge=1, le=525_600)]


class Every(RequestParams, frozen=True, kw_only=True):
    every: bool = False
    """Also those that are answered or expired."""


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


@operation(
    "approvals.answer",
    "POST /approvals/{id}/answer",
    role="operator",
    signed=True,
    errors=(NotFound, PolicyError),
)
def answer_approval(call: Call[AnswerApproval]) -> Approval:
    """Answer a question."""
    said = call.params
    holds = timedelta(minutes=said.minutes)
    answer = ApprovalAnswer(yes=said.yes, by=call.by, note=said.note, holds=holds, scope=said.scope)
    return call.engine.approvals.answer(call.path["id"], answer)
