"""The page `learning`: what use has shown to work, what its gates measured, and what is still missing."""

from collections import Counter
from typing import get_args

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from prowess.engine.engine import Engine
from prowess.learning.ledger import SkillStatus
from prowess.learning.lessons import Lesson
from prowess.operations.person import Person
from prowess.web import identity, page
from prowess.web.pages.form import Fields, address, form, note, said
from prowess.web.pages.pagination import paged

STATUSES: tuple[SkillStatus, ...] = get_args(SkillStatus)
TONES: dict[SkillStatus, str] = {"proposed": "info", "stable": "good", "deprecated": "warn", "retired": ""}
CLOSING_TONES = {"nothing matches": "bad", "denied": "warn", "quarantined": "warn", "it is there": "info"}
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
    identity.person(request)
    engine: Engine = request.app.state.engine
    every = engine.learning.lessons()
    counts = Counter(lesson.status for lesson in every)
    asked = request.query_params.get("status", "")
    status = asked if asked in STATUSES else _first_filled(counts)
    return page.render(
        request,
        "learning.html",
        title="Learning",
        tab=status,
        statuses=STATUSES,
        counts=counts,
        gaps=len(engine.learning.gaps()),
        rows=paged(request, [lesson for lesson in every if lesson.status == status]),
        on=engine.learning.on,
        notice=said(request, DONE),
    )


def lesson(request: Request) -> Response:
    identity.person(request)
    engine: Engine = request.app.state.engine
    found = engine.learning.lesson(request.query_params.get("id", ""))
    return page.render(
        request,
        "lesson.html",
        title=found.method,
        lesson=found,
        tones=TONES,
        results=tuple(reversed(engine.learning.results(found.id))),
        most_rows=ROWS_OF_A_SUITE,
        known=found.method in engine.catalogue.view().capabilities,
        on=engine.learning.on,
        notice=said(request, DONE),
    )


def gaps(request: Request) -> Response:
    identity.person(request)
    engine: Engine = request.app.state.engine
    closed = request.query_params.get("closed") == "1"
    rows = paged(request, engine.learning.gaps(closed), GAPS_ON_A_PAGE)
    would_close = {gap.id: engine.learning.closing(gap) for gap in rows.rows if not gap.closed_by}
    return page.render(
        request,
        "gaps.html",
        title="Learning",
        tab="gaps",
        statuses=STATUSES,
        counts=Counter(lesson.status for lesson in engine.learning.lessons()),
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


def learn(engine: Engine, person: Person, fields: Fields) -> str:
    learnt = engine.learning.learn(by=person.name)
    told = f"{page.count(len(learnt.lessons), 'lesson')} and {page.count(len(learnt.gaps), 'gap')} changed"
    return address("/learning", done="learnt", what=told)


def gate(engine: Engine, person: Person, fields: Fields) -> str:
    (gated,) = engine.learning.gate(fields.get("id", ""), by=person.name)
    return _to_lesson(gated.lesson, "cleared" if gated.satisfied else "blocked")


def promote(engine: Engine, person: Person, fields: Fields) -> str:
    return _decided(engine.learning.promote(fields.get("id", ""), person.name), "promoted")


def deprecate(engine: Engine, person: Person, fields: Fields) -> str:
    done = engine.learning.deprecate(fields.get("id", ""), person.name, note(fields, "reason"))
    return _decided(done, "deprecated")


def retire(engine: Engine, person: Person, fields: Fields) -> str:
    return _decided(
        engine.learning.retire(fields.get("id", ""), person.name, note(fields, "reason")), "retired"
    )


def close(engine: Engine, person: Person, fields: Fields) -> str:
    gap = engine.learning.close_gap(fields.get("id", ""), person.name)
    return address("/learning/gaps", done="closed", what=gap.span)


def _decided(lesson: Lesson, done: str) -> str:
    return _to_lesson(lesson.id, done)


def _to_lesson(id: str, done: str) -> str:
    return address("/learning/lesson", id=id, done=done)


ROUTES = (
    Route("/learning", lessons),
    Route("/learning/lesson", lesson),
    Route("/learning/gaps", gaps),
    form("/learning/learn", learn),
    form("/learning/gate", gate),
    form("/learning/promote", promote),
    form("/learning/deprecate", deprecate),
    form("/learning/retire", retire),
    form("/learning/close", close),
)
