"""The values evolution keeps: where an agent stands, and the generations behind it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from prowess.evolution.drift import Drift
from prowess.evolution.events import Event
from prowess.evolution.params import OnRegression
from prowess.evolution.probation import Probation
from prowess.evolution.scores import Scores
from prowess.evolution.snapshot import Faculties, Snapshot
from prowess.evolution.steadiness import Steadiness
from prowess.evolution.trial import NO_EVIDENCE, CauseSearch
from prowess.evolution.triggers import Trigger
from prowess.types import Json

MOST_ROLLBACKS = 3


@dataclass(frozen=True, slots=True)
class Grace:
    """Time to recover from a mild regression before it is undone."""

    started: int
    """The evaluation it began with."""
    length: int
    baseline: float
    """Fitness before the drop: reaching it again is recovery."""
    axis: str
    direction: str = "regression"


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentState:
    """Where an agent stands between two evaluations. Its size does not depend on its history."""

    evaluations: int = 0
    generation: int = 0
    """The latest one; 0 before the first evaluation."""
    generation_at: int = 0
    """The evaluation that recorded it."""
    good: int = 0
    """The last good generation, which has lasted long enough: the one a rollback restores."""
    previous: Scores | None = None
    steadiness: Steadiness = field(default_factory=Steadiness)
    probation: Probation = field(default_factory=Probation)
    trial: CauseSearch | None = None
    """The search for the cause of a fall, or the proposal to begin one."""
    went: Mapping[str, int] = field(default_factory=dict)
    """Providers that went a short while ago -> the evaluation without them."""
    newest: tuple[str, ...] = ()
    """What came last."""
    recent: tuple[float, ...] = ()
    """Fitness of the newest evaluations of the latest generation."""
    grace: Grace | None = None
    drift: Drift = field(default_factory=Drift)
    stopped: str = ""
    """Why the agent is stopped; empty while it runs."""
    withheld: Mapping[str, bool] = field(default_factory=dict)
    """Providers a rollback switched off -> whether a snapshot has been without them since."""
    seen: Snapshot = field(default_factory=Snapshot)
    """The configuration last seen, so that every change is reported once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluationContext:
    """What surrounds a transition: what is active, when, and under which policy and catalogue."""

    snapshot: Snapshot
    at: str
    registry: Faculties = field(default_factory=dict)
    """Faculties of providers that a snapshot is silent about."""
    policy_revision: str = ""
    catalogue_version: int = 0
    decided_off: frozenset[str] = frozenset()
    """Providers that a person switched off, for the agent or for everybody."""
    barred: Mapping[str, str] = field(default_factory=dict)
    """Providers that no switch for this agent can bring back -> why."""
    catalogue: frozenset[str] | None = None
    """Every provider there is; None where nobody knows, as in a replay."""
    evidence: Mapping[str, float] = field(default_factory=lambda: NO_EVIDENCE)
    """Provider -> how much of its recent calls failed, from 0 to 1."""
    on_regression: OnRegression = "roll_back"
    """What a regression may do where the agent's parameters do not say it."""
    counted: int = 0
    """The number of the last entry in the agent's chain that its scores are from."""


@dataclass(frozen=True, slots=True)
class EvaluationInput:
    """One evaluation as it comes in."""

    agent: str
    scores: Scores
    setting: EvaluationContext


@dataclass(frozen=True, slots=True, kw_only=True)
class Generation:
    """A recorded transition."""

    number: int
    trigger: Trigger
    at: str
    interactions: int
    scores: Scores
    delta: Mapping[str, float]
    fitness: float
    fitness_delta: float
    snapshot: Snapshot
    parent: int
    """The last good generation when this one was recorded: further back from here."""
    restored: int = 0
    """The generation this one brings back, if a rollback made it."""
    rollbacks: int = 0
    """How often this one was brought back."""
    reason: str = ""
    policy_revision: str = ""
    catalogue_version: int = 0


Recall: TypeAlias = Callable[[int], Generation | None]
"""An agent's generation by its number."""


@dataclass(frozen=True, slots=True)
class Restore:
    """What makes a rollback real: providers to switch off and on for the agent, and why."""

    off: tuple[str, ...]
    on: tuple[str, ...]
    why: str
    kept_off: tuple[str, ...] = ()
    """Providers that were on then and stay off now, because a person switched them off."""
    missing: Mapping[str, str] = field(default_factory=dict)
    """Providers that were on then and cannot be brought back -> why."""

    @property
    def changes_something(self) -> bool:
        return bool(self.off or self.on)

    def as_data(self) -> dict[str, Json]:
        said: dict[str, Json] = {"switched_off": self.off, "switched_on": self.on}
        if self.kept_off:
            said["kept_off"] = self.kept_off
        if self.missing:
            said["missing"] = self.missing
        return said


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluation:
    """What one evaluation came to."""

    agent: str
    trigger: Trigger | None
    generation: int
    events: tuple[Event, ...]
    fitness: float
    restore: Restore | None = None
    """What a rollback switches."""
    trial: Restore | None = None
    """What the search for a cause switches."""
    stopped: str = ""

    @property
    def switches(self) -> Restore | None:
        return self.restore or self.trial


@dataclass(frozen=True, slots=True)
class Transition:
    """A move from one standing to the next, with the generation it recorded, if any."""

    standing: AgentState
    evaluation: Evaluation
    recorded: Generation | None = None

    @property
    def counts(self) -> bool:
        """Whether it is a rollback that switched something, of which a generation may have a few."""
        restore = self.evaluation.restore
        is_rollback = self.recorded is not None and self.recorded.restored > 0
        return is_rollback and restore is not None and restore.changes_something
