"""Which of an agent's axes are stronger, seen through the noise of measuring them. Pure.

Two axes of nearly the same strength change places for ever when each evaluation is taken at its word, and a
level of autonomy goes up and down. Here an axis has overtaken another when the mean of several evaluations
says so and noise does not explain it, and a level is reached when it stays.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import sqrt

from prowess.evolution.fitness import Ranking, ranking, settled_ranking, strengths
from prowess.evolution.noise import FEWEST, WINDOW, spread
from prowess.evolution.scores import Scores

AXES = ("autonomy", "behavioral", "cognitive", "meta_learning")
MEAN_OF = 10
PLACES = 5
STAYS = 3
"""So many evaluations in a row a level must be held where measuring is noisy."""
FORGOTTEN = 100
"""After so many evaluations below its level an agent may rise to it anew."""

Row = tuple[float, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Steadiness:
    rows: tuple[Row, ...] = ()
    """The four axes and fitness at the newest evaluations."""
    reference: Row = ()
    """The mean of the axes when their ranking was found."""
    ranking: Ranking = ()
    level: int = -1
    """The level of autonomy that was told of last; -1 before the first evaluation."""
    above: int = 0
    below: int = 0

    @property
    def lately(self) -> tuple[float, ...]:
        """Fitness at the newest evaluations."""
        return tuple(row[-1] for row in self.rows)

    @property
    def spread(self) -> float:
        """How far an evaluation usually lies from the level of fitness."""
        return spread(self.lately)

    @property
    def is_noisy(self) -> bool:
        return self.spread > 0

    def observed(self, scores: Scores, fitness: float, margin: float, settling: bool) -> "Steadiness":
        """After one more evaluation; while it is settling, the ranking is that of the mean so far."""
        value = strengths(scores)
        row = (*(round(value[axis], PLACES) for axis in AXES), fitness)
        new = replace(self._with_level(scores.autonomy), rows=(*self.rows, row)[-WINDOW:])
        if not self.ranking:
            return replace(new, ranking=ranking(scores), reference=row[:-1])
        if settling:
            mean = new.mean()
            return replace(new, ranking=_by_strength(mean), reference=mean)
        return new._reranked(scores, margin)

    def mean(self) -> Row:
        """The mean of the axes over the newest evaluations."""
        newest = [row[:-1] for row in self.rows[-MEAN_OF:]]
        return tuple(sum(column) / len(newest) for column in zip(*newest, strict=True))

    def _reranked(self, scores: Scores, margin: float) -> "Steadiness":
        found = settled_ranking(self.ranking, scores, margin)
        if found == self.ranking:
            return self
        if margin == 0 or len(self.rows) < FEWEST or not self.is_noisy:
            return replace(self, ranking=found, reference=self.rows[-1][:-1])
        mean = self.mean()
        overtaken = [
            (axis, other)
            for place, axis in enumerate(found)
            for other in found[place + 1 :]
            if self.ranking.index(axis) > self.ranking.index(other)
        ]
        if all(self._has_overtaken(AXES.index(a), AXES.index(b), mean, margin) for a, b in overtaken):
            return replace(self, ranking=found, reference=mean)
        return self

    def _has_overtaken(self, one: int, other: int, mean: Row, margin: float) -> bool:
        lead = mean[one] - mean[other]
        gained = lead - (self.reference[one] - self.reference[other])
        noise = spread([row[one] - row[other] for row in self.rows]) * sqrt(2 / MEAN_OF)
        return lead >= margin and gained > 5 * noise

    def _with_level(self, level: int) -> "Steadiness":
        if level > self.level:
            above = self.above + 1
            if self.level < 0 or above >= STAYS or not self.is_noisy:
                return replace(self, level=level, above=0, below=0)
            return replace(self, above=above, below=0)
        below = self.below + 1 if level < self.level else 0
        if below and (below >= FORGOTTEN or not self.is_noisy):
            return replace(self, level=level, above=0, below=0)
        return replace(self, above=0, below=below)


def _by_strength(mean: Row) -> Ranking:
    value: Mapping[str, float] = dict(zip(AXES, mean, strict=True))
    return tuple(sorted(value, key=value.__getitem__, reverse=True))


def steady(scores: Scores) -> Steadiness:
    """What is known of an agent that was brought back to these scores."""
    value = strengths(scores)
    return Steadiness(
        ranking=ranking(scores), reference=tuple(value[axis] for axis in AXES), level=scores.autonomy
    )


def held_ranking(before: Steadiness, after: Steadiness, scores: Scores, margin: float) -> Ranking:
    """The ranking that these scores are to be compared with: the one before, unless the change is noise."""
    if not before.ranking or after.ranking != before.ranking:
        return before.ranking
    return settled_ranking(before.ranking, scores, margin)


def level_before(before: Steadiness, after: Steadiness, scores: Scores, previous: Scores) -> int:
    """The level of autonomy that these scores are to be compared with: the same, unless a new one stays."""
    if before.level < 0:
        return previous.autonomy
    return before.level if after.level > before.level else max(scores.autonomy, before.level)
