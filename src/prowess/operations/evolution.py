"""What changed in an agent, whether it was good, and the way back; for any agent, by `?agent=`."""

from collections.abc import Mapping
from typing import Annotated, Literal

import msgspec

from prowess.errors import ApprovalNeeded, Denied, EvolutionError, NotFound
from prowess.evolution.encoding import generation_data
from prowess.evolution.history import GenerationDifference
from prowess.evolution.params import MAX_COUNT, Choice, Params
from prowess.evolution.records import Evaluation, Generation, Grace
from prowess.evolution.scores import HIGHEST_LEVEL, Scores, parse_axes
from prowess.evolution.snapshot import snapshot_of
from prowess.operations.evolution_parts import SnapshotAsked, SnapshotShown, TrialShown, WeightsAsked
from prowess.operations.operation import (
    AgentQuery,
    Call,
    Done,
    Fraction,
    Name,
    NoParams,
    Note,
    Number,
    RequestParams,
    operation,
)
from prowess.types import JsonObject

Positive = Annotated[float, msgspec.Meta(ge=0, le=MAX_COUNT)]
Level = Annotated[int, msgspec.Meta(ge=0, le=HIGHEST_LEVEL)]
LevelName = Literal["L0", "L1", "L2", "L3", "L4", "L5"]


class GenerationsQuery(AgentQuery, frozen=True, kw_only=True):
    limit: Annotated[int, msgspec.Meta(ge=1, le=10_000)] = 50


class Log(AgentQuery, frozen=True, kw_only=True):
    limit: Annotated[int, msgspec.Meta(ge=1, le=1000)] = 100


class Between(AgentQuery, frozen=True, kw_only=True):
    before: Number
    after: Number


class ScoresAsked(RequestParams, frozen=True, kw_only=True, omit_defaults=True):
    """The axes that are known; the journal says the others."""

    cognitive: Fraction | msgspec.UnsetType = msgspec.UNSET
    behavioral: Fraction | msgspec.UnsetType = msgspec.UNSET
    safety: Fraction | msgspec.UnsetType = msgspec.UNSET
    autonomy: LevelName | Level | Fraction | msgspec.UnsetType = msgspec.UNSET
    """A name, a whole number of the level, or a fraction of one with a decimal point."""
    meta_learning: Fraction | msgspec.UnsetType = msgspec.UNSET


class Evaluate(RequestParams, frozen=True, kw_only=True):
    scores: ScoresAsked | None = None
    """As the journal has them, when they are not given."""
    snapshot: SnapshotAsked | None = None
    """Of what is active now, when it is not given."""
    dry_run: bool = False
    """Only say what would happen: nothing is written, switched or journalled."""


class ParamsAsked(RequestParams, frozen=True, kw_only=True):
    """The parameters to change; the others stay."""

    alpha: Fraction | msgspec.UnsetType = msgspec.UNSET
    beta: Fraction | msgspec.UnsetType = msgspec.UNSET
    theta_min: Fraction | msgspec.UnsetType = msgspec.UNSET
    gamma: Fraction | msgspec.UnsetType = msgspec.UNSET
    min_interactions: Annotated[int, msgspec.Meta(ge=1, le=MAX_COUNT)] | msgspec.UnsetType = msgspec.UNSET
    probation: Annotated[int, msgspec.Meta(ge=0, le=MAX_COUNT)] | msgspec.UnsetType = msgspec.UNSET
    safety_floor: Fraction | msgspec.UnsetType = msgspec.UNSET
    rebalance_margin: Fraction | msgspec.UnsetType = msgspec.UNSET
    noise_margin: Positive | msgspec.UnsetType = msgspec.UNSET
    drift_allowance: Fraction | msgspec.UnsetType = msgspec.UNSET
    drift_limit: Annotated[float, msgspec.Meta(gt=0, le=MAX_COUNT)] | msgspec.UnsetType = msgspec.UNSET
    capability_loss: bool | msgspec.UnsetType = msgspec.UNSET
    tool_acquisition: bool | msgspec.UnsetType = msgspec.UNSET
    on_regression: Choice | msgspec.UnsetType = msgspec.UNSET
    weights: WeightsAsked | msgspec.UnsetType = msgspec.UNSET


class ProposalAnswer(RequestParams, frozen=True, kw_only=True):
    accept: bool
    """True switches the likeliest cause off and sees whether that helps; false leaves all as it is."""


class Back(RequestParams, frozen=True, kw_only=True):
    generation: Number
    dry_run: bool = False
    """Only say what would happen: nothing is written, switched or journalled."""


class Order(RequestParams, frozen=True, kw_only=True):
    trigger: Name
    reason: Note
    agent: Annotated[str, msgspec.Meta(max_length=200)] = ""
    """Who asks: an agent that policy lets use evolution:trigger; a person, where none is named."""
    provider: Annotated[str, msgspec.Meta(max_length=200)] = ""
    """Who brings what is gained, or who is to be switched off."""
    faculty: Annotated[str, msgspec.Meta(max_length=200)] = ""
    """What is gained."""
    dry_run: bool = False
    """Only say what would happen: nothing is written, switched or journalled."""


class Contribution(RequestParams, frozen=True, kw_only=True):
    scores: ScoresAsked
    source: Annotated[str, msgspec.Meta(max_length=200)] = ""
    """What measured it, such as an evaluation tool; otherwise, who is signed in."""


class Violation(RequestParams, frozen=True, kw_only=True):
    what: Note
    capability: Annotated[str, msgspec.Meta(max_length=200)] = ""


class Intervention(RequestParams, frozen=True, kw_only=True):
    what: Note


class ScoresShown(msgspec.Struct, frozen=True, kw_only=True):
    cognitive: float
    behavioral: float
    safety: float
    autonomy: LevelName
    meta_learning: float


class GenerationShown(msgspec.Struct, frozen=True, kw_only=True):
    number: int
    trigger: str
    at: str
    interactions: int
    scores: ScoresShown
    delta: Mapping[str, float]
    fitness: float
    fitness_delta: float
    snapshot: SnapshotShown
    parent: int
    restored: int
    rollbacks: int
    reason: str
    policy_revision: str
    catalogue_version: int


class FitnessShown(msgspec.Struct, frozen=True, kw_only=True):
    evaluation: int
    at: str
    scores: ScoresShown
    fitness: float


class StatusShown(msgspec.Struct, frozen=True, kw_only=True):
    agent: str
    generation: int
    good: int
    fitness: float | None
    """None before the first evaluation, as are the scores."""
    scores: ScoresShown | None
    evaluations: int
    since_generation: int
    trend: Literal["improving", "declining", "stable"]
    grace: Grace | None
    grace_remaining: int
    stopped: str
    trial: TrialShown | None
    """The search for the cause of a regression, or the proposal to begin one."""
    autonomy_level: str | None
    top_axes: tuple[tuple[str, float], ...]


class Evaluated(msgspec.Struct, frozen=True, kw_only=True):
    status: Literal["success"] = "success"
    agent: str
    trigger: str | None
    generation: int
    fitness: float
    stopped: str
    off: tuple[str, ...]
    """Providers that a rollback, or the search for a cause, switched off."""
    on: tuple[str, ...]
    kept_off: tuple[str, ...]
    """Providers that stay off because a person switched them off."""
    missing: Mapping[str, str] = {}
    """Providers that could not be brought back, and why."""
    events: tuple[JsonObject, ...]

    @property
    def restored(self) -> int | None:
        """The generation that was brought back, if one was."""
        told = (one["to_generation"] for one in self.events if one["type"] == "EvolutionRollback")
        return next(told, None)


class RepairedShown(msgspec.Struct, frozen=True, kw_only=True):
    status: Literal["success"] = "success"
    rewritten: tuple[str, ...]
    removed: tuple[str, ...]


@operation("evolution.agents", "GET /evolution/agents")
def list_evolved(call: Call[NoParams]) -> tuple[str, ...]:
    """Everyone who was ever evaluated."""
    return call.engine.evolution.agents()


@operation("evolution.status", "GET /evolution/status")
def status(call: Call[AgentQuery]) -> StatusShown:
    """Where an agent stands."""
    said = call.engine.evolution.status(call.params.agent).as_data()
    return msgspec.convert(msgspec.to_builtins(said), StatusShown)


@operation("evolution.generations", "GET /evolution/generations")
def list_generations(call: Call[GenerationsQuery]) -> tuple[GenerationShown, ...]:
    """The generations, oldest first."""
    return tuple(map(_shown, call.engine.evolution.history(call.params.agent, call.params.limit)))


@operation("evolution.generation", "GET /evolution/generations/{number}", errors=(NotFound,))
def show_generation(call: Call[AgentQuery]) -> GenerationShown:
    """One generation, whole."""
    return _shown(call.engine.evolution.generation(call.params.agent, _number(call.path["number"])))


@operation("evolution.fitness", "GET /evolution/fitness")
def list_fitness(call: Call[Log]) -> tuple[FitnessShown, ...]:
    """Each evaluation, oldest first."""
    log = call.engine.evolution.fitness(call.params.agent, call.params.limit)
    return tuple(
        FitnessShown(evaluation=one.evaluation, at=one.at, scores=_levels(one.scores), fitness=one.fitness)
        for one in log
    )


@operation("evolution.rollbacks", "GET /evolution/rollbacks")
def list_rollbacks(call: Call[GenerationsQuery]) -> tuple[GenerationShown, ...]:
    """The generations that rollbacks made."""
    return tuple(map(_shown, call.engine.evolution.rollbacks(call.params.agent, call.params.limit)))


@operation("evolution.difference", "GET /evolution/difference", errors=(NotFound,))
def difference(call: Call[Between]) -> GenerationDifference:
    """What lies between two generations."""
    q = call.params
    return call.engine.evolution.difference(q.agent, q.before, q.after)


@operation("evolution.params", "GET /evolution/params")
def show_params(call: Call[AgentQuery]) -> Params:
    """The parameters that decide about transitions."""
    return call.engine.evolution.params(call.params.agent)


@operation("evolution.set_params", "PUT /evolution/params", about_agent=True, role="admin", signed=True,
           errors=(EvolutionError,))  # fmt: skip
def set_params(call: Call[ParamsAsked]) -> Params:
    """Change some parameters."""
    changes = msgspec.to_builtins(call.params)
    return call.engine.evolution.set_params(call.path["agent"], changes, call.by)


@operation("evolution.evaluate", "POST /evolution/evaluate", about_agent=True, role="operator",
           errors=(EvolutionError,))  # fmt: skip
def evaluate(call: Call[Evaluate]) -> Evaluated:
    """Evaluate an agent."""
    said = call.params
    scores = msgspec.to_builtins(said.scores) if said.scores else None
    snapshot = said.snapshot
    taken = (
        snapshot_of(snapshot.active_providers, snapshot.provider_faculties, snapshot.tools)
        if snapshot
        else None
    )
    evolution = call.engine.evolution
    made = evolution.preview if said.dry_run else evolution.evaluate
    return _evaluated(made(call.path["agent"], scores, taken))


@operation("evolution.trigger", "POST /evolution/trigger", about_agent=True, role="operator", signed=True,
           errors=(NotFound, EvolutionError, Denied, ApprovalNeeded))  # fmt: skip
def trigger(call: Call[Order]) -> Evaluated:
    """A transition that a system outside asks for."""
    said = call.params
    evolution, agent = call.engine.evolution, call.path["agent"]
    order = evolution.trigger_by_agent if said.agent else evolution.trigger
    by, named = said.agent or call.by, (said.provider, said.faculty, said.dry_run)
    return _evaluated(order(agent, said.trigger, said.reason, by, *named))


@operation("evolution.answer", "POST /evolution/proposal", about_agent=True, role="operator", signed=True,
           errors=(EvolutionError,))  # fmt: skip
def answer(call: Call[ProposalAnswer]) -> Evaluated:
    """Say whether what a regression proposes is to be done."""
    return _evaluated(call.engine.evolution.answer(call.path["agent"], call.params.accept, call.by))


@operation("evolution.contribute", "POST /evolution/scores", about_agent=True, role="operator", signed=True,
           errors=(EvolutionError,))  # fmt: skip
def contribute(call: Call[Contribution]) -> Done:
    """Say how good an agent is on some axes; the next evaluation counts it."""
    by = call.params.source or call.by
    for axis, value in parse_axes(msgspec.to_builtins(call.params.scores)).items():
        call.engine.evolution.contribute(call.path["agent"], axis, value, by)
    return Done()


@operation("evolution.violation", "POST /evolution/violations", about_agent=True, role="operator",
           signed=True, errors=(EvolutionError,))  # fmt: skip
def report_violation(call: Call[Violation]) -> Done:
    """Say that an agent did what it must never do."""
    said = call.params
    call.engine.evolution.report_violation(call.path["agent"], said.what, said.capability, call.by)
    return Done()


@operation("evolution.intervention", "POST /evolution/interventions", about_agent=True, role="operator",
           signed=True, errors=(EvolutionError,))  # fmt: skip
def report_intervention(call: Call[Intervention]) -> Done:
    """Say that a person put right what an agent did."""
    call.engine.evolution.report_intervention(call.path["agent"], call.params.what, call.by)
    return Done()


@operation("evolution.rollback", "POST /evolution/rollback", about_agent=True, role="operator", signed=True,
           errors=(NotFound, EvolutionError))  # fmt: skip
def rollback(call: Call[Back]) -> Evaluated:
    """Bring a generation back."""
    said = call.params
    evolution = call.engine.evolution
    return _evaluated(evolution.rollback(call.path["agent"], said.generation, call.by, said.dry_run))


@operation("evolution.resume", "POST /evolution/resume", about_agent=True, role="operator", signed=True,
           errors=(EvolutionError,))  # fmt: skip
def resume(call: Call[NoParams]) -> Done:
    """Let a stopped agent run again."""
    call.engine.evolution.resume(call.path["agent"], call.by)
    return Done()


@operation("evolution.repair", "POST /evolution/repair", about_agent=True, role="admin", signed=True,
           errors=(EvolutionError,))  # fmt: skip
def repair(call: Call[NoParams]) -> RepairedShown:
    """Put in order what cannot be read of an agent's evolution."""
    done = call.engine.evolution.repair(call.path["agent"], call.by)
    return RepairedShown(rewritten=done.rewritten, removed=done.removed)


def _shown(one: Generation) -> GenerationShown:
    return msgspec.convert(msgspec.to_builtins(generation_data(one)), GenerationShown)


def _levels(scores: Scores) -> ScoresShown:
    return msgspec.convert(scores.as_data(), ScoresShown)


def _number(text: str) -> int:
    if not text.isascii() or not text.isdigit() or len(text) > 15:
        raise NotFound("generation", text, see="see: prowess evolve history")
    return int(text)


def _evaluated(evaluation: Evaluation) -> Evaluated:
    restore = evaluation.switches
    return Evaluated(
        agent=evaluation.agent,
        trigger=evaluation.trigger,
        generation=evaluation.generation,
        fitness=evaluation.fitness,
        stopped=evaluation.stopped,
        off=restore.off if restore else (),
        on=restore.on if restore else (),
        kept_off=restore.kept_off if restore else (),
        missing=restore.missing if restore else {},
        events=tuple(event.flat() for event in evaluation.events),
    )
