"""The generations of every agent in the store: the only part of evolution that touches it.

Above: the engine, which opens the transaction, switches the providers a rollback names and
journals the events, all in that one transaction. Below: the store and the pure `transition`.
Each method that writes locks the agent's row first, so two processes that evaluate one agent
come one after the other, and agents never wait for each other.
"""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace

from prowess.errors import EvolutionError, NotFound
from prowess.evolution.damage import Damage, Repaired, rebuilt
from prowess.evolution.damaged_rows import EVALUATION, GENERATION, damaged_rows
from prowess.evolution.drift import Drift
from prowess.evolution.encoding import (
    UNREADABLE,
    generation_from,
    generation_text,
    scores_from,
    snapshot_from,
    standing_from,
    standing_text,
    stopped_from,
    usable_params,
)
from prowess.evolution.history import TREND_WINDOW, Fitness, GenerationDifference, Status, difference, status
from prowess.evolution.params import Params, parse_params
from prowess.evolution.records import (
    AgentState,
    Evaluation,
    EvaluationContext,
    EvaluationInput,
    Generation,
    Recall,
    Transition,
)
from prowess.evolution.scores import Scores
from prowess.evolution.snapshot import Snapshot, digest
from prowess.evolution.transition import TriggerOrder, answer, apply_trigger, roll_back, step
from prowess.journal import canonical
from prowess.store.database import Transaction
from prowess.types import Json


class Generations:
    # --- moving on ---------------------------------------------------------------------------

    def evaluate(
        self, transaction: Transaction, agent: str, scores: Scores, setting: EvaluationContext
    ) -> Evaluation:
        """Evaluate once: record what follows, and say what the engine must switch and journal."""
        standing, params = _lock(transaction, agent, setting.snapshot)
        moment = EvaluationInput(agent, scores, setting)
        made = step(standing, moment, params, _recall(transaction, agent))
        transaction.run(
            "INSERT INTO evolution_fitness (workspace, agent, evaluation, at, scores, fitness)"
            " VALUES (:workspace, :agent, :evaluation, :at, :scores, :fitness)",
            agent=agent, evaluation=made.standing.evaluations, at=setting.at,
            scores=canonical(scores), fitness=made.evaluation.fitness,
        )  # fmt: skip
        return _keep(transaction, moment, standing, made)

    def preview(
        self, transaction: Transaction, agent: str, scores: Scores | None, setting: EvaluationContext,
        make: Callable[[AgentState, EvaluationInput, Params, Recall], Transition] = step,
    ) -> Evaluation:  # fmt: skip
        """What `evaluate`, or what `make` does, would come to; nothing is written."""
        seen = self.seen(transaction, agent)
        standing = replace(self.standing(transaction, agent), seen=seen)
        moment = EvaluationInput(agent, scores or _scores(agent, standing), setting)
        params = self.params(transaction, agent)
        return make(standing, moment, params, _recall(transaction, agent)).evaluation

    def trigger(
        self, transaction: Transaction, agent: str, order: TriggerOrder, setting: EvaluationContext
    ) -> Evaluation:
        """Carry out a transition that a system outside asks for."""
        standing, params = _lock(transaction, agent, setting.snapshot)
        moment = EvaluationInput(agent, _scores(agent, standing), setting)
        made = apply_trigger(standing, moment, order, params, _recall(transaction, agent))
        return _keep(transaction, moment, standing, made)

    def answer(
        self, transaction: Transaction, agent: str, accept: bool, setting: EvaluationContext
    ) -> Evaluation:
        """Do what was proposed, or leave it, because a person says so."""
        standing, params = _lock(transaction, agent, setting.snapshot)
        scores = _scores(agent, standing)
        moment = EvaluationInput(agent, scores, setting)
        made = answer(standing, moment, accept, params, _recall(transaction, agent))
        return _keep(transaction, moment, standing, made)

    def roll_back(
        self, transaction: Transaction, agent: str, to: int, setting: EvaluationContext
    ) -> Evaluation:
        """Bring a generation back because a person says so."""
        standing, params = _lock(transaction, agent, setting.snapshot)
        moment = EvaluationInput(agent, _scores(agent, standing), setting)
        made = roll_back(standing, moment, to, params, _recall(transaction, agent))
        return _keep(transaction, moment, standing, made)

    def resume(self, transaction: Transaction, agent: str) -> str:
        """Let a stopped agent run again, its rollbacks forgiven; returns why it was stopped."""
        standing, _ = _lock(transaction, agent, Snapshot())
        if not standing.stopped:
            raise EvolutionError(agent, "is not stopped", "see: prowess evolve status")
        transaction.run(
            "UPDATE evolution_generation SET rollbacks = 0"
            " WHERE workspace = :workspace AND agent = :agent AND rollbacks > 0",
            agent=agent,
        )
        fresh = replace(standing, stopped="", recent=(), drift=standing.drift.forgiven())
        _save(transaction, agent, fresh)
        return standing.stopped

    def release(self, transaction: Transaction, agent: str, provider: str) -> None:
        """Somebody switched on a provider that a rollback had switched off."""
        if provider not in self.standing(transaction, agent).withheld:
            return
        standing, _ = _lock(transaction, agent, Snapshot())
        kept = {name: gone for name, gone in standing.withheld.items() if name != provider}
        _save(transaction, agent, replace(standing, withheld=kept))

    def set_params(self, transaction: Transaction, agent: str, changes: Json) -> Params:
        """Change an agent's parameters; the level that drift is measured against is found anew."""
        standing, params = _lock(transaction, agent, Snapshot())
        changed = parse_params(changes, params)
        transaction.run(
            "UPDATE evolution_agent SET params = :params WHERE workspace = :workspace AND agent = :agent",
            params=canonical(changed), agent=agent,
        )  # fmt: skip
        _save(transaction, agent, replace(standing, recent=(), drift=Drift()))
        return changed

    # --- looking back ------------------------------------------------------------------------

    def agents(self, transaction: Transaction) -> tuple[str, ...]:
        """Everyone who was ever evaluated, or whose parameters were set, in order of name."""
        rows = transaction.all(
            "SELECT agent FROM evolution_agent WHERE workspace = :workspace ORDER BY agent"
        )
        return tuple(agent for (agent,) in rows)

    def params(self, transaction: Transaction, agent: str) -> Params:
        row = transaction.one(
            "SELECT params FROM evolution_agent WHERE workspace = :workspace AND agent = :agent", agent=agent
        )
        return usable_params(row[0] if row else "")

    def standing(self, transaction: Transaction, agent: str) -> AgentState:
        """Where the agent stands, without the configuration it was last seen with."""
        row = transaction.one(
            "SELECT standing FROM evolution_agent WHERE workspace = :workspace AND agent = :agent",
            agent=agent,
        )
        return _standing(transaction, agent, row[0]) if row else AgentState()

    def seen(self, transaction: Transaction, agent: str) -> Snapshot:
        """What the agent could use at the last evaluation."""
        row = transaction.one(
            "SELECT seen FROM evolution_agent WHERE workspace = :workspace AND agent = :agent", agent=agent
        )
        return _snapshot(transaction, row[0]) if row and row[0] else Snapshot()

    def stopped(self, transaction: Transaction, agent: str) -> str:
        """Why the agent is stopped; empty while it runs."""
        return self.standing(transaction, agent).stopped

    def all_stopped(self, transaction: Transaction) -> dict[str, str]:
        """Every agent that is stopped, with why, in order of name."""
        rows = transaction.all(
            "SELECT agent, standing FROM evolution_agent WHERE workspace = :workspace ORDER BY agent"
        )
        found = {agent: _standing(transaction, agent, text).stopped for agent, text in rows}
        return {agent: why for agent, why in found.items() if why}

    def status(self, transaction: Transaction, agent: str) -> Status:
        log = self.fitness(transaction, agent, TREND_WINDOW)
        return status(agent, self.standing(transaction, agent), self.params(transaction, agent), log)

    def generation(self, transaction: Transaction, agent: str, number: int) -> Generation:
        found = _recall(transaction, agent)(number)
        if found is None:
            raise NotFound("generation", str(number), see=f"see: prowess evolve history --agent {agent}")
        return found

    def began(self, transaction: Transaction, agent: str, number: int) -> tuple[int, str]:
        """The last entry that was counted when a generation was recorded, -1 where that was not noted, and
        when it was; 0 where there is none that can be read."""
        found = _recall(transaction, agent)(number) if number else None
        row = transaction.one(
            "SELECT counted FROM evolution_generation"
            " WHERE workspace = :workspace AND agent = :agent AND number = :number",
            agent=agent, number=number,
        )  # fmt: skip
        return (row[0], found.at) if found and row else (0, "")

    def history(self, transaction: Transaction, agent: str, limit: int = 50) -> tuple[Generation, ...]:
        """The newest generations, oldest first."""
        rows = transaction.all(
            "SELECT g.record, s.snapshot, g.rollbacks FROM evolution_generation g"
            " JOIN evolution_snapshot s ON s.workspace = g.workspace AND s.digest = g.snapshot"
            " WHERE g.workspace = :workspace AND g.agent = :agent ORDER BY g.number DESC LIMIT :limit",
            agent=agent, limit=limit,
        )  # fmt: skip
        return tuple(filter(None, (generation_from(*row) for row in reversed(rows))))

    def rollbacks(self, transaction: Transaction, agent: str, limit: int = 50) -> tuple[Generation, ...]:
        """The newest generations that a rollback made, oldest first."""
        rows = transaction.all(
            "SELECT g.record, s.snapshot, g.rollbacks FROM evolution_generation g"
            " JOIN evolution_snapshot s ON s.workspace = g.workspace AND s.digest = g.snapshot"
            " WHERE g.workspace = :workspace AND g.agent = :agent AND g.restored > 0"
            " ORDER BY g.number DESC LIMIT :limit",
            agent=agent, limit=limit,
        )  # fmt: skip
        return tuple(filter(None, (generation_from(*row) for row in reversed(rows))))

    def fitness(self, transaction: Transaction, agent: str, limit: int = 100) -> tuple[Fitness, ...]:
        """The newest evaluations, oldest first."""
        rows = transaction.all(
            "SELECT evaluation, at, scores, fitness FROM evolution_fitness"
            " WHERE workspace = :workspace AND agent = :agent ORDER BY evaluation DESC LIMIT :limit",
            agent=agent, limit=limit,
        )  # fmt: skip
        read = ((n, at, scores_from(scores), value) for n, at, scores, value in reversed(rows))
        return tuple(Fitness(n, at, scores, value) for n, at, scores, value in read if scores)

    def damaged(self, transaction: Transaction) -> tuple[Damage, ...]:
        """Every row that cannot be read, in order of the agents."""
        return damaged_rows(transaction)

    def repair(self, transaction: Transaction, agent: str) -> Repaired:
        """Write anew what can be found from other rows; remove what nobody can read."""
        damaged = [damage for damage in self.damaged(transaction) if damage.agent == agent]
        if not damaged:
            return Repaired()
        # Found before anything is removed: how many there were counts.
        standing, params = _lock(transaction, agent, Snapshot())
        for damage in damaged:
            _remove(transaction, damage)
        transaction.run(
            "UPDATE evolution_agent SET standing = :standing, params = :params"
            " WHERE workspace = :workspace AND agent = :agent",
            standing=standing_text(standing), params=canonical(params), agent=agent,
        )  # fmt: skip
        rewritten = tuple(damage.what for damage in damaged if not damage.number)
        return Repaired(rewritten, tuple(f"{one.what} {one.number}" for one in damaged if one.number))

    def difference(
        self, transaction: Transaction, agent: str, before: int, after: int
    ) -> GenerationDifference:
        return difference(
            self.generation(transaction, agent, before), self.generation(transaction, agent, after)
        )


def _remove(transaction: Transaction, damage: Damage) -> None:
    if damage.what == GENERATION:
        transaction.run(
            "DELETE FROM evolution_generation"
            " WHERE workspace = :workspace AND agent = :agent AND number = :number",
            agent=damage.agent, number=damage.number,
        )  # fmt: skip
    if damage.what == EVALUATION:
        transaction.run(
            "DELETE FROM evolution_fitness"
            " WHERE workspace = :workspace AND agent = :agent AND evaluation = :number",
            agent=damage.agent, number=damage.number,
        )  # fmt: skip


def _lock(transaction: Transaction, agent: str, snapshot: Snapshot) -> tuple[AgentState, Params]:
    """Read where the agent stands; its row stays locked until the transaction ends."""
    take = (
        "UPDATE evolution_agent SET agent = agent"
        " WHERE workspace = :workspace AND agent = :agent RETURNING standing, seen, params"
    )
    row = transaction.one(take, agent=agent)
    if row is None:
        transaction.run(
            "INSERT INTO evolution_agent (workspace, agent, standing, seen, params)"
            " VALUES (:workspace, :agent, :standing, '', '') ON CONFLICT DO NOTHING",
            agent=agent, standing=standing_text(AgentState()),
        )  # fmt: skip
        row = transaction.one(take, agent=agent)
    assert row is not None, "the row was inserted above"
    text, seen, params = row
    known = snapshot if seen == digest(snapshot.text) else _snapshot(transaction, seen)
    return replace(_standing(transaction, agent, text), seen=known), usable_params(params)


def _standing(transaction: Transaction, agent: str, text: str) -> AgentState:
    """Where the agent stands; where that cannot be read, what its generations and evaluations say."""
    return standing_from(text) or _rebuilt(transaction, agent, text)


def _rebuilt(transaction: Transaction, agent: str, text: str) -> AgentState:
    counted = transaction.one(
        "SELECT (SELECT COALESCE(MAX(number), 0) FROM evolution_generation"
        " WHERE workspace = :workspace AND agent = :agent),"
        " (SELECT COALESCE(MAX(evaluation), 0) FROM evolution_fitness"
        " WHERE workspace = :workspace AND agent = :agent)",
        agent=agent,
    )
    number, evaluations = counted or (0, 0)
    log = Generations().fitness(transaction, agent)
    readable = Generations().history(transaction, agent)
    return rebuilt(stopped_from(text), (number, evaluations), readable, log[-1].scores if log else None)


def _snapshot(transaction: Transaction, seen: str) -> Snapshot:
    row = transaction.one(
        "SELECT snapshot FROM evolution_snapshot WHERE workspace = :workspace AND digest = :digest",
        digest=seen,
    )
    with suppress(*UNREADABLE):
        return snapshot_from(row[0]) if row else Snapshot()
    return Snapshot()


def _recall(transaction: Transaction, agent: str) -> Recall:
    def recall(number: int) -> Generation | None:
        row = transaction.one(
            "SELECT g.record, s.snapshot, g.rollbacks FROM evolution_generation g"
            " JOIN evolution_snapshot s ON s.workspace = g.workspace AND s.digest = g.snapshot"
            " WHERE g.workspace = :workspace AND g.agent = :agent AND g.number = :number",
            agent=agent, number=number,
        )  # fmt: skip
        return generation_from(*row) if row else None

    return recall


def _keep(
    transaction: Transaction, moment: EvaluationInput, before: AgentState, made: Transition
) -> Evaluation:
    agent = moment.agent
    if made.recorded:
        _record(transaction, agent, made, moment.setting.counted)
    if made.standing.seen == before.seen and before.generation:
        _save(transaction, agent, made.standing)
    else:
        transaction.run(
            "UPDATE evolution_agent SET standing = :standing, seen = :seen"
            " WHERE workspace = :workspace AND agent = :agent",
            standing=standing_text(made.standing),
            seen=_save_snapshot(transaction, made.standing.seen),
            agent=agent,
        )
    return made.evaluation


def _save(transaction: Transaction, agent: str, standing: AgentState) -> None:
    transaction.run(
        "UPDATE evolution_agent SET standing = :standing WHERE workspace = :workspace AND agent = :agent",
        standing=standing_text(standing), agent=agent,
    )  # fmt: skip


def _save_snapshot(transaction: Transaction, snapshot: Snapshot) -> str:
    text = snapshot.text
    name = digest(text)
    transaction.run(
        "INSERT INTO evolution_snapshot (workspace, digest, snapshot) VALUES (:workspace, :digest, :snapshot)"
        " ON CONFLICT DO NOTHING",
        digest=name, snapshot=text,
    )  # fmt: skip
    return name


def _record(transaction: Transaction, agent: str, made: Transition, counted: int) -> None:
    generation = made.recorded
    assert generation is not None, "asked before"
    transaction.run(
        "INSERT INTO evolution_generation"
        " (workspace, agent, number, snapshot, record, restored, rollbacks, counted)"
        " VALUES (:workspace, :agent, :number, :snapshot, :record, :restored, 0, :counted)",
        agent=agent,
        number=generation.number,
        snapshot=_save_snapshot(transaction, generation.snapshot),
        record=generation_text(generation),
        restored=generation.restored,
        counted=counted,
    )
    if made.counts:
        transaction.run(
            "UPDATE evolution_generation SET rollbacks = rollbacks + 1"
            " WHERE workspace = :workspace AND agent = :agent AND number = :number",
            agent=agent, number=generation.restored,
        )  # fmt: skip


def _scores(agent: str, standing: AgentState) -> Scores:
    if standing.previous is None:
        raise EvolutionError(agent, "has no generation yet", "evaluate it once first")
    return standing.previous
