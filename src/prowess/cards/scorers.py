"""How relevant a card is to a turn: one seam, and the formula that was written down first.

A scorer is any `Scorer`. One that raises or leaves 0..1 counts as 0 for that card, is told about, and
the others go on. `keyword` is the original formula, bit for bit, with everything that is wrong with it:
substrings match, and each further keyword makes a card fire less. `relevance` (beside this file) is
the default.
"""

import math
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TypeAlias

from prowess.cards.card import Card
from prowess.errors import ConfigError, SourceError, nearest
from prowess.sources.python.modules import load_module
from prowess.types import Turn

Scorer: TypeAlias = Callable[[Card, Turn], float]
Scoring: TypeAlias = Callable[[Sequence[Card], Turn], Mapping[str, float]]
"""All cards at once, which is quicker where they share work."""
Failed: TypeAlias = Callable[[str, str], None]
"""Told the id of a card and what went wrong with its score."""

SATURATION = 100


def keyword(card: Card, turn: Turn) -> float:
    """.7 times the share of keywords that occur, .3 times how often, of 100."""
    if not turn.messages:
        return card.priority / 100
    recent = " ".join(message.text for message in turn.messages).lower()
    matched = [word for word in (k.lower() for k in card.keywords) if word in recent]
    if not matched:
        return 0.0
    ratio = len(matched) / len(card.keywords)
    density = min(sum(recent.count(word) for word in matched) / SATURATION, 1.0)
    return ratio * 0.7 + density * 0.3


def named(names: Iterable[str], root: Path) -> dict[str, Scorer]:
    """The functions that [cards] names as `module:function`; modules may lie beside prowess.toml."""
    return {name: _loaded(name, root) for name in names if ":" in name}


def _loaded(name: str, root: Path) -> Scorer:
    module_name, _, function_name = name.partition(":")
    try:
        with _beside(root):
            module = load_module(module_name)
    except SourceError as failure:
        raise ConfigError("[cards]", f"the scorer {name!r}: {failure.what}", failure.remedy) from None
    found = getattr(module, function_name, None)
    if not callable(found):
        close = nearest(function_name, vars(module))
        remedy = f"did you mean {close!r}?" if close else "write module:function"
        raise ConfigError("[cards]", f"{module_name} has no function {function_name!r}", remedy)
    scorer: Scorer = found
    return scorer


@contextmanager
def _beside(root: Path) -> Iterator[None]:
    place = str(root.resolve())
    sys.path.insert(0, place)
    try:
        yield
    finally:
        sys.path.remove(place)


def one_by_one(scorer: Scorer, failed: Failed) -> Scoring:
    """A scorer as a scoring: what it cannot score counts as 0."""

    def scoring(cards: Sequence[Card], turn: Turn) -> Mapping[str, float]:
        return {card.id: _checked(scorer, card, turn, failed) for card in cards}

    return scoring


def _checked(scorer: Scorer, card: Card, turn: Turn, failed: Failed) -> float:
    try:
        score = float(scorer(card, turn))
    except Exception as failure:  # a user's function may raise anything
        failed(card.id, f"the scorer raised {type(failure).__name__}: {failure}")
        return 0.0
    if math.isnan(score) or not 0 <= score <= 1:
        failed(card.id, f"the scorer answered {score}, which is not in 0..1")
        return 0.0
    return score
