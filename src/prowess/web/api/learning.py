"""What was learnt: lessons with their gates, and what agents needed and could not do."""

from typing import Annotated, Literal

import msgspec

from prowess.learning.gaps import Gap
from prowess.learning.ledger import SkillLedger
from prowess.learning.lessons import Lesson
from prowess.learning.promotion import Gated, SuiteResult
from prowess.learning.usage import Closing, UsageLine
from prowess.web.operations import Call, Limit, Name, Note, Operation, RequestParams, Text
from prowess.web.paging import Page, numbered

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


class Proposed(RequestParams, frozen=True, kw_only=True):
    method: Name
    spans: Annotated[
        tuple[Annotated[Text, msgspec.Meta(min_length=1)], ...], msgspec.Meta(min_length=1, max_length=100)
    ]


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


def learn(call: Call) -> LearnAnswer:
    learnt = call.engine.learning.learn(by=call.by)
    return LearnAnswer(call.engine.learning.on, len(learnt.lessons), len(learnt.gaps))


def lessons(call: Call) -> Page[Lesson]:
    q: LessonsQuery = call.query
    return numbered(call.engine.learning.lessons(q.status), q.cursor, q.limit)


def lesson(call: Call) -> LessonWhole:
    id = call.path["id"]
    return LessonWhole(call.engine.learning.lesson(id), call.engine.learning.results(id))


def propose(call: Call) -> Lesson:
    return call.engine.learning.propose(msgspec.json.encode(call.body), "proposal", call.by)


def gate(call: Call) -> tuple[Gated, ...]:
    return call.engine.learning.gate(*call.body.lessons, by=call.by)


def promote(call: Call) -> Lesson:
    return call.engine.learning.promote(call.path["id"], call.by)


def promote_all(call: Call) -> tuple[Lesson, ...]:
    return call.engine.learning.promote_all()


def deprecate(call: Call) -> Lesson:
    return call.engine.learning.deprecate(call.path["id"], call.by, call.body.reason)


def retire(call: Call) -> Lesson:
    return call.engine.learning.retire(call.path["id"], call.by, call.body.reason)


def usage(call: Call) -> tuple[UsageLine, ...]:
    return call.engine.catalogue.usage()


def ledger(call: Call) -> SkillLedger:
    return call.engine.learning.ledger(call.path["offer"])


def gaps(call: Call) -> Page[GapShown]:
    q: Gaps = call.query
    found = numbered(call.engine.learning.gaps(q.closed), q.cursor, q.limit)
    return Page(tuple(_shown(call, gap) for gap in found.items), found.next)


def gap(call: Call) -> GapShown:
    return _shown(call, call.engine.learning.gap(call.path["id"]))


def close(call: Call) -> Gap:
    return call.engine.learning.close_gap(call.path["id"], call.by)


def _shown(call: Call, gap: Gap) -> GapShown:
    return GapShown(gap, call.engine.learning.closing(gap))


OPERATIONS = (
    Operation(id="learning.learn", slow=True, method="POST", path="/learning/learn", run=learn,
              answer=LearnAnswer,
              role="operator", does="Turn what happened since the last time into lessons and gaps"),
    Operation(id="learning.usage", slow=True, method="GET", path="/learning/usage", run=usage,
              answer=tuple[UsageLine, ...], does="What each provider and skill costs, and what use was made"),
    Operation(id="learning.ledger", quotes=True, method="GET", path="/learning/ledger/{offer}", run=ledger,
              answer=SkillLedger, does="What one request demonstrated"),
    Operation(id="lessons.list", quotes=True,
              method="GET", path="/lessons", run=lessons, query=LessonsQuery, answer=Page[Lesson],
              does="Every lesson, the one seen last first"),
    Operation(id="lessons.propose", method="POST", path="/lessons", run=propose, body=Proposed, answer=Lesson,
              status=201, role="operator", signed=True, does="Suggest a lesson"),
    Operation(id="lessons.show", quotes=True, method="GET", path="/lessons/{id}", run=lesson,
              answer=LessonWhole,
              does="One lesson, with everything its gates measured"),
    Operation(id="lessons.gate", slow=True, method="POST", path="/lessons/gate", run=gate, body=GateLessons,
              answer=tuple[Gated, ...], role="operator", signed=True, does="Run the gates of some lessons"),
    Operation(id="lessons.promote_all", method="POST", path="/lessons/promote", run=promote_all,
              answer=tuple[Lesson, ...], role="operator",
              does="Promote whatever has passed its gates, where the configuration allows it"),
    Operation(id="lessons.promote", method="POST", path="/lessons/{id}/promote", run=promote, answer=Lesson,
              role="operator", signed=True, does="Rely on a lesson from the next sync on"),
    Operation(id="lessons.deprecate", method="POST", path="/lessons/{id}/deprecate", run=deprecate,
              body=Reason, answer=Lesson, role="operator", signed=True, does="Rely on a lesson no more"),
    Operation(id="lessons.retire", method="POST", path="/lessons/{id}/retire", run=retire, body=Reason,
              answer=Lesson, role="operator", signed=True, does="Withdraw a lesson for good"),
    Operation(id="gaps.list", quotes=True, method="GET", path="/gaps", run=gaps, query=Gaps,
              answer=Page[GapShown], does="What was needed and not answered, the most worth closing first"),
    Operation(id="gaps.show", quotes=True,
              method="GET", path="/gaps/{id}", run=gap, answer=GapShown,
              does="One gap, and what would close it"),
    Operation(id="gaps.close", method="POST", path="/gaps/{id}/close", run=close, answer=Gap,
              role="operator", signed=True, does="Say that a gap needs nothing more"),
)  # fmt: skip
