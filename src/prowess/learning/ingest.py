"""From the journal to lessons and gaps, in portions that each are one short transaction.

Above: learning in the engine. Below: the parts of learning, none of which knows the journal or the clock.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

import msgspec

from prowess.learning import gaps as curriculum
from prowess.learning import lessons as lessons
from prowess.learning import reading_state as state
from prowess.learning import use_store as memory
from prowess.learning import uses
from prowess.learning.gaps import Gap, gap_id
from prowess.learning.ledger import SkillLedger
from prowess.learning.lessons import FEWEST_OF_STEPS, Lesson, skill_for, skill_of_steps, superseded
from prowess.learning.outcomes import Attempt, SettledNeed, evidence_of, settled, steps_of
from prowess.learning.usage_entries import OfferedRequest, Tried, use_of
from prowess.learning.use_store import Demonstration, Requested
from prowess.store.database import Transaction
from prowess.types import Head, JournalEntry

SKILL, GAP, METHOD = "skill", "gap", "method"
"""What is counted anew: a lesson, a gap, and whether a capability still works for its lessons."""


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
    state.advance(transaction, _reached(entries))
    memory.forget_the_oldest(transaction)
    uses.forget_the_oldest(transaction)
    return found


def give_up(transaction: Transaction, before: str, most: int) -> tuple[int, tuple[SkillLedger, ...]]:
    """Give up some of what was asked before this and came to nothing; how many, and their ledgers."""
    offers = memory.abandoned(transaction, before, most)
    return len(offers), _settle_all(transaction, offers, before)


def count_due(transaction: Transaction, most: int) -> LearningReport | None:
    """Count some of the lessons and gaps anew that something was learnt about; nothing when none is left."""
    due = state.due(transaction, most)
    if not due:
        return None
    kept = [
        _count_skill(transaction, msgspec.json.decode(record, type=Lesson))
        for kind, _, record in due
        if kind == SKILL
    ]
    turned = _supersede(transaction, [lesson for lesson in kept if lesson])
    turned += _question(transaction, [id for kind, id, _ in due if kind == METHOD])
    gaps = tuple(_count_gap(transaction, id, span) for kind, id, span in due if kind == GAP)
    state.done(transaction, due)
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
    state.owe(transaction, [*owed, *((GAP, id, span) for id, span in changed.gaps.items())])
    return tuple(each for each in ledgers if each)


def ledger_of(transaction: Transaction, offer: str) -> SkillLedger | None:
    """What one request demonstrated, as far as it is known."""
    known = memory.requested(transaction, offer)
    if known is None:
        return None
    needs = settled(known.needs, memory.attempts(transaction, offer), abandoned=False)
    return SkillLedger.from_evidence(evidence_of(offer, needs))


def _remember(transaction: Transaction, entries: Sequence[JournalEntry]) -> list[str]:
    """Write down what was asked and tried; returns the requests that are to be settled anew."""
    touched: list[str] = []
    used: set[str] = set()
    for entry in entries:
        use = use_of(entry)
        if isinstance(use, OfferedRequest):
            memory.ask(transaction, use)
            touched.append(use.offer)
        elif isinstance(use, Tried):
            uses.note(transaction, use)
            used.add(use.capability)
            if use.offer:  # without one it says nothing of what it is good for
                memory.attempt(transaction, use)
                touched.append(use.offer)
        elif use is not None and (offer := memory.refuse(transaction, use)):
            touched.append(offer)
    if uses.look_again(transaction, used):
        state.next_taught_version(transaction)
    state.owe(transaction, ((METHOD, method, "") for method in used))
    return list(_with_parents(transaction, touched))


def _with_parents(transaction: Transaction, offers: Iterable[str]) -> Iterator[str]:
    """These requests, and the ones around them, which what was tried for these answers, too."""
    for offer in dict.fromkeys(offers):
        yield offer
        yield from memory.pass_on(transaction, offer)


def _reached(entries: Iterable[JournalEntry]) -> list[Head]:
    last = {entry.chain: entry.number for entry in sorted(entries, key=lambda entry: entry.number)}
    return [Head(chain, number, "") for chain, number in last.items()]


def _settle(
    transaction: Transaction, offer: str, known: Requested, abandoned: bool, changed: _Changed
) -> SkillLedger | None:
    attempts = memory.attempts(transaction, offer)
    needs = settled(known.needs, attempts, abandoned)
    is_told = memory.has_a_successor(transaction, offer, known)
    for number, need in enumerate(needs):
        _note_gap(transaction, offer, number, need, changed, is_told)
        for attempt in need.attempts:
            _credit(transaction, offer, known, need, attempt, changed)
    if not known.parents:  # the steps of a search are steps of the request around it
        _credit_steps(transaction, offer, known, attempts, changed)
    if any(need.status == "pending" for need in needs):
        return None
    return SkillLedger.from_evidence(evidence_of(offer, needs))


def _note_gap(
    transaction: Transaction, offer: str, number: int, need: SettledNeed, changed: _Changed, is_told: bool
) -> None:
    """Write down what came of a need, and the gap it leaves.

    is_told: whether a later request, which says it again or was made within it, tells how it went on.
    """
    before = memory.gap_of(transaction, offer, number)
    span = need.need.span
    tried_here = any(not attempt.asked for attempt in need.attempts)
    is_gap = need.status in ("blocked", "deferred") and (tried_here or not is_told)
    gap = gap_id(span) if is_gap else ""
    memory.settle(transaction, offer, number, need, gap)
    for id in (before, gap):
        if id:
            changed.gaps[id] = span
    if need.status == "satisfied":
        same = curriculum.of_the_same_need(transaction, span)
        changed.gaps |= {known.id: known.span for known in same if not known.closed_by}


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


def _question(transaction: Transaction, methods: Sequence[str]) -> list[Lesson]:
    """Lessons that lead to what fails now, all of which are questioned for one reason; or no more."""
    failing, turned = (uses.reasons(transaction) if methods else {}), []
    for lesson in lessons.every(transaction, "stable") if methods else ():
        questioned = lessons.questioned(lesson, failing)
        if questioned != lesson:
            lessons.keep(transaction, questioned)
            turned.append(questioned)
    return turned


def _count_gap(transaction: Transaction, id: str, span: str) -> Gap:
    known = curriculum.find(transaction, id)
    gap = known or Gap(id=id, span=span)
    met = memory.meetings(transaction, id)
    agents = {*gap.agents, *(each.agent for each in met)}
    counted = curriculum.counted(gap, met, memory.answers(transaction, gap.span, sorted(agents)))
    if counted.times or known:
        curriculum.keep(transaction, counted)
    return counted
