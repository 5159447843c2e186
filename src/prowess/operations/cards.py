"""Just-in-time cards: what was selected, how that went, and what people say about it."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Annotated, TypeAlias

import msgspec

from prowess.cards.card import Card
from prowess.cards.rules import Rollout
from prowess.errors import NotFound, ProwessError, SourceError
from prowess.journal import JournalPosition
from prowess.operations.operation import (
    AgentQuery,
    Call,
    Done,
    Limit,
    Name,
    NoParams,
    RequestParams,
    operation,
)
from prowess.operations.paging import Page, cursor_of, key_of
from prowess.types import JsonObject


class Recent(RequestParams, frozen=True, kw_only=True):
    cursor: str = ""
    limit: Limit = 20


MONTH_AND_DAY = r"(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])"
TIME = r"([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9](\.[0-9]{1,6})?)?"
ZONE = r"(Z|[+-]([01][0-9]|2[0-3]):[0-5][0-9])"
Moment: TypeAlias = Annotated[str, msgspec.Meta(pattern=rf"^([12][0-9]{{3}}-{MONTH_AND_DAY}T{TIME}{ZONE})?$")]
"""A time with its zone, such as 2026-02-13T09:00:00Z; empty for none."""


class ReportWindow(RequestParams, frozen=True, kw_only=True):
    since: Moment = ""
    """Only what happened from then on."""
    until: Moment = ""
    """Only what happened before then."""


def window(since: datetime | None, until: datetime | None) -> ReportWindow:
    """The same, from times of which either may be missing."""
    said = ("" if each is None else each.astimezone(UTC).isoformat() for each in (since, until))
    return ReportWindow(since=next(said), until=next(said))


def _time(said: str) -> datetime | None:
    """The time that was said; a day that its month does not have is one of the next."""
    said = said.strip()
    if not said:
        return None
    first, days = f"{said[:8]}01{said[10:]}", int(said[8:10]) - 1
    return datetime.fromisoformat(first) + timedelta(days=days)


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


@operation("cards.list", "GET /cards", quotes=True)
def list_cards(call: Call[AgentQuery]) -> tuple[Card, ...]:
    """Every card an agent may get, also those the guard rejects."""
    return call.engine.cards.list(call.params.agent)


@operation("cards.recent", "GET /cards/selections", quotes=True, errors=(NotFound,))
def list_selections(call: Call[Recent]) -> Page[JsonObject]:
    """What was selected for a turn and why, the newest first."""
    q = call.params
    before = key_of(q.cursor, JournalPosition) if q.cursor else None
    found = call.engine.cards.recent(q.limit + 1, before)[::-1]
    shown = found[: q.limit]
    last = shown[-1] if len(found) > q.limit else None
    return Page(shown, cursor_of((last["at"], last["agent"], last["number"])) if last else "")


@operation("cards.report", "GET /cards/report", slow=True)
def report_cards(call: Call[ReportWindow]) -> JsonObject:
    """How often, how much, how long, how right."""
    asked = call.params
    return call.engine.cards.report(_time(asked.since), _time(asked.until))


@operation("cards.rollout", "GET /cards/rollout")
def show_rollout(call: Call[NoParams]) -> Rollout:
    """How cards are let out, and where the kill switch stands."""
    return call.engine.cards.rollout()


@operation("cards.review", "POST /cards/selections/{selection}/review", role="operator", signed=True,
           errors=(NotFound,))  # fmt: skip
def review_card(call: Call[ReviewCard]) -> Done:
    """Say whether it was right that a turn got a card, or did not."""
    call.engine.cards.review(call.path["selection"], call.params.card, call.params.right, call.by)
    return Done()


@operation("cards.fit", "POST /cards/fit", role="operator", slow=True, errors=(ProwessError,))
def fit_cards(call: Call[NoParams]) -> Fitted:
    """Refit the scorer from what people said."""
    return Fitted(**call.engine.cards.fit())


@operation("cards.resume", "POST /cards/resume", role="operator", signed=True)
def resume_cards(call: Call[NoParams]) -> Done:
    """Let cards be injected again after the kill switch."""
    call.engine.cards.resume(call.by)
    return Done()


@operation("cards.keep", "POST /cards/kept", role="operator", status=201, errors=(SourceError,))
def keep_card(call: Call[StoredCardText]) -> Named:
    """Keep a card in the store."""
    return Named(call.engine.cards.keep(call.params.text))


@operation("cards.drop", "DELETE /cards/kept/{name}", role="operator", errors=(NotFound,))
def drop_card(call: Call[NoParams]) -> Done:
    """Take a card out of the store."""
    call.engine.cards.drop(call.path["name"])
    return Done()
