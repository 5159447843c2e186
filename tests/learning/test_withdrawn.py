"""Lessons that are withdrawn, all of a dead tool at once; and what is retired comes back as a new one."""

from dataclasses import replace
from pathlib import Path

import pytest

from prowess.config import parse
from prowess.engine import Engine
from prowess.errors import ConfigError, LearningError, NotFound
from prowess.learning import lessons
from prowess.learning.lessons import Lesson
from tests.support.clock import SteppingClock
from tests.support.learning import office, use

REQUESTS = ("pay the plumber for the sink", "settle what the gardener wants", "transfer rent to the landlord")


def relied_on(engine: Engine, *requests: str) -> list[Lesson]:
    """Lessons of these requests that are relied on, as if their gates had passed."""
    for request in requests:
        for agent in ("ada", "bob"):
            use(engine, request, "tool:invoices", agent=agent)
    engine.learning.learn()
    with engine.internals.database.writing() as transaction:
        for one in lessons.every(transaction):
            gated = replace(one, has_tests=True, has_benchmark_delta=True)
            lessons.keep(transaction, gated)
    for one in engine.learning.lessons():
        engine.learning.promote(one.id, "ann")
    return list(engine.learning.lessons("stable"))


def test_a_tool_that_dies_takes_its_lessons_with_it_in_one_proposal(
    store_url: str, tmp_path: Path, clock: SteppingClock
) -> None:
    with office(store_url, tmp_path, clock) as engine:
        taught = relied_on(engine, *REQUESTS)
        assert len(taught) == 3
        for _ in range(10):
            use(engine, REQUESTS[0], "tool:invoices", ok=False)
        engine.learning.learn()
        proposed = [one.proposal for one in engine.learning.lessons("stable")]
        assert len(set(proposed)) == 1 and "failed" in proposed[0]
        withdrawn = engine.learning.deprecate_all("tool:invoices", "ann", "the service is gone")
        assert len(withdrawn) == 3 and engine.learning.lessons("stable") == ()
        with pytest.raises(NotFound, match="stable lesson that leads to"):
            engine.learning.deprecate_all("tool:invoices", "ann")


def test_a_retired_lesson_is_proposed_anew_as_another_that_names_it(
    store_url: str, tmp_path: Path, clock: SteppingClock
) -> None:
    with office(store_url, tmp_path, clock) as engine:
        (old,) = relied_on(engine, REQUESTS[0])
        engine.learning.retire(old.id, "ann", "wrong")
        with pytest.raises(LearningError, match="it is retired"):
            engine.learning.promote(old.id, "ann")
        made = engine.learning.propose_anew(old.id, "ann")
        assert (made.status, made.replaces, made.demonstrations) == ("proposed", old.id, old.demonstrations)
        assert not made.gate.satisfied
        kept = engine.learning.lesson(old.id)
        assert (kept.status, kept.replaced_by) == ("retired", made.id)
        use(engine, REQUESTS[0], "tool:invoices", agent="eve")
        engine.learning.learn()
        assert engine.learning.lesson(made.id).demonstrations == old.demonstrations + 1


def test_a_lesson_about_what_does_not_exist_is_refused_with_what_was_meant(
    store_url: str, tmp_path: Path, clock: SteppingClock
) -> None:
    with office(store_url, tmp_path, clock) as engine:
        with pytest.raises(NotFound) as refused:
            engine.learning.propose(b'{"method": "tool:invoice", "spans": ["pay"]}', "proposal", "ann")
        assert "did you mean 'tool:invoices'" in refused.value.remedy


@pytest.mark.parametrize("mode", ["  ACCUMULATE ", "Accumulate", "accumulate"])
def test_the_mode_is_read_however_it_is_spelt(mode: str) -> None:
    assert parse(f'[learning]\nmode = "{mode}"\n').learning.mode == "accumulate"
    with pytest.raises(ConfigError, match="off, accumulate"):
        parse('[learning]\nmode = "rewrite-everything"\n')


def test_an_agent_given_beside_a_request_is_told_where_it_belongs(
    store_url: str, tmp_path: Path, clock: SteppingClock
) -> None:
    with office(store_url, tmp_path, clock) as engine, pytest.raises(ConfigError) as refused:
        engine.offer("pay", agent="ada")  # type: ignore[call-arg]
    assert "Turn(" in refused.value.remedy and "agent=" in refused.value.remedy
