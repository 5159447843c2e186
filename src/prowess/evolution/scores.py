"""The five axes an agent is measured on, checked where they enter."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

from prowess.errors import EvolutionError, nearest
from prowess.types import Json

AXES = ("cognitive", "behavioral", "safety", "autonomy", "meta_learning")
NUMBERS = ("cognitive", "behavioral", "safety", "meta_learning")
HIGHEST_LEVEL = 5
LEVELS = tuple(f"L{level}" for level in range(HIGHEST_LEVEL + 1))


@dataclass(frozen=True, slots=True)
class Scores:
    """How good an agent is now; autonomy is a level from 0 to 5, the rest lie in [0, 1]."""

    cognitive: float
    behavioral: float
    safety: float
    autonomy: int
    meta_learning: float

    def __post_init__(self) -> None:
        for axis in NUMBERS:
            value = getattr(self, axis)
            if not 0.0 <= value <= 1.0:
                what = f"{axis} score must be in [0.0, 1.0], got {value}"
                raise EvolutionError("scores", what, "give every score as a fraction of one")
        if not 0 <= self.autonomy <= HIGHEST_LEVEL:
            raise EvolutionError("scores", f"autonomy is no level: {self.autonomy}", "give L0 to L5")

    @property
    def level(self) -> str:
        return LEVELS[self.autonomy]

    @property
    def independence(self) -> float:
        """Autonomy as a fraction of one, as the formulas use it."""
        return self.autonomy / HIGHEST_LEVEL

    def as_data(self) -> dict[str, float | str]:
        return {axis: self.level if axis == "autonomy" else getattr(self, axis) for axis in AXES}


def level_from_fraction(value: float) -> int:
    """The level nearest to a fraction of one; what is no such fraction is no autonomy at all."""
    if not 0.0 <= value <= 1.0:
        return 0
    return math.floor(value * HIGHEST_LEVEL + 0.5)


def parse_scores(data: Json, place: str = "scores") -> Scores:
    """Read scores that somebody wrote: all five axes, autonomy as "L3", a level or a fraction."""
    if not isinstance(data, Mapping):
        raise EvolutionError(place, "scores are missing", f"give an object with {', '.join(AXES)}")
    for name in data:
        if name not in AXES:
            close = nearest(str(name), AXES)
            raise EvolutionError(place, f"no axis is called {name!r}", f"did you mean {close or AXES[0]!r}?")
    missing = [axis for axis in AXES if axis not in data]
    if missing:
        raise EvolutionError(place, f"{missing[0]} score is missing", f"give all of {', '.join(AXES)}")
    try:
        numbers = {axis: _number(axis, data[axis]) for axis in NUMBERS}
        return Scores(autonomy=_level(data["autonomy"]), **numbers)
    except EvolutionError as error:
        raise EvolutionError(place, error.message.removeprefix("scores: "), error.remedy) from None


def _number(axis: str, value: Json) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        what = f"{axis} score must be a number, got {value!r}"
        raise EvolutionError("scores", what, "give a fraction of one")
    return float(value)


def _level(value: Json) -> int:
    if isinstance(value, str) and value in LEVELS:
        return LEVELS.index(value)
    if isinstance(value, str | bool) or not isinstance(value, int | float):
        raise EvolutionError("scores", f"autonomy is no level: {value!r}", "give L0 to L5")
    return level_from_fraction(value / HIGHEST_LEVEL if isinstance(value, int) else value)
