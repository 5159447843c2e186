"""The page of injections: which cards went where, the kill switch, and what people say."""

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from prowess.config import CardsConfig
from prowess.engine import Engine
from prowess.testing import StaticSource
from prowess.types import Outcome
from tests.support.browser import look
from tests.support.cards import CALENDAR, ECONOMY, source, turn
from tests.web.dashboard import SCRIPT, dashboard, is_only_text, post

if TYPE_CHECKING:
    from tests.support.browser import Visit

pytestmark = pytest.mark.slow

POLICY = 'profiles: {owner: {agents: [default, ada], additional_tools: ["*"]}}'
NAMED = SCRIPT.partition(":")[2]


def cards() -> StaticSource:
    return source(ECONOMY, CALENDAR)


def used(engine: Engine, turns: int = 1) -> None:
    """Turns that get a card, turns that get none, and one outcome."""
    for number in range(turns):
        injected = engine.inject(
            (), turn(f"How much do tokens cost in week {number}?", agent="ada"), f"s{number}"
        )
        engine.inject((), turn("Tell me a joke"), f"j{number}")
        engine.record(Outcome(offer=injected.id, capability="tool:x", ok=number % 3 > 0, agent="ada"))


def test_each_turn_shows_its_cards_with_their_scores_and_why_others_stayed_out(
    tmp_path: Path, visit: "Visit"
) -> None:
    experiment = CardsConfig(experiment={"relevance": 1, "keyword": 1}, auto_disable_threshold=0.9)
    with dashboard(tmp_path, cards(), policy=POLICY, cards=experiment) as engine:
        used(engine, 6)
        engine.inject((), turn(f"What do tokens cost for {NAMED}? my password is hunter2abc", agent="ada"))
        page = visit(engine)
        page.goto("/injections")
        expect(page.locator(".figure", has_text="Rollout mode")).to_contain_text("full")
        expect(page.locator(".figure", has_text="Kill switch")).to_contain_text("off")
        first = page.get_by_label("Turns with their cards").locator("tbody tr").first
        assert "token-economy" in first.inner_text()
        assert "hunter2abc" not in page.content()
        assert is_only_text(page)
        variants = page.get_by_label("Variants compared", exact=True).locator("tbody th").all_inner_texts()
        assert sorted(variants) == ["keyword", "relevance"]
        look(page, "injections")


def test_a_person_says_that_a_card_was_wrong_and_it_is_remembered_by_name(
    tmp_path: Path, visit: "Visit"
) -> None:
    with dashboard(tmp_path, cards(), policy=POLICY) as engine:
        used(engine)
        page = visit(engine, role="operator")
        page.goto("/injections")
        page.get_by_role("button", name="Wrong").last.click()
        expect(page.get_by_role("status")).to_contain_text("Noted for card:token-economy")
        expect(page.get_by_text("found wrong")).to_be_visible()
        (entry,) = engine.journal.latest(type="cards.reviewed")
        assert (entry.data["relevant"], entry.data["by"]) == (False, "Ada")


def test_the_kill_switch_is_shown_and_a_person_lets_cards_out_again(tmp_path: Path, visit: "Visit") -> None:
    with dashboard(tmp_path, cards(), policy=POLICY) as engine:
        used(engine, 30)
        assert engine.cards.rollout().stopped
        page = visit(engine)
        page.goto("/injections")
        expect(page.get_by_role("alert")).to_contain_text("The kill switch is on.")
        page.get_by_text("Resume", exact=True).click()
        page.get_by_role("button", name="Inject cards again").click()
        expect(page.get_by_role("status")).to_contain_text("Cards are injected again")
        assert not engine.cards.rollout().stopped
        assert engine.inject((), turn("How much do tokens cost?", agent="ada")).injected
        (entry,) = engine.journal.latest(type="cards.resumed")
        assert entry.data["by"] == "Ada"


def test_older_turns_are_on_the_next_page(tmp_path: Path, visit: "Visit") -> None:
    with dashboard(tmp_path, cards(), policy=POLICY) as engine:
        used(engine, 15)
        page = visit(engine)
        page.goto("/injections")
        rows = page.get_by_label("Turns with their cards").locator("tbody tr")
        expect(rows).to_have_count(25)
        page.get_by_role("link", name="Older").click()
        expect(rows).to_have_count(5)
        assert "week 0" in rows.nth(4).inner_text() + rows.nth(3).inner_text()
        page.get_by_role("link", name="Newest").click()
        expect(rows).to_have_count(25)


def test_who_may_only_look_cannot_resume_or_review(tmp_path: Path, visit: "Visit") -> None:
    with dashboard(tmp_path, cards(), policy=POLICY) as engine:
        used(engine)
        (selection, _) = [entry.data["selection"] for entry in engine.journal.latest(type="cards.selected")]
        page = visit(engine, role="viewer")
        page.goto("/injections")
        expect(page.get_by_role("button", name="Wrong")).to_have_count(0)
        assert post(page, "/injections/resume").status == 403
        said = post(page, "/injections/review", selection=selection, card="token-economy", said="wrong")
        assert said.status == 403
        assert engine.journal.latest(type="cards.re*") == ()


def test_without_cards_the_page_says_where_to_put_them(tmp_path: Path, visit: "Visit") -> None:
    with dashboard(tmp_path) as engine:
        page = visit(engine)
        page.goto("/injections")
        expect(page.locator(".empty")).to_contain_text("No card was ever selected")
