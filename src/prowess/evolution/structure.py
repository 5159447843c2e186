"""What came, came back and went since the last evaluation. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass

from prowess.evolution.params import Params
from prowess.evolution.records import AgentState, EvaluationContext
from prowess.evolution.snapshot import Snapshot
from prowess.evolution.triggers import (
    CapabilityChange,
    Loss,
    detect_capability_changes,
    detect_losses,
    detect_tools,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Structure:
    gains: tuple[CapabilityChange, ...] = ()
    returned: tuple[CapabilityChange, ...] = ()
    """What was away for a short while only: told, but no transition."""
    losses: tuple[Loss, ...] = ()
    flapped: tuple[Loss, ...] = ()
    """What goes again soon after it went: told, but no transition."""
    tools: tuple[str, ...] = ()
    came: tuple[str, ...] = ()
    went: Mapping[str, int]
    """Providers that went within the debounce -> the evaluation without them."""


def compared(
    standing: AgentState, snapshot: Snapshot, setting: EvaluationContext, params: Params
) -> Structure:
    """The difference between what was last seen and what is there now."""
    now, registry = standing.evaluations, setting.registry
    lately = {p: at for p, at in standing.went.items() if now - at <= params.min_interactions}
    if not standing.generation or snapshot == standing.seen:
        return Structure(went=lately)
    seen = standing.seen
    changes = detect_capability_changes(seen, snapshot, registry)
    losses = detect_losses(seen, snapshot, registry) if params.capability_loss else ()
    were, are = set(seen.active_providers), set(snapshot.active_providers)
    came = are - were
    back = came & lately.keys()
    return Structure(
        gains=tuple(change for change in changes if change.provider not in back),
        returned=tuple(change._replace(returned=True) for change in changes if change.provider in back),
        losses=tuple(loss for loss in losses if loss.provider not in lately),
        flapped=tuple(loss for loss in losses if loss.provider in lately),
        tools=detect_tools(seen, snapshot) if params.tool_acquisition else (),
        came=tuple(sorted(came)),
        went=lately | dict.fromkeys(were - are, now),
    )
