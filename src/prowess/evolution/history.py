"""What can be read about an agent's evolution: its status, and how two generations differ."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from prowess.evolution.fitness import delta, measure, strengths
from prowess.evolution.params import Params
from prowess.evolution.records import AgentState, Generation, Grace
from prowess.evolution.scores import Scores
from prowess.evolution.trial import CauseSearch
from prowess.evolution.triggers import Loss, detect_capability_changes, detect_losses
from prowess.types import Json

Trend: TypeAlias = Literal["improving", "declining", "stable"]

TREND_WINDOW = 10
TREND_STEP = 0.01


@dataclass(frozen=True, slots=True)
class Fitness:
    """One evaluation in the log."""

    evaluation: int
    at: str
    scores: Scores
    fitness: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    agent: str
    generation: int
    good: int
    """The last good generation: the one a breach would restore."""
    fitness: float | None
    """None before the first evaluation, as are the scores."""
    scores: Scores | None
    evaluations: int
    since_generation: int
    trend: Trend
    grace: Grace | None
    grace_remaining: int
    stopped: str
    trial: CauseSearch | None = None
    """The search for the cause of a regression, or the proposal to begin one."""

    def as_data(self) -> dict[str, Json]:
        found = {name: getattr(self, name) for name in self.__slots__}
        scores = self.scores
        return {
            **found,
            "scores": scores.as_data() if scores else None,
            "autonomy_level": scores.level if scores else None,
            "trial": self.trial and trial_data(self.trial),
            "top_axes": [[axis, value] for axis, value in _strongest(scores)] if scores else [],
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class GenerationDifference:
    """What lies between two generations."""

    before: int
    after: int
    fitness: float
    axes: dict[str, float]
    providers_added: tuple[str, ...]
    providers_removed: tuple[str, ...]
    gained: tuple[Loss, ...]
    lost: tuple[Loss, ...]
    policy_changed: bool
    catalogue_changed: bool


def trend(log: Sequence[Fitness]) -> Trend:
    """Where fitness went over the newest evaluations, which come oldest first."""
    recent = [entry.fitness for entry in log[-TREND_WINDOW:]]
    moved = recent[-1] - recent[0] if recent else 0.0
    if abs(moved) <= TREND_STEP:
        return "stable"
    return "improving" if moved > 0 else "declining"


def status(agent: str, standing: AgentState, params: Params, log: Sequence[Fitness]) -> Status:
    scores = standing.previous
    grace = standing.grace
    return Status(
        agent=agent,
        generation=standing.generation,
        good=standing.good,
        fitness=measure(scores, params).fitness if scores else None,
        scores=scores,
        evaluations=standing.evaluations,
        since_generation=standing.evaluations - standing.generation_at,
        trend=trend(log),
        grace=grace,
        grace_remaining=grace.length - (standing.evaluations - grace.started) if grace else 0,
        stopped=standing.stopped,
        trial=standing.trial,
    )


def trial_data(trial: CauseSearch) -> dict[str, Json]:
    """A search as people and programs are shown it."""
    others = [one.provider for one in trial.others]
    return {
        "suspect": trial.accused,
        "others": others,
        "on_again": list(trial.returned),
        "reason": trial.reason,
        "waits_for_a_person": trial.proposed,
    }


def difference(before: Generation, after: Generation) -> GenerationDifference:
    had, has = set(before.snapshot.active_providers), set(after.snapshot.active_providers)
    gained = detect_capability_changes(before.snapshot, after.snapshot)
    return GenerationDifference(
        before=before.number,
        after=after.number,
        fitness=after.fitness - before.fitness,
        axes=delta(after.scores, before.scores),
        providers_added=tuple(sorted(has - had)),
        providers_removed=tuple(sorted(had - has)),
        gained=tuple(Loss(change.provider, change.faculty) for change in gained),
        lost=detect_losses(before.snapshot, after.snapshot),
        policy_changed=before.policy_revision != after.policy_revision,
        catalogue_changed=before.catalogue_version != after.catalogue_version,
    )


def _strongest(scores: Scores) -> list[tuple[str, float]]:
    return sorted(strengths(scores).items(), key=lambda axis: -axis[1])
