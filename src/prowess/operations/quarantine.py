"""What is held back until a person has looked at it."""

from typing import Annotated

import msgspec

from prowess.errors import NotFound, Outdated
from prowess.operations.operation import Call, NoParams, RequestParams, operation
from prowess.types import HeldCapability


class QuarantineDecision(RequestParams, frozen=True, kw_only=True):
    digest: Annotated[str, msgspec.Meta(max_length=200)] = ""
    """The content that was looked at; another one is not decided about."""


class TextDifference(msgspec.Struct, frozen=True):
    id: str
    difference: tuple[str, ...]


@operation("quarantine.list", "GET /quarantine", quotes=True)
def list_held(call: Call[NoParams]) -> tuple[HeldCapability, ...]:
    """Everything that is held back, and why."""
    return call.engine.quarantine.list()


@operation("quarantine.show", "GET /quarantine/{id}", quotes=True, errors=(NotFound,))
def show_held(call: Call[NoParams]) -> TextDifference:
    """How a capability differs from what was approved last."""
    return TextDifference(call.path["id"], call.engine.quarantine.difference(call.path["id"]))


@operation(
    "quarantine.approve",
    "POST /quarantine/{id}/approve",
    role="operator",
    signed=True,
    errors=(NotFound, Outdated),
)
def approve(call: Call[QuarantineDecision]) -> HeldCapability:
    """Let a capability go, with exactly the content it has now."""
    return call.engine.quarantine.approve(call.path["id"], call.by, call.params.digest)


@operation(
    "quarantine.reject",
    "POST /quarantine/{id}/reject",
    role="operator",
    signed=True,
    errors=(NotFound, Outdated),
)
def reject(call: Call[QuarantineDecision]) -> HeldCapability:
    """Keep a capability out until its content changes."""
    return call.engine.quarantine.reject(call.path["id"], call.by, call.params.digest)
