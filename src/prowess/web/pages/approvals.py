"""The page `approvals`: what policy asks a person about, and what people said."""

from datetime import timedelta

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from prowess.engine.engine import Engine
from prowess.errors import Refused
from prowess.operations.person import Person
from prowess.policy.approvals import ApprovalAnswer, Scope, State
from prowess.web import identity, page
from prowess.web.pages.form import Fields, address, form, note, said
from prowess.web.pages.pagination import paged

HOLDS = {
    "1 hour": timedelta(hours=1),
    "8 hours": timedelta(hours=8),
    "1 day": timedelta(days=1),
    "7 days": timedelta(days=7),
}
"""How long an answer holds, as people choose it; the first is the usual."""
SCOPES: dict[str, Scope] = {
    "once, with these arguments": "once",
    "as often as wanted, with these arguments": "repeat",
    "as often as wanted, with any arguments": "any",
}
"""How far an answer goes, as people choose it; the first is the usual."""
TONES: dict[State, str] = {
    "approved": "good", "used": "good", "refused": "bad", "expired": "", "pending": "warn",
}  # fmt: skip
DONE = {
    "approved": "Yes: {}. The agent may go on, as long as the answer holds.",
    "refused": "No: {}. The agent is not asked about again as long as the answer holds.",
}


def listed(request: Request) -> Response:
    identity.person(request)
    engine: Engine = request.app.state.engine
    waiting = engine.approvals.list()
    settled = [one for one in reversed(engine.approvals.list(every=True)) if one.state != "pending"]
    return page.render(
        request,
        "approvals.html",
        title="Approvals",
        questions=paged(request, waiting),
        settled=settled[:100],
        capabilities=engine.catalogue.view().capabilities,
        choices=tuple(HOLDS),
        scopes=tuple(SCOPES),
        tones=TONES,
        notice=said(request, DONE),
    )


def answer(engine: Engine, person: Person, fields: Fields) -> str:
    said_yes = {"yes": True, "no": False}.get(fields.get("answer", ""))
    holds = HOLDS.get(fields.get("holds", next(iter(HOLDS))))
    scope = SCOPES.get(fields.get("scope", next(iter(SCOPES))))
    if said_yes is None or holds is None or scope is None:
        raise Refused(422, "the answer says neither yes nor no, or not how far it goes", "use the form")
    answered = engine.approvals.answer(
        fields.get("id", ""),
        ApprovalAnswer(yes=said_yes, by=person.name, note=note(fields), holds=holds, scope=scope),
    )
    return address("/approvals", done=answered.state, what=f"{answered.agent}, {answered.capability}")


ROUTES = (
    Route("/approvals", listed),
    form("/approvals/answer", answer),
)
