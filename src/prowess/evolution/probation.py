"""What an agent got and has not yet proved itself with, and whether fitness has fallen since. Pure.

A generation is good once it has lasted a while without trouble. Until then what it brought is unproven:
fitness is compared with what it was before the oldest unproven change, however late the damage shows and
however it is hidden by generations in between.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate
from math import sqrt

from prowess.evolution.noise import WINDOW, spread
from prowess.evolution.snapshot import Faculties

MOST_WAITING = 20
SUSPECT_MARGIN = 2 / 3
"""A fall after a change needs less than one from nowhere, as the change is a reason for it."""


@dataclass(frozen=True, slots=True)
class Level:
    """Where fitness lay: its mean, how far evaluations usually lie from it, and of how many that is known."""

    mean: float
    spread: float = 0.0
    count: int = 1


@dataclass(frozen=True, slots=True)
class Fall:
    """How far fitness lies below a level, and for how many evaluations."""

    size: float
    length: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Probation:
    before: Level | None = None
    """Fitness before the oldest unproven change; nothing while there is none."""
    fitness: tuple[float, ...] = ()
    """Of the evaluations since then, at most the newest."""
    arrived: Mapping[str, int] = field(default_factory=dict)
    """Each unproven provider -> the evaluation with which it came."""
    found: str = ""
    """Who was taken for the cause of a fall since then."""
    brings: Faculties = field(default_factory=dict)
    """What it brings, for when that was wrong."""
    waiting: tuple[tuple[int, int], ...] = ()
    """Generations that are not good yet -> the evaluation since which they have to last."""

    def joined(self, came: Iterable[str], at: int, before: Level) -> "Probation":
        """With what came just now."""
        arrived = {**self.arrived, **dict.fromkeys(came, at)}
        if not arrived or self.before:
            return replace(self, arrived=arrived)
        return replace(self, arrived=arrived, before=before)

    def reduced(self, active: Iterable[str]) -> "Probation":
        """Without what is there no longer."""
        if not self.arrived:
            return self
        still = set(active)
        return replace(self, arrived={name: at for name, at in self.arrived.items() if name in still})

    def observed(self, fitness: float) -> "Probation":
        if not self.before:
            return self
        return replace(self, fitness=(*self.fitness, fitness)[-WINDOW:])

    def proven(self, now: int, length: int) -> "Probation":
        """Without what has lasted long enough."""
        arrived = {name: at for name, at in self.arrived.items() if now - at < length}
        if len(arrived) == len(self.arrived):
            return self
        return replace(self, arrived=arrived) if arrived else Probation(waiting=self.waiting)

    def mature(self, now: int, length: int) -> tuple[int, "Probation"]:
        """The newest generation that has lasted long enough, or 0, and what still has to."""
        ripe = [number for number, since in self.waiting if now - since >= length]
        if not ripe:
            return 0, self
        return ripe[-1], replace(self, waiting=tuple(one for one in self.waiting if one[0] > ripe[-1]))

    def awaiting(self, number: int, since: int) -> "Probation":
        """With one more generation that is not good yet; the oldest ones are left out when there are many."""
        return replace(self, waiting=(*self.waiting, (number, since))[-MOST_WAITING:])

    def fall(self, margin: float) -> Fall | None:
        """The clearest fall below the level before, if noise does not explain it."""
        if not self.before or not self.fitness:
            return None
        return fall_below(self.before, self.fitness, margin * SUSPECT_MARGIN)


def fall_below(level: Level, fitness: Sequence[float], margin: float) -> Fall | None:
    """The clearest fall of the newest evaluations, if it is `margin` times larger than noise."""
    sums = accumulate(level.mean - value for value in reversed(fitness))
    sizes = [Fall(total / length, length) for length, total in enumerate(sums, start=1)]
    clearest = max(sizes, key=lambda fall: fall.size / sqrt(1 / fall.length + 1 / level.count))
    noise = level.spread * sqrt(1 / clearest.length + 1 / level.count)
    return clearest if clearest.size > margin * noise else None


def level_of(fitness: Sequence[float], lately: Sequence[float], otherwise: float) -> Level:
    """The level of a generation's evaluations; how much they scatter is known from a longer time."""
    newest = fitness or (otherwise,)
    return Level(sum(newest) / len(newest), spread(lately), len(newest))
