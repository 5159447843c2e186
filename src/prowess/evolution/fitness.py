"""How good an agent is, in one number, and how it moved. Pure: the same numbers give the same answer.

Above: `triggers` and `transition`. Below: scores and parameters.
"""

import math
from dataclasses import dataclass
from typing import Literal, TypeAlias

from prowess.errors import EvolutionError
from prowess.evolution.params import Params
from prowess.evolution.scores import Scores

Severity: TypeAlias = Literal["None", "Mild", "Severe"]
Ranking: TypeAlias = tuple[str, ...]

NOTICEABLE = 1e-6
NEUTRAL = 0.5


@dataclass(frozen=True, slots=True)
class Measured:
    """Scores and what they come to under some parameters."""

    scores: Scores
    fitness: float


def fitness(scores: Scores, params: Params) -> float:
    """The weighted sum of the axes; nothing is good about an agent that is not safe."""
    if scores.safety < params.safety_floor:
        return 0.0
    weights = params.weights
    total = (
        weights.cognitive * scores.cognitive
        + weights.behavioral * scores.behavioral
        + weights.safety * scores.safety
        + weights.autonomy * scores.independence
        + weights.meta_learning * scores.meta_learning
    )
    return min(1.0, max(0.0, total))


def measure(scores: Scores, params: Params) -> Measured:
    return Measured(scores, fitness(scores, params))


def delta(current: Scores, previous: Scores) -> dict[str, float]:
    """What changed, by axis. Safety is a gate and not a matter of degree, so it is left out."""
    changes = {
        "autonomy": current.independence - previous.independence,
        "behavioral": current.behavioral - previous.behavioral,
        "cognitive": current.cognitive - previous.cognitive,
        "meta_learning": current.meta_learning - previous.meta_learning,
    }
    return {axis: change for axis, change in changes.items() if abs(change) > NOTICEABLE}


def strengths(scores: Scores) -> dict[str, float]:
    """The axes that can be compared with each other, which safety is not."""
    return {
        "autonomy": scores.independence,
        "behavioral": scores.behavioral,
        "cognitive": scores.cognitive,
        "meta_learning": scores.meta_learning,
    }


def ranking(scores: Scores) -> Ranking:
    """The axes, strongest first, ties by name."""
    value = strengths(scores)
    return tuple(sorted(value, key=value.__getitem__, reverse=True))


def settled_ranking(held: Ranking, scores: Scores, margin: float) -> Ranking:
    """The ranking after these scores: an axis overtakes another only when it leads by the margin.

    Without the margin two axes of nearly the same strength would change places for ever.
    """
    if margin == 0 or not held:
        return ranking(scores)
    value = strengths(scores)
    first, second, third, fourth = map(value.__getitem__, held)
    if second - first < margin and third - second < margin and fourth - third < margin:
        return held
    order = list(held)
    for _ in order:
        for i in range(len(order) - 1):
            if value[order[i + 1]] - value[order[i]] >= margin:
                order[i], order[i + 1] = order[i + 1], order[i]
    return tuple(order)


def shifted_axes(current: Ranking, held: Ranking) -> Ranking:
    """The axes whose place changed, in the order of the current ranking."""
    return tuple(now for now, before in zip(current, held, strict=True) if now != before)


def growth_threshold(fitness: float, params: Params) -> float:
    return max(params.theta_min, params.alpha * fitness)


def regression_threshold(fitness: float, params: Params) -> float:
    return max(params.theta_min, params.beta * fitness)


def severity(change: float, previous_fitness: float, params: Params) -> Severity:
    """How large a change of fitness is; only meaningful for a regression."""
    threshold = regression_threshold(previous_fitness, params)
    if abs(change) >= 2 * threshold:
        return "Severe"
    return "Mild" if abs(change) >= threshold else "None"


def grace_length(interactions: int, params: Params) -> int:
    return max(params.min_interactions, math.floor(params.gamma * interactions + 0.5))


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """What the journal says an agent did since its last generation."""

    requests: int
    """What it was asked to do: each counts once, also when it was answered."""
    responses: int
    """How many of them it answered."""
    errors: int = 0
    permissions_requested: int = 0
    """Approvals asked for, and uses that policy denied."""
    permissions_approved: int = 0
    human_interventions: int = 0
    safety_violations: int = 0
    asked_in_all: int = 0
    """The requests among which people stepped in, where that is more than the requests above."""
    incidents: float = 0.0
    """What part of the latest requests people or the guard refused."""
    failing: float = 0.0
    """How often the capability fails that broke, if one did."""
    cognitive: float | None = None
    meta_learning: float | None = None


def scores_from(counts: Counts) -> Scores:
    """The scores that a record of behaviour amounts to."""
    if counts.requests < 1:
        remedy = "give scores, or record outcomes first"
        raise EvolutionError("scores", "nothing has happened since the last generation", remedy)
    asked = counts.permissions_requested
    precision = _share(counts.permissions_approved, asked) if asked else 1.0
    behavioral = (
        0.4 * _share(counts.responses, counts.requests)
        + 0.3 * precision
        + 0.3 * (1 - max(counts.failing, _share(counts.errors, counts.requests)))
    )
    return Scores(
        cognitive=NEUTRAL if counts.cognitive is None else counts.cognitive,
        behavioral=min(1.0, behavioral),
        safety=0.0 if counts.safety_violations else 1.0 - min(1.0, counts.incidents),
        autonomy=_autonomy(_share(counts.human_interventions, max(counts.requests, counts.asked_in_all))),
        meta_learning=NEUTRAL if counts.meta_learning is None else counts.meta_learning,
    )


def _share(part: int, whole: int) -> float:
    return min(1.0, part / whole)


def _autonomy(intervened: float) -> int:
    """The level of an agent in whose work people step in this often."""
    steps = (0.8, 0.6, 0.4, 0.2, 0.05)
    return next((level for level, least in enumerate(steps) if intervened >= least), len(steps))
