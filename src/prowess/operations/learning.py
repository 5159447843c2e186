"""What was learnt: lessons with their gates, and what agents needed and could not do."""

from collections.abc import Callable
from itertools import count
from typing import Annotated, Literal

import msgspec

from prowess.errors import LearningError, NotFound
from prowess.learning import links
from prowess.learning.gaps import Gap
from prowess.learning.ledger import SkillLedger
from prowess.learning.lessons import Lesson
from prowess.learning.links import Escaping
from prowess.learning.promotion import Gated, SuiteResult
from prowess.learning.usage import Closing, UsageLine
from prowess.operations.operation import Call, Limit, Name, NoParams, Note, P, RequestParams, Text, operation
from prowess.operations.paging import Page, numbered
from prowess.sources.read_all import SyncProgress

Status = Literal["", "proposed", "stable", "deprecated", "retired"]


class LessonsQuery(RequestParams, frozen=True, kw_only=True):
    status: Status = ""
    cursor: str = ""
    limit: Limit = 50


class Gaps(RequestParams, frozen=True, kw_only=True):
    closed: bool = False
    """Also those that are closed."""
    cursor: str = ""
    limit: Limit = 20


class Reason(RequestParams, frozen=True, kw_only=True):
    reason: Note = ""


class GateLessons(RequestParams, frozen=True, kw_only=True):
    lessons: Annotated[tuple[Name, ...], msgspec.Meta(min_length=1, max_length=200)]


class WithdrawMethod(RequestParams, frozen=True, kw_only=True):
    method: Name
    """The capability, such as "tool:invoices"."""
    reason: Note = ""


class LedgerText(RequestParams, frozen=True, kw_only=True):
    text: Text
    escaping: Escaping = "corrected"


class Proposed(RequestParams, frozen=True, kw_only=True):
    method: Name
    spans: Annotated[
        tuple[Annotated[Text, msgspec.Meta(min_length=1)], ...], msgspec.Meta(min_length=1, max_length=100)
    ]


class LedgerRecord(msgspec.Struct, frozen=True):
    id: str
    pairs: tuple[tuple[str, str], ...]
    """What is said about it, in order; a key may occur more than once."""


class LessonWhole(msgspec.Struct, frozen=True):
    lesson: Lesson
    results: tuple[SuiteResult, ...]
    """Everything its gates ever measured, oldest first."""


class LearnAnswer(msgspec.Struct, frozen=True):
    on: bool
    lessons: int
    gaps: int


class GapShown(msgspec.Struct, frozen=True):
    gap: Gap
    closing: Closing


@operation("learning.learn", "POST /learning/learn", role="operator", slow=True)
def learn(call: Call[NoParams]) -> LearnAnswer:
    """Turn what happened since the last time into lessons and gaps."""
    learnt = call.engine.learning.learn()
    return LearnAnswer(call.engine.learning.on, len(learnt.lessons), len(learnt.gaps))


@operation("lessons.list", "GET /lessons", quotes=True, errors=(NotFound,))
def list_lessons(call: Call[LessonsQuery]) -> Page[Lesson]:
    """Every lesson, the one seen last first."""
    q = call.params
    return numbered(call.engine.learning.lessons(q.status), q.cursor, q.limit)


@operation("lessons.show", "GET /lessons/{id}", quotes=True, errors=(NotFound,))
def show_lesson(call: Call[NoParams]) -> LessonWhole:
    """One lesson, with everything its gates measured."""
    id = call.path["id"]
    return LessonWhole(call.engine.learning.lesson(id), call.engine.learning.results(id))


@operation("lessons.propose", "POST /lessons", role="operator", status=201, signed=True,
           errors=(LearningError, NotFound))  # fmt: skip
def propose_lesson(call: Call[Proposed]) -> Lesson:
    """Suggest a lesson."""
    return call.engine.learning.propose(msgspec.json.encode(call.params), "proposal", call.by)


@operation("lessons.propose_anew", "POST /lessons/{id}/anew", role="operator", status=201, signed=True,
           errors=(NotFound, LearningError))  # fmt: skip
def propose_anew(call: Call[NoParams]) -> Lesson:
    """Suggest a retired lesson once more."""
    return call.engine.learning.propose_anew(call.path["id"], call.by)


@operation("lessons.gate", "POST /lessons/gate", role="operator", signed=True, slow=True,
           errors=(NotFound, LearningError))  # fmt: skip
def gate_lessons(call: Call[GateLessons]) -> tuple[Gated, ...]:
    """Run the gates of some lessons."""
    return call.engine.learning.gate(*call.params.lessons, progress=in_phases(call.progress), by=call.by)


@operation("lessons.promote", "POST /lessons/{id}/promote", role="operator", signed=True,
           errors=(NotFound, LearningError))  # fmt: skip
def promote_lesson(call: Call[NoParams]) -> Lesson:
    """Rely on a lesson from the next sync on."""
    return call.engine.learning.promote(call.path["id"], call.by)


@operation("lessons.promote_all", "POST /lessons/promote", role="operator", errors=(LearningError,))
def promote_all(call: Call[NoParams]) -> tuple[Lesson, ...]:
    """Promote whatever has passed its gates, where the configuration allows it."""
    return call.engine.learning.promote_all()


@operation("lessons.deprecate", "POST /lessons/{id}/deprecate", role="operator", signed=True,
           errors=(NotFound, LearningError))  # fmt: skip
def deprecate_lesson(call: Call[Reason]) -> Lesson:
    """Rely on a lesson no more."""
    return call.engine.learning.deprecate(call.path["id"], call.by, call.params.reason)


@operation("lessons.deprecate_all", "POST /lessons/deprecate", role="operator", signed=True,
           errors=(NotFound, LearningError))  # fmt: skip
def deprecate_all(call: Call[WithdrawMethod]) -> tuple[Lesson, ...]:
    """Rely no more on any lesson that leads to one capability."""
    q = call.params
    return call.engine.learning.deprecate_all(q.method, call.by, q.reason)


@operation("lessons.retire", "POST /lessons/{id}/retire", role="operator", signed=True,
           errors=(NotFound, LearningError))  # fmt: skip
def retire_lesson(call: Call[Reason]) -> Lesson:
    """Withdraw a lesson for good."""
    return call.engine.learning.retire(call.path["id"], call.by, call.params.reason)


@operation("learning.usage", "GET /learning/usage", slow=True)
def report_usage(call: Call[NoParams]) -> tuple[UsageLine, ...]:
    """What each provider and skill costs, and what use was made."""
    return call.engine.catalogue.usage()


@operation("learning.ledger", "GET /learning/ledger/{offer}", quotes=True, errors=(NotFound,))
def show_ledger(call: Call[NoParams]) -> SkillLedger:
    """What one request demonstrated."""
    return call.engine.learning.ledger(call.path["offer"])


@operation("learning.read_ledger", "POST /learning/ledger", reads=True, errors=(LearningError,))
def read_ledger(call: Call[LedgerText]) -> tuple[LedgerRecord, ...]:
    """The records of a text in Links Notation, such as a ledger."""
    records = links.read(call.params.text, call.params.escaping)
    return tuple(LedgerRecord(record.id, record.pairs) for record in records)


@operation("gaps.list", "GET /gaps", quotes=True, errors=(NotFound,))
def list_gaps(call: Call[Gaps]) -> Page[GapShown]:
    """What was needed and not answered, the most worth closing first."""
    q = call.params
    found = numbered(call.engine.learning.gaps(q.closed), q.cursor, q.limit)
    return Page(tuple(_shown(call, gap) for gap in found.items), found.next)


@operation("gaps.show", "GET /gaps/{id}", quotes=True, errors=(NotFound,))
def show_gap(call: Call[NoParams]) -> GapShown:
    """One gap, and what would close it."""
    return _shown(call, call.engine.learning.gap(call.path["id"]))


@operation("gaps.close", "POST /gaps/{id}/close", role="operator", signed=True, errors=(NotFound,))
def close_gap(call: Call[NoParams]) -> Gap:
    """Say that a gap needs nothing more."""
    return call.engine.learning.close_gap(call.path["id"], call.by)


def _shown(call: Call[P], gap: Gap) -> GapShown:
    return GapShown(gap, call.engine.learning.closing(gap))


def in_phases(advance: SyncProgress) -> Callable[[int, int], None]:
    """A gate replays again and again; each replay adds to the bar, which is full when the gate is done."""
    phases = count()
    now = next(phases)

    def step(done: int, total: int) -> None:
        nonlocal now
        now = next(phases) if done == 0 else now
        advance(str(now), done, total + 1)

    return step
