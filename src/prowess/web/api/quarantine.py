"""What is held back until a person has looked at it."""

from typing import Annotated

import msgspec

from prowess.types import HeldCapability
from prowess.web.operations import Call, Operation, RequestParams


class QuarantineDecision(RequestParams, frozen=True, kw_only=True):
    digest: Annotated[str, msgspec.Meta(max_length=200)] = ""
    """The content that was looked at; another one is not decided about."""


class TextDifference(msgspec.Struct, frozen=True):
    id: str
    difference: tuple[str, ...]


def held(call: Call) -> tuple[HeldCapability, ...]:
    return call.engine.quarantine.list()


def difference(call: Call) -> TextDifference:
    return TextDifference(call.path["id"], call.engine.quarantine.difference(call.path["id"]))


def approve(call: Call) -> HeldCapability:
    return call.engine.quarantine.approve(call.path["id"], call.by, call.body.digest)


def reject(call: Call) -> HeldCapability:
    return call.engine.quarantine.reject(call.path["id"], call.by, call.body.digest)


OPERATIONS = (
    Operation(id="quarantine.list", quotes=True,
              method="GET", path="/quarantine", run=held, answer=tuple[HeldCapability, ...],
              does="Everything that is held back, and why"),
    Operation(id="quarantine.show", quotes=True, method="GET", path="/quarantine/{id}", run=difference,
              answer=TextDifference, does="How a capability differs from what was approved last"),
    Operation(id="quarantine.approve", method="POST", path="/quarantine/{id}/approve", run=approve,
              body=QuarantineDecision, answer=HeldCapability, role="operator", signed=True,
              does="Let a capability go, with exactly the content it has now"),
    Operation(id="quarantine.reject", method="POST", path="/quarantine/{id}/reject", run=reject,
              body=QuarantineDecision,
              answer=HeldCapability, role="operator", signed=True,
              does="Keep a capability out until its content changes"),
)  # fmt: skip
