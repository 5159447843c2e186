"""Cards in the engine people hold: in an offer (one turn, one id, one budget) and in files."""

from typing import Any

import pytest

from prowess.types import Message, Turn
from tests.support.cards import AGENTS, CALENDAR, ECONOMY, source
from tests.support.stores import OpenEngine

ASKED = "How much do tokens cost?"


@pytest.fixture
def engine(open_engine: OpenEngine) -> Any:
    engine = open_engine(source(ECONOMY, CALENDAR))
    engine.sync()
    return engine


def test_an_offer_carries_the_cards_of_its_turn_under_its_own_id(engine: Any) -> None:
    offer = engine.offer(ASKED)
    assert offer.cards == ("card:token-economy",)
    assert "## Token costs" in offer.text and offer.tokens.cards > 0
    (entry,) = engine.journal.latest(type="cards.selected")
    assert entry.data["selection"] == offer.id


def test_the_turns_budget_caps_the_offer_with_its_cards(engine: Any) -> None:
    for budget in (100, 150, 250, 400):
        offer = engine.offer(Turn(messages=(Message("user", ASKED),), budget=budget))
        assert offer.tokens.total <= budget


def test_inject_takes_a_list_or_a_mapping_and_keys_for_one_call(engine: Any) -> None:
    for files in ([AGENTS], {"AGENTS.md": "Be kind."}):
        found = engine.inject(files, ASKED)
        assert [file.name for file in found.files] == ["AGENTS.md", "CAPABILITIES.md"]
        assert engine.inject(files, ASKED, exclude=["token-economy"]).files == (AGENTS,)
