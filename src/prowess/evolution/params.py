"""What decides a transition: weights, thresholds and lengths, checked where they enter."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Literal, TypeAlias, get_args

from prowess.errors import EvolutionError, nearest
from prowess.types import Json

OnRegression: TypeAlias = Literal["warn", "propose", "roll_back"]
"""What a regression may do: tell of it, propose what to undo, or undo it."""
Choice: TypeAlias = Literal["default", "warn", "propose", "roll_back"]
WEIGHT_TOLERANCE = 0.01
MAX_COUNT = 1_000_000
"""What any number of these may be at most, in the library, the commands and the API alike."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AxisWeights:
    """How much each axis counts; together they make one."""

    cognitive: float = 0.25
    behavioral: float = 0.25
    safety: float = 0.20
    autonomy: float = 0.15
    meta_learning: float = 0.15

    def __post_init__(self) -> None:
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        for name, value in values.items():
            if not math.isfinite(value) or value < 0:
                raise _unusable(f"weight {name} must be 0 or more, got {value}")
        if abs(sum(values.values()) - 1) > WEIGHT_TOLERANCE:
            raise _unusable(f"the weights must add up to 1, got {sum(values.values()):g}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Params:
    """One agent's parameters. The thresholds on fitness are relative: alpha and beta times fitness."""

    alpha: float = 0.10
    """Growth: how much better counts as Evolution."""
    beta: float = 0.05
    """Regression: how much worse counts as mild; twice as much is severe."""
    theta_min: float = 0.02
    """The least change of fitness that counts at all."""
    gamma: float = 0.25
    """The length of a grace period, as a part of the evaluations since the last generation."""
    min_interactions: int = 10
    """So many evaluations must lie between two generations that metrics cause."""
    probation: int = 10
    """So many evaluations what is new must last until its generation is good; 0 takes it for good at once."""
    safety_floor: float = 0.5
    """Below it safety is broken; 1.0 tolerates nothing."""
    rebalance_margin: float = 0.05
    """By how much an axis must lead before it has overtaken another."""
    noise_margin: float = 6.0
    """A step of fitness counts when it is so many times larger than steps usually are."""
    drift_allowance: float = 0.03
    """How far below its level fitness may lie without being counted as drift."""
    drift_limit: float = 0.3
    """How much drift beyond the allowance adds up before it is reported."""
    capability_loss: bool = False
    """Whether a faculty that goes is a transition (CapabilityLoss)."""
    tool_acquisition: bool = False
    """Whether a tool that comes is a transition (ToolAcquisition)."""
    on_regression: Choice = "default"
    """What a regression may do; "default" is what is set for all agents, or else to roll back."""
    weights: AxisWeights = AxisWeights()

    def __post_init__(self) -> None:
        for name in FRACTIONS:
            value = getattr(self, name)
            if not 0.0 <= value <= 1.0:
                raise _unusable(f"{name} must be in [0.0, 1.0], got {value}")
        if not 1 <= self.min_interactions <= MAX_COUNT:
            raise _unusable(f"min_interactions must be from 1 to {MAX_COUNT}, got {self.min_interactions}")
        if not 0 <= self.probation <= MAX_COUNT:
            raise _unusable(f"probation must be from 0 to {MAX_COUNT}, got {self.probation}")
        if not 0 <= self.noise_margin <= MAX_COUNT:
            raise _unusable(f"noise_margin must be from 0 to {MAX_COUNT}, got {self.noise_margin}")
        if self.on_regression not in get_args(Choice):
            known = ", ".join(get_args(Choice))
            raise _unusable(f"on_regression must be one of {known}, got {self.on_regression!r}")
        if not 0 < self.drift_limit <= MAX_COUNT:
            raise _unusable(f"drift_limit must be above 0 and at most {MAX_COUNT}, got {self.drift_limit}")


FRACTIONS = ("alpha", "beta", "theta_min", "gamma", "safety_floor", "rebalance_margin", "drift_allowance")
NAMES = tuple(field.name for field in fields(Params))
WEIGHT_NAMES = tuple(field.name for field in fields(AxisWeights))


def parse_params(data: Json, base: Params | None = None, place: str = "parameters") -> Params:
    """The parameters of `base` (the defaults, unless given) with these changes, or a clear refusal."""
    base = base or Params()
    try:
        given = _object(data, NAMES)
        changes = {name: _value(name, value) for name, value in given.items() if name != "weights"}
        if "weights" in given:
            weights = _object(given["weights"], WEIGHT_NAMES)
            changes["weights"] = replace(base.weights, **{n: _value(n, v) for n, v in weights.items()})
        return replace(base, **changes)
    except EvolutionError as error:
        raise EvolutionError(place, error.message.removeprefix("parameters: "), error.remedy) from None


def _object(data: Json, names: tuple[str, ...]) -> Mapping[str, Json]:
    if not isinstance(data, Mapping):
        raise _unusable(f"an object is needed, got {type(data).__name__}")
    for name in data:
        if name not in names:
            close = nearest(str(name), names)
            hint = f"did you mean {close!r}?" if close else f"known: {', '.join(names)}"
            raise EvolutionError("parameters", f"unknown parameter {name!r}", hint)
    return data


def _value(name: str, value: Json) -> Json:
    if name in ("capability_loss", "tool_acquisition"):
        if not isinstance(value, bool):
            raise _unusable(f"{name} must be true or false, got {value!r}")
        return value
    if name == "on_regression":
        return value
    whole = name in ("min_interactions", "probation")
    if isinstance(value, bool) or not isinstance(value, int if whole else int | float):
        raise _unusable(f"{name} must be a {'whole number' if whole else 'number'}, got {value!r}")
    return value if whole else float(value)


def _unusable(what: str) -> EvolutionError:
    return EvolutionError("parameters", what, "see: prowess evolve params")
