"""Whether a turn is one of those a card is for: session type, time of day, user tier, environment.

Each of them narrows. A router tag is the one trigger that widens: it makes a card relevant.
"""

import re
from datetime import datetime, time

from prowess.cards.card import Card
from prowess.types import Turn

HOURS = {"morning": (5, 12), "afternoon": (12, 17), "evening": (17, 22), "night": (22, 5)}
SPAN = re.compile(r"([01]?\d|2[0-3]):([0-5]\d)\s*-\s*([01]?\d|2[0-3]):([0-5]\d)")


def why_not(card: Card, turn: Turn, now: datetime) -> str:
    """Why this turn is none of those the card is for; empty when it is one."""
    if turn.session_type not in card.session_types:
        return f"not for session type {turn.session_type}"
    if card.times_of_day and not any(is_at(times, now) for times in card.times_of_day):
        return f"not for this time of day ({now:%H:%M})"
    if card.user_tiers and not _same(turn.user_tier, card.user_tiers):
        return f"not for user tier {turn.user_tier or '(none)'}"
    if card.environments and not _same(turn.environment, card.environments):
        return f"not for environment {turn.environment or '(none)'}"
    return ""


def has_router_tag(card: Card, turn: Turn) -> bool:
    return any(_same(tag, card.router_tags) for tag in turn.router_tags)


def is_at(times: str, now: datetime) -> bool:
    """Whether a moment lies in `morning`, `night`, or a span such as `22:00-05:30`."""
    span = SPAN.fullmatch(times.strip())
    if span:
        start, end = time(int(span[1]), int(span[2])), time(int(span[3]), int(span[4]))
    elif times.strip().casefold() in HOURS:
        start, end = (time(hour) for hour in HOURS[times.strip().casefold()])
    else:
        return False
    at = now.time().replace(tzinfo=None)
    return start <= at < end if start < end else at >= start or at < end


def is_time(times: str) -> bool:
    return times.strip().casefold() in HOURS or bool(SPAN.fullmatch(times.strip()))


def _same(value: str, among: tuple[str, ...]) -> bool:
    return value.casefold() in {one.casefold() for one in among}
