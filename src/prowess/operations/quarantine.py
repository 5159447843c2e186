"""What is held back until a person has looked at it."""

from typing import TYPE_CHECKING, Annotated

import msgspec

from prowess.errors import NotFound, Outdated
from prowess.operations.operation import Call, NoParams, RequestParams, operation
from prowess.types import Draft, HeldCapability

if TYPE_CHECKING:
    from prowess.guard.classifier import Classifier

NOTHING_BEFORE = "@@ -0,0 "


class QuarantineDecision(RequestParams, frozen=True, kw_only=True):
    digest: Annotated[str, msgspec.Meta(max_length=200)] = ""
    """The content that was looked at; another one is not decided about."""


class HeldFinding(msgspec.Struct, frozen=True, kw_only=True):
    """Something the guard found in a text of a held capability."""

    where: str
    place: str
    family: str
    reason: str
    severity: str
    text: str


class HeldWhole(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    difference: tuple[str, ...]
    """How it differs from what was approved last, as lines; all of it where nothing was."""
    new: bool
    """Whether nothing of it was approved before."""
    findings: tuple[HeldFinding, ...]


@operation("quarantine.list", "GET /quarantine", quotes=True)
def list_held(call: Call[NoParams]) -> tuple[HeldCapability, ...]:
    """Everything that is held back, and why."""
    return call.engine.quarantine.list()


@operation("quarantine.show", "GET /quarantine/{id}", slow=True, quotes=True, errors=(NotFound,))
def show_held(call: Call[NoParams]) -> HeldWhole:
    """What the guard finds in a capability, and how it differs from what was approved last."""
    id = call.path["id"]
    lines = call.engine.quarantine.difference(id)
    is_new = any(line.startswith(NOTHING_BEFORE) for line in lines)
    inner = call.engine.internals
    findings = _findings(inner.catalogue.original(id), is_new, inner.guard.classifier)
    return HeldWhole(id=id, difference=lines, new=is_new, findings=findings)


@operation("quarantine.approve", "POST /quarantine/{id}/approve", role="operator", signed=True,
           errors=(NotFound, Outdated))  # fmt: skip
def approve(call: Call[QuarantineDecision]) -> HeldCapability:
    """Let a capability go, with exactly the content it has now."""
    return call.engine.quarantine.approve(call.path["id"], call.by, call.params.digest)


@operation("quarantine.reject", "POST /quarantine/{id}/reject", role="operator", signed=True,
           errors=(NotFound, Outdated))  # fmt: skip
def reject(call: Call[QuarantineDecision]) -> HeldCapability:
    """Keep a capability out until its content changes."""
    return call.engine.quarantine.reject(call.path["id"], call.by, call.params.digest)


def _findings(draft: Draft, is_new: bool, classifier: "Classifier | None") -> tuple[HeldFinding, ...]:
    # They take a while to import, and most commands do without.
    from prowess.guard.scan import judged, located

    found_in = judged(draft, classifier, classifier, "unapproved" if is_new else "changed")
    return tuple(
        HeldFinding(
            where=one.place,
            place=located(one.text, found.place),
            family=found.family,
            reason=found.reason,
            severity=found.severity,
            text=one.around(found.place),
        )
        for one in found_in
        for found in one.judgement.findings
    )
