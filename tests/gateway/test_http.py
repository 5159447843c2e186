"""The gateway over HTTP: who is let in, as whom, and who is not."""

import http.client
import json
import os
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from urllib.parse import urlsplit

import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

import prowess
from prowess.engine import Engine
from prowess.errors import ConfigError
from prowess.journal import Raw
from prowess.listen import Rate, parse_bind
from prowess.store.database import Database
from tests.support.gateway import ask, call, free_port, served, text_of, workshop, write_config
from tests.support.processes import running
from tests.support.stores import OpenEngine

pytestmark = [pytest.mark.slow, pytest.mark.timeout(60)]

POLICY = """
profiles:
  reader:
    agents: [default]
    additional_tools: ["tool:shop/echo"]
  smith:
    additional_tools: ["tool:shop/engrave"]
"""


class Served:
    """A gateway that listens on a port, and its engine as a person at the terminal has it."""

    def __init__(self, file: Path, port: int) -> None:
        self.file = file
        self.url = f"http://127.0.0.1:{port}/mcp"

    def engine(self) -> Engine:
        return prowess.open(str(self.file.parent / "store.db"), config=str(self.file))


@pytest.fixture(scope="module")
def gateway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("gateway")
    file, port = write_config(folder, POLICY, workshop()), free_port()
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            served(file, "--http", f"127.0.0.1:{port}"), stderr=log, env={**os.environ, "LOUD": "1"}
        )
    try:
        wait_for(f"http://127.0.0.1:{port}/mcp")
        yield Served(file, port)
    finally:
        process.terminate()
        process.wait(10)
        told = (folder / "log").read_text()
        assert "DEBUG" in told and "prowess_" not in told


def wait_for(url: str) -> None:
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        try:
            post(url)
            return
        except urllib.error.URLError:
            time.sleep(0.1)
    raise AssertionError("the gateway did not start")


def post(url: str, body: bytes = b"{}", **headers: str) -> int:
    given = {"content-type": "application/json", "accept": "application/json, text/event-stream"}
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    request = urllib.request.Request(url, body, {**given, **named})
    try:
        with urllib.request.urlopen(request, timeout=10) as response:
            return int(response.status)
    except urllib.error.HTTPError as error:
        error.close()
        return error.code


def transport(token: str) -> httpx2.AsyncClient:
    return httpx2.AsyncClient(headers={"Authorization": f"Bearer {token}"}, timeout=20)


# The order matters: as soon as there is a token, nobody comes in without one.


@pytest.mark.anyio
@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_on_loopback_a_client_without_a_token_is_the_agent_that_was_named(
    gateway: Served, mode: str
) -> None:
    async with Client(gateway.url, mode=mode, cache=None) as client:
        assert (await ask(client, "list_capabilities"))["total"] == 1
        assert text_of(await call(client, "tool:shop/echo", text="hello")) == "hello"


def test_a_page_of_another_site_is_kept_out_by_host_and_origin(gateway: Served) -> None:
    assert post(gateway.url, Host="evil.example") == 421
    assert post(gateway.url, Origin="http://evil.example") == 403
    assert post(gateway.url, Origin="http://localhost:3000") == 400


def test_a_request_that_is_too_large_is_refused(gateway: Served) -> None:
    where = urlsplit(gateway.url)
    connection = http.client.HTTPConnection(where.netloc, timeout=10)
    connection.putrequest("POST", where.path)
    connection.putheader("Content-Length", "5000000")
    connection.endheaders()
    assert connection.getresponse().status == 413
    connection.close()


def test_a_wrong_token_is_refused_and_not_taken_for_none(gateway: Served) -> None:
    for wrong in ("x", "prowess_00000000_" + "a" * 43, "prowess__", "ä"):
        assert post(gateway.url, Authorization=f"Bearer {wrong}".encode("latin-1").decode("latin-1")) == 401


@pytest.mark.anyio
async def test_two_tokens_are_two_agents_in_two_worlds(gateway: Served) -> None:
    with gateway.engine() as engine:
        engine.agents.bind("ann", "smith")
        engine.agents.bind("bea", "reader")
        tokens = {name: engine.tokens.issue(name) for name in ("ann", "bea")}
    for name, tool in (("ann", "tool:shop/engrave"), ("bea", "tool:shop/echo")):
        for mode in ("auto", "legacy"):
            async with transport(tokens[name].text) as web:
                remote = streamable_http_client(gateway.url, http_client=web)
                async with Client(remote, mode=mode, cache=None) as client:
                    listed = await ask(client, "list_capabilities", provider="shop")
                    assert listed["ids"] == [tool]
                    assert text_of(await call(client, tool, with_effects=True, text="x")) == "x"
    time.sleep(1)
    assert post(gateway.url) == 401
    with gateway.engine() as engine:
        assert len(engine.journal.latest(10, "ann", "call")) == 2
        engine.tokens.revoke(tokens["ann"].token.id)
        engine.agents.retire("bea")
    for token in tokens.values():
        assert post(gateway.url, Authorization=f"Bearer {token.text}") == 401
    with gateway.engine() as engine:
        assert tokens["ann"].text not in json.dumps([e.data for e in engine.journal.latest(100)], default=str)


def test_an_address_that_others_reach_needs_tokens_and_one_that_is_none_is_refused() -> None:
    assert parse_bind("127.0.0.1:80").is_loopback and parse_bind("[::1]:80").is_loopback
    assert parse_bind(":80").host == "127.0.0.1"
    assert not parse_bind("0.0.0.0:80").is_loopback and not parse_bind("example.org:80").is_loopback
    with pytest.raises(ConfigError, match="is not HOST:PORT"):
        parse_bind("somewhere")


def test_a_caller_that_asks_too_often_waits() -> None:
    rate = Rate(60)
    assert [rate.admits("a") for _ in range(61)].count(True) == 60
    assert rate.admits("b")
    assert all(Rate(0).admits("a") for _ in range(1000))


def knock(url: str, address: str, token: str) -> int:
    """One request from an address of this machine, and how it was answered."""
    where = urlsplit(url)
    connection = http.client.HTTPConnection(where.netloc, timeout=10, source_address=(address, 0))
    given = {"content-type": "application/json", "accept": "application/json, text/event-stream"}
    connection.request("POST", where.path, b"{}", {**given, "authorization": f"Bearer {token}"})
    status = connection.getresponse().status
    connection.close()
    return status


def test_an_agent_has_one_rate_however_many_addresses_it_comes_from(tmp_path: Path) -> None:
    file, port = write_config(tmp_path, POLICY, workshop(), gateway="rate = 12"), free_port()
    here = Served(file, port)
    with here.engine() as engine:
        engine.agents.bind("ann", "smith")
        engine.agents.bind("bea", "smith")
        ann, bea = (engine.tokens.issue(name).text for name in ("ann", "bea"))
    command = served(file, "--http", f"127.0.0.1:{port}")
    with running([*command[:4], "--store", "store.db", *command[4:]], cwd=tmp_path) as process:
        try:
            wait_for(f"http://127.0.0.1:{port}/mcp")
            answers = [knock(here.url, f"127.0.0.{2 + n % 3}", ann) for n in range(16)]
            assert answers[:12] == [400] * 12 and answers[-1] == 429
            assert knock(here.url, "127.0.0.5", bea) == 400, "another agent is not held back"
            assert [knock(here.url, "127.0.0.6", "wrong") for _ in range(14)][-1] == 429
        finally:
            process.terminate()
            process.wait(30)


# --- tokens, on both databases ---------------------------------------------------------------------


@pytest.fixture
def engine(open_engine: OpenEngine) -> Engine:
    return open_engine(policy="profiles: {clerk: {agents: [ada]}, other: {}}")


def test_a_token_proves_its_agent_until_it_is_revoked(engine: Engine) -> None:
    engine.agents.bind("bob", "clerk")
    issued = engine.tokens.issue("bob")
    assert engine.tokens.holder(issued.text) == "bob"
    assert engine.tokens.holder(issued.text[:-1]) == ""
    assert engine.tokens.holder(engine.tokens.issue("ada").text) == "ada"
    engine.tokens.revoke(issued.token.id)
    assert engine.tokens.holder(issued.text) == ""
    assert [token.revoked_at != "" for token in engine.tokens.list()] == [False, True]


def test_a_token_expires(engine: Engine) -> None:
    issued = engine.tokens.issue("ada", timedelta(seconds=3))
    assert engine.tokens.holder(issued.text) == "ada"
    for _ in range(5):
        engine.internals.journal.record(Raw("tick", {}))
    assert engine.tokens.holder(issued.text) == ""
    assert not engine.tokens.any_valid()


def test_a_token_does_not_survive_its_agent(engine: Engine) -> None:
    engine.agents.bind("bob", "clerk")
    old = engine.tokens.issue("bob")
    engine.agents.retire("bob")
    assert engine.tokens.holder(old.text) == ""
    engine.agents.bind("bob", "other")
    assert engine.tokens.holder(old.text) == ""


def test_no_token_is_in_the_store(engine: Engine, database: Database) -> None:
    issued = engine.tokens.issue("ada")
    secret = issued.text.split("_", 2)[2]
    with database.reading() as transaction:
        rows = transaction.all("SELECT * FROM agent_token") + transaction.all("SELECT data FROM journal")
    assert len(rows) == 2 and secret not in repr(rows)
