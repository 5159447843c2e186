"""The five axes an agent is measured on, checked where they enter."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Integral, Real

from prowess.errors import EvolutionError, nearest
from prowess.types import Json

AXES = ("cognitive", "behavioral", "safety", "autonomy", "meta_learning")
NUMBERS = ("cognitive", "behavioral", "safety", "meta_learning")
HIGHEST_LEVEL = 5
FRACTION = "give it as a fraction of one, from 0 to 1"
LEVELS = tuple(f"L{level}" for level in range(HIGHEST_LEVEL + 1))


@dataclass(frozen=True, slots=True, init=False)
class Scores:
    """How good an agent is now; autonomy is a level from 0 to 5, the rest lie in [0, 1].

    Autonomy may be given as a name ("L3"), as a level (a whole number) or as a fraction of one (0.6, with a
    decimal point); what is held is the level.
    """

    cognitive: float  # how well it reasons, from 0 to 1
    behavioral: float  # how well it keeps to what it was asked, from 0 to 1
    safety: float  # how safely it acts, from 0 to 1
    autonomy: int  # how far it works alone: "L0" to "L5"
    meta_learning: float  # how well it learns from what it did, from 0 to 1

    def __init__(
        self, cognitive: float, behavioral: float, safety: float, autonomy: float | str, meta_learning: float
    ) -> None:
        given = {"cognitive": cognitive, "behavioral": behavioral, "safety": safety}
        for axis, value in {**given, "meta_learning": meta_learning}.items():
            object.__setattr__(self, axis, _fraction(axis, value))
        object.__setattr__(self, "autonomy", _level(autonomy))

    def __post_init__(self) -> None:
        """What is read from a store or an answer is held to the same."""
        for axis in NUMBERS:
            _fraction(axis, getattr(self, axis))
        _level(self.autonomy)

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
        _axis(str(name), place)
    missing = [axis for axis in AXES if axis not in data]
    if missing:
        raise EvolutionError(place, f"{missing[0]} score is missing", f"give all of {', '.join(AXES)}")
    try:
        return Scores(**{axis: data[axis] for axis in AXES})
    except EvolutionError as error:
        raise EvolutionError(place, error.message.removeprefix("scores: "), error.remedy) from None


def parse_axes(data: Json, place: str = "scores") -> dict[str, float | str]:
    """Read the scores of some axes, or of all; each as a fraction of one, and autonomy as its level."""
    if not isinstance(data, Mapping) or not data:
        raise EvolutionError(place, "scores are missing", f"give at least one of {', '.join(AXES)}")
    return {_axis(str(name), place): _one(str(name), value) for name, value in data.items()}


def axis_fraction(axis: str, value: object) -> float:
    """What is said of one axis, from 0 to 1; autonomy may be a level."""
    said = _one(_axis(axis, "scores"), value)
    return LEVELS.index(said) / HIGHEST_LEVEL if isinstance(said, str) else said


def _axis(name: str, place: str) -> str:
    if name not in AXES:
        close = nearest(name, AXES)
        raise EvolutionError(place, f"no axis is called {name!r}", f"did you mean {close or AXES[0]!r}?")
    return name


def _one(axis: str, value: object) -> float | str:
    return LEVELS[_level(value)] if axis == "autonomy" else _fraction(axis, value)


def _fraction(axis: str, value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, Real):
        raise EvolutionError("scores", f"{axis} score must be a number, got {value!r}", FRACTION)
    number = float(value)
    if not 0.0 <= number <= 1.0:
        raise EvolutionError("scores", f"{axis} score must be in [0.0, 1.0], got {value}", FRACTION)
    return number


def _level(value: object) -> int:
    if isinstance(value, str) and value in LEVELS:
        return LEVELS.index(value)
    if isinstance(value, Integral) and not isinstance(value, bool) and 0 <= int(value) <= HIGHEST_LEVEL:
        return int(value)
    if isinstance(value, Real) and not isinstance(value, Integral) and 0.0 <= float(value) <= 1.0:
        return level_from_fraction(float(value))
    remedy = "give L0 to L5, a whole number from 0 to 5, or a fraction of one such as 0.6"
    raise EvolutionError("scores", f"autonomy is no level: {value!r}", remedy)
