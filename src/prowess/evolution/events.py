"""What evolution says happened. A trigger labels a transition; an event records a fact."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from prowess.evolution.triggers import CapabilityChange, Trigger
from prowess.types import Json, JsonObject

EXHAUSTED = "rollback_exhausted"
BELOW_FLOOR = "safety_floor"
NO_DETAIL: JsonObject = {}


@dataclass(frozen=True, slots=True)
class Event:
    type: str
    data: JsonObject = field(default_factory=dict)

    def flat(self) -> dict[str, Json]:
        return {"type": self.type, **self.data}


def capability(agent: str, change: CapabilityChange, generation: int) -> Event:
    data = {
        "agent": agent,
        "provider": change.provider,
        "faculty": change.faculty,
        "severity": change.severity,
        "generation": generation,
    }
    return Event("EvolutionCapability", data)


def generation(agent: str, number: int, trigger: Trigger, detail: JsonObject = NO_DETAIL) -> Event:
    """Fitness is left out: what is shown as a goal becomes one."""
    return Event("EvolutionGeneration", {"agent": agent, "generation": number, "trigger": trigger, **detail})


def breach(agent: str, number: int, violation: str, detail: str) -> Event:
    data = {"agent": agent, "violation_type": violation, "detail": detail, "generation": number}
    return Event("EvolutionBreach", data)


def rollback(agent: str, span: tuple[int, int], number: int, reason: str, switched: JsonObject) -> Event:
    data = {
        "agent": agent,
        "from_generation": span[0],
        "to_generation": span[1],
        "generation": number,
        "reason": reason,
        **switched,
    }
    return Event("EvolutionRollback", data)


def warning(agent: str, number: int, axis: str, direction: str, remaining: int) -> Event:
    data = {
        "agent": agent,
        "severity": "mild",
        "affected_area": axis,
        "direction": direction,
        "grace_remaining": remaining,
        "suggestion": f"{axis} patterns may need adjustment",
        "generation": number,
    }
    return Event("EvolutionWarning", data)


def rebalance(agent: str, number: int, axes: Sequence[str]) -> Event:
    return Event("EvolutionRebalance", {"agent": agent, "shifted_axes": list(axes), "generation": number})
