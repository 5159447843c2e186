"""How well cards are selected, on messages that were labelled before the scorer was written."""

from collections.abc import Iterator

import pytest

from bench.cards import cases, deck, quality, scorers, thing
from prowess.cards.card import Card
from prowess.cards.relevance import Embedder
from prowess.discovery.encoder import Encoder

pytestmark = pytest.mark.slow

TARGET_MS = 5.0
SLOW_MACHINE = 4.0
"""Tests share their machine; `bench/cards.py` measures on a quiet one."""


@pytest.fixture(scope="module")
def cards() -> list[Card]:
    return deck()


@pytest.fixture(scope="module")
def encoder() -> Iterator[Embedder]:
    yield Encoder.open()


def test_the_labelled_set_is_large_enough_and_its_halves_share_nothing(cards: list[Card]) -> None:
    tuning, frozen = ([case.turn for case in cases(half)] for half in ("tuning", "frozen"))
    assert len(tuning) + len(frozen) >= 120 and len(frozen) >= 60
    assert not {t.messages for t in tuning} & {t.messages for t in frozen}
    assert len({thing(card) for card in cards}) >= 15
    assert not any(card.rejected or card.warnings for card in cards)


def test_the_default_scorer_injects_nine_of_ten_relevant_cards_and_hardly_an_irrelevant_one(
    cards: list[Card], encoder: Embedder
) -> None:
    found = quality(cards, scorers(cards, encoder)["relevance"], "frozen")
    assert found.relevant_injected >= 0.90
    assert found.irrelevant_injected <= 0.05


def test_the_original_formula_misses_its_own_goals(cards: list[Card], encoder: Embedder) -> None:
    assert quality(cards, scorers(cards, encoder)["keyword"], "frozen").relevant_injected < 0.1
