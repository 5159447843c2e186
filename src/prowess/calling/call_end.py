"""A call from the wish to its end: what is wanted, what may be done, and how it ended."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from prowess.calling.results import STRUCTURED, Answer, failed
from prowess.calling.wording import Way
from prowess.errors import ApprovalNeeded, CallFailed, Denied, InvalidArguments, NotFound, ProwessError
from prowess.types import CallResult, Capability, Decision, Ending, Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class CallRequest:
    """What is wanted called, and how."""

    name: str
    """The id of a capability, or its name as a tool."""
    arguments: object = None
    way: Way = "direct"
    offer: str = ""
    """The offer it belongs to, where the caller says so."""
    key: str = ""
    """Names this call to its caller: made once, however often it is asked for."""
    fields: tuple[str, ...] = ()
    """The parts of the result that are wanted; all of it without any."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PreparedCall:
    """A call that fits, and from there on one that may be made."""

    capability: Capability
    arguments: Mapping[str, Any]
    also: tuple[str, ...] = ()
    """Other ids that must be allowed with it."""
    decision: Decision = field(default_factory=lambda: Decision(verdict="deny", reason="not asked yet"))
    call: str = ""
    """Names it in the journal."""
    is_recorded: bool = False
    """Whether its beginning is written down, so that its end must be."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallEnd:
    """How a call ended: what the model is told, and what the journal and the program are."""

    answer: Answer
    ending: Ending
    capability: str
    """The id that was meant; the name as it was given, where nothing is."""
    revision: str = ""
    detail: str = ""
    decision: Verdict | Literal[""] = ""
    """What policy said; nothing where it was not asked."""
    approval: str = ""
    error: ProwessError | None = None
    value: object = None
    """What a function returned, where that is no object."""
    is_suspected: bool = False
    """Whether the guard found that the answer speaks to the model."""
    repeated: bool = False
    """Whether it is the result of an earlier call with the same key."""


def nowhere(name: str, text: str, revision: str, reason: str) -> CallEnd:
    """There is no such thing; the model is told the same where it may not know of it."""
    error = NotFound("capability", name[:200], see="see: prowess find")
    return CallEnd(
        answer=failed(text), ending="denied", capability=name, revision=revision, detail=reason,
        decision="deny", error=error,
    )  # fmt: skip


def forbidden(refusal: Denied, text: str) -> CallEnd:
    """Policy says no; the program may know why, the model not even that there is something."""
    said = refusal.decision
    return CallEnd(
        answer=failed(text), ending="denied", capability=refusal.id, revision=said.revision,
        detail=said.reason, decision="deny", error=refusal,
    )  # fmt: skip


def misfitting(id: str, text: str, faults: tuple[str, ...], detail: str = "") -> CallEnd:
    """The arguments do not fit."""
    error = InvalidArguments(id, faults)
    return CallEnd(answer=failed(text), ending="misfit", capability=id, detail=detail, error=error)


def asking(needed: ApprovalNeeded, answer: Answer) -> CallEnd:
    """A person must be asked, or has been."""
    return CallEnd(
        answer=answer, ending="asked", capability=needed.id, revision=needed.decision.revision,
        decision="ask", approval=needed.approval, error=needed,
    )  # fmt: skip


def not_made(id: str, ending: Ending, text: str, detail: str, revision: str = "") -> CallEnd:
    """It was not called, and this is why."""
    error = CallFailed(id, ending, detail)
    return CallEnd(
        answer=failed(text), ending=ending, capability=id, revision=revision, detail=detail, error=error
    )


def result_of(end: CallEnd, call: str, offer: str, milliseconds: float) -> CallResult:
    """The end of a call as a program is handed it."""
    content = end.answer.get("content")
    return CallResult(
        capability=end.capability,
        ending=end.ending,
        content=tuple(content) if isinstance(content, list) else (),
        structured=end.answer.get(STRUCTURED, end.value),
        approval=end.approval,
        error=end.error,
        id=call,
        offer=offer,
        milliseconds=milliseconds,
        meta=end.answer.get("_meta") or {},
    )
