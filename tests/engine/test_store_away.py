"""While PostgreSQL is stopped, killed or behind a network that hangs: what is answered, what is refused, and
how soon everything goes on by itself."""

import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from prowess.engine import Engine
from prowess.engine.options import EngineOptions
from prowess.engine.search import STALE
from prowess.errors import ProwessError, StoreAway
from prowess.store.opening import open_database
from prowess.testing import StaticSource, capability, word_embedder
from prowess.types import Outcome
from tests.support.postgres import StoppablePostgres, stoppable_postgres
from tests.support.proxy import hanging_proxy

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]

SECONDS_TO_SERVE = 5.0
POLICY = """
profiles:
  owner: {agents: [ada, bob], additional_tools: ["*"]}
"""


@pytest.fixture(scope="module")
def server() -> Iterator[StoppablePostgres]:
    with stoppable_postgres() as server:
        yield server


@pytest.fixture
def opened(server: StoppablePostgres, tmp_path: Path) -> Iterator[Callable[..., Engine]]:
    engines: list[Engine] = []
    policy = tmp_path / "policy.yaml"
    policy.write_text(POLICY)

    def open_one(url: str = "", stale_for: float = 30.0) -> Engine:
        tools = [capability("tool:mail", "Send a mail"), capability("tool:room", "Book a room")]
        sources = (StaticSource("office", capabilities=tools),)
        options = EngineOptions(embedder=word_embedder, policy_files=(policy,), stale_for=stale_for)
        database = open_database(url or server.url, tmp_path)
        engines.append(Engine(database, sources, lambda: datetime.now(UTC), {}, options))
        engines[-1].sync()
        return engines[-1]

    yield open_one
    for engine in engines:
        engine.close()


def served_again(engine: Engine) -> float:
    """Seconds until an offer is made."""
    begun = time.monotonic()
    while True:
        try:
            engine.offer("send a mail")
            return time.monotonic() - begun
        except ProwessError:
            assert time.monotonic() - begun < 30, "it never came back"
            time.sleep(0.05)


def test_a_search_goes_on_from_memory_while_the_store_is_stopped_and_the_rest_is_refused(
    server: StoppablePostgres, opened: Callable[..., Engine]
) -> None:
    engine = opened()
    fresh = engine.find("send a mail", "ada")
    engine.offer("send a mail")
    kept = engine.journal.heads()
    server.stop()
    try:
        stale = engine.find("send a mail", "ada")
        assert [hit.id for hit in stale] == [hit.id for hit in fresh] != []
        assert all(hit.reasons[0].startswith(STALE) for hit in stale)
        for refused in (
            lambda: engine.offer("send a mail"),
            lambda: engine.check("ada", "tool:mail"),
            lambda: engine.record(Outcome(offer="", capability="tool:mail", ok=True)),
            lambda: engine.find("send a mail", "bob"),  # who may have been stopped since nobody looked
        ):
            with pytest.raises(StoreAway, match="does not answer"):
                refused()
        assert engine.call("tool:mail", agent="ada").is_error
    finally:
        server.start()
    assert served_again(engine) < SECONDS_TO_SERVE
    assert not engine.find("send a mail", "ada")[0].reasons[0].startswith(STALE)
    assert {(head.chain, head.count) for head in kept} <= {
        (entry.chain, entry.number) for entry in engine.journal.after(())
    }


def test_memory_serves_no_longer_than_it_is_told(
    server: StoppablePostgres, opened: Callable[..., Engine]
) -> None:
    engine = opened(stale_for=0.0)
    engine.find("send a mail", "ada")
    server.stop()
    try:
        with pytest.raises(StoreAway):
            engine.find("send a mail", "ada")
    finally:
        server.start()


def test_a_killed_server_takes_nothing_along_that_was_acknowledged(
    server: StoppablePostgres, opened: Callable[..., Engine]
) -> None:
    engine = opened()
    offers = [engine.offer("send a mail").id for _ in range(20)]
    for offer in offers:
        engine.record(Outcome(offer=offer, capability="tool:mail", ok=True))
    calls = [engine.call("tool:mail", agent="ada").id for _ in range(20)]
    server.kill()
    server.start()
    assert served_again(engine) < SECONDS_TO_SERVE
    found = [entry for entry in engine.journal.after(()) if entry.data.get("offer") in offers]
    assert {entry.data["offer"] for entry in found if entry.type == "offer"} == set(offers)
    assert {entry.data["offer"] for entry in found if entry.type == "outcome"} == set(offers)
    assert set(calls) <= {entry.data.get("call") for entry in engine.journal.after(())}
    engine.journal.verify()


def test_a_network_that_hangs_is_noticed_and_what_waited_goes_on_when_it_flows(
    server: StoppablePostgres, opened: Callable[..., Engine]
) -> None:
    with hanging_proxy(server.port) as proxy:
        engine = opened(server.url.replace(str(server.port), str(proxy.port)))
        engine.find("send a mail", "ada")
        proxy.hang()
        begun = time.monotonic()
        assert engine.find("send a mail", "ada")[0].reasons[0].startswith(STALE)
        assert time.monotonic() - begun < 15
        with pytest.raises(StoreAway):
            engine.offer("send a mail")
        proxy.flow()
        assert served_again(engine) < SECONDS_TO_SERVE


def test_a_revocation_is_never_forgotten_from_memory(
    server: StoppablePostgres, opened: Callable[..., Engine], tmp_path: Path
) -> None:
    engine = opened()
    assert [hit.id for hit in engine.find("send a mail", "ada")] != []
    (tmp_path / "policy.yaml").write_text("profiles: {owner: {agents: [bob], additional_tools: ['*']}}\n")
    server.stop()
    try:
        with pytest.raises(StoreAway):
            engine.find("send a mail", "ada")
    finally:
        server.start()


def test_a_store_with_an_older_policy_than_was_seen_is_not_served(
    server: StoppablePostgres, opened: Callable[..., Engine]
) -> None:
    engine = opened()
    engine.agents.bind("helper", "owner")
    engine.offer("send a mail")
    with engine.internals.database.writing() as transaction:
        transaction.run("UPDATE policy_version SET version = version - 1 WHERE workspace = :workspace")
    with pytest.raises(StoreAway, match="seen before"):
        engine.offer("send a mail")
