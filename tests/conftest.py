"""Every test that needs a store runs on both databases; PostgreSQL is started here, for real."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import uuid4

import psycopg
import pytest

from prowess.engine import Engine
from prowess.engine.options import EngineOptions
from prowess.store.database import Database
from prowess.store.opening import open_database
from prowess.testing import StaticSource, word_embedder
from prowess.types import Trust
from tests.browser import browser as browser
from tests.browser import visit as visit
from tests.limits import pytest_configure as pytest_configure
from tests.limits import pytest_runtest_setup as pytest_runtest_setup
from tests.limits import pytest_runtest_teardown as pytest_runtest_teardown
from tests.postgres import running_postgres


class SteppingClock:
    """A clock that moves one second each time somebody looks at it."""

    def __init__(self) -> None:
        self.now = datetime(2026, 1, 1, tzinfo=UTC)

    def __call__(self) -> datetime:
        self.now += timedelta(seconds=1)
        return self.now


@pytest.fixture
def clock() -> SteppingClock:
    return SteppingClock()


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    with running_postgres() as url:
        yield url


@pytest.fixture
def postgres_url(postgres_server: str) -> Iterator[str]:
    """A fresh, empty database."""
    name = f"t{uuid4().hex}"
    with psycopg.connect(postgres_server, autocommit=True) as connection:
        connection.execute(f'CREATE DATABASE "{name}"')
        yield postgres_server.removesuffix("postgres") + name
        connection.execute(f'DROP DATABASE "{name}" WITH (FORCE)')


@pytest.fixture(params=["sqlite", "postgres"])
def store_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A fresh store on each database in turn."""
    if request.param == "sqlite":
        return f"sqlite:{tmp_path / 'store.db'}"
    return str(request.getfixturevalue("postgres_url"))


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
    ) -> Engine:
        file = tmp_path / "policy.yaml"
        file.write_text(policy)
        ways = EngineOptions(
            policy_files=(file,), embedder=None if shipped_encoder else word_embedder, trust=trust or {}
        )
        engine = Engine(open_database(store_url, tmp_path), sources, clock, environment or {}, ways)
        opened.append(engine)
        return engine

    yield open_one
    for engine in opened:
        engine.close()
