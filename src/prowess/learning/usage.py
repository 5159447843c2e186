"""What use was made of what exists, and what stands between a need and its answer: for people. Pure."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from prowess.catalogue.view import View
from prowess.types import Capability, Hit

NEAR = 0.3
OFTEN = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class UsageLine:
    """One provider or skill: what it costs to show, and what came of it."""

    kind: Literal["provider", "skill"]
    name: str
    tokens: int
    offered: int
    chosen: int
    succeeded: int
    never_used: int
    """How many of its capabilities nobody ever used."""
    advice: str


@dataclass(frozen=True, slots=True)
class Closing:
    """What would close a gap."""

    why: Literal[
        "nothing matches", "denied", "unavailable", "quarantined", "switched off", "tried and failed",
        "it is there",
    ]  # fmt: skip
    nearest: str
    say: str


def usage(
    view: View, offered: Mapping[str, int], tried: Mapping[str, Sequence[int]],
    cost: Callable[[Capability], int],
) -> tuple[UsageLine, ...]:  # fmt: skip
    """A line for each provider and for each lesson, the most expensive first."""
    groups: dict[tuple[Literal["provider", "skill"], str], list[Capability]] = {}
    for capability in view.capabilities.values():
        groups.setdefault(("provider", capability.provider), []).append(capability)
        if capability.kind == "skill":
            groups.setdefault(("skill", capability.id), []).append(capability)
    lines = [
        _line(kind, name, members, offered, tried, sum(cost(c) for c in members))
        for (kind, name), members in groups.items()
    ]
    return tuple(sorted(lines, key=lambda line: (line.kind, -line.tokens, line.name)))


def _line(
    kind: Literal["provider", "skill"], name: str, members: Sequence[Capability],
    offered: Mapping[str, int], tried: Mapping[str, Sequence[int]], tokens: int,
) -> UsageLine:  # fmt: skip
    shown = sum(offered.get(c.id, 0) for c in members)
    chosen = sum(tried.get(c.id, (0, 0))[0] for c in members)
    succeeded = sum(tried.get(c.id, (0, 0))[1] for c in members)
    return UsageLine(
        kind=kind, name=name, tokens=tokens, offered=shown, chosen=chosen, succeeded=succeeded,
        never_used=sum(c.id not in tried for c in members), advice=_advice(shown, chosen, succeeded),
    )  # fmt: skip


def _advice(offered: int, chosen: int, succeeded: int) -> str:
    if chosen >= OFTEN and 2 * chosen >= offered and 2 * succeeded > chosen:
        return "pin: it is used whenever it is offered"
    if chosen >= OFTEN and 2 * succeeded < chosen:
        return "look at it: most uses failed"
    if offered >= OFTEN and not chosen:
        return "retire or describe better: often offered, never used"
    return "never offered" if not offered else ""


def closing(
    near: Sequence[Hit], view: View, visible: Collection[str], agent: str, failed: str = ""
) -> Closing:
    """What stands between a need and the capability that comes nearest to it; `failed` is what was tried."""
    best = next((hit for hit in near if hit.score >= NEAR), None)
    if best is None:
        return Closing("nothing matches", "", "add a capability that answers it")
    capability = view.capabilities[best.id]
    if best.id in view.quarantined:
        return Closing("quarantined", best.id, f"look at it: prowess quarantine show {best.id}")
    if view.off(capability.provider, agent):
        return Closing("switched off", best.id, f"run: prowess provider on {capability.provider}")
    if best.id not in visible:
        return Closing("denied", best.id, f"see: prowess why {agent} {best.id}")
    if capability.unavailable:
        return Closing("unavailable", best.id, "; ".join(capability.unavailable))
    if failed:
        return Closing("tried and failed", failed, f"repair {failed}, or add something that answers better")
    return Closing("it is there", best.id, "it matches now; see why it was not used or failed")
