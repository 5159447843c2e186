"""What lessons and authors' examples teach changes what is found beyond `in_memory` as it does in memory."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from prowess.config import LearningConfig
from prowess.engine import Engine
from prowess.learning import lessons
from prowess.learning.lessons import Lesson
from prowess.testing import StaticSource
from prowess.types import EXAMPLES
from tests.discovery.test_stored import tools
from tests.support.large import HELD, opened

LESSONS = (
    Lesson(
        id="skill_pay",
        method="tool:office/approve_invoice",
        spans=("settle the plumber's bill", "pay what the supplier wants", "bill of the electrician"),
    ),
    Lesson(id="skill_fly", method="tool:home/create_flight", spans=("get me to Lisbon", "seat on a plane")),
)
TAUGHT = "the electrician wants money"
REQUESTS = (
    "settle a bill",
    "pay the plumber",
    "seat on a plane",
    "shred the old papers",
    "delete a ticket",
    TAUGHT,
)


def catalogue() -> StaticSource:
    """Tools of which one has examples of its author."""
    given = {EXAMPLES: ["shred what is old", "get rid of papers"]}
    every = [
        replace(one, metadata=given) if one.id == "tool:office/delete_report" else one for one in tools()
    ]
    return StaticSource("tools", capabilities=every)


def learn(engine: Engine) -> None:
    """Rely on two lessons that passed their gates."""
    with engine.internals.database.writing() as transaction:
        for lesson in LESSONS:
            passed = replace(lesson, examples=lesson.spans, has_tests=True, has_benchmark_delta=True)
            lessons.keep(transaction, passed)
    for lesson in LESSONS:
        engine.learning.promote(lesson.id, "ada")
    engine.sync()


@pytest.fixture
def pair(store_url: str, tmp_path: Path) -> Iterator[tuple[Engine, Engine]]:
    learning = LearningConfig(mode="accumulate")
    with (
        opened("held.db", tmp_path / "held", catalogue(), HELD, learning=learning) as held,
        opened(store_url, tmp_path / "stored", catalogue(), learning=learning) as stored,
    ):
        yield held, stored


def test_a_lesson_brings_and_lifts_what_it_teaches_as_in_memory(pair: tuple[Engine, Engine]) -> None:
    held, stored = pair
    for engine in pair:
        before = engine.rank(TAUGHT)
        learn(engine)
        assert engine.rank(TAUGHT)[0] == "tool:office/approve_invoice" != before[0]
        assert engine.rank("seat on a plane")[0] == "tool:home/create_flight"
        assert engine.rank("shred the old papers")[0] == "tool:office/delete_report"
    for agent in ("default", "ada"):
        for request in REQUESTS:
            assert stored.rank(request, agent) == held.rank(request, agent)
            one, other = held.find(request, agent), stored.find(request, agent)
            assert [hit.id for hit in other] == [hit.id for hit in one]
            assert [hit.score for hit in other] == pytest.approx([hit.score for hit in one], abs=0.02)


def test_a_lesson_that_is_withdrawn_teaches_no_longer(pair: tuple[Engine, Engine]) -> None:
    _, stored = pair
    before = stored.rank(TAUGHT)
    learn(stored)
    stored.learning.deprecate("skill_pay", "ada", "no more bills")
    stored.sync()
    assert stored.rank(TAUGHT)[0] == before[0] != "tool:office/approve_invoice"


def test_nobody_is_taught_of_what_it_may_not_use(pair: tuple[Engine, Engine]) -> None:
    _, stored = pair
    learn(stored)
    assert "tool:home/create_flight" not in stored.rank("seat on a plane", "ada")
