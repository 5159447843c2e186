"""Step 12 of a turn through the engine: what changed, and was it good.

`EvolutionService` is what the engine holds as `engine.evolution`. Each method that writes is one
transaction: the generation, the providers a rollback switches and the events happen together.
"""

import logging
from collections.abc import Callable
from functools import partial
from itertools import takewhile
from typing import cast

from prowess.calling.use import UseCheck
from prowess.catalogue.catalogue import Catalogue
from prowess.engine.consequences import Consequences
from prowess.engine.journal_scores import JournalScores, ScoresSoFar
from prowess.engine.stopped import stopped_problem
from prowess.engine.surroundings import EvaluationSurroundings, refuse_unnamed
from prowess.errors import ProwessError
from prowess.evolution.contributions import Axes
from prowess.evolution.damage import Repaired
from prowess.evolution.encoding import params_data
from prowess.evolution.generations import Generations
from prowess.evolution.history import Fitness, GenerationDifference, Status
from prowess.evolution.params import Params
from prowess.evolution.records import Evaluation, Generation, Transition
from prowess.evolution.schedule import Schedule
from prowess.evolution.scores import Scores, axis_fraction
from prowess.evolution.snapshot import Snapshot
from prowess.evolution.transition import TriggerOrder, apply_trigger, roll_back, step
from prowess.evolution.triggers import Trigger
from prowess.jobs import Jobs
from prowess.journal import Entry, Journal
from prowess.journal.between_turns import (
    EvolutionAnswered,
    EvolutionOrdered,
    EvolutionParams,
    EvolutionRepaired,
    EvolutionResumed,
    EvolutionTriggered,
    InterventionReported,
    ScoreContributed,
    ViolationReported,
)
from prowess.store.database import Database, Transaction
from prowess.types import DEFAULT_AGENT, JsonObject, Problem
from prowess.world import Worlds

logger = logging.getLogger("prowess")

TRIGGER = "event:evolution:trigger"


class EvolutionService:
    """How good each agent is, what changed when, and the way back to what was better."""

    def __init__(
        self, database: Database, journal: Journal, catalogue: Catalogue, now: Callable[[], str],
        worlds: Worlds, use: UseCheck, schedule: Schedule, jobs: Jobs, surroundings: EvaluationSurroundings,
    ) -> None:  # fmt: skip
        self._database = database
        self._journal = journal
        self._catalogue = catalogue
        self._worlds = worlds
        self._use = use
        self._schedule = schedule
        self._jobs = jobs
        self._generations = Generations()
        self._measured = JournalScores(database, journal, self._generations)
        self._consequences = Consequences(journal, catalogue)
        self._surroundings = surroundings

    def evaluate(
        self, agent: str, scores: Scores | Axes | None = None, snapshot: Snapshot | None = None
    ) -> Evaluation:
        """Measure an agent now: a new generation, a rollback, or nothing to note.

        agent: the name of the agent.
        scores: how good it is, or some axes such as {"cognitive": 0.8}; the journal says the rest.
        snapshot: what it can use; without it, what it can use now.
        """
        refuse_unnamed(agent)
        measured = self._measured.now(agent, scores)
        evaluation = self._evaluated(agent, measured, snapshot, self._schedule.begin_anew)
        assert evaluation is not None, "nobody else can take what is done by hand"
        return evaluation

    def preview(
        self, agent: str, scores: Scores | Axes | None = None, snapshot: Snapshot | None = None
    ) -> Evaluation:
        """What an evaluation would come to now; nothing is written, switched or journalled.

        agent: the name of the agent.
        scores: as `evaluate` takes them.
        snapshot: as `evaluate` takes it.
        """
        refuse_unnamed(agent)
        return self._would(agent, self._measured.now(agent, scores).scores, snapshot, step)

    def _would(
        self, agent: str, scores: Scores | None, snapshot: Snapshot | None, make: Callable[..., Transition]
    ) -> Evaluation:
        setting, _ = self._surroundings.now(agent, snapshot)
        with self._database.reading() as transaction:
            setting = self._surroundings.decided(transaction, agent, setting)
            return self._generations.preview(transaction, agent, scores, setting, make)

    def evaluate_due(self, is_over: Callable[[], bool] = lambda: False) -> tuple[Evaluation, ...]:
        """Evaluate every agent that [evolution] says is due; what another process evaluates is left to it.

        is_over: asked before each agent; once it is true, the others wait for the next time.
        """
        with self._database.reading() as transaction:
            agents = self._schedule.due(transaction) if self._schedule.is_on else ()
        if not agents:
            return ()
        with self._jobs.held("evaluation") as lease:
            if lease is None:
                return ()
            kept = takewhile(lambda _: not is_over() and lease.keep(), agents)
            done = tuple(filter(None, map(self._evaluate_if_due, kept)))
            lease.result = f"{len(done)} agents evaluated"
        return done

    def note_outcome(self, agent: str) -> None:
        """Something came of a use: where [evolution] says that this was enough, the agent is evaluated.

        agent: who used it.
        """
        if not self._schedule.is_on:
            return
        try:
            with self._database.writing(flush=False) as transaction:
                is_due = self._schedule.note(transaction, agent)
            if is_due:
                self._evaluate_if_due(agent)
        except ProwessError as error:  # what was done is done; the next outcome tries again
            logger.warning("%s was not evaluated: %s", agent, error)

    def _evaluate_if_due(self, agent: str) -> Evaluation | None:
        return self._evaluated(agent, self._measured.now(agent), None, self._schedule.is_left_to_others)

    def report_violation(self, agent: str, what: str, capability: str = "", by: str = "a person") -> None:
        """An agent did what it must never do: its safety is 0 until it has gone back, or a person resumes it.

        agent: who did it.
        what: what happened, for people.
        capability: what it was done with, if anything.
        by: who says so; the journal names them.
        """
        self._report(agent, ViolationReported(what=what, capability=capability, by=by))
        if self._schedule.is_on:
            self.evaluate(agent)

    def report_intervention(self, agent: str, what: str, by: str = "a person") -> None:
        """A person put right what an agent did; its autonomy is lower the more often that is so.

        agent: who was corrected.
        what: what was put right, for people.
        by: who stepped in.
        """
        self._report(agent, InterventionReported(what=what, by=by))

    def contribute(self, agent: str, axis: str, value: float | str, by: str = "a program") -> None:
        """Say how good an agent is on one axis; the mean of the latest ten words about it counts.

        agent: whom it is about.
        axis: "cognitive", "behavioral", "safety", "autonomy" or "meta_learning".
        value: from 0 to 1; for autonomy also "L0" to "L5".
        by: who measured it, such as the name of an evaluation tool.
        """
        self._report(agent, ScoreContributed(axis=axis, value=axis_fraction(axis, value), by=by))

    def _report(self, agent: str, entry: ViolationReported | InterventionReported | ScoreContributed) -> None:
        refuse_unnamed(agent)
        self._journal.record(entry, agent)
        self.note_outcome(agent)

    def _evaluated(
        self, agent: str, measured: ScoresSoFar, snapshot: Snapshot | None,
        is_taken: Callable[[Transaction, str], bool | None],
    ) -> Evaluation | None:  # fmt: skip
        """One evaluation, unless somebody else has done it."""
        setting, now = self._surroundings.now(agent, snapshot, measured.counted)
        with self._database.writing() as transaction:
            if is_taken(transaction, agent):
                return None
            setting = self._surroundings.decided(transaction, agent, setting)
            before = self._generations.seen(transaction, agent)
            evaluation = self._generations.evaluate(transaction, agent, measured.scores, setting)
            return self._consequences.carry_out(transaction, evaluation, now, before)

    def trigger(
        self, agent: str, trigger: str, reason: str, by: str, provider: str = "", faculty: str = "",
        dry_run: bool = False,
    ) -> Evaluation:  # fmt: skip
        """Have a transition happen that the host program asks for.

        agent: the name of the agent.
        trigger: its kind, such as "CapabilityGain".
        reason: why, for people.
        by: who decides; the journal names them.
        provider: who brings what is gained, or who is to be switched off.
        faculty: what is gained.
        dry_run: only say what would happen; nothing is written, switched or journalled.
        """
        refuse_unnamed(agent)
        order = TriggerOrder(cast(Trigger, trigger), reason, provider, faculty)
        if dry_run:
            return self._would(agent, None, None, lambda at, m, *known: apply_trigger(at, m, order, *known))
        entry = EvolutionTriggered(trigger=trigger, reason=reason, by=by, provider=provider, faculty=faculty)
        return self._ordered(agent, entry, partial(self._generations.trigger, order=order))

    def _ordered(self, agent: str, entry: Entry, make: Callable[..., Evaluation]) -> Evaluation:
        """A transition that somebody asked for, in one transaction with who did."""
        setting, now = self._surroundings.now(agent, None)
        with self._database.writing() as transaction:
            setting = self._surroundings.decided(transaction, agent, setting)
            before = self._generations.seen(transaction, agent)
            evaluation = make(transaction, agent, setting=setting)
            self._journal.append(transaction, entry, agent)
            return self._consequences.carry_out(transaction, evaluation, now, before)

    def trigger_by_agent(
        self, agent: str, trigger: str, reason: str, by: str, provider: str = "", faculty: str = "",
        dry_run: bool = False,
    ) -> Evaluation:  # fmt: skip
        """The same, asked for by an agent; raises Denied unless it may use `evolution:trigger`.

        agent: the name of the agent.
        trigger: its kind, such as "CapabilityGain".
        reason: why, for people.
        by: the agent that asks.
        provider: who brings what is gained, or who is to be switched off.
        faculty: what is gained.
        dry_run: as `trigger` takes it; nobody is asked to approve it.
        """
        given = {"agent": agent, "trigger": trigger, "reason": reason}
        check = self._use.would if dry_run else self._use.check
        check(self._worlds.now(by), by, TRIGGER, True, given)
        return self.trigger(agent, trigger, reason, by, provider, faculty, dry_run)

    def rollback(self, agent: str, to: int, by: str = "a person", dry_run: bool = False) -> Evaluation:
        """Go back to an earlier generation: providers are switched as they were then.

        agent: the name of the agent.
        to: the number of the generation.
        by: who decides; the journal names them.
        dry_run: only say what would happen; nothing is written, switched or journalled.
        """
        refuse_unnamed(agent)
        if dry_run:
            return self._would(agent, None, None, lambda at, m, *known: roll_back(at, m, to, *known))
        entry = EvolutionOrdered(rollback_to=to, by=by)
        return self._ordered(agent, entry, partial(self._generations.roll_back, to=to))

    def answer(self, agent: str, accept: bool, by: str = "a person") -> Evaluation:
        """Say whether what a regression proposes is to be done.

        agent: the name of the agent.
        accept: true switches the likeliest cause off and sees whether that helps; false leaves all as it is.
        by: who decides; the journal names them.
        """
        refuse_unnamed(agent)
        entry = EvolutionAnswered(accepted=accept, by=by)
        return self._ordered(agent, entry, partial(self._generations.answer, accept=accept))

    def resume(self, agent: str, by: str = "a person") -> None:
        """Let an agent that was stopped use things again.

        agent: the name of the agent.
        by: who decides; the journal names them.
        """
        refuse_unnamed(agent)
        with self._database.writing() as transaction:
            was = self._generations.resume(transaction, agent)
            self._journal.append(transaction, EvolutionResumed(was=was, by=by), agent)

    def set_params(self, agent: str, changes: JsonObject, by: str = "a person") -> Params:
        """Change how an agent is measured; returns all of its parameters.

        agent: the name of the agent.
        changes: name -> value, such as {"alpha": 0.5}.
        by: who decides; the journal names them.
        """
        refuse_unnamed(agent)
        with self._database.writing() as transaction:
            params = self._generations.set_params(transaction, agent, changes)
            self._journal.append(transaction, EvolutionParams(params=params_data(params), by=by), agent)
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

    def all_stopped(self) -> dict[str, str]:
        """The agents that may use nothing until a person resumes them, each with why."""
        with self._database.reading() as transaction:
            return self._generations.all_stopped(transaction)

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
        """Agents that are stopped, then rows that cannot be read, each with what to do about it."""
        with self._database.reading() as transaction:
            stopped = self._generations.all_stopped(transaction)
            damaged = [damage.problem() for damage in self._generations.damaged(transaction)]
        return (*(stopped_problem(agent, why) for agent, why in stopped.items()), *damaged)

    def repair(self, agent: str, by: str = "a person") -> Repaired:
        """Put in order what cannot be read of an agent's evolution; nothing that can be read is lost.

        agent: the name of the agent.
        by: who decides; the journal names them.
        """
        refuse_unnamed(agent)
        with self._database.writing() as transaction:
            done = self._generations.repair(transaction, agent)
            if done != Repaired():
                entry = EvolutionRepaired(rewritten=done.rewritten, removed=done.removed, by=by)
                self._journal.append(transaction, entry, agent)
        return done
