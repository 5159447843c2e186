"""Lessons that gather over requests: what worked, for whom, how often, and what it may be used for.

Above: the engine. Below: the store, whose table of lessons this module owns. What is counted comes from
memory; what changes a status comes from promotion. Nothing is ever deleted.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import msgspec

from prowess.errors import NotFound
from prowess.journal import canonical
from prowess.learning.ids import stable_id
from prowess.learning.ledger import PromotionGate, SkillStatus
from prowess.learning.paraphrases import alike, distinct, normalised
from prowess.learning.use_store import Demonstration
from prowess.store.database import Transaction

MAX_SPANS = 32
MAX_AGENTS = 20
FEWEST_OF_STEPS = 3
"""How often several steps must have worked in this order before they count as a skill."""
RECENT = 10
FEWEST_RECENT = 5
DEPRECATE = "deprecate: "
OF_A_METHOD = re.compile(r" uses of \S+ failed$")
"""A proposal that is made for all lessons of what fails, and taken back when that works again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lesson:
    """What use has shown: these requests are answered by this method."""

    id: str
    method: str
    """The capability it routes to; for several steps, the id of the capability that it becomes."""
    steps: tuple[str, ...] = ()
    status: SkillStatus = "proposed"
    reason: str = "demonstrated"
    demonstrations: int = 0
    successes: int = 0
    failures: int = 0
    since: str = ""
    last_seen: str = ""
    agents: tuple[str, ...] = ()
    spans: tuple[str, ...] = ()
    examples: tuple[str, ...] = ()
    """The requests it was gated with: what it teaches once it is stable, and nothing later."""
    has_tests: bool = False
    has_benchmark_delta: bool = False
    taught: bool = False
    """Whether the last sync took it in."""
    proposal: str = ""
    """What later evidence speaks for, until a person decides."""
    decided_at: str = ""
    """When a person last decided about it."""
    replaces: str = ""
    """The retired lesson that was proposed anew as this one."""
    replaced_by: str = ""
    """The lesson that this one was proposed anew as."""
    promotable: bool = field(init=False, default=False)
    """Whether it may be promoted now."""

    def __post_init__(self) -> None:
        ready = self.gate.satisfied and self.status in ("proposed", "deprecated")
        object.__setattr__(self, "promotable", ready)

    @property
    def gate(self) -> PromotionGate:
        return PromotionGate(self.has_tests, self.has_benchmark_delta)

    @property
    def success_rate(self) -> float:
        return self.successes / (self.successes + self.failures) if self.demonstrations else 0.0


def skill_for(transaction: Transaction, method: str, span: str, create: bool) -> Lesson | None:
    """The lesson of this method whose requests are like this one; a new one where there is none."""
    held = [one for one in of_method(transaction, method) if not (one.steps or one.replaced_by)]
    for lesson in sorted(held, key=lambda lesson: lesson.status == "retired"):
        if any(alike(span, known) for known in lesson.spans[:8]):
            return lesson
    if not create:
        return None
    id = id_of(method, span)
    return current(transaction, id) or Lesson(id=id, method=method, spans=(span,))


def skill_of_steps(transaction: Transaction, steps: tuple[str, ...]) -> Lesson:
    id = stable_id("skill", canonical(["steps", *steps]))
    names = [step.partition(":")[2] or step for step in steps]
    known = current(transaction, id)
    return known or Lesson(id=id, method="skill:" + "-then-".join(names)[:80], steps=steps)


def id_of(method: str, span: str) -> str:
    return stable_id("skill", canonical([method, normalised(span)]))


def current(transaction: Transaction, id: str) -> Lesson | None:
    """The lesson of this id, or the one that it was last proposed anew as."""
    lesson = find(transaction, id)
    while lesson is not None and lesson.replaced_by:
        lesson = find(transaction, lesson.replaced_by)
    return lesson


def anew(retired: Lesson, spans: Sequence[str], at: str, reason: str) -> Lesson:
    """A lesson that was withdrawn, as a new proposal: nothing is proven of it, and it names the old one."""
    return Lesson(
        id=stable_id("skill", canonical(["anew", retired.id])),
        method=retired.method,
        steps=retired.steps,
        spans=distinct([*spans, *retired.spans])[:MAX_SPANS],
        since=at,
        last_seen=at,
        reason=reason,
        replaces=retired.id,
    )


def counted(lesson: Lesson, seen: Sequence[Demonstration]) -> Lesson:
    """The lesson with what memory holds for it, the newest first."""
    good = [each for each in seen if each.ok]
    # A turn and the search in it were answered by one use, and both are requests.
    uses = {each.use or str(number): each.ok for number, each in enumerate(seen)}
    return replace(
        lesson,
        demonstrations=len(uses),
        successes=sum(uses.values()),
        failures=len(uses) - sum(uses.values()),
        since=lesson.since or (seen[-1].at if seen else ""),
        last_seen=seen[0].at if seen else lesson.last_seen,
        agents=tuple(sorted({each.agent for each in good}))[:MAX_AGENTS],
        spans=distinct(each.span for each in good)[:MAX_SPANS] or lesson.spans,
        proposal=_turned(lesson, seen),
    )


def _turned(lesson: Lesson, seen: Sequence[Demonstration]) -> str:
    """Whether the latest evidence speaks against a lesson that is relied on."""
    latest = seen[:RECENT]
    if lesson.status == "retired":
        since = sum(each.ok and each.at > lesson.decided_at for each in seen)
        return f"propose anew: it worked {since} times since it was retired" if since >= FEWEST_RECENT else ""
    if lesson.status != "stable" or len(latest) < FEWEST_RECENT:
        return lesson.proposal if lesson.status == "stable" else ""
    failed = sum(not each.ok for each in latest)
    return f"deprecate: {failed} of the last {len(latest)} uses failed" if 2 * failed > len(latest) else ""


def questioned(lesson: Lesson, failing: Mapping[str, str]) -> Lesson:
    """The lesson, proposed to be deprecated while what it leads to fails.

    failing: capability -> why it counts as failing.
    """
    why = next((failing[id] for id in (lesson.method, *lesson.steps) if id in failing), "")
    if lesson.status == "stable" and why:
        return replace(lesson, proposal=f"{DEPRECATE}{why}")
    return replace(lesson, proposal="") if OF_A_METHOD.search(lesson.proposal) else lesson


def superseded(lesson: Lesson, others: Sequence[Lesson]) -> str:
    """Whether another method now answers the same requests better."""
    for other in others:
        better = other.method != lesson.method and other.success_rate > lesson.success_rate
        if better and other.successes >= FEWEST_RECENT and other.last_seen > lesson.last_seen:
            known = {normalised(span) for span in lesson.spans}
            if any(normalised(span) in known for span in other.spans):
                return f"deprecate: {other.id} answers the same requests better, with {other.method}"
    return ""


# --- the table -------------------------------------------------------------------------------


def keep(transaction: Transaction, lesson: Lesson) -> None:
    transaction.run(
        "INSERT INTO learnt_skill (workspace, id, method, status, last_seen, record)"
        " VALUES (:workspace, :id, :method, :status, :last_seen, :record)"
        " ON CONFLICT (workspace, id) DO UPDATE SET method = excluded.method, status = excluded.status,"
        " last_seen = excluded.last_seen, record = excluded.record",
        id=lesson.id, method=lesson.method, status=lesson.status, last_seen=lesson.last_seen,
        record=msgspec.json.encode(lesson).decode(),
    )  # fmt: skip


def find(transaction: Transaction, id: str) -> Lesson | None:
    row = transaction.one("SELECT record FROM learnt_skill WHERE workspace = :workspace AND id = :id", id=id)
    return _skill(row[0]) if row else None


def get(transaction: Transaction, id: str) -> Lesson:
    """The lesson of this id, or of the only id that begins so."""
    known = find(transaction, id)
    if known is not None:
        return known
    rows = transaction.all("SELECT id, record FROM learnt_skill WHERE workspace = :workspace ORDER BY id")
    short = id.removeprefix("skill_")
    fitting = [record for known, record in rows if known.removeprefix("skill_").startswith(short)]
    if len(fitting) != 1 or not short:
        raise NotFound("lesson", id, [known for known, _ in rows], "see: prowess lessons list")
    return _skill(fitting[0])


def of_method(transaction: Transaction, method: str) -> tuple[Lesson, ...]:
    rows = transaction.all(
        "SELECT record FROM learnt_skill"
        " WHERE workspace = :workspace AND method = :method ORDER BY last_seen DESC, id",
        method=method,
    )
    return tuple(_skill(record) for (record,) in rows)


def every(transaction: Transaction, status: str = "") -> tuple[Lesson, ...]:
    rows = transaction.all(
        "SELECT record FROM learnt_skill WHERE workspace = :workspace AND (:status = '' OR status = :status)"
        " ORDER BY last_seen DESC, id",
        status=status,
    )
    return tuple(_skill(record) for (record,) in rows)


def _skill(record: str) -> Lesson:
    return msgspec.json.decode(record, type=Lesson)
