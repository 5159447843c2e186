"""The page of the journal: live, filtered, exported, and sealed."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from prowess.engine import Engine
from prowess.journal import JournalPosition, Raw
from prowess.testing import StaticSource, capability
from prowess.types import Outcome
from tests.support.browser import look
from tests.support.stores import OpenEngine
from tests.support.web import app_of, signed_in
from tests.web.dashboard import SCRIPT, at, dashboard, is_only_text, office

if TYPE_CHECKING:
    from tests.support.browser import Visit

pytestmark = pytest.mark.slow


def wrote(engine: Engine, entries: int) -> None:
    for number in range(entries):
        engine.internals.journal.record(Raw("note", {"said": f"entry {number}"}), "ada" if number % 2 else "")


def test_what_happens_appears_by_itself_and_can_be_paused(tmp_path: Path, visit: "Visit") -> None:
    with dashboard(tmp_path) as engine:
        wrote(engine, 3)
        page = visit(engine, role="viewer")
        page.goto("/journal")
        expect(page.get_by_text("Live: new entries appear by themselves")).to_be_visible()
        engine.internals.journal.record(Raw("note", {"said": f"just now, by {SCRIPT}"}), "bob")
        expect(page.locator("#entries tbody tr").first).to_contain_text("just now")
        expect(page.get_by_text("Live: 1 new since you opened this page")).to_be_visible()
        assert is_only_text(page)
        page.get_by_role("button", name="Pause").click()
        engine.internals.journal.record(Raw("note", {"said": "while it was paused"}), "bob")
        expect(page.get_by_text("Paused", exact=True)).to_be_visible()
        assert "while it was paused" not in page.locator("#entries tbody").inner_text()
        page.get_by_role("button", name="Go on").click()
        expect(page.locator("#entries tbody tr").first).to_contain_text("while it was paused")
        page.close()


def test_an_entry_unfolds_and_what_looks_like_a_secret_is_taken_out(tmp_path: Path, visit: "Visit") -> None:
    with dashboard(tmp_path) as engine:
        engine.offer("search the web, my password is hunter2abc")
        engine.internals.journal.record(Raw("decision", {"capability": SCRIPT, "verdict": "deny"}), "ada")
        page = visit(engine)
        page.goto(at("/journal", type="offer"))
        expect(page.locator("#entries tbody tr")).to_have_count(1)
        page.locator("#entries summary").click()
        expect(page.locator("#entries pre")).to_contain_text('"request"')
        assert "hunter2abc" not in page.content()
        page.goto("/journal")
        expect(page.get_by_text("intact", exact=True)).to_be_visible()
        page.locator("#entries summary", has_text="may not use").click()
        assert is_only_text(page)
        look(page, "journal")
        page.close()


def test_one_request_is_one_page_with_what_the_model_saw_and_what_came_of_it(
    tmp_path: Path, visit: "Visit"
) -> None:
    with dashboard(tmp_path) as engine:
        offer = engine.offer("search the web and read pages")
        engine.record(Outcome(offer=offer.id, capability="tool:search", ok=True))
        page = visit(engine)
        page.goto(at("/journal", type="offer"))
        page.get_by_role("link", name="The whole request").click()
        expect(page.get_by_label("Text of the prompt")).to_have_text(offer.text)
        expect(page.get_by_text("search the web and read pages").first).to_be_visible()
        expect(page.locator("tbody tr")).to_have_count(2)
        assert is_only_text(page)
        look(page, "trace")
        missing = page.request.get(at("/journal/trace", id="nothing-like-it"))
        assert missing.status == 404 and "prowess log --type offer" in missing.text()
        page.close()


def test_an_entry_is_found_by_its_words_its_time_and_how_it_ended_and_reads_as_a_sentence(
    tmp_path: Path, visit: "Visit"
) -> None:
    with dashboard(tmp_path) as engine:
        for request, ok in (
            ("search the web and read pages", True),
            ("pay the 50% invoice of Ångström", False),
        ):
            offer = engine.offer(request)
            detail = "" if ok else "the bank did not answer"
            engine.record(Outcome(offer=offer.id, capability="tool:pay", ok=ok, detail=detail))
        page = visit(engine, clock=lambda: datetime(2026, 1, 1, 0, 30, tzinfo=UTC))
        page.goto("/journal")
        page.get_by_label("Words").fill("50% INVOICE of ångström")
        page.get_by_role("button", name="Show", exact=True).click()
        rows = page.locator("#entries tbody tr")
        expect(rows).to_have_count(1)
        expect(rows).to_contain_text("“pay the 50% invoice of Ångström”: offered")
        page.goto(at("/journal", wrong="1", period="the last hour"))
        expect(rows).to_have_count(1)
        expect(rows).to_contain_text("tool:pay failed: the bank did not answer")
        look(page, "journal-search")
        rows.get_by_role("link", name="The whole request").click()
        expect(page.locator(".lede")).to_have_text("pay the 50% invoice of Ångström")
        page.goto(at("/journal", q="nobody said this"))
        expect(page.locator(".empty")).to_contain_text("No entry is like this")
        page.close()


def test_the_journal_is_searched_on_both_databases_and_never_for_what_is_not_shown(
    open_engine: OpenEngine,
) -> None:
    engine = open_engine(office())
    engine.sync()
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9" * 2
    engine.offer(f'Über 100_000 \\ "quoted", with {token}')
    engine.offer("something else")
    engine.internals.journal.record(Raw("call", {"capability": "tool:pay", "outcome": "failed"}), "ada")
    engine.internals.journal.record(Raw("decision", {"verdict": "deny"}), "ada")
    client = signed_in(app_of(engine), "viewer")

    def found(**asked: str) -> list[str]:
        answer = client.get("/api/v1/journal", params={"type": "*", **asked}).json()
        return [entry["type"] for entry in answer["items"]]

    for words in ("über 100_000", "ÜBER", '\\ "quoted"', "00_0"):
        assert found(text=words, type="offer") == ["offer"], words
    assert found(text="100%000") == found(text="100x000") == []
    assert found(text=token) == found(text=token[:12]) == []
    assert found(wrong="true") == ["decision", "call"]
    assert found(wrong="true", since="2099") == []
    assert len(found(since="2000-01-01", type="offer")) == 2


def test_filters_and_pages_narrow_what_is_shown(tmp_path: Path, visit: "Visit") -> None:
    with dashboard(tmp_path) as engine:
        wrote(engine, 130)
        page = visit(engine)
        page.goto("/journal")
        page.get_by_label("Agent", exact=True).select_option("ada")
        page.get_by_label("Type").fill("no*")
        page.get_by_role("button", name="Show", exact=True).click()
        rows = page.locator("#entries tbody tr")
        expect(rows).to_have_count(50)
        assert "entry 129" in rows.first.inner_text()
        page.get_by_role("link", name="Older").click()
        expect(rows).to_have_count(15)
        assert "entry 1" in rows.last.inner_text()
        page.get_by_label("Agent", exact=True).select_option("No agent")
        page.get_by_label("Type").fill("outcome")
        page.get_by_role("button", name="Show", exact=True).click()
        expect(page.locator(".empty")).to_contain_text("No entry is like this")
        page.close()


def test_the_export_holds_every_entry_that_the_filter_lets_through(tmp_path: Path, visit: "Visit") -> None:
    with dashboard(tmp_path) as engine:
        wrote(engine, 7)
        page = visit(engine)
        page.goto(at("/journal", agent="ada", type="note"))
        with page.expect_download() as started:
            page.get_by_role("link", name="Export as JSON lines").click()
        lines = started.value.path().read_text().splitlines()
        assert [json.loads(line)["data"]["said"] for line in lines] == ["entry 1", "entry 3", "entry 5"]
        page.close()


def test_a_record_that_somebody_edited_is_called_broken(tmp_path: Path, visit: "Visit") -> None:
    with dashboard(tmp_path) as engine:
        wrote(engine, 4)
        page = visit(engine)
        page.goto("/journal")
        expect(page.get_by_text("intact", exact=True)).to_be_visible()
        with engine.internals.database.writing() as transaction:
            transaction.run("UPDATE journal SET data = '{}' WHERE chain = 'ada' AND number = 1")
        page.get_by_role("link", name="Verify now").click()
        expect(page.get_by_role("alert")).to_contain_text("it was edited after it was written")
        page.close()


def test_entries_before_a_place_are_those_that_stand_before_it(open_engine: OpenEngine) -> None:
    engine = open_engine()
    wrote(engine, 10)
    everything = engine.journal.latest(100)
    for number, entry in enumerate(everything):
        place = JournalPosition(entry.at, entry.chain, entry.number)
        assert engine.journal.latest(3, before=place) == everything[max(0, number - 3) : number]


@pytest.mark.parametrize("place", ["nonsense", "2026 x ada", "2026 99999999999999999999 ada"])
def test_an_address_that_names_no_place_is_refused(tmp_path: Path, visit: "Visit", place: str) -> None:
    with dashboard(tmp_path) as engine:
        page = visit(engine)
        assert page.request.get(at("/journal", before=place)).status == 400


def test_a_long_journal_is_searched_piece_by_piece_and_each_piece_goes_on_where_the_last_one_ended(
    open_engine: OpenEngine,
) -> None:
    engine = open_engine(office())
    engine.sync()
    engine.offer("find the zebra 4711")
    for number in range(12):
        engine.offer(f"read invoice {number}")
    client = signed_in(app_of(engine), "viewer")
    found, pieces, cursor = [], 0, ""
    while True:
        asked = {"text": "zebra 4711", "most": "5", "cursor": cursor}
        page = client.get("/api/v1/journal", params=asked).json()
        found += [entry["data"]["request"] for entry in page["items"] if entry["type"] == "offer"]
        pieces, cursor = pieces + 1, page["next"]
        if not cursor:
            break
    assert found == ["find the zebra 4711"]
    assert pieces >= 3
    assert len(client.get("/api/v1/journal", params={"text": "zebra 4711"}).json()["items"]) > 0


def test_an_entry_that_names_very_much_shows_the_first_of_it(open_engine: OpenEngine) -> None:
    many = StaticSource(capabilities=[capability(f"tool:t{n:04}") for n in range(300)])
    engine = open_engine(many)
    engine.sync()
    page = signed_in(app_of(engine)).get("/journal", params={"type": "catalogue.synced"}).text
    assert "tool:t0099" in page and "tool:t0100" not in page
    assert "and 200 more" in page
