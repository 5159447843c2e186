"""What evolution says happened. A trigger labels a transition; an event records a fact."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from prowess.evolution.trial import Suspect, told
from prowess.evolution.triggers import CapabilityChange, Loss, Trigger
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
    return Event("EvolutionCapability", {**data, "direction": "returned"} if change.returned else data)


def loss(agent: str, lost: Loss, is_last: bool, generation: int) -> Event:
    """A faculty that went; `major` when nobody brings it any more."""
    data = {
        "agent": agent,
        "provider": lost.provider,
        "faculty": lost.faculty,
        "severity": "major" if is_last else "minor",
        "generation": generation,
        "direction": "lost",
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


def unexplained(agent: str, number: int, axis: str, severity: str, good: int) -> Event:
    """A fall that no change explains: there is nothing to undo, so somebody has to look."""
    data = {
        "agent": agent,
        "severity": severity,
        "affected_area": axis,
        "direction": "no change to undo",
        "grace_remaining": 0,
        "suggestion": f"nothing that came since generation {good} explains it; look at the model, its prompts"
        " and what it is asked",
        "generation": number,
    }
    return Event("EvolutionWarning", data)


def trial(
    agent: str, number: int, step: str, suspects: Sequence[Suspect], reason: str, switched: JsonObject
) -> Event:
    """A step in the search for the cause of a fall: who is suspected, cleared or found."""
    data = {
        "agent": agent,
        "step": step,
        "suspects": told(suspects),
        "reason": reason,
        "generation": number,
        **switched,
    }
    return Event("EvolutionTrial", data)


def rebalance(agent: str, number: int, axes: Sequence[str]) -> Event:
    return Event("EvolutionRebalance", {"agent": agent, "shifted_axes": list(axes), "generation": number})
