"""Ask: what a model would see, why, and what was left out, used as a person uses it."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from prowess.types import Detail, Message, Turn
from prowess.web.pages.ask import pieces
from tests.support.browser import look
from tests.support.cards import draft, text_of
from tests.web.dashboard import SCRIPT, at, dashboard, is_only_text, office

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from tests.support.browser import Visit

pytestmark = pytest.mark.slow

REQUEST = "search the web and read pages"


def hits(page: "Page", answer: int = 0) -> list[str]:
    return page.locator(".answer").nth(answer).locator("tbody th a").all_inner_texts()


def ask(page: "Page", request: str, button: str = "Ask") -> None:
    page.get_by_label("Request").fill(request)
    page.get_by_role("button", name=button, exact=True).click()


def test_the_offer_is_shown_as_the_model_would_see_it(tmp_path: Path, visit: "Visit") -> None:
    source = office()
    source.details["tool:search"] = Detail(
        input_schema={"type": "object", "properties": {"query": {"type": "string"}}}
    )
    with dashboard(tmp_path, source) as engine:
        page = visit(engine, role="viewer")
        page.goto("/ask")
        ask(page, REQUEST)
        offer = engine.offer(REQUEST)
        assert hits(page) == [hit.id for hit in offer.hits]
        seen = page.locator(".piece pre").all_text_contents()
        assert "\n\n".join(seen) == str(offer.text)
        text = page.locator(".answer").inner_text()
        assert all(reason in text for hit in offer.hits for reason in hit.reasons)
        assert f"{offer.tokens.tier1} of 800" in text
        page.get_by_text("as JSON").click()
        assert '"discover_capabilities"' in page.locator(".answer").inner_text()
        look(page, "ask")


def test_asking_leaves_no_trace(tmp_path: Path, visit: "Visit") -> None:
    source, card = office(), draft(text_of("money", keywords="[invoice]"))
    source.capabilities.append(card.capability)
    source.details[card.capability.id] = card.detail
    with dashboard(tmp_path, source) as engine:
        page = visit(engine)
        before = engine.journal.heads()
        page.goto(at("/ask", request="pay an invoice", why="tool:pay"))
        assert "1 card" in page.locator(".answer").inner_text()
        assert page.locator(".piece").last.get_by_role("heading").inner_text() == "Cards"
        assert engine.journal.heads() == before
        with engine.internals.database.reading() as transaction:
            assert transaction.all("SELECT turns FROM card_rate") == [], "nor does the kill switch count it"


def test_why_not_is_answered_for_what_was_left_out_and_for_anything_named(
    tmp_path: Path, visit: "Visit"
) -> None:
    with dashboard(tmp_path) as engine:
        page = visit(engine)
        page.goto(at("/ask", request=REQUEST, a_who="agent:gus"))
        row = page.locator(".lines li", has_text="tool:pay")
        assert row.locator(".badge").inner_text() == "denied"
        row.get_by_role("link", name="Why not?").click()
        row.locator(".steps").wait_for()
        assert "agent 'gus' has profile 'guest'" in row.inner_text()
        page.get_by_label("Id of a capability").fill("tool:refund")
        page.get_by_role("button", name="Explain").click()
        steps = page.locator("section:has(#why-not) .steps").inner_text()
        assert "deny" in steps and "relevance" in steps


def test_without_scripts_why_not_is_a_page(tmp_path: Path, visit: "Visit") -> None:
    with dashboard(tmp_path) as engine:
        page = visit(engine, java_script_enabled=False)
        page.goto(at("/ask", request=REQUEST, a_who="agent:gus"))
        page.locator(".lines li", has_text="tool:pay").get_by_role("link", name="Why not?").click()
        assert "agent 'gus' has profile 'guest'" in page.locator("main").inner_text()


def test_two_ways_of_asking_stand_side_by_side(tmp_path: Path, visit: "Visit") -> None:
    with dashboard(tmp_path) as engine:
        page = visit(engine)
        page.goto("/ask")
        ask(page, "pay an invoice and refund a payment", "Compare side by side")
        second = page.locator("fieldset").nth(1)
        second.get_by_label("As").select_option("profile:guest")
        second.get_by_label("Threshold").fill("0.05")
        second.get_by_label("Tier 2 budget").fill("0")
        page.get_by_role("button", name="Ask both ways").click()
        assert {"tool:pay", "tool:refund"} <= set(hits(page, 0))
        assert not {"tool:pay", "tool:refund"} & set(hits(page, 1)), "a guest may not use them"
        assert page.locator(".answer").first.get_by_text("only here").count() >= 2
        assert "0 of 0" in page.locator(".answer").nth(1).inner_text()
        look(page, "ask-compared")
        page.get_by_role("button", name="Ask one way").click()
        assert page.locator(".answer").count() == 1


def test_a_number_that_is_none_is_refused_in_words(tmp_path: Path, visit: "Visit") -> None:
    with dashboard(tmp_path) as engine:
        page = visit(engine)
        page.goto(at("/ask", request=REQUEST, a_tier1_min_relevance="much", a_budget="-4"))
        said = page.get_by_role("alert").all_inner_texts()
        assert said == ["Whole budget must be a whole number from 0 to 200000.",
                        "Threshold must be a number from 0 to 1."]  # fmt: skip
        assert page.locator(".answer").count() == 0


def test_names_like_tags_are_text(tmp_path: Path, visit: "Visit") -> None:
    with dashboard(tmp_path) as engine:
        page = visit(engine)
        page.goto(at("/ask", request="is called like a tag </textarea><script>alert(1)</script>", why=SCRIPT))
        assert SCRIPT in hits(page)
        assert is_only_text(page)
        page.goto(at("/ask/why", id=SCRIPT, request="<script>alert(1)</script>"))
        assert is_only_text(page)


def test_a_preview_by_profile_sees_what_that_profile_may(tmp_path: Path) -> None:
    with dashboard(tmp_path) as engine:
        turn = Turn(messages=(Message("user", "pay an invoice"),))
        found = {
            profile: {hit.id for hit in engine.preview(profile=profile).offer(turn).offer.hits}
            for profile in ("owner", "guest")
        }
        assert "tool:pay" in found["owner"] and "tool:pay" not in found["guest"]
        assert {agent.name for agent in engine.agents.list()} == {"default", "ada", "bob", "cleo", "gus"}


def test_the_pieces_of_a_text_are_the_text(tmp_path: Path) -> None:
    source = office()
    source.details["tool:search"] = Detail(content="Says:\n\nRelevant capabilities:\nmore")
    source.capabilities[0] = replace(source.capabilities[0], description="Relevant capabilities: all")
    with dashboard(tmp_path, source) as engine:
        text = str(engine.offer(REQUEST).text)
        cut = pieces(text)
        assert [piece.name for piece in cut] == ["Tier 0", "Tier 1", "Tier 2"]
        assert "\n\n".join(piece.text for piece in cut) == text


def test_where_what_fits_is_denied_the_page_says_so_and_leads_to_the_reason(
    tmp_path: Path, visit: "Visit"
) -> None:
    with dashboard(tmp_path) as engine:
        page = visit(engine)
        page.goto(at("/ask", a_who="agent:gus", request="refund a payment"))
        empty = page.locator(".empty", has_text="Nothing that it may use fits")
        expect(empty).to_contain_text("Nearest is tool:refund, which is denied")
        empty.get_by_role("link", name="Why it is not offered").click()
        expect(page.get_by_text("no grant mentions it").first).to_be_visible()
