"""What offers saved, and how often what worked had been found: over time, for whoever looks at the page."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from prowess.engine import Engine
from prowess.engine.cost_notes import note_costs
from prowess.engine.options import EngineOptions
from prowess.store.opening import open_database
from prowess.testing import StaticSource, capability, word_embedder
from prowess.types import Message, Outcome, Turn
from tests.support.browser import look
from tests.support.web import app_of, browser, signed_in

if TYPE_CHECKING:
    from tests.support.browser import Visit

POLICY = 'profiles:\n  owner: {agents: [default, ada], additional_tools: ["*"]}\n'
ANIMALS = ("otter", "badger", "heron", "marten", "stoat", "weasel", "plover", "curlew")


class Clock:
    def __init__(self) -> None:
        self.now = datetime(2026, 3, 9, 12, 30, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now

    def later(self, **passed: float) -> None:
        self.now += timedelta(**passed)


def zoo(rounds: int) -> StaticSource:
    return StaticSource(
        capabilities=[
            capability(f"tool:{animal}-{n}", f"Feed the {animal} of pen {n}", provider="zoo")
            for n in range(rounds)
            for animal in ANIMALS
        ]
    )


def asked(engine: Engine, text: str, worked: str = "", agent: str = "default") -> None:
    offer = engine.offer(Turn(messages=(Message("user", text),), agent=agent))
    if worked:
        engine.record(Outcome(offer=offer.id, capability=worked, ok=True, agent=agent))


Open = Callable[[], Engine]


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def open_zoo(store_url: str, tmp_path: Path, clock: Clock) -> Iterator[Open]:
    (tmp_path / "policy.yaml").write_text(POLICY)
    opened: list[Engine] = []

    def one() -> Engine:
        options = EngineOptions(policy_files=(tmp_path / "policy.yaml",), embedder=word_embedder)
        opened.append(Engine(open_database(store_url, tmp_path), (zoo(5),), clock, {}, options))
        return opened[-1]

    yield one
    for engine in opened:
        engine.close()


def never() -> bool:
    return False


def two_days(engine: Engine, clock: Clock) -> None:
    """Five tools to feed with each animal, of which three days later there are twenty."""
    engine.sync()
    asked(engine, "feed the otter of pen 1", "tool:otter-1")
    asked(engine, "feed the heron of pen 2", "tool:stoat-0", "ada")
    note_costs(engine.internals, never)
    clock.later(days=3)
    engine.sources = (zoo(20),)
    engine.sync()
    asked(engine, "feed the badger of pen 3", "tool:badger-3")
    note_costs(engine.internals, never)


def test_each_offer_stands_beside_what_everything_would_have_cost_at_its_time(
    open_zoo: Open, clock: Clock
) -> None:
    engine = open_zoo()
    two_days(engine, clock)
    client = signed_in(app_of(engine), "viewer")
    found = client.get("/api/v1/usage/offers").json()
    offers = [(n, cost) for n, cost in zip(found["offers"], found["everything"], strict=True) if n]
    assert [n for n, _ in offers] == [2, 1]
    today = engine.catalogue.cost_of_everything()
    assert offers[1][1] == today
    assert 0.2 < offers[0][1] / 2 / today < 0.3, "forty tools of then, not the 160 of today"
    assert found["are_costs_of_then"] and found["is_whole"]
    alone = client.get("/api/v1/usage/offers", params={"agent": "ada", "window": "month"}).json()
    assert (sum(alone["offers"]), len(alone["times"])) == (1, 30)


def test_what_worked_counts_as_found_and_as_first_only_where_it_was(open_zoo: Open, clock: Clock) -> None:
    engine = open_zoo()
    two_days(engine, clock)
    asked(engine, "feed the heron of pen 2")
    found = signed_in(app_of(engine), "viewer").get("/api/v1/usage/offers").json()
    assert sum(found["requests"]) == 4
    assert (sum(found["worked"]), sum(found["found"]), sum(found["first"])) == (3, 2, 2)


def test_what_a_model_searched_for_counts_need_by_need(open_zoo: Open) -> None:
    engine = open_zoo()
    engine.sync()
    engine.call("discover_capabilities", {"needs": ["feed the otter of pen 1", "feed the heron of pen 2"]})
    for used in ("tool:otter-1", "tool:heron-2", "tool:heron-2"):
        engine.record(Outcome(offer="", capability=used, ok=True))
    found = signed_in(app_of(engine), "viewer").get("/api/v1/usage/offers").json()
    assert (sum(found["offers"]), sum(found["requests"])) == (0, 1)
    assert (sum(found["worked"]), sum(found["found"]), sum(found["first"])) == (2, 2, 2)


def test_a_cost_is_noted_once_of_a_catalogue_and_by_one_of_two_processes(
    open_zoo: Open, clock: Clock
) -> None:
    engines = [open_zoo(), open_zoo()]
    engines[0].sync()
    asked(engines[0], "feed the otter of pen 1")
    for _ in range(3):
        for engine in engines:
            note_costs(engine.internals, never)
        clock.later(minutes=16)
    assert len(engines[0].journal.latest(type="cost.noted")) == 1


def test_without_notes_the_page_says_that_todays_catalogue_stands_in(open_zoo: Open, clock: Clock) -> None:
    engine = open_zoo()
    engine.sync()
    asked(engine, "feed the otter of pen 1", "tool:otter-1")
    page = browser(app_of(engine)).get("/offers").text
    assert "today&#39;s catalogue stands in" in page or "today's catalogue stands in" in page
    note_costs(engine.internals, never)
    assert "stands in" not in browser(app_of(engine)).get("/offers").text


@pytest.mark.slow
def test_the_page_draws_what_was_saved_and_found_and_says_what_it_means(
    open_zoo: Open, clock: Clock, visit: "Visit"
) -> None:
    engine = open_zoo()
    two_days(engine, clock)
    page = visit(engine, clock=clock)
    page.get_by_text("in 3 offers, 7 days").wait_for()
    page.get_by_role("link", name="3 offers").click()
    page.locator("#tokens ~ .chart canvas").wait_for()
    page.locator("#found ~ .chart canvas").wait_for()
    text = page.locator("main").inner_text()
    assert "66.7%\nof 3 uses" in text and "a trend, not a mark" in text
    page.get_by_role("link", name="24 hours").click()
    page.locator("section:has(#found) summary").click()
    rows = page.locator("section:has(#found) details tbody tr")
    assert rows.count() == 24 and rows.last.inner_text().endswith("100.0\t100.0")
    look(page, "offers")
