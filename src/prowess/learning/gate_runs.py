"""Gates as they are run: which requests teach and which judge, what was measured, and what else is needed.

Above: learning. Below: `gate_batches` and `gating`, which measure in a trial; the tables of lessons and
results.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from prowess.config import LearningConfig
from prowess.errors import LearningError
from prowess.journal import Journal, stamp
from prowess.journal.between_turns import SkillGated, SuiteSaid
from prowess.learning import gates, lessons
from prowess.learning import use_store as memory
from prowess.learning.gate_batches import gated_together
from prowess.learning.gate_evidence import Division, divided, explained
from prowess.learning.gating import GateContext, Progress
from prowess.learning.labelled import MIN_JUDGES, LabelledRequest
from prowess.learning.lessons import Lesson
from prowess.learning.promotion import Gated
from prowess.learning.trial import Trials
from prowess.metrics import read_set, sampled
from prowess.store.database import Database, Transaction
from prowess.types import DEFAULT_AGENT

MAX_JUDGES = 2000
MAX_LABELLED = 5000
GATE_COMMAND = "prowess lessons gate {}"
ANEW = "prowess lessons propose --anew {}"


@dataclass(frozen=True, slots=True)
class GateRuns:
    database: Database
    journal: Journal
    config: LearningConfig
    clock: Callable[[], datetime]
    trials: Trials

    def run(self, ids: Sequence[str], progress: Progress, by: str) -> tuple[Gated, ...]:
        """Measure these lessons together, and keep what was measured."""
        with self.database.reading() as transaction:
            whole = [self._gateable(transaction, id) for id in ids]
            stable = lessons.every(transaction, "stable")
            proposed = {lesson.id for lesson in lessons.every(transaction, "proposed")}
            judges = self._judges(transaction)
            agents = memory.agents(transaction)
            chosen = [self._divided(transaction, lesson, judges, len(agents) < 2) for lesson in whole]
        named = "--all" if len(chosen) > 1 and {each.id for each in whole} == proposed else " ".join(ids)
        names = {DEFAULT_AGENT, *(j.agent for j in judges), *(a for each in whole for a in each.agents)}
        context = self._context(judges, stable, len(agents) < 2, named, progress)
        results = tuple(
            explained(result, division, judges, agents)
            for result, division in zip(self._gated(chosen, context, sorted(names)), chosen, strict=True)
        )
        with self.database.writing() as transaction:
            for result in results:
                self._keep(transaction, result, by)
        return results

    def _gateable(self, transaction: Transaction, id: str) -> Lesson:
        lesson = lessons.get(transaction, id)
        if lesson.status == "retired":
            raise LearningError(lesson.id, "it is retired", f"run: {ANEW.format(lesson.id)}")
        return lesson

    def _gated(
        self, chosen: Sequence[Division], context: GateContext, agents: Sequence[str]
    ) -> tuple[Gated, ...]:
        return gated_together([division.part for division in chosen], context, self.trials.begin(agents))

    def _divided(
        self, transaction: Transaction, lesson: Lesson, judges: Sequence[LabelledRequest], is_alone: bool
    ) -> Division:
        """The lesson as it is gated: all of it teaches where people labelled enough requests about it."""
        labelled = sum(lesson.method in judge.expected for judge in judges if not judge.told_by)
        if labelled >= MIN_JUDGES:
            return Division(lesson, lesson, "labelled")
        seen = memory.demonstrations(transaction, lesson.id)
        if is_alone and self.config.judges == "others":
            return divided(lesson, seen, "later")
        return divided(lesson, seen, self.config.judges)

    def _context(
        self, judges: tuple[LabelledRequest, ...], stable: tuple[Lesson, ...], is_alone: bool, named: str,
        progress: Progress,
    ) -> GateContext:  # fmt: skip
        return GateContext(
            judges=judges,
            stable=stable,
            min_gain=self.config.min_gain,
            # Where one agent is all there is, nobody else could ever judge.
            others_only=self.config.judges == "others" and not is_alone,
            command=GATE_COMMAND.format(named),
            at=stamp(self.clock()),
            progress=progress,
        )

    def _keep(self, transaction: Transaction, result: Gated, by: str) -> None:
        current = lessons.get(transaction, result.lesson)
        for suite in (result.tests, result.benchmark):
            gates.keep(transaction, current.id, suite)
        gated = replace(
            current,
            has_tests=result.tests.clears,
            has_benchmark_delta=result.benchmark.clears,
            # A stable lesson keeps teaching what it was promoted with until it is promoted anew.
            examples=current.examples if current.status == "stable" else result.examples,
        )
        lessons.keep(transaction, gated)
        said = [SuiteSaid(s.clears, s.digest, s.verdict) for s in (result.tests, result.benchmark)]
        entry = SkillGated(skill=current.id, by=by, regression=said[0], benchmark=said[1])
        self.journal.append(transaction, entry)

    def _judges(self, transaction: Transaction) -> tuple[LabelledRequest, ...]:
        """Requests whose right answer is known: from a labelled set, and from what worked."""
        found = [
            LabelledRequest(query.text, query.gold, DEFAULT_AGENT, "")
            for query in (
                sampled(read_set(Path(self.config.benchmark)).queries, "train", MAX_LABELLED)
                if self.config.benchmark
                else ()
            )
        ]
        stepped = {
            (span, agent): steps
            for span, agent, lesson in memory.worked_in_steps(transaction, MAX_JUDGES)
            if (steps := _steps(transaction, lesson))
        }
        found += [LabelledRequest(span, steps, agent, agent) for (span, agent), steps in stepped.items()]
        found += [
            LabelledRequest(span, (method,), agent, agent)
            for span, agent, method in memory.worked(transaction, MAX_JUDGES)
            if (span, agent) not in stepped
        ]
        return tuple({(j.request, j.agent, j.expected): j for j in found}.values())


def _steps(transaction: Transaction, id: str) -> tuple[str, ...]:
    lesson = lessons.find(transaction, id)
    return lesson.steps if lesson else ()
