"""Step 12 of a turn through the engine: what changed, and was it good.

`EvolutionService` is what the engine holds as `engine.evolution`. Each method that writes is one
transaction: the generation, the providers a rollback switches and the events happen together.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import cast

from prowess.calling.use import UseCheck
from prowess.catalogue.catalogue import Catalogue
from prowess.catalogue.view import View
from prowess.errors import EvolutionError, NotFound
from prowess.evolution.counts import count
from prowess.evolution.damage import Repaired
from prowess.evolution.encoding import params_data
from prowess.evolution.fitness import scores_from
from prowess.evolution.generations import Generations
from prowess.evolution.history import Fitness, GenerationDifference, Status
from prowess.evolution.params import Params
from prowess.evolution.records import Evaluation, EvaluationContext, Generation
from prowess.evolution.scores import Scores
from prowess.evolution.snapshot import Snapshot, snapshot_of
from prowess.evolution.transition import Order
from prowess.evolution.triggers import Trigger
from prowess.journal import Journal, typed
from prowess.journal.between_turns import (
    EvolutionOrdered,
    EvolutionParams,
    EvolutionRepaired,
    EvolutionResumed,
    EvolutionTriggered,
)
from prowess.journal.entries import switched
from prowess.store.database import Database, Transaction
from prowess.types import DEFAULT_AGENT, JsonObject, Problem
from prowess.world import Worlds

JOURNAL_WINDOW = 1000
TRIGGER = "event:evolution:trigger"


class EvolutionService:
    """How good each agent is, what changed when, and the way back to what was better."""

    def __init__(
        self,
        database: Database,
        journal: Journal,
        catalogue: Catalogue,
        now: Callable[[], str],
        worlds: Worlds,
        use: UseCheck,
    ) -> None:
        self._database = database
        self._journal = journal
        self._catalogue = catalogue
        self._now = now
        self._worlds = worlds
        self._use = use
        self._generations = Generations()

    def evaluate(
        self, agent: str, scores: Scores | None = None, snapshot: Snapshot | None = None
    ) -> Evaluation:
        """Measure an agent now: a new generation, a rollback, or nothing to note.

        agent: the name of the agent.
        scores: how good it is; without them, they are taken from the journal.
        snapshot: what it has; without it, what is active now.
        """
        _refuse_unnamed(agent)
        if scores is not None and not isinstance(scores, Scores):
            raise EvolutionError("scores", f"got {type(scores).__name__}", "give Scores, or none at all")
        scores = scores or self._scores(agent)
        setting = self._setting(agent, snapshot)
        with self._database.writing() as transaction:
            setting = self._with_decisions(transaction, agent, setting)
            evaluation = self._generations.evaluate(transaction, agent, scores, setting)
            self._carry_out(transaction, evaluation)
        return evaluation

    def trigger(
        self, agent: str, trigger: str, reason: str, by: str, provider: str = "", faculty: str = ""
    ) -> Evaluation:
        """Have a transition happen that the host program asks for.

        agent: the name of the agent.
        trigger: its kind, such as "CapabilityGain".
        reason: why, for people.
        by: who decides; the journal names them.
        provider: who brings what is gained, or who is to be switched off.
        faculty: what is gained.
        """
        _refuse_unnamed(agent)
        setting = self._setting(agent, None)
        with self._database.writing() as transaction:
            setting = self._with_decisions(transaction, agent, setting)
            order = Order(cast(Trigger, trigger), reason, provider, faculty)
            evaluation = self._generations.trigger(transaction, agent, order, setting)
            ordered = EvolutionTriggered(
                trigger=trigger, reason=reason, by=by, provider=provider, faculty=faculty
            )
            self._journal.append(transaction, ordered, agent)
            self._carry_out(transaction, evaluation)
        return evaluation

    def trigger_by_agent(
        self, agent: str, trigger: str, reason: str, by: str, provider: str = "", faculty: str = ""
    ) -> Evaluation:
        """The same, asked for by an agent; raises Denied unless it may use `evolution:trigger`.

        agent: the name of the agent.
        trigger: its kind, such as "CapabilityGain".
        reason: why, for people.
        by: the agent that asks.
        provider: who brings what is gained, or who is to be switched off.
        faculty: what is gained.
        """
        given = {"agent": agent, "trigger": trigger, "reason": reason}
        self._use.check(self._worlds.now(by), by, TRIGGER, True, given)
        return self.trigger(agent, trigger, reason, by, provider, faculty)

    def rollback(self, agent: str, to: int, by: str = "a person") -> Evaluation:
        """Go back to an earlier generation: providers are switched as they were then.

        agent: the name of the agent.
        to: the number of the generation.
        by: who decides; the journal names them.
        """
        _refuse_unnamed(agent)
        setting = self._setting(agent, None)
        with self._database.writing() as transaction:
            setting = self._with_decisions(transaction, agent, setting)
            evaluation = self._generations.roll_back(transaction, agent, to, setting)
            self._journal.append(transaction, EvolutionOrdered(rollback_to=to, by=by), agent)
            self._carry_out(transaction, evaluation)
        return evaluation

    def resume(self, agent: str, by: str = "a person") -> None:
        """Let an agent that was stopped use things again.

        agent: the name of the agent.
        by: who decides; the journal names them.
        """
        _refuse_unnamed(agent)
        with self._database.writing() as transaction:
            was = self._generations.resume(transaction, agent)
            self._journal.append(transaction, EvolutionResumed(was=was, by=by), agent)

    def set_params(self, agent: str, changes: JsonObject, by: str = "a person") -> Params:
        """Change how an agent is measured; returns all of its parameters.

        agent: the name of the agent.
        changes: name -> value, such as {"alpha": 0.5}.
        by: who decides; the journal names them.
        """
        _refuse_unnamed(agent)
        with self._database.writing() as transaction:
            params = self._generations.set_params(transaction, agent, changes)
            changed = EvolutionParams(params=params_data(params), by=by)
            self._journal.append(transaction, changed, agent)
        return params

    def agents(self) -> tuple[str, ...]:
        """Everyone who was ever evaluated, or whose parameters were set, in order of name."""
        with self._database.reading() as transaction:
            return self._generations.agents(transaction)

    def params(self, agent: str = DEFAULT_AGENT) -> Params:
        """How an agent is measured.

        agent: the name of the agent.
        """
        with self._database.reading() as transaction:
            return self._generations.params(transaction, agent)

    def status(self, agent: str = DEFAULT_AGENT) -> Status:
        """Where an agent stands: generation, scores, fitness, whether it is stopped.

        agent: the name of the agent.
        """
        with self._database.reading() as transaction:
            return self._generations.status(transaction, agent)

    def stopped(self, agent: str) -> str:
        """Why an agent may use nothing; empty where it may.

        agent: the name of the agent.
        """
        with self._database.reading() as transaction:
            return self._generations.stopped(transaction, agent)

    def history(self, agent: str = DEFAULT_AGENT, limit: int = 50) -> tuple[Generation, ...]:
        """The generations of an agent, the oldest first.

        agent: the name of the agent.
        limit: at most so many, the newest.
        """
        with self._database.reading() as transaction:
            return self._generations.history(transaction, agent, limit)

    def rollbacks(self, agent: str = DEFAULT_AGENT, limit: int = 50) -> tuple[Generation, ...]:
        """The generations that a rollback made, the oldest first.

        agent: the name of the agent.
        limit: at most so many, the newest.
        """
        with self._database.reading() as transaction:
            return self._generations.rollbacks(transaction, agent, limit)

    def fitness(self, agent: str = DEFAULT_AGENT, limit: int = 100) -> tuple[Fitness, ...]:
        """How fit an agent was at each evaluation, the oldest first.

        agent: the name of the agent.
        limit: at most so many, the newest.
        """
        with self._database.reading() as transaction:
            return self._generations.fitness(transaction, agent, limit)

    def generation(self, agent: str, number: int) -> Generation:
        """One generation of an agent.

        agent: the name of the agent.
        number: which one.
        """
        with self._database.reading() as transaction:
            return self._generations.generation(transaction, agent, number)

    def difference(self, agent: str, before: int, after: int) -> GenerationDifference:
        """What changed from one generation to another.

        agent: the name of the agent.
        before: the number of the earlier one.
        after: the number of the later one.
        """
        with self._database.reading() as transaction:
            return self._generations.difference(transaction, agent, before, after)

    def kept_off(self, agent: str) -> frozenset[str]:
        """The providers that a person switched off: no rollback switches them on.

        agent: the name of the agent.
        """
        with self._database.reading() as transaction:
            return self._catalogue.decided_off(transaction, agent)

    def problems(self) -> tuple[Problem, ...]:
        """Rows that cannot be read, each with what to do about it."""
        with self._database.reading() as transaction:
            return tuple(damage.problem() for damage in self._generations.damaged(transaction))

    def repair(self, agent: str, by: str = "a person") -> Repaired:
        """Put in order what cannot be read of an agent's evolution; nothing that can be read is lost.

        agent: the name of the agent.
        by: who decides; the journal names them.
        """
        _refuse_unnamed(agent)
        with self._database.writing() as transaction:
            done = self._generations.repair(transaction, agent)
            if done != Repaired():
                entry = EvolutionRepaired(rewritten=done.rewritten, removed=done.removed, by=by)
                self._journal.append(transaction, entry, agent)
        return done

    def _with_decisions(
        self, transaction: Transaction, agent: str, setting: EvaluationContext
    ) -> EvaluationContext:
        return replace(setting, decided_off=self._catalogue.decided_off(transaction, agent))

    def _carry_out(self, transaction: Transaction, evaluation: Evaluation) -> None:
        """Switch what a rollback names and journal what happened, in the evaluation's transaction."""
        if switches := evaluation.switches:
            # What a person switched off in the meantime stays the person's.
            people = self._catalogue.decided_off(transaction, evaluation.agent)
            for provider in (name for name in switches.off if name not in people):
                self._switch(transaction, evaluation, provider, "provider.off")
            for provider in switches.on:
                self._switch(transaction, evaluation, provider, "provider.on")
        for event in evaluation.events:
            self._journal.append(transaction, typed(event.type, event.data), evaluation.agent)

    def _switch(self, transaction: Transaction, evaluation: Evaluation, provider: str, type: str) -> None:
        why = evaluation.switches.why if evaluation.switches else ""
        off = why if type == "provider.off" else None
        try:
            changed = self._catalogue.switch(transaction, provider, evaluation.agent, off, "rollback")
        except NotFound:
            return  # it has left the catalogue since, so there is nothing to switch
        if changed:
            self._journal.append(transaction, switched(provider, off, why), evaluation.agent)

    def _setting(self, agent: str, snapshot: Snapshot | None) -> EvaluationContext:
        world = self._worlds.now()
        view = world.view
        return EvaluationContext(
            snapshot=snapshot or self._snapshot(view, agent),
            at=self._now(),
            registry={p.name: p.faculties for p in view.providers.values()} if snapshot else {},
            policy_revision=world.policy.revision,
            catalogue_version=view.version,
        )

    def _snapshot(self, view: View, agent: str) -> Snapshot:
        active = [p for p in view.providers.values() if not view.off(p.name, agent)]
        tools: tuple[str, ...] = ()
        if self.params(agent).tool_acquisition:
            tools = tuple(id for id, c in view.active(agent).items() if c.kind == "tool")
        return snapshot_of((p.name for p in active), {p.name: p.faculties for p in active}, tools)

    def _scores(self, agent: str) -> Scores:
        with self._database.reading() as transaction:
            latest = self._generations.history(transaction, agent, 1)
        since = latest[-1].at if latest else ""
        entries = self._journal.latest(JOURNAL_WINDOW, agent)
        return scores_from(count(entry for entry in entries if entry.at > since))


def _refuse_unnamed(agent: object) -> None:
    """What has no name, or one that no store can keep, has no evolution."""
    if not isinstance(agent, str) or not agent or agent.encode("utf-8", "replace").decode() != agent:
        raise EvolutionError("evolution", f"{agent!r} is no agent's name", "give the name of an agent")
