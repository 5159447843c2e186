"""What should be kept, and what can still not be done: lessons and gaps, gated and decided.

Above: the engine and the faces. Below: the parts of learning. Every change is one transaction with its
entry in the journal; nothing is promoted by itself.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

from msgspec.structs import replace as replace_fields

from prowess.config import LearningConfig
from prowess.errors import LearningError, NotFound
from prowess.jobs import Jobs
from prowess.journal import Journal, stamp
from prowess.journal.between_turns import (
    GapClosed,
    LearningOrdered,
    SkillDeprecated,
    SkillPromoted,
    SkillProposed,
    SkillRetired,
)
from prowess.learning import gaps as curriculum
from prowess.learning import gates, lessons
from prowess.learning import reading_state as state
from prowess.learning import use_store as memory
from prowess.learning.gaps import Gap, ranked
from prowess.learning.gate_runs import ANEW, GATE_COMMAND, GateRuns
from prowess.learning.gating import Progress
from prowess.learning.ingest import LearningReport, ledger_of
from prowess.learning.journal_reading import JournalReading
from prowess.learning.ledger import SkillLedger, SkillStatus
from prowess.learning.lessons import Lesson
from prowess.learning.promotion import Gated, SuiteResult, read_proposal
from prowess.learning.trial import Trials
from prowess.learning.usage import Closing
from prowess.sources.source import silent
from prowess.store.database import Database, Transaction
from prowess.text.counts import counted
from prowess.text.redaction import redacted
from prowess.types import DEFAULT_AGENT

ABANDONED_AFTER = timedelta(hours=1)
DECIDED = {"stable": SkillPromoted, "deprecated": SkillDeprecated, "retired": SkillRetired}
ClosingOf = Callable[[str, str, str], Closing]
"""Need, agent, what was tried -> what stands between the need and its answer."""


def located(config: LearningConfig, root: Path) -> LearningConfig:
    """The same, with the folder of the benchmark as seen from `root`."""
    return replace_fields(config, benchmark=str(root / config.benchmark) if config.benchmark else "")


class Learning:
    """What is learnt from use: lessons, which people promote after their gates, and gaps."""

    def __init__(
        self, database: Database, journal: Journal, config: LearningConfig, clock: Callable[[], datetime],
        trials: Trials, closing_of: ClosingOf, known: Callable[[], Collection[str]], jobs: Jobs,
    ) -> None:  # fmt: skip
        self._database = database
        self._journal = journal
        self._config = config
        self._clock = clock
        self._closing_of = closing_of
        self._known = known
        self._jobs = jobs
        self._reading = JournalReading(database, journal)
        self._gates = GateRuns(database, journal, config, clock, trials)

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
        return self._reading.read(before)

    def learn_due(self, is_over: Callable[[], bool] = lambda: False) -> LearningReport:
        """Read what happened if `[learning] every_minutes` says it is time; of several processes one does.

        is_over: asked after each short transaction; once it is true, the rest waits for the next time.
        """
        if not self.on or not self._config.every_minutes:
            return LearningReport()
        with self._jobs.held("learning", timedelta(minutes=self._config.every_minutes)) as lease:
            if lease is None:
                return LearningReport()
            before = stamp(self._clock() - ABANDONED_AFTER)
            report = self._reading.read(before, lambda: is_over() or not lease.keep())
            lease.result = (
                f"{counted(len(report.lessons), 'lesson')} and {counted(len(report.gaps), 'gap')} changed"
            )
        return report

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

    # --- proposing ---------------------------------------------------------------------------

    def propose(self, document: bytes, place: str, by: str) -> Lesson:
        """Take a suggestion from outside; it starts where every lesson starts, and proves nothing.

        document: the proposal, as JSON.
        place: where it came from, for messages.
        by: who suggests it.
        """
        self._needs_to_be_on()
        proposal = read_proposal(document, place)
        if proposal.method not in (known := self._known()):
            raise NotFound("capability", proposal.method, known, "see: prowess list")
        spans = tuple(redacted(span) for span in proposal.spans if span.strip())[: lessons.MAX_SPANS]
        id, at = lessons.id_of(proposal.method, spans[0]), stamp(self._clock())
        with self._database.writing() as transaction:
            held = lessons.current(transaction, id)
            if held is not None and held.status == "retired":
                return self._propose_anew(transaction, held, spans, by)
            made = held or Lesson(
                id=id, method=proposal.method, spans=spans, since=at, last_seen=at, reason=f"proposed by {by}"
            )
            lessons.keep(transaction, made)
            self._journal.append(transaction, SkillProposed(skill=id, by=by))
        return made

    def propose_anew(self, id: str, by: str) -> Lesson:
        """Suggest a retired lesson once more: a new one, of which nothing is proven and which names the old.

        What was shown for the old one counts for the new one; the old one keeps its record.

        id: of the retired lesson.
        by: who suggests it.
        """
        self._needs_to_be_on()
        with self._database.writing() as transaction:
            held = lessons.get(transaction, id)
            if held.status != "retired" or held.replaced_by:
                now = f"was proposed anew as {held.replaced_by}" if held.replaced_by else f"is {held.status}"
                remedy = "only a retired lesson is proposed anew"
                raise LearningError(held.id, f"it {now}", remedy)
            return self._propose_anew(transaction, held, (), by)

    def _propose_anew(
        self, transaction: Transaction, retired: Lesson, spans: Sequence[str], by: str
    ) -> Lesson:
        state.lock(transaction)  # nobody counts for the old one meanwhile
        made = lessons.anew(retired, spans, stamp(self._clock()), f"proposed anew by {by}")
        memory.credit_anew(transaction, retired.id, made.id)
        made = lessons.counted(made, memory.demonstrations(transaction, made.id))
        for lesson in (made, replace(retired, replaced_by=made.id, proposal="")):
            lessons.keep(transaction, lesson)
        self._journal.append(transaction, SkillProposed(skill=made.id, by=by, replaces=retired.id))
        return made

    # --- gates -------------------------------------------------------------------------------

    def gate(self, *ids: str, progress: Progress = silent, by: str = "a person") -> tuple[Gated, ...]:
        """Really run the gates of these lessons, together, and keep what they measured.

        ids: of the lessons.
        progress: called with (done, total).
        by: who decides; the journal names them.
        """
        self._needs_to_be_on()
        return self._gates.run(ids, progress, by)

    # --- deciding ----------------------------------------------------------------------------

    def promote(self, id: str, by: str) -> Lesson:
        """Rely on a lesson from the next sync on; only a person may say so, and only after its gates.

        id: of the lesson.
        by: who decides; the journal names them.
        """
        self._needs_to_be_on()
        with self._database.writing() as transaction:
            lesson = lessons.get(transaction, id)
            if lesson.status == "retired":
                raise _retired(lesson)
            if not lesson.gate.satisfied:
                raise self._unproven(transaction, lesson)
            if lesson.status == "stable":
                return lesson
            return self._decide(transaction, lesson, "stable", f"promoted by {by}", by)

    def _unproven(self, transaction: Transaction, lesson: Lesson) -> LearningError:
        """What a lesson has not shown, and why, if its gates were run."""
        suite, lacking = ("benchmark", "a benchmark delta") if lesson.has_tests else ("regression", "tests")
        ran = [result for result in gates.of_skill(transaction, lesson.id) if result.suite == suite]
        if not ran:
            remedy = f"run: {GATE_COMMAND.format(lesson.id)}"
            return LearningError(lesson.id, f"it has not shown {lacking}", remedy)
        why, remedy = ran[-1].why or ran[-1].verdict, ran[-1].remedy
        again = f"then run: {GATE_COMMAND.format(lesson.id)}"
        what = f"it has not shown {lacking}, for its gate was blocked: {why}"
        return LearningError(lesson.id, what, f"{remedy}; {again}" if remedy else again)

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

    def deprecate_all(self, method: str, by: str, reason: str = "") -> tuple[Lesson, ...]:
        """Rely no more on any lesson that leads to one capability, such as a tool that died.

        method: the capability, such as "tool:invoices".
        by: who decides; the journal names them.
        reason: why, for people.
        """
        with self._database.writing() as transaction:
            stable = lessons.every(transaction, "stable")
            chosen = [one for one in stable if method in (one.method, *one.steps)]
            if not chosen:
                known = {id for one in stable for id in (one.method, *one.steps)}
                what, see = "stable lesson that leads to", "see: prowess lessons list"
                raise NotFound(f"{what} a capability", method, known, see)
            return tuple(self._withdrawn(transaction, one, "deprecated", by, reason) for one in chosen)

    def retire(self, id: str, by: str, reason: str = "") -> Lesson:
        """Withdraw a lesson for good; its history stays.

        id: of the lesson.
        by: who decides; the journal names them.
        reason: why, for people.
        """
        return self._withdraw(id, "retired", by, reason)

    def _withdraw(self, id: str, status: SkillStatus, by: str, reason: str) -> Lesson:
        with self._database.writing() as transaction:
            return self._withdrawn(transaction, lessons.get(transaction, id), status, by, reason)

    def _withdrawn(
        self, transaction: Transaction, lesson: Lesson, status: SkillStatus, by: str, reason: str
    ) -> Lesson:
        why = reason or lesson.proposal or f"{status} by {by}"
        fallen = replace(lesson, has_tests=False, has_benchmark_delta=False)
        return self._decide(transaction, fallen, status, why, by)

    def _decide(
        self, transaction: Transaction, lesson: Lesson, status: SkillStatus, reason: str, by: str
    ) -> Lesson:
        if lesson.status == "retired" and status != "retired":
            raise _retired(lesson)
        at = stamp(self._clock())
        decided = replace(lesson, status=status, reason=reason, proposal="", decided_at=at)
        lessons.keep(transaction, decided)
        entry = DECIDED[status](
            skill=lesson.id, method=lesson.method, before=lesson.status, reason=reason, by=by
        )
        self._journal.append(transaction, entry)
        return decided

    def _needs_to_be_on(self) -> None:
        if not self.on:
            raise LearningError("learning", "it is off", 'set mode = "accumulate" in [learning]')


def _retired(lesson: Lesson) -> LearningError:
    return LearningError(lesson.id, "it is retired", f"run: {ANEW.format(lesson.id)}")
