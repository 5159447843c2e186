"""The graph: a picture one can move in, and the same as a list, used as a person uses them."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from prowess.testing import StaticSource, capability
from prowess.types import Provider
from prowess.web.plot import plot
from tests.support.browser import look
from tests.web.dashboard import SCRIPT, at, dashboard, is_only_text, office

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from tests.support.browser import Visit

pytestmark = pytest.mark.slow


def related_office() -> StaticSource:
    source = office()
    for place, fields in {
        0: {"tags": ("web", "pages")},
        1: {"category": "time"},
        4: {"required_tools": ("tool:search",)},
        5: {"tags": ("web", "pages")},
    }.items():
        source.capabilities[place] = replace(source.capabilities[place], **fields)  # type: ignore[arg-type]
    return source


def choose(page: "Page", id: str) -> None:
    """Click a capability: where it lies, only the picture knows."""
    place = page.evaluate(
        """id => {
            const canvas = document.querySelector(".picture .canvas");
            const { x, y } = canvas.closest(".picture").cy.getElementById(id).renderedPosition();
            const box = canvas.getBoundingClientRect();
            return [box.left + x, box.top + y];
        }""",
        id,
    )
    page.mouse.click(*place)


def drawn(page: "Page") -> None:
    page.locator("[data-drawn]").wait_for(timeout=30_000)


def test_it_is_drawn_and_a_choice_leads_to_its_page(tmp_path: Path, visit: "Visit") -> None:
    with dashboard(tmp_path, related_office()) as engine:
        page = visit(engine, role="viewer")
        page.goto("/graph")
        drawn(page)
        assert "6 capabilities" in page.locator(".picture .status").inner_text()
        choose(page, "tool:search")
        chosen = page.locator(".chosen")
        assert chosen.get_by_role("heading").inner_text() == "search"
        chosen.get_by_role("link", name="Around it").click()
        drawn(page)
        assert page.get_by_label("Around", exact=True).input_value() == "tool:search"
        choose(page, "tool:search")
        chosen.get_by_role("link", name="Open").click()
        page.get_by_role("heading", name="search", level=1).wait_for()


def test_it_is_moved_by_keyboard_and_by_buttons(tmp_path: Path, visit: "Visit") -> None:
    with dashboard(tmp_path, related_office()) as engine:
        page = visit(engine)
        page.goto("/graph")
        drawn(page)
        zoom = "document.querySelector('.picture').cy.zoom()"
        pan = "document.querySelector('.picture').cy.pan().x"
        near, left = page.evaluate(zoom), page.evaluate(pan)
        page.locator(".canvas").focus()
        page.keyboard.press("+")
        assert page.evaluate(zoom) > near
        page.keyboard.press("0")
        page.keyboard.press("ArrowLeft")
        assert page.evaluate(pan) > left
        page.get_by_role("button", name="Zoom out").click()
        assert page.evaluate(zoom) < near


def test_the_list_says_the_same_and_relations_are_filtered(tmp_path: Path, visit: "Visit") -> None:
    with dashboard(tmp_path, related_office()) as engine:
        page = visit(engine, java_script_enabled=False)
        page.goto("/graph")
        summary = page.locator("tbody tr", has_text="skill:summary")
        assert "needs tool:search" in summary.inner_text()
        search = page.locator("tbody tr", has=page.locator("th", has_text="tool:search"))
        assert f"shares tags with {SCRIPT}" in search.inner_text()
        for name in ("shares tags with", "same category as", "used together with"):
            page.get_by_label(name).uncheck()
        page.get_by_role("button", name="Show").click()
        assert "shares tags with" not in search.inner_text()
        assert "needs tool:search" in summary.inner_text()
        page.get_by_label("Provider").select_option("shop")
        page.get_by_role("button", name="Show").click()
        assert page.locator("tbody th a").all_inner_texts() == ["pay", "refund"]


def test_around_something_only_what_it_reaches_is_shown(tmp_path: Path, visit: "Visit") -> None:
    with dashboard(tmp_path, related_office()) as engine:
        page = visit(engine, java_script_enabled=False)
        page.goto(at("/graph", around="skill:summary", type="DEPENDS_ON"))
        assert page.locator("tbody th a").all_inner_texts() == ["summary", "search"]
        page.goto(at("/graph", around="skill:summary", hops="2"))
        assert SCRIPT.partition(":")[2] in page.locator("tbody th a").all_inner_texts()
        assert page.request.get(at("/graph", around="tool:none")).status == 404


def test_two_thousand_are_drawn_and_still_move(tmp_path: Path, visit: "Visit") -> None:
    many = [
        capability(f"tool:t{n}", category=f"c{n % 12}", tags=(f"a{n % 400}", f"b{n % 400}"), provider="p")
        for n in range(2100)
    ]
    with dashboard(tmp_path, StaticSource(capabilities=many)) as engine:
        page = visit(engine)
        page.goto("/graph")
        drawn(page)
        assert "2000 capabilities" in page.locator(".picture .status").inner_text()
        assert "2\u202f100 fit" in page.locator("main").inner_text()
        assert page.evaluate("document.querySelector('.picture').cy.edges().length") > 3000
        page.locator(".canvas").hover()
        page.mouse.wheel(0, -300)
        page.get_by_role("button", name="All", exact=True).click()
        page.get_by_label("Category", exact=True).select_option("c3")
        page.get_by_role("button", name="Show").click()
        drawn(page)
        assert "175 capabilities" in page.locator(".picture .status").inner_text()


def test_names_like_tags_are_text_in_picture_and_list(tmp_path: Path, visit: "Visit") -> None:
    with dashboard(tmp_path, related_office()) as engine:
        page = visit(engine)
        page.goto("/graph")
        drawn(page)
        assert is_only_text(page)
        choose(page, SCRIPT)
        assert page.locator(".chosen h3").inner_text() == "<script>alert(1)</script>"
        look(page, "graph")


def test_groups_lie_apart_and_members_within_their_group() -> None:
    groups = {f"g{n}": [f"{n}.{m}" for m in range(1 + 7 * n)] for n in range(12)}
    places, discs = plot(groups)
    for name, members in groups.items():
        x, y, radius = discs[name]
        assert all((places[m][0] - x) ** 2 + (places[m][1] - y) ** 2 <= radius**2 for m in members)
    pairs = [(a, b) for a in discs.values() for b in discs.values() if a is not b]
    assert all((a.x - b.x) ** 2 + (a.y - b.y) ** 2 > (a.radius + b.radius) ** 2 for a, b in pairs)


OVERLAPPING = """() => {
  const cy = document.querySelector("[data-graph]").cy;
  const least = parseFloat(cy.nodes().not(".group").style("min-zoomed-font-size"));
  const view = cy.extent();
  const seen = ({ x, y }) => x >= view.x1 && x <= view.x2 && y >= view.y1 && y <= view.y2;
  const zoom = 2 ** Math.ceil(Math.log2(cy.zoom())); // names are drawn at that, and scaled
  const legible = (node) => seen(node.position()) && parseFloat(node.style("font-size")) * zoom >= least;
  const label = { includeNodes: false, includeEdges: false, includeLabels: true };
  const boxes = cy.nodes().not(".group, .nameless").filter(legible).map((node) => node.boundingBox(label));
  const on = (a, b) => a.x1 < b.x2 && b.x1 < a.x2 && a.y1 < b.y2 && b.y1 < a.y2;
  return [boxes.length, boxes.filter((a, at) => boxes.slice(at + 1).some((b) => on(a, b))).length];
}"""
"""How many names are shown, and how many of them lie on another."""


@pytest.mark.parametrize("number", [30, 300, 2000])
def test_names_in_a_picture_of_any_size_lie_on_no_other_and_the_nearer_the_more_there_are(
    number: int, tmp_path: Path, visit: "Visit"
) -> None:
    tools = [
        capability(f"tool:s{n % 12}/read_the_records_of_{n}", f"Read records {n}", provider=f"s{n % 12}")
        for n in range(number)
    ]
    source = StaticSource(
        capabilities=tools, providers=[Provider(name=f"s{n}", source="static") for n in range(12)]
    )
    with dashboard(tmp_path, source) as engine:
        page = visit(engine)
        page.goto("/graph")
        page.wait_for_selector("[data-drawn]")
        _, overlaps = page.evaluate(OVERLAPPING)
        assert overlaps == 0
        for _ in range(2 if number < 100 else 8):
            page.locator(".canvas").press("+")
        page.wait_for_function(
            f"() => {{ const [named, on] = ({OVERLAPPING})(); return named > 0 && on === 0; }}"
        )
        look(page, f"graph-{number}")
        page.close()


def test_a_few_are_arranged_by_what_somebody_chooses_and_many_by_their_servers(
    tmp_path: Path, visit: "Visit"
) -> None:
    groups = (
        "[...document.querySelector('.picture').cy.nodes('.group').map((one) => one.data('name'))].sort()"
    )
    with dashboard(tmp_path, related_office()) as engine:
        page = visit(engine)
        page.goto("/graph")
        drawn(page)
        assert page.evaluate(groups) == []
        page.get_by_label("Arranged by").select_option("provider")
        page.get_by_role("button", name="Show").click()
        drawn(page)
        assert page.evaluate(groups) == ["office", "shop", "web"]
        page.goto("/graph?q=calendar")
        drawn(page)
        told = page.locator(".picture .status").inner_text()
        assert told.startswith("1 capability, 0 relations; by provider, as they are too many or too little")
