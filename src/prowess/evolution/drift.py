"""Slow decline, which no single step shows: a one-sided cumulative sum against a generation's level.

The level is the mean of the generation's first evaluations. From then on, whatever fitness lies
below the level by more than an allowance adds up, and whatever lies above takes off again. Noise
cancels out; drift does not. `bench/evolution.py` measures how often it is wrong and how soon right.
"""

from dataclasses import dataclass, replace

SETTLING = 10


@dataclass(frozen=True, slots=True)
class Drift:
    level: float = 0.0
    observed: int = 0
    """How many evaluations the level rests on, up to `SETTLING`."""
    watched: int = 0
    """How many evaluations there were since anything was counted against the level."""
    fallen: float = 0.0

    def observe(self, fitness: float, allowance: float) -> "Drift":
        if self.observed == 0:
            return Drift(fitness, 1, 1)
        below = self.level - fitness - allowance
        watching = replace(self, watched=self.watched + 1, fallen=max(0.0, self.fallen + below))
        # A generation that collapses at once must not have the collapse for its level.
        if self.observed >= SETTLING or below > allowance:
            return watching
        seen = self.observed + 1
        return replace(watching, level=self.level + (fitness - self.level) / seen, observed=seen)

    def found(self, limit: float) -> bool:
        return self.fallen > limit

    def forgiven(self) -> "Drift":
        """The same level, with nothing counted against it."""
        return replace(self, watched=0, fallen=0.0)


def known_level(fitness: float) -> Drift:
    """The drift of a generation whose level is already known."""
    return Drift(fitness, SETTLING)
