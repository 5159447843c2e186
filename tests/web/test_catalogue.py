"""The catalogue and the page of a capability, used as a person uses them."""

import re
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from prowess.testing import StaticSource, capability
from prowess.types import Detail, Outcome, Provider
from tests.support.browser import look
from tests.web.dashboard import POLICY, SCRIPT, at, dashboard, is_only_text, office

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from tests.support.browser import Visit

pytestmark = pytest.mark.slow

SECRET = "ghp_" + "9fK2xQ7LmZr4TbV8nWc1YhD5sJ3gPa6EuRoX"  # a credential's shape, and nobody's credential


def names(page: "Page") -> list[str]:
    return page.locator("#results tbody th a").all_inner_texts()


def has_rows(page: "Page", count: int) -> None:
    """Wait until the list has so many."""
    from playwright.sync_api import expect

    expect(page.locator("#results tbody tr")).to_have_count(count)


def transferred(page: "Page") -> list[int]:
    """How many bytes each answer took on the wire, from now on."""
    sizes: list[int] = []
    network = page.context.new_cdp_session(page)
    network.send("Network.enable")
    network.send("Network.setCacheDisabled", {"cacheDisabled": True})
    network.on("Network.loadingFinished", lambda event: sizes.append(int(event["encodedDataLength"])))
    return sizes


def many(count: int) -> StaticSource:
    kinds, nouns = ("tool", "skill"), ("mail", "file", "ticket", "invoice")
    return StaticSource(
        capabilities=[
            capability(
                f"{kinds[n % 9 == 0]}:{nouns[n % 4]}-{n}", f"Works on {nouns[n % 4]} {n} of the archive",
                category=nouns[n % 4], provider=f"provider-{n % 20}",
            )
            for n in range(count)
        ]
    )  # fmt: skip


def test_typing_narrows_the_list_and_the_address_keeps_it(tmp_path: Path, visit: "Visit") -> None:
    with dashboard(tmp_path) as engine:
        page = visit(engine, role="viewer")
        page.goto("/catalogue")
        assert len(names(page)) == 6
        page.get_by_label("Find").press_sequentially("invoice")
        has_rows(page, 1)
        assert names(page) == ["pay"]
        assert page.get_by_role("status").inner_text() == "1 capability", "what a screen reader says"
        page.wait_for_url(re.compile(r"q=invoice"))
        page.reload()
        assert names(page) == ["pay"]
        page.get_by_label("Find").fill("nothing is called so")
        page.get_by_text("Nothing fits").wait_for()


def test_kind_provider_category_and_availability_narrow_it_too(tmp_path: Path, visit: "Visit") -> None:
    source = office()
    source.capabilities[0] = replace(source.capabilities[0], required_secrets=("SEARCH_KEY",), category="net")
    with dashboard(tmp_path, source) as engine:
        page = visit(engine)
        page.goto("/catalogue")
        for label, value, found in (
            ("Kind", "skill", ["summary"]),
            ("Provider", "shop", ["pay", "refund"]),
            ("Category", "net", ["search"]),
            ("Availability", "unavailable", ["search"]),
        ):
            page.get_by_label(label).select_option(value)
            has_rows(page, len(found))
            assert names(page) == found
            page.get_by_label(label).select_option("")
            has_rows(page, 6)


def test_without_scripts_the_filter_is_an_ordinary_form(tmp_path: Path, visit: "Visit") -> None:
    with dashboard(tmp_path) as engine:
        page = visit(engine, java_script_enabled=False)
        page.goto("/catalogue")
        page.get_by_label("Find").fill("refund")
        page.get_by_role("button", name="Filter").click()
        assert names(page) == ["refund"]


def test_ten_thousand_are_quick_and_light(tmp_path: Path, visit: "Visit") -> None:
    with dashboard(tmp_path, many(10_000)) as engine:
        page = visit(engine)
        sizes = transferred(page)
        for path in ("/", "/catalogue"):
            sizes.clear()
            page.goto(path, wait_until="networkidle")
            assert 20_000 < sum(sizes) < 100_000, f"{path} with all it loads"
        for path in ("/", "/catalogue", "/catalogue?q=invoice+archive&provider=provider-3"):
            start = time.process_time()
            page.request.get(path)
            assert time.process_time() - start < 0.3, path
        page.get_by_role("link", name="Next").click()
        page.get_by_text("51–100 of 10").wait_for()
        page.get_by_label("Find").fill("invoice 4711")
        has_rows(page, 1)
        assert names(page) == ["invoice-4711"]


def test_a_page_has_schema_content_use_relations_and_rights(tmp_path: Path, visit: "Visit") -> None:
    source = office()
    source.capabilities[4] = replace(source.capabilities[4], required_tools=("tool:search",))
    schema = {
        "type": "object", "required": ["url"],
        "properties": {"url": {"type": "string", "description": "Where."}, "depth": {"enum": ["one", "all"]}},
    }  # fmt: skip
    source.details["skill:summary"] = Detail(input_schema=schema, content="Read it all.\nThen say it.")
    with dashboard(tmp_path, source) as engine:
        offer = engine.offer("summarise a long text in three sentences")
        engine.record(Outcome(offer=offer.id, capability="skill:summary", ok=True, milliseconds=12.0))
        page = visit(engine, role="viewer")
        page.goto("/catalogue")
        page.get_by_role("link", name="summary").click()
        text = page.locator("main").inner_text()
        assert "Read it all." in text and "one | all" in text
        assert "Offered\n1 time" in text and "12 ms (median)" in text
        assert page.locator("section:has(#related) tbody").inner_text().split() == [
            "needs", "tool:search", "1",
        ]  # fmt: skip
        rights = page.locator("section:has(#rights) tbody")
        assert rights.locator("tr", has_text="gus").locator(".badge").inner_text() == "allow"
        rights.get_by_text("Step by step for gus").click()
        assert "agent 'gus' has profile 'guest'" in rights.inner_text()
        look(page, "capability")


def test_versions_are_compared_also_when_it_is_gone(tmp_path: Path, visit: "Visit") -> None:
    source = office()
    with dashboard(tmp_path, source) as engine:
        first = engine.catalogue.get("tool:pay").digest
        for text in ("Pay an invoice at once", "Pay an invoice at once, with a note"):
            source.capabilities[2] = replace(source.capabilities[2], description=text)
            engine.sync()
        page = visit(engine)
        page.goto(at("/capability", id="tool:pay"))
        assert page.locator(".diff del").inner_text() == "Pay an invoice at once"
        assert page.locator(".diff ins").inner_text() == "Pay an invoice at once, with a note"
        page.get_by_label("From").select_option(first)
        page.get_by_role("button", name="Compare").click()
        assert page.locator(".diff del").inner_text() == "Pay an invoice"
        del source.capabilities[2]
        engine.sync()
        page.reload()
        assert "No source offers this any more" in page.locator("main").inner_text()
        assert page.locator(".diff ins").inner_text() == "Pay an invoice at once, with a note"


def test_what_is_held_back_or_off_says_so_and_where_to_go(tmp_path: Path, visit: "Visit") -> None:
    source = office()
    with dashboard(tmp_path, source, policy=POLICY, trust={"static": "pinned"}) as engine:
        source.capabilities[0] = replace(source.capabilities[0], description="Search everything there is")
        engine.sync()
        engine.providers.deactivate("shop", reason="it is Sunday")
        page = visit(engine)
        page.goto("/catalogue?state=off")
        assert names(page) == ["pay", "refund"]
        assert "it is Sunday" in page.locator("#results").inner_text()
        page.goto(at("/capability", id="tool:search"))
        page.get_by_role("link", name="Look at it").click()
        assert page.url.endswith("/quarantine/show?id=tool%3Asearch")


def test_names_like_tags_are_text_and_secrets_are_not_shown(tmp_path: Path, visit: "Visit") -> None:
    source = office()
    source.details[SCRIPT] = Detail(
        content=f"Use the key {SECRET} <script>alert(1)</script>",
        input_schema={"type": "object", "properties": {"<img src=x onerror=alert(1)>": {"type": "string"}}},
    )
    with dashboard(tmp_path, source) as engine:
        page = visit(engine)
        page.goto("/catalogue?q=script")
        assert is_only_text(page)
        page.locator("#results tbody th a").click()
        assert is_only_text(page)
        assert SECRET not in page.content() and "[" in page.locator("pre.text").last.inner_text()
        assert page.locator("main img").count() == 0


def test_an_unknown_capability_is_not_found_and_the_nearest_is_named(tmp_path: Path, visit: "Visit") -> None:
    with dashboard(tmp_path) as engine:
        page = visit(engine)
        answer = page.request.get(at("/capability", id="tool:serch"))
        assert answer.status == 404 and "tool:search" in answer.text()


def test_an_empty_catalogue_says_what_to_do(tmp_path: Path, visit: "Visit") -> None:
    with dashboard(tmp_path, StaticSource(providers=[Provider(name="none", source="static")])) as engine:
        page = visit(engine)
        page.goto("/catalogue")
        assert "prowess sync" in page.locator("main").inner_text()


def test_it_can_be_used_by_keyboard_alone(tmp_path: Path, visit: "Visit") -> None:
    with dashboard(tmp_path) as engine:
        page = visit(engine)
        page.goto("/catalogue")
        page.keyboard.press("Tab")
        assert page.locator(":focus").inner_text() == "Skip to content"
        page.keyboard.press("Enter")
        page.keyboard.press("Tab")
        page.keyboard.type("calendar")
        has_rows(page, 1)
        for _ in range(20):
            page.keyboard.press("Tab")
            if page.locator(":focus").inner_text() == "calendar":
                break
        page.keyboard.press("Enter")
        page.get_by_role("heading", name="calendar", level=1).wait_for()


def test_the_catalogue_looks_right(tmp_path: Path, visit: "Visit") -> None:
    with dashboard(tmp_path) as engine:
        page = visit(engine)
        page.goto("/catalogue")
        look(page, "catalogue")
