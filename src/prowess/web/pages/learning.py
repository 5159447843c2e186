"""The page `learning`: what use has shown to work, what its gates measured, and what is still missing."""

from collections import Counter
from collections.abc import Iterable
from typing import get_args

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from prowess.learning.ledger import SkillStatus
from prowess.learning.lessons import Lesson
from prowess.operations import learning as ops
from prowess.operations.backend import Local
from prowess.operations.operation import NO_PARAMS, Operation, P
from prowess.web import page
from prowess.web.pages.form import Fields, address, backend, form, note, said
from prowess.web.pages.pagination import paged

STATUSES: tuple[SkillStatus, ...] = get_args(SkillStatus)
TONES: dict[SkillStatus, str] = {"proposed": "info", "stable": "good", "deprecated": "warn", "retired": ""}
CLOSING_TONES = {"nothing matches": "bad", "denied": "warn", "quarantined": "warn", "it is there": "info"}
GATE_TONES = {"passed": "good", "failed": "bad", "not run": "warn"}
GAPS_ON_A_PAGE = 25
ROWS_OF_A_SUITE = 50
DONE = {
    "learnt": "{}.",
    "cleared": "The gates were run, and both are cleared. It can be promoted.",
    "blocked": "The gates were run. Below is what still keeps it from being promoted.",
    "promoted": "Promoted. It is relied on from the next sync on: prowess sync",
    "deprecated": "Deprecated. From the next sync on it is not relied on; it may be promoted again.",
    "retired": "Rejected for good. Its history stays.",
    "closed": "Closed: {}. Met again, it opens again.",
}


def lessons(request: Request) -> Response:
    local = backend(request)
    engine = local.engine
    every = tuple(local.pages(ops.list_lessons, ops.LessonsQuery()))
    counts = Counter(lesson.status for lesson in every)
    asked = request.query_params.get("status", "")
    status = asked if asked in STATUSES else _first_filled(counts)
    rows = paged(request, [lesson for lesson in every if lesson.status == status])
    return page.render(
        request,
        "learning.html",
        title="Learning",
        tab=status,
        statuses=STATUSES,
        counts=counts,
        gaps=len(engine.learning.gaps()),
        rows=rows,
        gates=_gate_states(local, rows.rows),
        gate_tones=GATE_TONES,
        on=engine.learning.on,
        notice=said(request, DONE),
    )


def lesson(request: Request) -> Response:
    local = backend(request)
    whole = local.call(ops.show_lesson, NO_PARAMS, id=request.query_params.get("id", ""))
    found, engine = whole.lesson, local.engine
    return page.render(
        request,
        "lesson.html",
        title=found.method,
        lesson=found,
        tones=TONES,
        gates=_gate_states(local, [found]),
        gate_tones=GATE_TONES,
        results=whole.results[::-1],
        most_rows=ROWS_OF_A_SUITE,
        known=found.method in engine.catalogue.view().capabilities,
        on=engine.learning.on,
        notice=said(request, DONE),
    )


def _gate_states(local: Local, lessons: Iterable[Lesson]) -> dict[str, dict[str, str]]:
    """Lesson -> suite -> whether it passed, failed or was not run."""
    found = {}
    for one in lessons:
        ran = {result.suite for result in local.engine.learning.results(one.id)}
        passed = {"regression": one.has_tests, "benchmark": one.has_benchmark_delta}
        found[one.id] = {
            suite: "passed" if ok else "failed" if suite in ran else "not run" for suite, ok in passed.items()
        }
    return found


def gaps(request: Request) -> Response:
    local = backend(request)
    engine = local.engine
    closed = request.query_params.get("closed") == "1"
    rows = paged(request, engine.learning.gaps(closed), GAPS_ON_A_PAGE)
    would_close = {gap.id: engine.learning.closing(gap) for gap in rows.rows if not gap.closed_by}
    return page.render(
        request,
        "gaps.html",
        title="Learning",
        tab="gaps",
        statuses=STATUSES,
        counts=Counter(lesson.status for lesson in local.pages(ops.list_lessons, ops.LessonsQuery())),
        gaps=len(engine.learning.gaps()),
        rows=rows,
        would_close=would_close,
        tones=CLOSING_TONES,
        closed=closed,
        on=engine.learning.on,
        notice=said(request, DONE),
    )


def _first_filled(counts: Counter[SkillStatus]) -> SkillStatus:
    return next((status for status in STATUSES if counts[status]), "proposed")


# --- what a person decides -------------------------------------------------------------------


def learn(local: Local, fields: Fields) -> str:
    # The operation names nobody, since lists of the command line learn first; a button names who presses it.
    learnt = local.engine.learning.learn(by=local.person.name)
    what = f"{page.count(len(learnt.lessons), 'lesson')} and {page.count(len(learnt.gaps), 'gap')} changed"
    return address("/learning", done="learnt", what=what)


def gate(local: Local, fields: Fields) -> str:
    asked = ops.GateLessons(lessons=(fields.get("id", ""),))
    (gated,) = local.call(ops.gate_lessons, asked)
    return _to_lesson(gated.lesson, "cleared" if gated.satisfied else "blocked")


def promote(local: Local, fields: Fields) -> str:
    return _decided(local, ops.promote_lesson, NO_PARAMS, fields, "promoted")


def deprecate(local: Local, fields: Fields) -> str:
    reason = ops.Reason(reason=note(fields, "reason"))
    return _decided(local, ops.deprecate_lesson, reason, fields, "deprecated")


def retire(local: Local, fields: Fields) -> str:
    reason = ops.Reason(reason=note(fields, "reason"))
    return _decided(local, ops.retire_lesson, reason, fields, "retired")


def close(local: Local, fields: Fields) -> str:
    gap = local.call(ops.close_gap, NO_PARAMS, id=fields.get("id", ""))
    return address("/learning/gaps", done="closed", what=gap.span)


def _decided(local: Local, operation: Operation[P, Lesson], params: P, fields: Fields, done: str) -> str:
    return _to_lesson(local.call(operation, params, id=fields.get("id", "")).id, done)


def _to_lesson(id: str, done: str) -> str:
    return address("/learning/lesson", id=id, done=done)


ROUTES = (
    Route("/learning", lessons),
    Route("/learning/lesson", lesson),
    Route("/learning/gaps", gaps),
    form("/learning/learn", learn, ops.learn),
    form("/learning/gate", gate, ops.gate_lessons),
    form("/learning/promote", promote, ops.promote_lesson),
    form("/learning/deprecate", deprecate, ops.deprecate_lesson),
    form("/learning/retire", retire, ops.retire_lesson),
    form("/learning/close", close, ops.close_gap),
)
