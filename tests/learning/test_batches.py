"""Gating many lessons at once passes no fewer than gating one by one, and says what else each would take."""

import random
from pathlib import Path

import pytest

from prowess.engine import Engine
from tests.support.clock import SteppingClock
from tests.support.learning import office, use

BILLS = ["supplier", "plumber", "electricity", "water", "rent", "phone", "garage", "dentist"]
LETTERS = ["Ann", "Tom", "Sue", "Zoe", "Bob", "Kim", "Lee", "Pat"]
JOBS = {
    "tool:invoices": [f"{ask} the {one} wants" for one in BILLS for ask in ("pay what", "settle what")],
    "tool:mail": [f"tell {one} the news" for one in LETTERS] + [f"drop {one} a line" for one in LETTERS],
    "tool:archive": [f"put the {one} bill away" for one in BILLS],
    "tool:calendar": [f"when do I see {one}" for one in LETTERS],
}


def work(engine: Engine, seed: int, agents: list[str], times: int) -> None:
    """Agents ask for what is to be done, in random order; now and then something else answers it."""
    chance = random.Random(seed)
    for _ in range(times):
        tool = chance.choice(sorted(JOBS))
        used = tool if chance.random() < 0.9 else chance.choice(sorted(JOBS))
        use(engine, chance.choice(JOBS[tool]), used, agent=chance.choice(agents))
    engine.learning.learn()


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("agents", [["ada"], ["ada", "bob", "eve"]], ids=["one", "three"])
def test_a_batch_passes_no_fewer_than_the_same_lessons_one_by_one(
    tmp_path: Path, clock: SteppingClock, seed: int, agents: list[str]
) -> None:
    with office(f"sqlite:{tmp_path / 'store.db'}", tmp_path, clock) as engine:
        work(engine, seed, agents, 40)
        ids = [lesson.id for lesson in engine.learning.lessons("proposed")]
        alone = {id for id in ids if engine.learning.gate(id)[0].satisfied}
        together = {one.lesson for one in engine.learning.gate(*ids) if one.satisfied}
        assert together >= alone


def test_the_result_names_what_was_used_what_more_is_needed_and_which_setting_would_do(
    tmp_path: Path, clock: SteppingClock
) -> None:
    with office(f"sqlite:{tmp_path / 'store.db'}", tmp_path, clock) as engine:
        for one in ("sink", "bath", "bath"):
            use(engine, f"pay the plumber for the {one}", "tool:invoices")
        use(engine, "the meetings of today", "tool:calendar", agent="bob")
        engine.learning.learn()
        for id in [one.id for one in engine.learning.lessons() if one.method == "tool:invoices"]:
            said = engine.learning.gate(id)[0].benchmark
            assert "3 uses in 2 wordings, 1 repeat one word for word and add nothing" in said.used
            assert "2 requests in other words by an agent other than ada" in said.remedy
            assert 'or judges = "anyone" in [learning], then 2 more requests' in said.remedy
