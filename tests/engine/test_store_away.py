"""While PostgreSQL is stopped, killed or behind a network that hangs: what is answered, what is refused, and
how soon everything goes on by itself."""

import os
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from prowess.engine.search import STALE
from prowess.errors import StoreAway
from prowess.types import Outcome
from tests.engine.conftest import OpenNode
from tests.support.postgres import StoppablePostgres, stoppable_postgres
from tests.support.proxy import hanging_proxy
from tests.support.serving import SECONDS_TO_SERVE, acknowledged_turns, lost_turns, served_again

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]


@pytest.fixture(scope="module")
def server() -> Iterator[StoppablePostgres]:
    with stoppable_postgres() as server:
        yield server


def test_a_search_goes_on_from_memory_while_the_store_is_stopped_and_the_rest_is_refused(
    server: StoppablePostgres, open_node: OpenNode
) -> None:
    engine = open_node(server.url)
    fresh = engine.find("send a mail", "ada")
    engine.offer("send a mail")
    kept = engine.journal.heads()
    with server.away():
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
    assert served_again(engine) < SECONDS_TO_SERVE
    assert not engine.find("send a mail", "ada")[0].reasons[0].startswith(STALE)
    assert {(head.chain, head.count) for head in kept} <= {
        (entry.chain, entry.number) for entry in engine.journal.after(())
    }


def test_beyond_in_memory_what_was_answered_lately_is_answered_and_the_rest_refused_with_the_reason(
    server: StoppablePostgres, open_node: OpenNode, tmp_path: Path
) -> None:
    engine = open_node(server.url, in_memory=1)
    fresh = engine.find("send a mail", "ada")
    engine.find("book a room", "bob")
    assert fresh
    with server.away():
        stale = engine.find("send a mail", "ada")
        assert [hit.id for hit in stale] == [hit.id for hit in fresh]
        assert all(hit.reasons[0].startswith(STALE) for hit in stale)
        for asked, agent in (("book a room", "ada"), ("send a mail", "bob")):
            with pytest.raises(StoreAway, match="answered lately"):
                engine.find(asked, agent)
        (tmp_path / "policy.yaml").write_text("profiles: {owner: {agents: [bob]}}\n")
        with pytest.raises(StoreAway):
            engine.find("send a mail", "ada")
    assert served_again(engine) < SECONDS_TO_SERVE


def test_memory_serves_no_longer_than_it_is_told(server: StoppablePostgres, open_node: OpenNode) -> None:
    engine = open_node(server.url, stale_for=0.0)
    engine.find("send a mail", "ada")
    with server.away(), pytest.raises(StoreAway):
        engine.find("send a mail", "ada")


def test_a_killed_server_takes_nothing_along_that_was_acknowledged(
    server: StoppablePostgres, open_node: OpenNode
) -> None:
    engine = open_node(server.url)
    offers = acknowledged_turns(engine, 20)
    calls = [engine.call("tool:mail", agent="ada").id for _ in range(20)]
    server.kill()
    server.start()
    assert served_again(engine) < SECONDS_TO_SERVE
    assert not lost_turns(engine, offers)
    assert set(calls) <= {entry.data.get("call") for entry in engine.journal.after(())}


def test_a_network_that_hangs_is_noticed_and_what_waited_goes_on_when_it_flows(
    server: StoppablePostgres, open_node: OpenNode
) -> None:
    with hanging_proxy(server.port) as proxy:
        engine = open_node(server.url.replace(str(server.port), str(proxy.port)))
        engine.find("send a mail", "ada")
        proxy.hang()
        begun = time.monotonic()
        assert engine.find("send a mail", "ada")[0].reasons[0].startswith(STALE)
        assert time.monotonic() - begun < 15
        with pytest.raises(StoreAway):
            engine.offer("send a mail")
        proxy.flow()
        assert served_again(engine) < SECONDS_TO_SERVE


def test_a_network_that_loses_everything_holds_nobody_up_for_long_after_it_is_back(
    server: StoppablePostgres, open_node: OpenNode
) -> None:
    with hanging_proxy(server.port) as proxy:
        url = server.url.replace(str(server.port), str(proxy.port))
        usual = open_node(url)
        usual.offer("send a mail")
        assert set(unconfirmed_for(proxy.port)) == {10_000}, "milliseconds until a connection is given up"
        engine = open_node(f"{url}?tcp_user_timeout=1500")
        begun = time.monotonic()
        with pytest.raises(StoreAway), engine.internals.database.writing() as transaction:
            proxy.lose()
            transaction.one("SELECT 1")
        assert time.monotonic() - begun < 10, "who waits for a lock has 40 s"
        proxy.keep()
        assert served_again(engine) < SECONDS_TO_SERVE


def unconfirmed_for(port: int) -> list[int]:
    """What the system was told of the connections of this process to a port."""
    found = []
    for number in Path("/proc/self/fd").iterdir():
        with suppress(OSError), socket.socket(fileno=os.dup(int(number.name))) as one:
            if one.type == socket.SOCK_STREAM and one.getpeername()[1:2] == (port,):
                found.append(one.getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT))
    return found


def test_names_that_nobody_resolves_any_more_lead_where_they_led_before(
    server: StoppablePostgres, open_node: OpenNode, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = open_node(server.url.replace("127.0.0.1", "localhost"))
    engine.offer("send a mail")
    answers = threading.Event()
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: answers.wait() and [])
    try:
        with server.away(), pytest.raises(StoreAway):
            engine.offer("send a mail")
        assert served_again(engine) < SECONDS_TO_SERVE
    finally:
        answers.set()


def test_a_revocation_is_never_forgotten_from_memory(
    server: StoppablePostgres, open_node: OpenNode, tmp_path: Path
) -> None:
    engine = open_node(server.url)
    assert [hit.id for hit in engine.find("send a mail", "ada")] != []
    (tmp_path / "policy.yaml").write_text("profiles: {owner: {agents: [bob], additional_tools: ['*']}}\n")
    with server.away(), pytest.raises(StoreAway):
        engine.find("send a mail", "ada")


def test_a_store_with_an_older_policy_than_was_seen_is_not_served(
    server: StoppablePostgres, open_node: OpenNode
) -> None:
    engine = open_node(server.url)
    engine.agents.bind("helper", "owner")
    engine.offer("send a mail")
    with engine.internals.database.writing() as transaction:
        transaction.run("UPDATE policy_version SET version = version - 1 WHERE workspace = :workspace")
    with pytest.raises(StoreAway, match="seen before"):
        engine.offer("send a mail")
