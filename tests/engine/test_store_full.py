"""A store whose disk is full: a clear word, nothing acknowledged is lost, and all goes on with room again."""

import resource
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from pathlib import Path

import psycopg
import pytest

from prowess.engine import Engine
from prowess.errors import StoreFull
from tests.engine.conftest import OpenNode
from tests.support.postgres import StoppablePostgres, stoppable_postgres
from tests.support.serving import acknowledged_turns, lost_turns

Full = Callable[[], AbstractContextManager[None]]
pytestmark = [pytest.mark.slow, pytest.mark.timeout(120)]

OF_SOMEBODY_ELSE = 100_000
"""So many small entries fill every page of a file that is larger than a segment of its log of writes."""


@contextmanager
def full_sqlite(file: Path) -> Iterator[None]:
    """No file may grow beyond what the store and its log of writes have now, and a little."""
    largest = max(part.stat().st_size for part in file.parent.glob(f"{file.name}*"))
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (largest + 100_000, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@contextmanager
def full_postgres(server: StoppablePostgres) -> Iterator[None]:
    with psycopg.connect(server.url, autocommit=True, options="-c prowess.workspace=*") as connection:
        connection.execute(
            "INSERT INTO journal (workspace, chain, number, at, moment, type, data, hash, trace)"
            " SELECT 'other', '', n, '', '', 'note', repeat(md5(n::text), 4), '', ''"
            f" FROM generate_series(1, {OF_SOMEBODY_ELSE}) n"
        )
        (size,) = connection.execute("SELECT pg_relation_size('journal')").fetchone() or (0,)
    assert size > 2**24
    server.limit_files(size)
    try:
        yield
    finally:
        server.limit_files(None)


@pytest.fixture(params=["sqlite", "postgres"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[str, Full]]:
    """A URL, and what fills its disk for as long as a block lasts."""
    if request.param == "sqlite":
        yield "sqlite:store.db", partial(full_sqlite, tmp_path / "store.db")
    else:
        with stoppable_postgres() as server:
            yield server.url, partial(full_postgres, server)


def turns_until_it_is_full(engine: Engine) -> set[str]:
    offers: set[str] = set()
    for _ in range(2000):
        try:
            offers |= acknowledged_turns(engine, 1)
        except StoreFull as full:
            assert "nothing was changed" in str(full) and "make room on the disk" in full.remedy
            return offers
    raise AssertionError("it was never full")


def test_a_full_disk_is_told_loses_nothing_and_passes(store: tuple[str, Full], open_node: OpenNode) -> None:
    url, full = store
    engine = open_node(url)
    offers = acknowledged_turns(engine, 5)
    with full():
        offers |= turns_until_it_is_full(engine)
        found = engine.find("send a mail", "ada")
        assert [hit.id for hit in found] and "memory" not in found[0].reasons[0], "what only reads goes on"
    offers |= acknowledged_turns(engine, 5)
    assert not lost_turns(engine, offers)
