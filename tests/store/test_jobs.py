"""Work that one of several processes does: claimed, seen, given up by the dead and taken over."""

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import timedelta
from pathlib import Path
from threading import Barrier, Thread

import pytest
from click.testing import CliRunner

from prowess.cli.main import prowess as command
from prowess.engine import Engine
from prowess.engine.options import EngineOptions
from prowess.jobs import LENGTH, Jobs, Lease
from prowess.opening import now
from prowess.store.database import Database
from prowess.store.opening import open_database
from prowess.testing import StaticSource, capability, word_embedder
from tests.support.clock import SteppingClock
from tests.support.processes import running


def nodes(database: Database, clock: SteppingClock) -> tuple[Jobs, Jobs]:
    return Jobs(database, clock, "one"), Jobs(database, clock, "two")


def test_work_is_of_one_node_until_it_ends_and_then_until_it_is_due_again(
    database: Database, clock: SteppingClock
) -> None:
    one, two = nodes(database, clock)
    lease = one.claim("retention", timedelta(hours=1))
    assert lease and two.claim("retention") is None
    assert [(job.work, job.node, job.state) for job in two.every()] == [("retention", "one", "running")]
    lease.result = "12 gone"
    lease.end()
    assert [(job.state, job.result) for job in two.every()] == [("done", "12 gone")]
    assert two.claim("retention", timedelta(hours=1)) is None
    clock.now += timedelta(hours=1)
    assert two.claim("retention", timedelta(hours=1))


def test_what_a_node_that_died_had_is_taken_over_and_no_more_its_to_end(
    database: Database, clock: SteppingClock
) -> None:
    one, two = nodes(database, clock)
    dead = one.claim("learning", timedelta(hours=1))
    clock.now += LENGTH
    assert dead and [job.state for job in two.every()] == ["abandoned"]
    taken = two.claim("learning", timedelta(hours=1))
    assert taken, "nobody waits an hour for the dead"
    clock.now += LENGTH / 2
    assert not dead.keep()
    dead.end("too late")
    assert [(job.node, job.state, job.error) for job in one.every()] == [("two", "running", "")]


def test_work_that_says_it_goes_on_stays_with_its_node(database: Database, clock: SteppingClock) -> None:
    one, two = nodes(database, clock)
    lease = one.claim("sync github")
    for _ in range(4):
        clock.now += LENGTH / 2
        assert lease and lease.keep() and two.claim("sync github") is None


def test_what_a_clock_that_was_wrong_took_is_not_taken_for_ever(
    database: Database, clock: SteppingClock
) -> None:
    one, two = nodes(database, clock)
    clock.now += timedelta(days=3650)
    assert one.claim("learning")
    clock.now -= timedelta(days=3650)
    assert two.claim("learning")


def test_work_that_fails_says_why_and_is_free_again(database: Database, clock: SteppingClock) -> None:
    one, two = nodes(database, clock)
    with pytest.raises(ZeroDivisionError), one.held("vectors"):
        print(1 // 0)
    assert [(job.state, job.error) for job in two.every()] == [("failed", "ZeroDivisionError")]
    assert two.claim("vectors")


def test_of_many_that_claim_at_once_one_has_it(store_url: str, tmp_path: Path) -> None:
    claimed: list[Lease] = []
    start = Barrier(8)

    def claim(number: int) -> None:
        database = open_database(store_url, tmp_path)
        start.wait(30)
        if lease := Jobs(database, now, str(number)).claim("learning"):
            claimed.append(lease)
        database.close()

    threads = [Thread(target=claim, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert len(claimed) == 1


@contextmanager
def encoding(store_url: str, folder: Path, texts: list[str], begun: Barrier) -> Iterator[Engine]:
    """An engine whose embedder writes down what it was asked for, and waits in its first batch for others."""

    def open_embedder() -> tuple[str, object]:
        name, embed = word_embedder()

        def noting(asked: list[str]) -> object:
            if not texts:
                begun.wait(60)
            texts.extend(asked)
            return embed(asked)

        return name, noting

    source = StaticSource("many", capabilities=[capability(f"tool:t{i}") for i in range(700)])
    options = EngineOptions(embedder=open_embedder)  # type: ignore[arg-type]
    with Engine(open_database(store_url, folder), (source,), now, {}, options) as engine:
        yield engine


def test_vectors_are_made_side_by_side_and_each_once(store_url: str, tmp_path: Path) -> None:
    made: list[list[str]] = [[], []]
    both = Barrier(2)
    with ExitStack() as stack:
        engines = [stack.enter_context(encoding(store_url, tmp_path, texts, both)) for texts in made]
        engines[0].sync(vectors=False)
        making = [engine.internals.parts.searching.make_vectors for engine in engines]
        threads = [Thread(target=make) for make in making]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(120)
        assert all(made), "both made some"
        assert len(made[0]) + len(made[1]) == len({*made[0], *made[1]}) == 700
        assert [(job.work, job.state) for job in engines[0].internals.jobs.every()] == [("vectors", "done")]
        assert all(engine.internals.parts.searching.index.encoded == (700, 700) for engine in engines)


@pytest.mark.slow
def test_what_a_killed_process_had_is_listed_as_abandoned_by_the_command(
    store_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    open_database(store_url, tmp_path).close()
    holder = [sys.executable, "-m", "tests.store.holder", store_url, "learning"]
    with running(holder, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout and process.stdout.readline() == "claimed\n"
        process.send_signal(signal.SIGKILL)
        process.wait(30)
    monkeypatch.setenv("PROWESS_STORE", store_url)
    monkeypatch.chdir(tmp_path)
    listed = CliRunner().invoke(command, ["jobs", "--json"])
    job = json.loads(listed.output)[0]
    assert (job["work"], job["node"], job["state"]) == ("learning", "holder", "abandoned")
    everywhere = CliRunner().invoke(command, ["jobs", "--everywhere"])
    assert "learning" in everywhere.output and "abandoned" in everywhere.output
