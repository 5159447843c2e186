"""The page `injections`: which cards went into which turn, how they are let out, and how that goes."""

from collections.abc import Mapping
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from prowess.errors import Refused
from prowess.journal import JournalPosition
from prowess.operations import cards as ops
from prowess.operations.backend import Local
from prowess.operations.operation import NO_PARAMS
from prowess.text.redaction import redacted
from prowess.types import JsonObject
from prowess.web import page
from prowess.web.pages.form import Fields, address, backend, form, said
from prowess.web.pages.pagination import before, newest, older

SIZE = 25
MODES = {
    "monitor": "Cards are selected and recorded, and none is injected.",
    "sessions": "Cards are injected in some types of session only.",
    "full": "Cards are injected wherever they fit.",
}
DONE = {
    "resumed": "Cards are injected again. The kill switch counts anew from now.",
    "reviewed": "Noted for {}. A refit learns from it: prowess cards fit",
}


def listed(request: Request) -> Response:
    local, place = backend(request), before(request)
    turns = tuple(reversed(local.engine.cards.recent(SIZE, place)))
    report = local.call(ops.report_cards, ops.ReportWindow())
    return page.render(
        request,
        "injections.html",
        title="Injections",
        rollout=local.call(ops.show_rollout, NO_PARAMS),
        modes=MODES,
        report=report,
        variants=_compared(report["variants"]),
        turns=[_shown(turn) for turn in turns],
        newest=newest(request) if place else "",
        older=older(request, _place(turns[-1])) if len(turns) == SIZE else "",
        before=request.query_params.get("before", ""),
        notice=said(request, DONE),
    )


def resume(local: Local, fields: Fields) -> str:
    local.call(ops.resume_cards, NO_PARAMS)
    return address("/injections", done="resumed")


def review(local: Local, fields: Fields) -> str:
    """A person says whether it was right that a turn got this card, or that it did not."""
    right = {"right": True, "wrong": False}.get(fields.get("said", ""))
    if right is None:
        raise Refused(422, "the form says neither right nor wrong", "use the buttons of the page")
    card = fields.get("card", "")
    said = ops.ReviewCard(card=card, right=right)
    local.call(ops.review_card, said, selection=fields.get("selection", ""))
    return address("/injections", before=fields.get("before", ""), done="reviewed", what=card)


def _place(turn: JsonObject) -> JournalPosition:
    return JournalPosition(turn["at"], turn["agent"], turn["number"])


def _shown(turn: JsonObject) -> JsonObject:
    """A turn as the page shows it: without what looks like a secret in what somebody said."""
    relevant: Mapping[str, bool] = turn["relevant"]
    told = [_with_said(one, relevant, shown=True) for one in (*turn["injected"], *turn["held"])]
    skipped = [_with_said(one, relevant, shown=False) for one in turn["skipped"]]
    return {**turn, "request": redacted(turn["request"]), "cards": told, "skipped": skipped}


def _with_said(card: JsonObject, relevant: Mapping[str, bool], shown: bool) -> JsonObject:
    """A card, and whether people found the decision about it right: "right", "wrong" or nothing."""
    known = relevant.get(card["id"])
    return {**card, "said": "" if known is None else "right" if known == shown else "wrong"}


def _compared(variants: Mapping[str, Mapping[str, Any]]) -> list[JsonObject]:
    """The variants side by side, the one with the best success first where outcomes were reported."""
    lines = [{"name": name, **numbers} for name, numbers in variants.items()]
    return sorted(lines, key=lambda line: (-line["success"], line["name"]))


ROUTES = (
    Route("/injections", listed),
    form("/injections/resume", resume, ops.resume_cards),
    form("/injections/review", review, ops.review_card),
)
