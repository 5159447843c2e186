"""What changed in an agent, whether it was good, and the way back; for any agent, by `?agent=`."""

from collections.abc import Mapping
from typing import Annotated, Literal

import msgspec

from prowess.errors import NotFound
from prowess.evolution.encoding import generation_data
from prowess.evolution.history import GenerationDifference
from prowess.evolution.params import MAX_COUNT, Params
from prowess.evolution.records import Evaluation, Generation, Grace
from prowess.evolution.scores import HIGHEST_LEVEL, Scores, parse_scores
from prowess.evolution.snapshot import snapshot_of
from prowess.types import JsonObject
from prowess.web.operations import (
    AgentQuery,
    Call,
    Done,
    Fraction,
    Name,
    Note,
    Number,
    Operation,
    RequestParams,
)

Names = Annotated[tuple[Name, ...], msgspec.Meta(max_length=10_000)]
Positive = Annotated[float, msgspec.Meta(ge=0, le=MAX_COUNT)]
Level = Annotated[int, msgspec.Meta(ge=0, le=HIGHEST_LEVEL)]
LevelName = Literal["L0", "L1", "L2", "L3", "L4", "L5"]


class GenerationsQuery(AgentQuery, frozen=True, kw_only=True):
    limit: Annotated[int, msgspec.Meta(ge=1, le=500)] = 50


class Log(AgentQuery, frozen=True, kw_only=True):
    limit: Annotated[int, msgspec.Meta(ge=1, le=1000)] = 100


class Between(AgentQuery, frozen=True, kw_only=True):
    before: Number
    after: Number


class ScoresAsked(RequestParams, frozen=True, kw_only=True):
    cognitive: Fraction
    behavioral: Fraction
    safety: Fraction
    autonomy: LevelName | Level | Fraction
    """A name, a whole number of the level, or a fraction of one with a decimal point."""
    meta_learning: Fraction


class SnapshotAsked(RequestParams, frozen=True, kw_only=True):
    active_providers: Names = ()
    provider_faculties: Mapping[Name, Names] = {}
    tools: Names = ()


class Evaluate(RequestParams, frozen=True, kw_only=True):
    scores: ScoresAsked | None = None
    """As the journal has them, when they are not given."""
    snapshot: SnapshotAsked | None = None
    """Of what is active now, when it is not given."""


class WeightsAsked(RequestParams, frozen=True, kw_only=True, omit_defaults=True):
    cognitive: Fraction | msgspec.UnsetType = msgspec.UNSET
    behavioral: Fraction | msgspec.UnsetType = msgspec.UNSET
    safety: Fraction | msgspec.UnsetType = msgspec.UNSET
    autonomy: Fraction | msgspec.UnsetType = msgspec.UNSET
    meta_learning: Fraction | msgspec.UnsetType = msgspec.UNSET


class ParamsAsked(RequestParams, frozen=True, kw_only=True):
    """The parameters to change; the others stay."""

    alpha: Fraction | msgspec.UnsetType = msgspec.UNSET
    beta: Fraction | msgspec.UnsetType = msgspec.UNSET
    theta_min: Fraction | msgspec.UnsetType = msgspec.UNSET
    gamma: Fraction | msgspec.UnsetType = msgspec.UNSET
    min_interactions: Annotated[int, msgspec.Meta(ge=1, le=MAX_COUNT)] | msgspec.UnsetType = msgspec.UNSET
    safety_floor: Fraction | msgspec.UnsetType = msgspec.UNSET
    rebalance_margin: Fraction | msgspec.UnsetType = msgspec.UNSET
    noise_margin: Positive | msgspec.UnsetType = msgspec.UNSET
    drift_allowance: Fraction | msgspec.UnsetType = msgspec.UNSET
    drift_limit: Annotated[float, msgspec.Meta(gt=0, le=MAX_COUNT)] | msgspec.UnsetType = msgspec.UNSET
    capability_loss: bool | msgspec.UnsetType = msgspec.UNSET
    tool_acquisition: bool | msgspec.UnsetType = msgspec.UNSET
    weights: WeightsAsked | msgspec.UnsetType = msgspec.UNSET


class Back(RequestParams, frozen=True, kw_only=True):
    generation: Number


class Order(RequestParams, frozen=True, kw_only=True):
    trigger: Name
    reason: Note
    agent: Name
    """Who asks: an agent that policy lets use evolution:trigger."""


class ScoresShown(msgspec.Struct, frozen=True, kw_only=True):
    cognitive: float
    behavioral: float
    safety: float
    autonomy: LevelName
    meta_learning: float


class SnapshotShown(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    active_providers: tuple[str, ...]
    provider_faculties: Mapping[str, tuple[str, ...]]
    tools: tuple[str, ...] = ()


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
    fitness: float
    scores: ScoresShown
    evaluations: int
    since_generation: int
    trend: Literal["improving", "declining", "stable"]
    grace: Grace | None
    grace_remaining: int
    stopped: str
    autonomy_level: str
    top_axes: tuple[tuple[str, float], ...]


class Evaluated(msgspec.Struct, frozen=True, kw_only=True):
    status: Literal["success"] = "success"
    agent: str
    trigger: str | None
    generation: int
    fitness: float
    stopped: str
    off: tuple[str, ...]
    """Providers that a rollback switched off."""
    on: tuple[str, ...]
    kept_off: tuple[str, ...]
    """Providers that stay off because a person switched them off."""
    events: tuple[JsonObject, ...]


class RepairedShown(msgspec.Struct, frozen=True, kw_only=True):
    status: Literal["success"] = "success"
    rewritten: tuple[str, ...]
    removed: tuple[str, ...]


def agents(call: Call) -> tuple[str, ...]:
    return call.engine.evolution.agents()


def status(call: Call) -> StatusShown:
    said = call.engine.evolution.status(call.query.agent).as_data()
    return msgspec.convert(msgspec.to_builtins(said), StatusShown)


def generations(call: Call) -> tuple[GenerationShown, ...]:
    return tuple(map(_shown, call.engine.evolution.history(call.query.agent, call.query.limit)))


def generation(call: Call) -> GenerationShown:
    return _shown(call.engine.evolution.generation(call.query.agent, _number(call.path["number"])))


def fitness(call: Call) -> tuple[FitnessShown, ...]:
    log = call.engine.evolution.fitness(call.query.agent, call.query.limit)
    return tuple(
        FitnessShown(evaluation=one.evaluation, at=one.at, scores=_levels(one.scores), fitness=one.fitness)
        for one in log
    )


def rollbacks(call: Call) -> tuple[GenerationShown, ...]:
    return tuple(map(_shown, call.engine.evolution.rollbacks(call.query.agent, call.query.limit)))


def difference(call: Call) -> GenerationDifference:
    q: Between = call.query
    return call.engine.evolution.difference(q.agent, q.before, q.after)


def params(call: Call) -> Params:
    return call.engine.evolution.params(call.query.agent)


def set_params(call: Call) -> Params:
    changes = msgspec.to_builtins(call.body)
    return call.engine.evolution.set_params(call.query.agent, changes, call.by)


def evaluate(call: Call) -> Evaluated:
    said: Evaluate = call.body
    scores = parse_scores(msgspec.to_builtins(said.scores)) if said.scores else None
    snapshot = said.snapshot
    taken = (
        snapshot_of(snapshot.active_providers, snapshot.provider_faculties, snapshot.tools)
        if snapshot
        else None
    )
    return _evaluated(call.engine.evolution.evaluate(call.query.agent, scores, taken))


def trigger(call: Call) -> Evaluated:
    said: Order = call.body
    evolution, agent = call.engine.evolution, call.query.agent
    return _evaluated(evolution.trigger_by_agent(agent, said.trigger, said.reason, said.agent))


def rollback(call: Call) -> Evaluated:
    return _evaluated(call.engine.evolution.rollback(call.query.agent, call.body.generation, call.by))


def resume(call: Call) -> Done:
    call.engine.evolution.resume(call.query.agent, call.by)
    return Done()


def repair(call: Call) -> RepairedShown:
    done = call.engine.evolution.repair(call.query.agent, call.by)
    return RepairedShown(rewritten=done.rewritten, removed=done.removed)


def _shown(one: Generation) -> GenerationShown:
    return msgspec.convert(msgspec.to_builtins(generation_data(one)), GenerationShown)


def _levels(scores: Scores) -> ScoresShown:
    return msgspec.convert(scores.as_data(), ScoresShown)


def _number(text: str) -> int:
    if not text.isascii() or not text.isdigit() or len(text) > 15:
        raise NotFound("generation", text)
    return int(text)


def _evaluated(evaluation: Evaluation) -> Evaluated:
    restore = evaluation.restore
    return Evaluated(
        agent=evaluation.agent,
        trigger=evaluation.trigger,
        generation=evaluation.generation,
        fitness=evaluation.fitness,
        stopped=evaluation.stopped,
        off=restore.off if restore else (),
        on=restore.on if restore else (),
        kept_off=restore.kept_off if restore else (),
        events=tuple(event.flat() for event in evaluation.events),
    )


OPERATIONS = (
    Operation(id="evolution.agents", method="GET", path="/evolution/agents", run=agents,
              answer=tuple[str, ...], does="Everyone who was ever evaluated"),
    Operation(id="evolution.status", method="GET", path="/evolution/status", run=status, query=AgentQuery,
              answer=StatusShown, does="Where an agent stands"),
    Operation(id="evolution.generations", method="GET", path="/evolution/generations", run=generations,
              query=GenerationsQuery, answer=tuple[GenerationShown, ...],
              does="The generations, oldest first"),
    Operation(id="evolution.generation", method="GET", path="/evolution/generations/{number}",
              run=generation, query=AgentQuery, answer=GenerationShown, does="One generation, whole"),
    Operation(id="evolution.difference", method="GET", path="/evolution/difference", run=difference,
              query=Between, answer=GenerationDifference, does="What lies between two generations"),
    Operation(id="evolution.fitness", method="GET", path="/evolution/fitness", run=fitness, query=Log,
              answer=tuple[FitnessShown, ...], does="Each evaluation, oldest first"),
    Operation(id="evolution.rollbacks", method="GET", path="/evolution/rollbacks", run=rollbacks,
              query=GenerationsQuery, answer=tuple[GenerationShown, ...],
              does="The generations that rollbacks made"),
    Operation(id="evolution.params", method="GET", path="/evolution/params", run=params, query=AgentQuery,
              answer=Params, does="The parameters that decide about transitions"),
    Operation(id="evolution.set_params", method="PUT", path="/evolution/params", run=set_params,
              query=AgentQuery, body=ParamsAsked, answer=Params, role="admin", signed=True,
              does="Change some parameters"),
    Operation(id="evolution.evaluate", method="POST", path="/evolution/evaluate", run=evaluate,
              query=AgentQuery, body=Evaluate, answer=Evaluated, role="operator", does="Evaluate an agent"),
    Operation(id="evolution.trigger", method="POST", path="/evolution/trigger", run=trigger, query=AgentQuery,
              body=Order, answer=Evaluated, role="operator",
              does="A transition that a system outside asks for"),
    Operation(id="evolution.rollback", method="POST", path="/evolution/rollback", run=rollback,
              query=AgentQuery, body=Back, answer=Evaluated, role="operator", signed=True,
              does="Bring a generation back"),
    Operation(id="evolution.resume", method="POST", path="/evolution/resume", run=resume, query=AgentQuery,
              answer=Done, role="operator", signed=True, does="Let a stopped agent run again"),
    Operation(id="evolution.repair", method="POST", path="/evolution/repair", run=repair, query=AgentQuery,
              answer=RepairedShown, role="admin", signed=True,
              does="Put in order what cannot be read of an agent's evolution"),
)  # fmt: skip
