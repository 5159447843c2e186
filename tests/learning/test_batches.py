"""Gating many lessons at once passes no fewer than gating and promoting them one by one, and stops poison."""

import random
from collections.abc import Iterable, Sequence
from pathlib import Path

import pytest

from prowess.engine import Engine
from tests.support.clock import SteppingClock
from tests.support.learning import office, use

DEBTS = ["supplier", "plumber", "electricity", "water", "rent", "phone", "garage", "dentist"]
PEOPLE = ["Ann", "Tom", "Sue", "Zoe", "Bob", "Kim", "Lee", "Pat"]
JOBS = {
    "tool:invoices": [f"{ask} the {one} wants" for one in DEBTS for ask in ("pay what", "settle what")],
    "tool:mail": [f"tell {one} the news" for one in PEOPLE] + [f"drop {one} a line" for one in PEOPLE],
    "tool:archive": [f"put the {one} bill away" for one in DEBTS],
    "tool:calendar": [f"when do I see {one}" for one in PEOPLE],
}
ORDERS = 3


def work(engine: Engine, chance: random.Random, agents: Sequence[str], times: int) -> None:
    """Agents ask for what is to be done; now and then something else answers it."""
    for _ in range(times):
        tool = chance.choice(sorted(JOBS))
        used = tool if chance.random() < 0.9 else chance.choice(sorted(JOBS))
        use(engine, chance.choice(JOBS[tool]), used, agent=chance.choice(agents))


def passed(engine: Engine, ids: Iterable[str]) -> set[str]:
    return {result.lesson for result in engine.learning.gate(*ids) if result.satisfied}


def one_by_one(engine: Engine, ids: Sequence[str]) -> list[str]:
    """What passes where each is gated by itself and promoted before the next; all as before afterwards."""
    promoted = [id for id in ids if passed(engine, [id]) and engine.learning.promote(id, "ada")]
    for id in promoted:
        engine.learning.deprecate(id, "ada")
    return promoted


@pytest.mark.slow
@pytest.mark.parametrize(("seed", "times"), [(0, 15), (1, 15), (0, 40), (3, 40)])
@pytest.mark.parametrize(
    "agents", [["ada"], ["ada", "bob"], ["ada", "bob", "eve"]], ids=["one", "two", "three"]
)
def test_a_batch_passes_no_fewer_than_the_same_lessons_one_by_one_in_any_order(
    tmp_path: Path, clock: SteppingClock, agents: list[str], seed: int, times: int
) -> None:
    chance = random.Random(seed)
    with office(f"sqlite:{tmp_path / 'store.db'}", tmp_path, clock) as engine:
        work(engine, chance, agents, times)
        engine.learning.learn()
        ids = [lesson.id for lesson in engine.learning.lessons("proposed")]
        together = passed(engine, ids)
        assert len(together) >= sum(bool(passed(engine, [id])) for id in ids)
        able = [id for id in ids if passed(engine, [id]) or id in together]
        for _ in range(ORDERS if able else 0):
            assert len(together) >= len(one_by_one(engine, chance.sample(able, len(able))))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_a_batch_passes_nothing_of_an_agent_that_always_reports_one_tool(
    tmp_path: Path, clock: SteppingClock, seed: int
) -> None:
    chance = random.Random(seed)
    with office(f"sqlite:{tmp_path / 'store.db'}", tmp_path, clock) as engine:
        work(engine, chance, ["ada"], 30)
        work(engine, chance, ["ada", "bob"][: 1 + seed % 2], 10)
        for _ in range(10):
            request = chance.choice([*JOBS["tool:mail"], *JOBS["tool:invoices"]])
            use(engine, request, "tool:wiper", agent="eve")
        engine.learning.learn()
        lessons = {lesson.id: lesson.method for lesson in engine.learning.lessons("proposed")}
        assert "tool:wiper" in lessons.values()
        assert "tool:wiper" not in {lessons[id] for id in passed(engine, lessons)}
