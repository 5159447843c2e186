"""The overview and the frame around every page, used as a person uses them."""

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from prowess.errors import ApprovalNeeded
from prowess.testing import StaticSource
from prowess.types import Outcome, Problem, Provider
from tests.support.browser import PHONE, look
from tests.web.dashboard import dashboard, is_only_text, office

if TYPE_CHECKING:
    from prowess.engine import Engine
    from tests.support.browser import Visit

pytestmark = pytest.mark.slow


def lately() -> datetime:
    """A moment after everything that the tests' clock did."""
    return datetime(2026, 1, 1, 12, tzinfo=UTC)


def with_a_past(engine: "Engine") -> None:
    for _ in range(3):
        offer = engine.offer("search the web and read pages")
        engine.record(Outcome(offer=offer.id, capability="tool:search", ok=True))
    with pytest.raises(ApprovalNeeded):
        engine.check("ada", "tool:pay")


def test_it_says_what_there_is_what_happened_and_what_waits(tmp_path: Path, visit: "Visit") -> None:
    source = office()
    source.problems = [Problem("static", "memory", "a file cannot be read", "mend it")]
    source.providers.append(Provider(name="phone", source="static", down="nobody answers"))
    with dashboard(tmp_path, source, trust={"static": "pinned"}) as engine:
        source.capabilities[5] = replace(source.capabilities[5], description="Is called like a tag, too")
        engine.sync()
        with_a_past(engine)
        page = visit(engine, role="viewer", clock=lately)
        page.get_by_text("a file cannot be read").wait_for()
        text = page.locator("main").inner_text()
        assert "Capabilities\n6\n5 can be used now" in text
        assert "Waiting for you\n2\n" in text
        assert "ada asks to use tool:pay" in text and "it changed since it was approved" in text
        phone = page.locator("section:has(#providers) tr", has_text="phone")
        assert phone.locator(".badge").inner_text() == "down" and "nobody answers" in phone.inner_text()
        assert "“search the web and read pages”: offered tool:search" in text
        page.get_by_text("in 3 offers, 7 days").wait_for()
        assert is_only_text(page)
        look(page, "overview")


def test_offers_and_calls_are_drawn_and_can_be_read_as_a_table(tmp_path: Path, visit: "Visit") -> None:
    with dashboard(tmp_path) as engine:
        with_a_past(engine)
        page = visit(engine, clock=lately)
        page.locator(".chart canvas").wait_for()
        page.get_by_role("link", name="24 hours").click()
        page.get_by_text("As a table").click()
        rows = page.locator("section:has(#activity) details tbody tr")
        assert rows.count() == 24
        assert "2026-01-01 00:00\t3\t3" in rows.all_inner_texts()


def test_an_empty_store_says_what_to_do_next(tmp_path: Path, visit: "Visit") -> None:
    with dashboard(tmp_path, StaticSource()) as engine:
        page = visit(engine, clock=lately)
        page.get_by_text("No problem found").wait_for()
        text = page.locator("main").inner_text()
        assert "Five steps lead from here to the first offer" in text and "Nothing happened" in text
        look(page, "overview-empty")
        page.get_by_role("link", name="Begin").click()
        assert page.locator("h1").inner_text() == "Welcome"


def test_what_the_page_loads_afterwards_is_also_a_page_without_scripts(
    tmp_path: Path, visit: "Visit"
) -> None:
    with dashboard(tmp_path) as engine:
        with_a_past(engine)
        page = visit(engine, java_script_enabled=False)
        page.get_by_role("link", name="Look for problems").click()
        assert "No problem found" in page.locator("main").inner_text()
        page.goto("/")
        page.get_by_role("link", name="work it out").click()
        assert "Showing everything" in page.locator("main").inner_text()


def test_light_or_dark_is_as_the_system_says_until_somebody_chooses(tmp_path: Path, visit: "Visit") -> None:
    with dashboard(tmp_path) as engine:
        page = visit(engine, color_scheme="dark")
        ground = "getComputedStyle(document.body).backgroundColor"
        dark = page.evaluate(ground)
        page.get_by_role("button", name="Light").click()
        assert page.evaluate(ground) != dark
        page.goto("/catalogue")
        assert page.evaluate(ground) != dark, "the choice outlives the page"
        page.get_by_role("button", name="Dark").click()
        assert page.evaluate(ground) == dark


def test_on_a_phone_the_menu_opens_and_closes_by_keyboard(tmp_path: Path, visit: "Visit") -> None:
    with dashboard(tmp_path) as engine:
        page = visit(engine, viewport=PHONE)
        link = page.get_by_role("link", name="Catalogue", exact=True)
        assert not link.is_visible()
        page.get_by_role("button", name="Menu").press("Enter")
        assert link.is_visible()
        page.keyboard.press("Escape")
        assert not link.is_visible()
        page.get_by_role("button", name="Menu").click()
        link.click()
        page.get_by_role("heading", name="Catalogue", level=1).wait_for()


def test_who_is_not_signed_in_sees_the_form_and_nothing_else(tmp_path: Path, visit: "Visit") -> None:
    with dashboard(tmp_path) as engine:
        page = visit(engine)
        page.get_by_role("button", name="Log out").click()
        page.goto("/catalogue")
        page.get_by_role("heading", name="Sign in").wait_for()
        assert page.get_by_role("navigation").count() == 0
        look(page, "login")


def test_when_a_session_has_ended_a_part_of_a_page_leads_to_the_form(tmp_path: Path, visit: "Visit") -> None:
    with dashboard(tmp_path) as engine:
        page = visit(engine)
        page.goto("/catalogue")
        page.context.clear_cookies()
        page.get_by_label("Find").press_sequentially("pay")
        page.get_by_role("heading", name="Sign in").wait_for()
        assert "next=/catalogue" in page.url


def test_a_page_that_is_not_there_says_so_in_the_same_frame(tmp_path: Path, visit: "Visit") -> None:
    with dashboard(tmp_path) as engine:
        page = visit(engine, java_script_enabled=False)
        answer = page.request.get("/nowhere")
        assert answer.status == 404 and "Not found" in answer.text() and "/catalogue" in answer.text()


def test_times_are_those_of_the_readers_zone_and_what_is_near_says_how_far(
    tmp_path: Path, visit: "Visit"
) -> None:
    with dashboard(tmp_path) as engine:
        with_a_past(engine)
        at = engine.journal.latest(1, type="decision")[0].at
        page = visit(engine, timezone_id="Asia/Tokyo")
        page.goto("/journal?type=decision")
        moment = page.locator("#entries time").first
        expect(moment).to_have_text(f"{at[:11].replace('T', ' ')}09{at[13:19]}")
        expect(page.locator("#entries thead th").first).to_have_text("When (GMT+9)")
        assert (moment.get_attribute("title") or "").endswith(f"{at[:19].replace('T', ' ')} UTC")
        page.clock.set_fixed_time(datetime(2026, 1, 1, 0, 10, tzinfo=UTC))
        page.goto("/journal?type=decision")
        expect(page.locator("#entries time").first).to_have_text("9 minutes ago")
        page.clock.resume()
