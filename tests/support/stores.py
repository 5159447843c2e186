"""Fixtures of stores: every test that needs one runs on both databases.

A store is a copy of one that was migrated before: the way to today's tables takes longer than most tests
do. Tests of that way are marked `new_store`. PostgreSQL is started by the first test that asks for it.
"""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from prowess.engine import Engine
from prowess.engine.options import EngineOptions
from prowess.sources.overrides import Overrides
from prowess.store.database import Database
from prowess.store.opening import open_database
from prowess.testing import StaticSource, word_embedder
from prowess.types import Trust
from tests.support.clock import SteppingClock

if TYPE_CHECKING:
    from tests.support.lending import Databases


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "new_store: the test itself makes the tables of its store")


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    from tests.support.postgres import running_postgres  # here, so that the quick lane needs no psycopg

    with running_postgres() as url:
        yield url


@pytest.fixture
def postgres_url(postgres_server: str) -> Iterator[str]:
    """A fresh, empty database."""
    from tests.support.postgres import new_database

    with new_database(postgres_server) as url:
        yield url


@pytest.fixture(scope="session")
def postgres_databases(
    postgres_server: str, tmp_path_factory: pytest.TempPathFactory
) -> "Iterator[Databases]":
    import psycopg

    from tests.support.lending import Databases

    with psycopg.connect(postgres_server, autocommit=True) as connection:
        yield Databases(postgres_server, connection, tmp_path_factory.mktemp("lent"))


@pytest.fixture
def lent_postgres_url(postgres_databases: "Databases") -> Iterator[str]:
    with postgres_databases.lent() as url:
        yield url


@pytest.fixture(scope="session")
def migrated_sqlite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file with today's tables, to be copied."""
    folder = tmp_path_factory.mktemp("migrated")
    open_database("sqlite:store.db", folder).close()
    return folder / "store.db"


@pytest.fixture(params=["sqlite", "postgres"])
def store_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A store without content on each database in turn; without tables, too, for tests marked `new_store`."""
    is_new = request.node.get_closest_marker("new_store") is not None
    if request.param == "postgres":
        return str(request.getfixturevalue("postgres_url" if is_new else "lent_postgres_url"))
    if not is_new:
        shutil.copy(request.getfixturevalue("migrated_sqlite"), tmp_path / "store.db")
    return f"sqlite:{tmp_path / 'store.db'}"


@pytest.fixture
def database(store_url: str, tmp_path: Path) -> Iterator[Database]:
    database = open_database(store_url, tmp_path)
    yield database
    database.close()


OpenEngine = Callable[..., Engine]

OWNER = """
profiles:
  owner:
    agents: [default, ada, bob]
    additional_tools: ["*"]
"""
"""A policy for tests that are not about policy: three agents who may use everything."""


@pytest.fixture
def open_engine(store_url: str, tmp_path: Path, clock: SteppingClock) -> Iterator[OpenEngine]:
    """Open an engine over static sources on this test's store; again and again, if asked."""
    opened: list[Engine] = []

    def open_one(
        *sources: StaticSource,
        environment: dict[str, str] | None = None,
        policy: str = OWNER,
        shipped_encoder: bool = False,
        trust: dict[str, Trust] | None = None,
        overrides: dict[str, Overrides] | None = None,
        lock_file: Path | None = None,
    ) -> Engine:
        file = tmp_path / "policy.yaml"
        file.write_text(policy)
        options = EngineOptions(
            policy_files=(file,), embedder=None if shipped_encoder else word_embedder, trust=trust or {},
            overrides=overrides or {}, lock_file=lock_file,
        )  # fmt: skip
        engine = Engine(open_database(store_url, tmp_path), sources, clock, environment or {}, options)
        opened.append(engine)
        return engine

    yield open_one
    for engine in opened:
        engine.close()
