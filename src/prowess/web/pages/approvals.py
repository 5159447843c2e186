"""The page `approvals`: what policy asks a person about, and what people said."""

from collections.abc import Mapping
from functools import partial

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from prowess.engine.request_reports import request_behind
from prowess.errors import Refused
from prowess.operations.approvals import AnswerApproval, Every, answer_approval, list_approvals
from prowess.operations.backend import Local
from prowess.policy.approvals import Approval, Scope, State
from prowess.policy.attributes import effects_of
from prowess.types import Capability
from prowess.web import page
from prowess.web.pages.form import Fields, address, backend, form, note, said
from prowess.web.pages.pagination import paged

HOLDS = {
    "1 hour": 60,
    "8 hours": 8 * 60,
    "1 day": 24 * 60,
    "7 days": 7 * 24 * 60,
}
"""How many minutes an answer holds, as people choose it; the first is the usual."""
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
    local = backend(request)
    capabilities = local.engine.catalogue.view().capabilities
    found = local.call(list_approvals, Every())
    waiting = sorted(found, key=partial(_risk, capabilities))
    questions = paged(request, waiting)
    every = local.call(list_approvals, Every(every=True))
    settled = [one for one in reversed(every) if one.state != "pending"]
    return page.render(
        request,
        "approvals.html",
        title="Approvals",
        questions=questions,
        requests={one.id: request_behind(local.engine.internals, one) for one in questions.rows},
        effects_of=effects_of,
        settled=settled[:100],
        capabilities=capabilities,
        choices=tuple(HOLDS),
        scopes=tuple(SCOPES),
        tones=TONES,
        notice=said(request, DONE),
    )


def _risk(capabilities: Mapping[str, Capability], one: Approval) -> tuple[int, str]:
    """What may destroy comes first, then what changes things; of each, what waits longest."""
    known = capabilities.get(one.capability)
    return -len(effects_of(known)) if known and known.has_side_effects else 0, one.asked_at


def answer(local: Local, fields: Fields) -> str:
    said_yes = {"yes": True, "no": False}.get(fields.get("answer", ""))
    holds = HOLDS.get(fields.get("holds", next(iter(HOLDS))))
    scope = SCOPES.get(fields.get("scope", next(iter(SCOPES))))
    if said_yes is None or holds is None or scope is None:
        raise Refused(422, "the answer says neither yes nor no, or not how far it goes", "use the form")
    asked = AnswerApproval(yes=said_yes, note=note(fields), minutes=holds, scope=scope)
    answered = local.call(answer_approval, asked, id=fields.get("id", ""))
    return address("/approvals", done=answered.state, what=f"{answered.agent}, {answered.capability}")


ROUTES = (
    Route("/approvals", listed),
    form("/approvals/answer", answer, answer_approval),
)
