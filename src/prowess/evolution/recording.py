"""The generations that a step writes down. Pure."""

from prowess.evolution.fitness import Measured, delta
from prowess.evolution.records import AgentState, EvaluationInput, Generation
from prowess.evolution.snapshot import Snapshot
from prowess.evolution.triggers import Trigger


def recorded(
    standing: AgentState, moment: EvaluationInput, measured: tuple[Measured, Measured],
    trigger: Trigger, snapshot: Snapshot, reason: str,
) -> Generation:  # fmt: skip
    """The generation after where an agent stands; measured are its fitness now and before."""
    now, before = measured
    return Generation(
        number=standing.generation + 1,
        trigger=trigger,
        at=moment.setting.at,
        interactions=standing.evaluations - standing.generation_at if standing.generation else 0,
        scores=moment.scores,
        delta=delta(now.scores, before.scores),
        fitness=now.fitness,
        fitness_delta=now.fitness - before.fitness,
        snapshot=snapshot,
        parent=standing.good,
        reason=reason,
        policy_revision=moment.setting.policy_revision,
        catalogue_version=moment.setting.catalogue_version,
    )


def restored(
    standing: AgentState, moment: EvaluationInput, target: Generation, fitness: tuple[float, float],
    trigger: Trigger, snapshot: Snapshot, reason: str,
) -> Generation:  # fmt: skip
    """The generation that brings another back; fitness is what it had and what is now."""
    had, now = fitness
    return Generation(
        number=standing.generation + 1,
        trigger=trigger,
        at=moment.setting.at,
        interactions=0,
        scores=target.scores,
        delta={},
        fitness=had,
        fitness_delta=had - now,
        snapshot=snapshot,
        parent=target.number,
        restored=target.number,
        reason=reason,
        policy_revision=moment.setting.policy_revision,
        catalogue_version=moment.setting.catalogue_version,
    )
