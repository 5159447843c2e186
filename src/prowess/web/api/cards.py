"""Just-in-time cards: what was selected, how that went, and what people say about it."""

from collections.abc import Mapping
from typing import Annotated

import msgspec

from prowess.cards.card import Card
from prowess.cards.rules import Rollout
from prowess.journal import JournalPosition
from prowess.types import JsonObject
from prowess.web.operations import AgentQuery, Call, Done, Limit, Name, Operation, RequestParams
from prowess.web.paging import Page, cursor_of, key_of


class Recent(RequestParams, frozen=True, kw_only=True):
    cursor: str = ""
    limit: Limit = 20


class ReviewCard(RequestParams, frozen=True, kw_only=True):
    card: Name
    right: bool
    """Whether it was rightly shown, or rightly left out."""


class StoredCardText(RequestParams, frozen=True, kw_only=True):
    text: Annotated[str, msgspec.Meta(min_length=1, max_length=50_000)]
    """A card as a file of it would be written."""


class Named(msgspec.Struct, frozen=True):
    name: str


class Fitted(msgspec.Struct, frozen=True):
    labels: int
    weights: Mapping[str, float]
    before: float
    after: float


def cards(call: Call) -> tuple[Card, ...]:
    return call.engine.cards.list(call.query.agent)


def recent(call: Call) -> Page[JsonObject]:
    q: Recent = call.query
    before = key_of(q.cursor, JournalPosition) if q.cursor else None
    found = call.engine.cards.recent(q.limit + 1, before)[::-1]
    shown = found[: q.limit]
    last = shown[-1] if len(found) > q.limit else None
    return Page(shown, cursor_of((last["at"], last["agent"], last["number"])) if last else "")


def report(call: Call) -> JsonObject:
    return call.engine.cards.report()


def rollout(call: Call) -> Rollout:
    return call.engine.cards.rollout()


def review(call: Call) -> Done:
    call.engine.cards.review(call.path["selection"], call.body.card, call.body.right, call.by)
    return Done()


def fit(call: Call) -> JsonObject:
    return call.engine.cards.fit()


def resume(call: Call) -> Done:
    call.engine.cards.resume(call.by)
    return Done()


def keep(call: Call) -> Named:
    return Named(call.engine.cards.keep(call.body.text))


def drop(call: Call) -> Done:
    call.engine.cards.drop(call.path["name"])
    return Done()


OPERATIONS = (
    Operation(id="cards.list", quotes=True, method="GET", path="/cards", run=cards, query=AgentQuery,
              answer=tuple[Card, ...], does="Every card an agent may get, also those the guard rejects"),
    Operation(id="cards.recent", quotes=True,
              method="GET", path="/cards/selections", run=recent, query=Recent,
              answer=Page[JsonObject], does="What was selected for a turn and why, the newest first"),
    Operation(id="cards.review", method="POST", path="/cards/selections/{selection}/review", run=review,
              body=ReviewCard, answer=Done, role="operator", signed=True,
              does="Say whether it was right that a turn got a card, or did not"),
    Operation(id="cards.report", slow=True, method="GET", path="/cards/report", run=report, answer=JsonObject,
              does="How often, how much, how long, how right"),
    Operation(id="cards.rollout", method="GET", path="/cards/rollout", run=rollout, answer=Rollout,
              does="How cards are let out, and where the kill switch stands"),
    Operation(id="cards.resume", method="POST", path="/cards/resume", run=resume, answer=Done,
              role="operator", signed=True, does="Let cards be injected again after the kill switch"),
    Operation(id="cards.fit", slow=True,
              method="POST", path="/cards/fit", run=fit, answer=Fitted, role="operator",
              does="Refit the scorer from what people said"),
    Operation(id="cards.keep", method="POST", path="/cards/kept", run=keep, body=StoredCardText, answer=Named,
              status=201, role="operator", does="Keep a card in the store"),
    Operation(id="cards.drop", method="DELETE", path="/cards/kept/{name}", run=drop, answer=Done,
              role="operator", does="Take a card out of the store"),
)  # fmt: skip
