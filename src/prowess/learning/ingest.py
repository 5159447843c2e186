"""From the journal to lessons and gaps, in portions that each are one short transaction.

Above: learning in the engine. Below: the parts of learning, none of which knows the journal or the clock.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

import msgspec

from prowess.learning import gaps as curriculum
from prowess.learning import lessons as lessons
from prowess.learning import use_store as memory
from prowess.learning.gaps import Gap, gap_id
from prowess.learning.ledger import SkillLedger
from prowess.learning.lessons import FEWEST_OF_STEPS, Lesson, skill_for, skill_of_steps, superseded
from prowess.learning.outcomes import Attempt, SettledNeed, evidence_of, settled, steps_of
from prowess.learning.usage_entries import OfferedRequest, Tried, use_of
from prowess.learning.use_store import Demonstration, Requested
from prowess.store.database import Transaction
from prowess.types import Head, JournalEntry

SKILL, GAP = "skill", "gap"


@dataclass(frozen=True, slots=True)
class LearningReport:
    """What a reading changed: the ledger of each request that came to something, lessons and gaps."""

    ledgers: tuple[SkillLedger, ...] = ()
    lessons: tuple[Lesson, ...] = ()
    gaps: tuple[Gap, ...] = ()


@dataclass(slots=True)
class _Changed:
    lessons: dict[str, Lesson] = field(default_factory=dict)
    gaps: dict[str, str] = field(default_factory=dict)


def ingest(transaction: Transaction, entries: Sequence[JournalEntry]) -> tuple[SkillLedger, ...]:
    """Remember what happened, a portion of it; what it means is counted afterwards, by `count_due`."""
    found = _settle_all(transaction, _remember(transaction, entries), "")
    memory.advance(transaction, _reached(entries))
    memory.forget_the_oldest(transaction)
    return found


def give_up(transaction: Transaction, before: str, most: int) -> tuple[int, tuple[SkillLedger, ...]]:
    """Give up some of what was asked before this and came to nothing; how many, and their ledgers."""
    offers = memory.abandoned(transaction, before, most)
    return len(offers), _settle_all(transaction, offers, before)


def count_due(transaction: Transaction, most: int) -> LearningReport | None:
    """Count some of the lessons and gaps anew that something was learnt about; nothing when none is left."""
    due = memory.due(transaction, most)
    if not due:
        return None
    kept = [
        _count_skill(transaction, msgspec.json.decode(record, type=Lesson))
        for kind, _, record in due
        if kind == SKILL
    ]
    turned = _supersede(transaction, [lesson for lesson in kept if lesson])
    gaps = tuple(_count_gap(transaction, id, span) for kind, id, span in due if kind == GAP)
    memory.done(transaction, due)
    latest = {lesson.id: lesson for lesson in (*kept, *turned) if lesson}
    return LearningReport((), tuple(latest.values()), gaps)


def together(parts: Iterable[LearningReport]) -> LearningReport:
    """What several portions changed, each lesson and gap as the last one left it."""
    ledgers: dict[str, SkillLedger] = {}
    lessons: dict[str, Lesson] = {}
    gaps: dict[str, Gap] = {}
    for part in parts:
        ledgers |= {ledger.frame_id: ledger for ledger in part.ledgers}
        lessons |= {lesson.id: lesson for lesson in part.lessons}
        gaps |= {gap.id: gap for gap in part.gaps}
    return LearningReport(tuple(ledgers.values()), tuple(lessons.values()), tuple(gaps.values()))


def _settle_all(
    transaction: Transaction, offers: Iterable[str], abandoned_before: str
) -> tuple[SkillLedger, ...]:
    changed = _Changed()
    ledgers = []
    for offer in dict.fromkeys(offers):
        known = memory.requested(transaction, offer)
        if known is not None:  # an outcome may come before its offer; it waits
            ledgers.append(_settle(transaction, offer, known, known.at < abandoned_before, changed))
    owed = [(SKILL, id, msgspec.json.encode(lesson).decode()) for id, lesson in changed.lessons.items()]
    memory.owe(transaction, [*owed, *((GAP, id, span) for id, span in changed.gaps.items())])
    return tuple(each for each in ledgers if each)


def ledger_of(transaction: Transaction, offer: str) -> SkillLedger | None:
    """What one request demonstrated, as far as it is known."""
    known = memory.requested(transaction, offer)
    if known is None:
        return None
    needs = settled(known.needs, memory.attempts(transaction, offer), abandoned=False)
    return SkillLedger.from_evidence(evidence_of(offer, needs))


def _remember(transaction: Transaction, entries: Sequence[JournalEntry]) -> list[str]:
    touched: list[str] = []
    for entry in entries:
        use = use_of(entry)
        if isinstance(use, OfferedRequest):
            memory.ask(transaction, use)
            touched.append(use.offer)
        elif isinstance(use, Tried):
            memory.attempt(transaction, use)
            touched.append(use.offer)
        elif use is not None and (offer := memory.refuse(transaction, use)):
            touched.append(offer)
    return touched


def _reached(entries: Iterable[JournalEntry]) -> list[Head]:
    last = {entry.chain: entry.number for entry in sorted(entries, key=lambda entry: entry.number)}
    return [Head(chain, number, "") for chain, number in last.items()]


def _settle(
    transaction: Transaction, offer: str, known: Requested, abandoned: bool, changed: _Changed
) -> SkillLedger | None:
    attempts = memory.attempts(transaction, offer)
    needs = settled(known.needs, attempts, abandoned)
    for number, need in enumerate(needs):
        _note_gap(transaction, offer, number, need, changed)
        for attempt in need.attempts:
            _credit(transaction, offer, known, need, attempt, changed)
    _credit_steps(transaction, offer, known, attempts, changed)
    if any(need.status == "pending" for need in needs):
        return None
    return SkillLedger.from_evidence(evidence_of(offer, needs))


def _note_gap(
    transaction: Transaction, offer: str, number: int, need: SettledNeed, changed: _Changed
) -> None:
    before = memory.gap_of(transaction, offer, number)
    open_now = need.status in ("blocked", "deferred")
    gap = gap_id(need.need.span) if open_now else ""
    memory.settle(transaction, offer, number, need, gap)
    for id in (before, gap):
        if id:
            changed.gaps[id] = need.need.span


def _credit(
    transaction: Transaction,
    offer: str,
    known: Requested,
    need: SettledNeed,
    attempt: Attempt,
    changed: _Changed,
) -> None:
    if attempt.denied:
        return
    span = need.need.span
    lesson = _held(changed, attempt.capability, span) or skill_for(
        transaction, attempt.capability, span, create=attempt.ok
    )
    if lesson is not None:
        memory.credit(
            transaction,
            offer,
            attempt.capability,
            lesson.id,
            Demonstration(attempt.ok, attempt.at, known.agent, span),
        )
        if lesson.id not in changed.lessons:
            lessons.keep(transaction, lesson)  # so that the next request of this reading finds it
            changed.lessons[lesson.id] = lesson


def _held(changed: _Changed, method: str, span: str) -> Lesson | None:
    return next((s for s in changed.lessons.values() if s.method == method and span in s.spans), None)


def _credit_steps(
    transaction: Transaction, offer: str, known: Requested, attempts: Sequence[Attempt], changed: _Changed
) -> None:
    steps = steps_of(attempts)
    if not steps:
        return
    lesson = skill_of_steps(transaction, steps)
    seen = Demonstration(True, known.at, known.agent, known.text)
    before = memory.credit_steps(transaction, offer, lesson.id, seen)
    changed.lessons.setdefault(lesson.id, lesson)
    if before and before != lesson.id and (other := lessons.find(transaction, before)):
        changed.lessons.setdefault(before, other)


def _count_skill(transaction: Transaction, lesson: Lesson) -> Lesson | None:
    current = lessons.find(transaction, lesson.id)
    counted = lessons.counted(current or lesson, memory.demonstrations(transaction, lesson.id))
    if lesson.steps and current is None and counted.successes < FEWEST_OF_STEPS:
        return None  # seen too seldom to be a habit
    lessons.keep(transaction, counted)
    return counted


def _supersede(transaction: Transaction, changed: Sequence[Lesson]) -> list[Lesson]:
    """Stable lessons whose requests something else that was used now answers better, and so says each."""
    turned = []
    for lesson in lessons.every(transaction, "stable") if changed else ():
        why = "" if lesson.proposal else superseded(lesson, changed)
        if why:
            turned.append(replace(lesson, proposal=why))
            lessons.keep(transaction, turned[-1])
    return turned


def _count_gap(transaction: Transaction, id: str, span: str) -> Gap:
    gap = curriculum.find(transaction, id) or Gap(id=id, span=span)
    counted = curriculum.counted(gap, memory.meetings(transaction, id))
    if counted.times or curriculum.find(transaction, id):
        curriculum.keep(transaction, counted)
    return counted
