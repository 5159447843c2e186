"""What a process sees of a source is its own: others go by it while nobody knows better, and not for long."""

from datetime import timedelta

import pytest

from prowess.catalogue.health import EXPIRY, MAX_ENDED, ReadingNode
from prowess.engine import Engine
from prowess.testing import StaticSource, capability
from prowess.types import Problem
from tests.support.clock import SteppingClock
from tests.support.stores import OpenEngine

REASON = "there is no command 'crm'"


def source(down: str = "") -> StaticSource:
    found = StaticSource(name="server", capabilities=[capability("tool:find", "Finds customers.")])
    if down:
        fail(found, down)
    return found


def fail(source: StaticSource, why: str) -> None:
    source.down = why
    source.problems = [Problem("server", "server", why, "install it")]


def down(engine: Engine) -> list[str]:
    return [provider.down for provider in engine.providers.list() if provider.down]


@pytest.fixture
def running(open_engine: OpenEngine) -> Engine:
    """An engine that read the source, as a gateway does that goes on running."""
    engine = open_engine(source())
    engine.sync()
    return engine


def vouching(engine: Engine) -> None:
    syncing = engine.internals.syncing
    object.__setattr__(syncing, "node", ReadingNode(id=syncing.node.id, vouches=timedelta(minutes=3)))
    syncing.vouch()


def test_what_another_process_could_not_read_is_up_for_one_that_could(
    open_engine: OpenEngine, running: Engine
) -> None:
    elsewhere = open_engine(source(REASON))
    assert elsewhere.sync().problems
    assert down(elsewhere) == [REASON]
    assert down(running) == []
    assert running.catalogue.get("tool:find").unavailable == ()
    assert running.catalogue.problems() == ()


def test_one_that_has_not_looked_goes_by_a_process_that_still_runs(
    open_engine: OpenEngine, running: Engine, clock: SteppingClock
) -> None:
    vouching(running)
    open_engine(source(REASON)).sync()
    looking = open_engine(source())
    assert down(looking) == []
    assert looking.catalogue.problems() == () == looking.diagnose()
    clock.now += timedelta(minutes=2)
    running.internals.syncing.vouch()
    clock.now += timedelta(minutes=2)
    assert down(looking) == []
    running.internals.syncing.release()
    assert down(looking) == [REASON]


def test_one_that_has_not_looked_goes_by_whoever_looked_last(open_engine: OpenEngine) -> None:
    open_engine(source()).sync()
    looking = open_engine(source())
    assert down(looking) == []
    open_engine(source(REASON)).sync()
    assert down(looking) == [REASON]
    assert [problem.what for problem in looking.catalogue.problems()] == [REASON]
    open_engine(source()).sync()
    assert down(looking) == []


def test_what_was_down_a_while_ago_may_be_up_again(open_engine: OpenEngine, clock: SteppingClock) -> None:
    engine = open_engine(source())
    engine.sync()
    failing = open_engine(source(REASON))
    failing.sync()
    assert down(failing) == [REASON]
    clock.now += EXPIRY
    assert down(failing) == [] == down(open_engine(source()))
    assert failing.catalogue.get("tool:find").unavailable == ()


def test_many_short_runs_leave_few_rows_and_the_one_that_runs_keeps_its_own(
    open_engine: OpenEngine, running: Engine
) -> None:
    vouching(running)
    for _ in range(MAX_ENDED + 4):
        open_engine(source(REASON)).sync()
    with running.internals.database.reading() as transaction:
        rows = transaction.all("SELECT node FROM source_health WHERE workspace = :workspace")
    assert len(rows) <= MAX_ENDED + 2
    assert down(running) == [] == down(open_engine(source()))


def test_what_was_wrong_with_a_source_that_could_be_read_stays_while_it_is_down(
    open_engine: OpenEngine,
) -> None:
    bad = source()
    bad.capabilities.append(capability("tool:find", "The same again."))
    engine = open_engine(bad)
    before = engine.sync().problems
    fail(bad, REASON)
    assert [one.what for one in engine.sync().problems] == [REASON, *(one.what for one in before)]
