"""Which cards a turn gets, and why the others do not.

In this order: exclude, which always wins; force-include, which passes the threshold and nothing else;
the guard; language, session type and the other triggers; relevance against the threshold; priority;
and the budget, where a card that does not fit is left out and smaller ones still get their chance.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from prowess.cards.card import Card
from prowess.cards.language import language_of, spoken
from prowess.cards.scorers import Scoring
from prowess.cards.triggers import has_router_tag, why_not
from prowess.types import Turn

NO_ROOM = "no room in the budget"
BELOW = "below the threshold"


@dataclass(frozen=True, slots=True, kw_only=True)
class CardRules:
    """What configuration and profile say about one turn."""

    budget: int = 1500
    threshold: float | None = None
    """Takes the place of every card's own."""
    force_include: frozenset[str] = frozenset()
    exclude: frozenset[str] = frozenset()
    only: frozenset[str] | None = None
    """When given, nothing else is ever selected."""


@dataclass(frozen=True, slots=True)
class SelectedCard:
    card: Card
    score: float
    forced: bool = False


@dataclass(frozen=True, slots=True)
class Skipped:
    id: str
    reason: str
    score: float = 0.0


@dataclass(frozen=True, slots=True)
class Selection:
    chosen: tuple[SelectedCard, ...] = ()
    skipped: tuple[Skipped, ...] = ()

    @property
    def tokens(self) -> int:
        return sum(one.card.tokens for one in self.chosen)

    @property
    def truncated(self) -> bool:
        """Whether the budget took something away: a whole card, or the end of one."""
        return any(one.card.cut for one in self.chosen) or any(
            one.reason.startswith(NO_ROOM) for one in self.skipped
        )


def select(cards: Sequence[Card], turn: Turn, scoring: Scoring, rules: CardRules, now: datetime) -> Selection:
    """The cards for a turn in order of priority, within the budget."""
    barred = {card.id: reason for card in cards if (reason := _barred(card, turn, rules, now))}
    free = [card for card in cards if card.id not in barred]
    eligible, unspoken = spoken(free, turn.language or language_of(turn.text))
    scores = _scores(eligible, turn, scoring)
    relevant, skipped = _over_threshold(eligible, scores, rules)
    fitting, too_large = _within(sorted(relevant, key=_rank), rules.budget)
    reasons = [Skipped(id, reason) for id, reason in barred.items()]
    reasons += [Skipped(card.id, "another card speaks the language") for card in unspoken]
    below = sorted(skipped, key=lambda one: (-one.score, one.id))
    return Selection(tuple(fitting), (*reasons, *too_large, *below))


def _barred(card: Card, turn: Turn, rules: CardRules, now: datetime) -> str:
    if card.is_among(rules.exclude):
        return "excluded"
    if rules.only is not None and not card.is_among(rules.only):
        return "not in this profile"
    if card.rejected:
        return f"rejected by the guard: {'; '.join(card.rejected)}"
    return why_not(card, turn, now)


def _scores(cards: Sequence[Card], turn: Turn, scoring: Scoring) -> Mapping[str, float]:
    scores = scoring(cards, turn)
    return {card.id: 1.0 if has_router_tag(card, turn) else scores.get(card.id, 0.0) for card in cards}


def _over_threshold(
    cards: Sequence[Card], scores: Mapping[str, float], rules: CardRules
) -> tuple[list[SelectedCard], list[Skipped]]:
    relevant: list[SelectedCard] = []
    skipped: list[Skipped] = []
    for card in cards:
        score = scores[card.id]
        threshold = card.threshold if rules.threshold is None else rules.threshold
        forced = card.is_among(rules.force_include)
        if forced or score >= threshold:
            relevant.append(SelectedCard(card, score, forced))
        else:
            skipped.append(Skipped(card.id, f"{BELOW} ({_shown(score, threshold)} < {threshold:g})", score))
    return relevant, skipped


def _shown(score: float, threshold: float) -> str:
    """With as many decimals as it takes to see that it is less."""
    short = f"{score:.2f}"
    return short if float(short) < threshold else f"{math.floor(score * 10_000) / 10_000:.4f}"


def _rank(one: SelectedCard) -> tuple[int, float, str]:
    return -one.card.priority, -one.score, one.card.id


def _within(relevant: Sequence[SelectedCard], budget: int) -> tuple[list[SelectedCard], list[Skipped]]:
    fitting: list[SelectedCard] = []
    too_large: list[Skipped] = []
    left = budget
    for one in relevant:
        if one.card.tokens <= left:
            left -= one.card.tokens
            fitting.append(one)
        else:
            reason = f"{NO_ROOM} ({one.card.tokens} tokens, {left} left)"
            too_large.append(Skipped(one.card.id, reason, one.score))
    return fitting, too_large


def nearest(selection: Selection, count: int) -> Iterator[Skipped]:
    """What was skipped for a reason of its own, and the few that came closest to the threshold."""
    below = 0
    for one in selection.skipped:
        below += one.reason.startswith(BELOW)
        if not one.reason.startswith(BELOW) or below <= count:
            yield one
