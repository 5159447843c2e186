"""What should be kept, and what can still not be done: lessons and gaps, gated and decided.

Above: the engine and the faces. Below: the parts of learning. Every change is one transaction with its
entry in the journal; nothing is promoted by itself.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

from msgspec.structs import replace as replace_fields

from prowess.config import LearningConfig
from prowess.errors import LearningError, NotFound
from prowess.journal import Journal, canonical, stamp
from prowess.journal.between_turns import (
    GapClosed,
    LearningOrdered,
    LedgerCounted,
    LedgerWritten,
    SkillDeprecated,
    SkillGated,
    SkillPromoted,
    SkillProposed,
    SkillRetired,
    SuiteSaid,
)
from prowess.learning import gaps as curriculum
from prowess.learning import gates, lessons
from prowess.learning import reading_state as state
from prowess.learning import use_store as memory
from prowess.learning.gaps import Gap, ranked
from prowess.learning.gating import GateContext, Progress, gate
from prowess.learning.ids import stable_id
from prowess.learning.ingest import LearningReport, count_due, give_up, ingest, ledger_of, together
from prowess.learning.labelled import FEWEST_JUDGES, LabelledRequest, divided
from prowess.learning.ledger import SkillLedger, SkillStatus, ledger_events
from prowess.learning.lessons import Lesson
from prowess.learning.paraphrases import normalised
from prowess.learning.promotion import Gated, SuiteResult, read_proposal
from prowess.learning.trial import Trials
from prowess.learning.usage import Closing
from prowess.metrics import read_set, sampled
from prowess.sources.source import silent
from prowess.store.database import Database, Transaction, paced
from prowess.text.redaction import redacted
from prowess.types import DEFAULT_AGENT, Head

ABANDONED_AFTER = timedelta(hours=1)
PORTION = 200
COUNTED_AT_ONCE = 10
"""How many entries of the journal, and how many lessons and gaps, one transaction deals with."""
MOST_JUDGES = 2000
MOST_LABELLED = 5000
DECIDED = {"stable": SkillPromoted, "deprecated": SkillDeprecated, "retired": SkillRetired}
ClosingOf = Callable[[str, str, str], Closing]
"""Need, agent, what was tried -> what stands between the need and its answer."""
GATE_COMMAND = "prowess lessons gate {}"


def located(config: LearningConfig, root: Path) -> LearningConfig:
    """The same, with the folder of the benchmark as seen from `root`."""
    return replace_fields(config, benchmark=str(root / config.benchmark) if config.benchmark else "")


class Learning:
    """What is learnt from use: lessons, which people promote after their gates, and gaps."""

    def __init__(
        self, database: Database, journal: Journal, config: LearningConfig, clock: Callable[[], datetime],
        trials: Trials, closing_of: ClosingOf,
    ) -> None:  # fmt: skip
        self._database = database
        self._journal = journal
        self._config = config
        self._clock = clock
        self._trials = trials
        self._closing_of = closing_of

    @property
    def on(self) -> bool:
        """Whether anything is learnt: `[learning] mode`."""
        return self._config.mode == "accumulate"

    def learn(self, by: str = "") -> LearningReport:
        """Read what happened since the last time; nothing at all while learning is off.

        by: who asks for it; named in the journal.
        """
        if not self.on:
            return LearningReport()
        before = stamp(self._clock() - ABANDONED_AFTER)
        if by:
            self._journal.record(LearningOrdered(by=by))
        until = self._journal.heads()  # what learning itself writes down is for the next time
        return together(paced(self._portions(until, before)))

    def _portions(self, until: Sequence[Head], before: str) -> Iterator[LearningReport]:
        """One short transaction each, so that others may write in between; interrupted, the next goes on."""
        while (learnt := self._read_portion(until)) is not None:
            yield learnt
        given_up = 1
        while given_up:
            with self._learning() as transaction:
                given_up, ledgers = give_up(transaction, before, PORTION)
                learnt = self._noted(transaction, ledgers)
            yield learnt
        counted: LearningReport | None = LearningReport()
        while counted is not None:
            with self._learning() as transaction:
                counted = count_due(transaction, COUNTED_AT_ONCE)
            yield counted or LearningReport()

    def _read_portion(self, until: Sequence[Head]) -> LearningReport | None:
        """Take in the next entries of the journal; they are read before anything is locked."""
        with self._database.reading() as transaction:
            seen = state.heads(transaction)
        entries = self._journal.portion(seen, until, PORTION)
        if not entries:
            return None
        with self._learning() as transaction:
            if state.heads(transaction) != seen:
                return LearningReport()  # another process has just learnt from them
            return self._noted(transaction, ingest(transaction, entries))

    @contextmanager
    def _learning(self) -> Iterator[Transaction]:
        with self._database.writing() as transaction:
            state.lock(transaction)
            yield transaction

    def _noted(self, transaction: Transaction, ledgers: Sequence[SkillLedger]) -> LearningReport:
        for ledger in ledgers:
            written, counted = ledger_events(ledger)
            self._journal.append(transaction, LedgerWritten(id=written.id, payload=written.payload))
            self._journal.append(transaction, LedgerCounted(id=counted.id, payload=counted.payload))
        return LearningReport(tuple(ledgers))

    def ledger(self, offer: str) -> SkillLedger:
        """What one request demonstrated.

        offer: the id of the offer.
        """
        self._needs_to_be_on()
        with self._database.reading() as transaction:
            found = ledger_of(transaction, offer)
        if found is None:
            raise NotFound("remembered offer", offer, (), "learn first: prowess lessons learn")
        return found

    # --- looking -----------------------------------------------------------------------------

    def lessons(self, status: str = "") -> tuple[Lesson, ...]:
        """What was learnt: which capability answers which requests.

        status: only these: "proposed", "stable", "deprecated" or "retired"; empty for all.
        """
        with self._database.reading() as transaction:
            return lessons.every(transaction, status)

    def lesson(self, id: str) -> Lesson:
        """One lesson.

        id: of the lesson.
        """
        with self._database.reading() as transaction:
            return lessons.get(transaction, id)

    def results(self, id: str) -> tuple[SuiteResult, ...]:
        """Everything the gates of a lesson ever measured, oldest first.

        id: of the lesson.
        """
        with self._database.reading() as transaction:
            return gates.of_skill(transaction, lessons.get(transaction, id).id)

    def gaps(self, closed: bool = False) -> tuple[Gap, ...]:
        """What was needed and not answered, the most worth closing first.

        closed: those that were closed, too.
        """
        with self._database.reading() as transaction:
            return ranked(curriculum.every(transaction, closed), self._clock())

    def gap(self, id: str) -> Gap:
        """One gap.

        id: of the gap.
        """
        with self._database.reading() as transaction:
            return curriculum.get(transaction, id)

    def closing(self, gap: Gap) -> Closing:
        """What would close a gap, for the first of those who met it.

        gap: as `gaps` returned it.
        """
        return self.what_would_close(gap.span, (gap.agents or (DEFAULT_AGENT,))[0], gap.failed)

    def what_would_close(self, span: str, agent: str, failed: str = "") -> Closing:
        """Why nothing answered a need, as things are now.

        span: what was asked for, such as "book a table".
        agent: who asked.
        failed: the id of what was tried for it, if anything was.
        """
        return self._closing_of(span, agent, failed)

    def close_gap(self, id: str, by: str) -> Gap:
        """A person says that a gap needs nothing more; met again, it opens again.

        id: of the gap.
        by: who decides; the journal names them.
        """
        with self._database.writing() as transaction:
            gap = curriculum.get(transaction, id)
            closed = replace(gap, closed_by=by, closed_at=stamp(self._clock()))
            curriculum.keep(transaction, closed)
            self._journal.append(transaction, GapClosed(gap=gap.id, by=by))
        return closed

    # --- gates -------------------------------------------------------------------------------

    def propose(self, document: bytes, place: str, by: str) -> Lesson:
        """Take a suggestion from outside; it starts where every lesson starts, and proves nothing.

        document: the proposal, as JSON.
        place: where it came from, for messages.
        by: who suggests it.
        """
        self._needs_to_be_on()
        proposal = read_proposal(document, place)
        spans = tuple(redacted(span) for span in proposal.spans if span.strip())[: lessons.MAX_SPANS]
        id = stable_id("skill", canonical([proposal.method, normalised(spans[0])]))
        with self._database.writing() as transaction:
            known = lessons.find(transaction, id)
            at = stamp(self._clock())
            made = known or Lesson(
                id=id, method=proposal.method, spans=spans, since=at, last_seen=at, reason=f"proposed by {by}"
            )
            lessons.keep(transaction, made)
            self._journal.append(transaction, SkillProposed(skill=id, by=by))
        return made

    def gate(self, *ids: str, progress: Progress = silent, by: str = "a person") -> tuple[Gated, ...]:
        """Really run the gates of these lessons, together, and keep what they measured.

        ids: of the lessons.
        progress: called with (done, total).
        by: who decides; the journal names them.
        """
        self._needs_to_be_on()
        with self._database.reading() as transaction:
            chosen = [lessons.get(transaction, id) for id in ids]
            stable = lessons.every(transaction, "stable")
            proposed = {lesson.id for lesson in lessons.every(transaction, "proposed")}
            judges = self._judges(transaction)
            chosen = [self._divided(transaction, lesson, judges) for lesson in chosen]
        named = "--all" if len(chosen) > 1 and {each.id for each in chosen} == proposed else " ".join(ids)
        agents = {DEFAULT_AGENT, *(j.agent for j in judges), *(a for lesson in chosen for a in lesson.agents)}
        trial = self._trials.begin(sorted(agents))
        results = gate(chosen, self._court(judges, stable, named, progress), trial)
        with self._database.writing() as transaction:
            for result in results:
                self._keep(transaction, result, by)
        return results

    def _divided(self, transaction: Transaction, lesson: Lesson, judges: Sequence[LabelledRequest]) -> Lesson:
        """The lesson as it is gated: all of it teaches where people labelled enough requests about it."""
        labelled = sum(lesson.method in judge.expected for judge in judges if not judge.told_by)
        if labelled >= FEWEST_JUDGES:
            return lesson
        return divided(lesson, memory.demonstrations(transaction, lesson.id), self._config.judges == "others")

    def _court(
        self, judges: tuple[LabelledRequest, ...], stable: tuple[Lesson, ...], named: str, progress: Progress
    ) -> GateContext:
        return GateContext(
            judges=judges,
            stable=stable,
            min_gain=self._config.min_gain,
            others_only=self._config.judges == "others",
            command=GATE_COMMAND.format(named),
            at=stamp(self._clock()),
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
        self._journal.append(transaction, entry)

    def _judges(self, transaction: Transaction) -> tuple[LabelledRequest, ...]:
        """Requests whose right answer is known: from a labelled set, and from what worked."""
        found = [
            LabelledRequest(query.text, query.gold, DEFAULT_AGENT, "")
            for query in (
                sampled(read_set(Path(self._config.benchmark)).queries, "train", MOST_LABELLED)
                if self._config.benchmark
                else ()
            )
        ]
        stepped = {
            (span, agent): steps
            for span, agent, lesson in memory.worked_in_steps(transaction, MOST_JUDGES)
            if (steps := self._steps(transaction, lesson))
        }
        found += [LabelledRequest(span, steps, agent, agent) for (span, agent), steps in stepped.items()]
        found += [
            LabelledRequest(span, (method,), agent, agent)
            for span, agent, method in memory.worked(transaction, MOST_JUDGES)
            if (span, agent) not in stepped
        ]
        return tuple({(j.request, j.agent, j.expected): j for j in found}.values())

    def _steps(self, transaction: Transaction, id: str) -> tuple[str, ...]:
        lesson = lessons.find(transaction, id)
        return lesson.steps if lesson else ()

    # --- deciding ----------------------------------------------------------------------------

    def promote(self, id: str, by: str) -> Lesson:
        """Rely on a lesson from the next sync on; only a person may say so, and only after its gates.

        id: of the lesson.
        by: who decides; the journal names them.
        """
        self._needs_to_be_on()
        with self._database.writing() as transaction:
            lesson = lessons.get(transaction, id)
            if not lesson.gate.satisfied:
                lacking = "tests" if not lesson.has_tests else "a benchmark delta"
                raise LearningError(
                    lesson.id, f"it has not shown {lacking}", f"run: prowess lessons gate {id}"
                )
            if lesson.status == "stable":
                return lesson
            return self._decide(transaction, lesson, "stable", f"promoted by {by}", by)

    def promote_all(self) -> tuple[Lesson, ...]:
        """Promote whatever has passed its gates, where the configuration says that nobody need be asked."""
        if not self._config.auto:
            remedy = "set auto = true in [learning], or name the lesson: prowess lessons promote ID"
            raise LearningError("promotion", "nothing is promoted without a person here", remedy)
        ready = [lesson for lesson in self.lessons("proposed") if lesson.promotable]
        return tuple(self.promote(lesson.id, "the auto policy") for lesson in ready)

    def deprecate(self, id: str, by: str, reason: str = "") -> Lesson:
        """Rely on a lesson no more; it may be gated and promoted again.

        id: of the lesson.
        by: who decides; the journal names them.
        reason: why, for people.
        """
        return self._withdraw(id, "deprecated", by, reason)

    def retire(self, id: str, by: str, reason: str = "") -> Lesson:
        """Withdraw a lesson for good; its history stays.

        id: of the lesson.
        by: who decides; the journal names them.
        reason: why, for people.
        """
        return self._withdraw(id, "retired", by, reason)

    def _withdraw(self, id: str, status: SkillStatus, by: str, reason: str) -> Lesson:
        with self._database.writing() as transaction:
            lesson = lessons.get(transaction, id)
            why = reason or lesson.proposal or f"{status} by {by}"
            fallen = replace(lesson, has_tests=False, has_benchmark_delta=False)
            return self._decide(transaction, fallen, status, why, by)

    def _decide(
        self, transaction: Transaction, lesson: Lesson, status: SkillStatus, reason: str, by: str
    ) -> Lesson:
        if lesson.status == "retired" and status != "retired":
            raise LearningError(lesson.id, "it is retired", "propose it anew")
        decided = replace(lesson, status=status, reason=reason, proposal="")
        lessons.keep(transaction, decided)
        entry = DECIDED[status](
            skill=lesson.id, method=lesson.method, before=lesson.status, reason=reason, by=by
        )
        self._journal.append(transaction, entry)
        return decided

    def _needs_to_be_on(self) -> None:
        if not self.on:
            raise LearningError("learning", "it is off", 'set mode = "accumulate" in [learning]')
