"""Learning from much at once: in portions, interrupted anywhere, with the same result."""

import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

from prowess.engine import Engine
from prowess.learning import journal_reading
from prowess.store.opening import open_database
from tests.support.clock import SteppingClock
from tests.support.learning import office, use

REQUESTS = ("send mail to ada", "look at the calendar", "file the ledger documents", "paint the fence")


def lived(engine: Engine) -> None:
    """A few days at the office: things that worked, that failed, and that nobody could do."""
    for number in range(24):
        request, agent = f"{REQUESTS[number % 4]} {number % 3}", ("ada", "bob")[number % 2]
        used = [("tool:mail",), ("tool:calendar", "tool:mail"), ("tool:invoices",), ()][number % 4]
        use(engine, request, *used, agent=agent, ok=number % 5 != 0)


def gathered(engine: Engine) -> object:
    lessons = [(s.id, s.successes, s.failures, s.spans, s.agents) for s in engine.learning.lessons()]
    return sorted(lessons), sorted((gap.id, gap.times) for gap in engine.learning.gaps())


@pytest.fixture
def whole(tmp_path: Path, clock: SteppingClock, monkeypatch: pytest.MonkeyPatch) -> object:
    """What learning everything at once comes to."""
    monkeypatch.setattr(journal_reading, "PORTION", 100_000)
    monkeypatch.setattr(journal_reading, "COUNTED_AT_ONCE", 100_000)
    (tmp_path / "whole").mkdir()
    with office("sqlite:whole.db", tmp_path / "whole", SteppingClock()) as engine:
        lived(engine)
        engine.learning.learn()
        found = gathered(engine)
    monkeypatch.undo()
    return found


def test_portions_come_to_the_same_as_everything_at_once(
    store_url: str, tmp_path: Path, clock: SteppingClock, whole: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(journal_reading, "PORTION", 5)
    monkeypatch.setattr(journal_reading, "COUNTED_AT_ONCE", 1)
    with office(store_url, tmp_path, clock) as engine:
        lived(engine)
        engine.learning.learn()
        assert gathered(engine) == whole
        assert engine.learning.learn().lessons == ()


def test_others_write_between_the_portions(store_url: str, tmp_path: Path, clock: SteppingClock) -> None:
    with office(store_url, tmp_path, clock) as engine:
        lived(engine)
        other = open_database(store_url, tmp_path, patience=0.5)
        reading = journal_reading.JournalReading(engine.internals.database, engine.internals.journal)
        written = 0
        for _ in reading.portions(engine.journal.heads(), ""):
            with other.writing() as transaction:
                transaction.run("UPDATE learning_seen SET count = count")
                written += transaction.run("UPDATE journal_head SET hash = hash") > 0
        other.close()
    assert written > 1


@pytest.mark.slow
def test_learning_that_was_killed_goes_on_where_it_stopped(
    store_url: str, tmp_path: Path, clock: SteppingClock, whole: object
) -> None:
    chance = random.Random(3)
    with office(store_url, tmp_path, clock) as engine:
        lived(engine)
        for _ in range(4):
            command = [sys.executable, "-m", "tests.hostile.learner", store_url, "2"]
            with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
                assert process.stdout is not None and process.stdout.readline() == "begins\n"
                time.sleep(chance.uniform(0, 0.1))
                process.kill()
            engine.journal.verify()
        engine.learning.learn()
        assert gathered(engine) == whole
