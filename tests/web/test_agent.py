"""The page of one agent, and the same over HTTP."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from prowess.engine import Engine
from prowess.journal.entries import Searched
from prowess.types import Message, Outcome, Turn
from tests.support.browser import look
from tests.support.evolution import AB, FAIR, exhaust
from tests.support.stores import OpenEngine
from tests.support.web import app_of, browser, signed_in
from tests.web.dashboard import POLICY, dashboard, office

if TYPE_CHECKING:
    from tests.support.browser import Visit

pytestmark = pytest.mark.slow


def with_a_past(engine: Engine) -> None:
    for request, capability, ok, took in (
        ("search the web and read pages", "tool:search", True, 20.0),
        ("search the web and read pages", "tool:search", False, 40.0),
        ("look at the calendar of meetings", "tool:calendar", True, 900.0),
    ):
        offer = engine.offer(Turn(agent="bob", messages=(Message("user", request),)))
        engine.record(Outcome(offer=offer.id, capability=capability, ok=ok, agent="bob", milliseconds=took))
    engine.internals.journal.record(Searched(query="play the violin", search="s1"), "bob")


def test_an_agents_page_says_what_it_may_use_what_it_uses_and_what_it_lacked(
    tmp_path: Path, visit: "Visit"
) -> None:
    with dashboard(tmp_path) as engine:
        with_a_past(engine)
        page = visit(engine, role="viewer")
        page.goto("/policy/agents")
        page.get_by_role("link", name="bob", exact=True).click()
        text = page.locator("main").inner_text()
        assert "May use\n3\nof 6; asks about 1" in text and "Calls\n3\n40 ms median" in text
        most, slowest = (page.get_by_role("region", name=name) for name in ("Most used", "Slowest"))
        expect(most.locator("li").first).to_contain_text("tool:search")
        expect(slowest.locator("li").first).to_contain_text("tool:calendar")
        expect(page.get_by_role("region", name="Failing")).to_contain_text("1 failed")
        expect(page.get_by_role("region", name="Never used")).to_contain_text("tool:pay")
        expect(page.get_by_role("region", name="Found nothing")).to_contain_text("play the violin")
        look(page, "agent")
        page.get_by_role("link", name="The whole request").first.click()
        expect(page.locator(".lede")).to_have_text("look at the calendar of meetings")


def test_a_program_asks_what_an_agent_does(open_engine: OpenEngine) -> None:
    engine = open_engine(office(), policy=POLICY)
    engine.sync()
    with_a_past(engine)
    client = signed_in(app_of(engine), "viewer")
    report = client.get("/api/v1/agents/bob/report").json()
    assert (report["may"], report["asks"], report["unused"], report["offers"]) == (3, 1, 2, 3)
    assert [one["capability"] for one in report["top"]] == ["tool:search", "tool:calendar"]
    assert report["found_nothing"] == ["play the violin"]
    assert client.get("/api/v1/agents/nobody-here/report").status_code == 404


def test_of_a_stopped_agent_each_page_says_why_in_words_and_leads_to_where_it_is_resumed(
    tmp_path: Path,
) -> None:
    with dashboard(tmp_path) as engine:
        engine.evolution.evaluate("ada", FAIR, AB)
        exhaust(partial(engine.evolution.evaluate, "ada"))
        ann = browser(app_of(engine))
        for path in ("/", "/agent?name=ada", "/policy/agents", "/evolution/agent?agent=ada"):
            assert "rollbacks did not help (rollback_exhausted)" in ann.get(path).text, path
        page = ann.get("/agent?name=ada").text
        assert "once it is resumed" in page and "It has not asked for anything yet." in page
        assert 'href="/evolution/agent?agent=ada">Resume it</a>' in page
