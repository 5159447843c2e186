"""What passes the gateway teaches: from a first search to a lesson that makes the next one better."""

from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import pytest
from anyio import to_thread
from mcp import Client
from msgspec.structs import replace

from prowess.config import LearningConfig
from prowess.engine import Engine
from prowess.learning.gaps import Gap
from prowess.learning.lessons import Lesson
from tests.support.gateway import OWNER, World, ask, call, put, shelf, until, world

pytestmark = [pytest.mark.slow, pytest.mark.anyio, pytest.mark.timeout(120)]

OWNERS = OWNER.replace("[default]", "[default, ada, bob]")
LEARNS = LearningConfig(mode="accumulate", judges="anyone", min_gain=0.0)
OFFICE = [
    {"name": name, "description": text, "inputSchema": {"type": "object"}}
    for name, text in {
        "ledger": "Enter a sum into the books of the house.",
        "plumber_directory": "Look up the address of a plumber.",
        "calendar": "Put an appointment into the calendar.",
        "weather": "Tell the weather of tomorrow.",
    }.items()
]
WORDINGS = [f"settle what the plumber wants for {what}" for what in (
    "the sink", "the bath", "a new tap", "the boiler", "the drain", "the pipes upstairs", "the garden hose",
    "the kitchen", "the shower", "the second floor",
)]  # fmt: skip


def office(
    folder: Path, learning: LearningConfig = LEARNS, **more: Any
) -> AbstractAsyncContextManager[World]:
    return world(folder, shelf(folder, "office", tools=OFFICE), policy=OWNERS, learning=learning, **more)


async def found(client: Client, query: str) -> list[str]:
    answer = await ask(client, "discover_capabilities", query=query)
    return [str(one["id"]) for one in answer["capabilities"] if one.get("fit") != "weak"]


async def test_searches_and_calls_of_a_client_become_lessons_and_gaps(tmp_path: Path) -> None:
    async with office(tmp_path) as here:
        async with here.client() as client:
            for request in WORDINGS * 2:
                assert "tool:office/plumber_directory" in await found(client, request)
                done = await call(client, "tool:office/plumber_directory", with_effects=True)
                assert not done.is_error
            for _ in range(3):
                assert await found(client, "saddle a unicorn") == []
        report = here.engine.learning.learn()
        lessons = [one for one in report.lessons if one.method == "tool:office/plumber_directory"]
        assert lessons and sum(one.successes for one in lessons) == 20
        assert [gap.span for gap in report.gaps if gap.times] == ["saddle a unicorn"]


async def test_what_is_called_without_a_search_is_evidence_for_use_and_not_for_relevance(
    tmp_path: Path,
) -> None:
    async with office(tmp_path) as here:
        async with here.client() as client:
            await call(client, "tool:office/weather", with_effects=True)
        assert here.engine.learning.learn().lessons == ()
        (outcome,) = here.journal("outcome")
        assert outcome.data["offer"] == "" and outcome.data["ok"]


async def test_a_promoted_lesson_makes_the_next_search_better(tmp_path: Path) -> None:
    """The right tool shares no word with the requests: only use can tell."""
    async with office(tmp_path) as here, here.client("ada") as ada, here.client("bob") as bob:
        before = await found(ada, "settle what the plumber wants for the roof")
        assert before[:1] != ["tool:office/ledger"]
        for client in (ada, bob):
            for request in WORDINGS:
                await found(client, request)
                await call(client, "tool:office/ledger", with_effects=True)
        await to_thread.run_sync(learned, here)
        after = await found(ada, "settle what the plumber wants for the roof")
        assert after[:1] == ["tool:office/ledger"]


async def test_what_happened_is_learnt_and_gaps_close_without_anybody_asking(
    tmp_path: Path, store_url: str
) -> None:
    often = replace(LEARNS, every_minutes=0.001)
    saddle = {"name": "saddle", "description": "Saddle a unicorn.", "inputSchema": {"type": "object"}}

    async def knows_a_lesson() -> bool:
        return [one.successes for one in (await lessons_of(here.engine))] == [3]

    async def has_an_open_gap() -> bool:
        return [one.span for one in (await gaps_of(here.engine)) if not one.closed_by] == ["saddle a unicorn"]

    async def has_closed_it() -> bool:
        return [one.answer for one in (await gaps_of(here.engine))] == ["tool:office/saddle"]

    async def offers_it() -> bool:
        return "tool:office/saddle" in await found(client, "saddle a unicorn")

    async with office(tmp_path, often, store=store_url, poll=0.1) as here, here.client() as client:
        for request in WORDINGS[:3]:
            await found(client, request)
            await call(client, "tool:office/plumber_directory", with_effects=True)
        await until(knows_a_lesson)
        assert await found(client, "saddle a unicorn") == []
        await until(has_an_open_gap)
        put(tmp_path, "office", tools=[*OFFICE, saddle])
        await until(offers_it)
        await call(client, "tool:office/saddle", with_effects=True)
        await until(has_closed_it, 60)


async def lessons_of(engine: Engine) -> tuple[Lesson, ...]:
    """What is known, without asking that anything is learnt."""
    known = await to_thread.run_sync(engine.learning.lessons)
    return tuple(one for one in known if one.method == "tool:office/plumber_directory")


async def gaps_of(engine: Engine) -> tuple[Gap, ...]:
    return await to_thread.run_sync(engine.learning.gaps, True)


def learned(here: World) -> None:
    """A person runs the gates and promotes what passed; in a thread, since a sync needs the event loop."""
    learning = here.engine.learning
    learning.learn()
    ids = [one.id for one in learning.lessons() if one.method == "tool:office/ledger"]
    learning.gate(*ids)
    for id in ids:
        if learning.lesson(id).gate.satisfied:
            learning.promote(id, by="ann")
    here.engine.sync()
