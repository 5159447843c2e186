"""From the journal to skills and gaps, in portions that each are one short transaction.

Above: learning in the engine. Below: the parts of learning, none of which knows the journal or the clock.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

import msgspec

from prowess.learning import gaps as curriculum
from prowess.learning import lessons as skills
from prowess.learning import use_store as memory
from prowess.learning.gaps import Gap, gap_id
from prowess.learning.ledger import SkillLedger
from prowess.learning.lessons import FEWEST_OF_STEPS, Skill, skill_for, skill_of_steps, superseded
from prowess.learning.outcomes import Attempt, SettledNeed, evidence_of, settled, steps_of
from prowess.learning.usage_entries import OfferedRequest, Tried, use_of
from prowess.learning.use_store import Demonstration, Requested
from prowess.store.database import Transaction
from prowess.types import Head, JournalEntry

SKILL, GAP = "skill", "gap"


@dataclass(frozen=True, slots=True)
class LearningReport:
    """What a reading changed: the ledger of each request that came to something, skills and gaps."""

    ledgers: tuple[SkillLedger, ...] = ()
    skills: tuple[Skill, ...] = ()
    gaps: tuple[Gap, ...] = ()


@dataclass(slots=True)
class _Changed:
    skills: dict[str, Skill] = field(default_factory=dict)
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
    """Count some of the skills and gaps anew that something was learnt about; nothing when none is left."""
    due = memory.due(transaction, most)
    if not due:
        return None
    kept = [
        _count_skill(transaction, msgspec.json.decode(record, type=Skill))
        for kind, _, record in due
        if kind == SKILL
    ]
    turned = _supersede(transaction, [skill for skill in kept if skill])
    gaps = tuple(_count_gap(transaction, id, span) for kind, id, span in due if kind == GAP)
    memory.done(transaction, due)
    latest = {skill.id: skill for skill in (*kept, *turned) if skill}
    return LearningReport((), tuple(latest.values()), gaps)


def together(parts: Iterable[LearningReport]) -> LearningReport:
    """What several portions changed, each skill and gap as the last one left it."""
    ledgers: dict[str, SkillLedger] = {}
    skills: dict[str, Skill] = {}
    gaps: dict[str, Gap] = {}
    for part in parts:
        ledgers |= {ledger.frame_id: ledger for ledger in part.ledgers}
        skills |= {skill.id: skill for skill in part.skills}
        gaps |= {gap.id: gap for gap in part.gaps}
    return LearningReport(tuple(ledgers.values()), tuple(skills.values()), tuple(gaps.values()))


def _settle_all(
    transaction: Transaction, offers: Iterable[str], abandoned_before: str
) -> tuple[SkillLedger, ...]:
    changed = _Changed()
    ledgers = []
    for offer in dict.fromkeys(offers):
        known = memory.requested(transaction, offer)
        if known is not None:  # an outcome may come before its offer; it waits
            ledgers.append(_settle(transaction, offer, known, known.at < abandoned_before, changed))
    owed = [(SKILL, id, msgspec.json.encode(skill).decode()) for id, skill in changed.skills.items()]
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
    skill = _held(changed, attempt.capability, span) or skill_for(
        transaction, attempt.capability, span, create=attempt.ok
    )
    if skill is not None:
        memory.credit(
            transaction,
            offer,
            attempt.capability,
            skill.id,
            Demonstration(attempt.ok, attempt.at, known.agent, span),
        )
        if skill.id not in changed.skills:
            skills.keep(transaction, skill)  # so that the next request of this reading finds it
            changed.skills[skill.id] = skill


def _held(changed: _Changed, method: str, span: str) -> Skill | None:
    return next((s for s in changed.skills.values() if s.method == method and span in s.spans), None)


def _credit_steps(
    transaction: Transaction, offer: str, known: Requested, attempts: Sequence[Attempt], changed: _Changed
) -> None:
    steps = steps_of(attempts)
    if not steps:
        return
    skill = skill_of_steps(transaction, steps)
    seen = Demonstration(True, known.at, known.agent, known.text)
    before = memory.credit_steps(transaction, offer, skill.id, seen)
    changed.skills.setdefault(skill.id, skill)
    if before and before != skill.id and (other := skills.find(transaction, before)):
        changed.skills.setdefault(before, other)


def _count_skill(transaction: Transaction, skill: Skill) -> Skill | None:
    current = skills.find(transaction, skill.id)
    counted = skills.counted(current or skill, memory.demonstrations(transaction, skill.id))
    if skill.steps and current is None and counted.successes < FEWEST_OF_STEPS:
        return None  # seen too seldom to be a habit
    skills.keep(transaction, counted)
    return counted


def _supersede(transaction: Transaction, changed: Sequence[Skill]) -> list[Skill]:
    """Stable skills whose requests something else that was used now answers better, and so says each."""
    turned = []
    for skill in skills.every(transaction, "stable") if changed else ():
        why = "" if skill.proposal else superseded(skill, changed)
        if why:
            turned.append(replace(skill, proposal=why))
            skills.keep(transaction, turned[-1])
    return turned


def _count_gap(transaction: Transaction, id: str, span: str) -> Gap:
    gap = curriculum.find(transaction, id) or Gap(id=id, span=span)
    counted = curriculum.counted(gap, memory.meetings(transaction, id))
    if counted.times or curriculum.find(transaction, id):
        curriculum.keep(transaction, counted)
    return counted
