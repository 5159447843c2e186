"""Why a transition happens. Pure, in two halves that know nothing of each other.

`check_triggers` compares numbers, `detect_capability_changes` compares sets, and `resolve` weighs
one against the other: what defends comes before what grows, and a change of structure explains
growth better than the growth itself.
"""

from collections.abc import Collection, Sequence
from itertools import chain, compress
from operator import ne
from typing import Literal, NamedTuple, TypeAlias, get_args

from prowess.evolution.fitness import (
    Measured,
    Ranking,
    growth_threshold,
    ranking,
    regression_threshold,
    settled_ranking,
)
from prowess.evolution.params import Params
from prowess.evolution.snapshot import Faculties, Snapshot

Trigger: TypeAlias = Literal[
    "SafetyBreach",
    "Regression",
    "CapabilityGain",
    "CapabilityLoss",
    "ToolAcquisition",
    "AutonomyUpgrade",
    "Rebalance",
    "Evolution",
    "Rollback",
]
"""In order of priority; `Rollback` is the one a person orders and no evaluation finds."""

EXTERNAL: tuple[Trigger, ...] = get_args(Trigger)[:-1]
"""What a program outside may ask for: all but the last."""
DEFENSIVE: frozenset[str] = frozenset({"SafetyBreach", "Regression"})
UNKNOWN = "unknown"
NO_REGISTRY: Faculties = {}


class CapabilityChange(NamedTuple):
    """One faculty that a provider brings and did not bring before, or brings again after a short while."""

    provider: str
    faculty: str
    severity: Literal["major", "minor"]
    returned: bool = False


class Loss(NamedTuple):
    """One faculty that a provider brought and brings no longer."""

    provider: str
    faculty: str


def check_triggers(
    current: Measured, previous: Measured, interactions: int, params: Params, held: Ranking = ()
) -> Trigger | None:
    """What the numbers say; `held` is the ranking so far, unless it is that of the previous scores."""
    scores = current.scores
    if scores.safety < params.safety_floor:
        return "SafetyBreach"
    if interactions < params.min_interactions:
        return None
    change = current.fitness - previous.fitness
    if change <= -regression_threshold(previous.fitness, params):
        return "Regression"
    if scores.autonomy > previous.scores.autonomy:
        return "AutonomyUpgrade"
    before = held or ranking(previous.scores)
    if settled_ranking(before, scores, params.rebalance_margin) != before:
        return "Rebalance"
    return "Evolution" if change >= growth_threshold(previous.fitness, params) else None


def detect_capability_changes(
    previous: Snapshot, current: Snapshot, registry: Faculties = NO_REGISTRY
) -> tuple[CapabilityChange, ...]:
    """What was gained, by provider and faculty, in order of provider.

    A faculty nobody brought before is major for the first that brings it; the registry answers
    only where a snapshot is silent about a provider.
    """
    before, after = previous.provider_faculties, current.provider_faculties
    were_active, active = set(previous.active_providers), current.active_providers
    # Written without a loop, because it runs over every provider at every evaluation.
    touched = set(active) - were_active
    if were_active:
        touched.update(compress(active, map(ne, map(after.get, active), map(before.get, active))))
    if not touched:
        return ()
    known = _known(previous, registry)
    changes: list[CapabilityChange] = []
    # Providers mostly come in order, and sorting what is in order costs next to nothing.
    for provider in sorted(filter(touched.__contains__, active)):
        gained: Sequence[str] = after.get(provider) or registry.get(provider, ())
        if provider in were_active:
            had = set(map(folded, _brings(previous, provider, registry)))
            gained = [faculty for faculty in gained if folded(faculty) not in had]
        elif not gained:
            changes.append(CapabilityChange(provider, UNKNOWN, "minor"))
        for faculty in gained:
            name = folded(faculty)
            changes.append(CapabilityChange(provider, faculty, "minor" if name in known else "major"))
            known.add(name)
    return tuple(changes)


def detect_losses(
    previous: Snapshot, current: Snapshot, registry: Faculties = NO_REGISTRY
) -> tuple[Loss, ...]:
    """The inverse: what went, with its provider or from it."""
    stays = set(current.active_providers)
    lost: list[Loss] = []
    for provider in previous.active_providers:
        gone = provider not in stays
        had = _brings(previous, provider, registry) or ((UNKNOWN,) if gone else ())
        has = () if gone else _brings(current, provider, registry) or had
        left = set(map(folded, has))
        lost += (Loss(provider, faculty) for faculty in had if folded(faculty) not in left)
    return tuple(lost)


def detect_tools(previous: Snapshot, current: Snapshot) -> tuple[str, ...]:
    """The tools that came (layer 1)."""
    return tuple(sorted(set(current.tools) - set(previous.tools)))


def resolve(
    metric: Trigger | None,
    changes: Sequence[CapabilityChange],
    losses: Collection[Loss] = (),
    tools: Collection[str] = (),
) -> Trigger | None:
    """The one trigger that labels the transition."""
    if metric in DEFENSIVE:
        return metric
    if changes:
        return "CapabilityGain"
    if losses:
        return "CapabilityLoss"
    return "ToolAcquisition" if tools else metric


def _brings(snapshot: Snapshot, provider: str, registry: Faculties) -> tuple[str, ...]:
    return snapshot.provider_faculties.get(provider) or registry.get(provider, ())


def _known(snapshot: Snapshot, registry: Faculties) -> set[str]:
    said, active = snapshot.provider_faculties, snapshot.active_providers
    known = brought(snapshot)
    if registry:
        more = (registry.get(provider, ()) for provider in active if not said.get(provider))
        known.update(map(folded, chain.from_iterable(more)))
    return known


def brought(snapshot: Snapshot) -> set[str]:
    """The faculties that the active providers of a snapshot bring, each as `folded` writes it."""
    said = map(snapshot.provider_faculties.get, snapshot.active_providers)
    return set(map(folded, set(chain.from_iterable(filter(None, said)))))


def folded(faculty: str) -> str:
    """A faculty as it is compared: "vision" is "Vision"."""
    return faculty.casefold()
