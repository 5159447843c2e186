"""Every workspace of a store behind one address: who is let in where, and that nobody sees another's."""

import json
import os
import re
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import anyio
import httpx2
import pytest
import uvicorn
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

import prowess
from prowess.config import Settings, parse
from prowess.engine import Engine
from prowess.journal import Raw
from prowess.listen import Bind
from prowess.opening import now
from prowess.store.opening import StoreAddress
from prowess.tenants.dispatcher import TenantDispatcher
from prowess.tenants.serving import KeptOpen, ServedFaces, serving_workspaces
from prowess.types import Outcome
from prowess.web.operations import everything
from prowess.web.users import Kind, Users
from tests.support.gateway import SERVERS, ask, put
from tests.support.processes import running

pytestmark = [pytest.mark.slow, pytest.mark.timeout(120)]

MARKERS = {"acme": "quagga", "bolt": "okapi"}
"""A word that stands in everything that one workspace holds, and in nothing of the other."""
CONFIG = """
store = {store}
workspace = "{name}"
[policy]
files = ["policy.yaml"]
[[source]]
type = "mcp"
name = "shelf"
trust = "full"
command = {python}
args = ["-S", {server}, {shelf}]
"""
POLICY = """
profiles:
  owner:
    agents: [default, MARKER-agent]
    additional_tools: ["*"]
"""


BOTH = ServedFaces()
TEN = KeptOpen(10)
BY_ITSELF = """
[learning]
mode = "accumulate"
every_minutes = 0.01
[evolution]
every_minutes = 0.01
"""


class Served(NamedTuple):
    folder: Path
    url: str
    address: str
    door: TenantDispatcher

    @contextmanager
    def engine(self, name: str) -> Iterator[Engine]:
        """A workspace as whoever has the store opens it."""
        config = str(self.folder / name / "prowess.toml")
        with prowess.open(self.url, config=config, workspace=name) as engine:
            yield engine

    def person(self, name: str, kind: Kind = "token") -> str:
        with self.engine(name) as engine:
            people = Users(engine.internals.database, engine.internals.journal, now)
            return people.issue("ann", "admin", kind).text

    def agent(self, name: str) -> str:
        with self.engine(name) as engine:
            return engine.tokens.issue(f"{MARKERS[name]}-agent").text

    def get(self, path: str, token: str = "") -> httpx2.Response:
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        return httpx2.get(f"{self.address}{path}", headers=headers, timeout=60)


def configure(folder: Path, store: str, name: str) -> None:
    """A workspace with a server of its own that offers one tool."""
    place = folder / name
    place.mkdir(parents=True)
    marker = MARKERS[name]
    tool = {"name": "feed", "description": f"Feed the {marker}", "inputSchema": {"type": "object"},
            "annotations": {"readOnlyHint": True}}  # fmt: skip
    put(place, "shelf", tools=[tool])
    (place / "policy.yaml").write_text(POLICY.replace("MARKER", marker))
    texts = {
        "python": sys.executable,
        "server": str(SERVERS / "shelf.py"),
        "shelf": str(place / "shelf.json"),
    }
    quoted = {key: json.dumps(text) for key, text in {**texts, "store": store}.items()}
    (place / "prowess.toml").write_text(CONFIG.format(name=name, **quoted))


@contextmanager
def serving_all(folder: Path, url: str, kept: KeptOpen = TEN, faces: ServedFaces = BOTH) -> Iterator[Served]:
    """The process's own server, in a thread of this one."""
    place = socket.create_server(("127.0.0.1", 0))
    bind = Bind("127.0.0.1", place.getsockname()[1])
    of_process = Settings(parse("[web]\nrate = 0\n[gateway]\nrate = 0\n"), folder)
    with serving_workspaces(folder, of_process, StoreAddress(url), bind, faces, kept, {}) as door:
        server = uvicorn.Server(uvicorn.Config(door, log_level="warning", access_log=False))

        async def run() -> None:
            async with door.running():
                await server.serve(sockets=[place])

        thread = threading.Thread(target=anyio.run, args=(run,))
        thread.start()
        try:
            yield Served(folder, url, bind.address, door)
        finally:
            server.should_exit = True
            thread.join(60)
    assert not thread.is_alive()


@pytest.fixture
def served(store_url: str, tmp_path: Path) -> Iterator[Served]:
    for name in MARKERS:
        configure(tmp_path / "tenants", store_url, name)
    with serving_all(tmp_path / "tenants", store_url) as server:
        yield server


def opened_in(served: Served) -> list[str]:
    return list(served.door.tenants.names)


async def said_over_mcp(address: str, token: str) -> str:
    """What a client is told of its tools, and what a call answers."""
    http = httpx2.AsyncClient(headers={"Authorization": f"Bearer {token}"}, timeout=60)
    async with http, Client(streamable_http_client(f"{address}/mcp", http_client=http), cache=None) as client:
        found = await ask(client, "discover_capabilities", query="feed an animal")
        called = await client.call_tool("call_read_only", {"id": "tool:shelf/feed", "arguments": {"n": 1}})
        return json.dumps(found) + str(called.content)


def test_two_workspaces_are_served_by_one_process_through_api_dashboard_and_mcp(served: Served) -> None:
    for name, other in (("acme", "bolt"), ("bolt", "acme")):
        over_mcp = anyio.run(said_over_mcp, served.address, served.agent(name))
        assert MARKERS[name] in over_mcp and "given" in over_mcp
        token = served.person(name)
        assert token.endswith(f"@{name}")
        over_api = served.get("/api/v1/capabilities", token).text
        with httpx2.Client(base_url=served.address, follow_redirects=True, timeout=60) as browser:
            assert browser.get("/login", params={"link": served.person(name, "link")}).status_code == 200
            page = browser.get("/catalogue").text
        with httpx2.Client(base_url=served.address, follow_redirects=True, timeout=60) as browser:
            typed = browser.post("/login", data={"token": token, "next": "/catalogue"}).text
        for seen in (over_mcp, over_api, page, typed):
            assert MARKERS[name] in seen
            assert MARKERS[other] not in seen
    assert served.door.tenants.names == ("acme", "bolt")


@pytest.mark.parametrize("faces", [BOTH, ServedFaces(mcp=False)], ids=["all", "web"])
def test_a_workspace_that_is_open_learns_and_evaluates_by_itself(
    store_url: str, tmp_path: Path, faces: ServedFaces
) -> None:
    folder = tmp_path / "tenants"
    configure(folder, store_url, "acme")
    with (folder / "acme" / "prowess.toml").open("a") as file:
        file.write(BY_ITSELF)
    with serving_all(folder, store_url, faces=faces) as served:
        token = served.person("acme")

        def done_by_itself() -> tuple[list[str], int]:
            lessons, status = (
                served.get(f"/api/v1{path}", token).json() for path in ("/lessons", "/evolution/status")
            )
            return [one["method"] for one in lessons["items"] if one["successes"]], status["evaluations"]

        assert done_by_itself() == ([], 0)
        with served.engine("acme") as engine:
            engine.sync()
            offer = engine.offer("feed the quagga")
            engine.record(Outcome(offer=offer.id, capability="tool:shelf/feed", ok=True))
        deadline = time.monotonic() + 60
        while (done := done_by_itself()) != (["tool:shelf/feed"], 1) and time.monotonic() < deadline:
            time.sleep(0.05)
        assert done == (["tool:shelf/feed"], 1)


def test_whoever_proves_nothing_is_answered_alike_and_opens_nothing(served: Served) -> None:
    right, agent = served.person("acme"), served.agent("acme")
    bare = right.partition("@")[0]
    for path in ("/api/v1/me", "/", "/mcp", "/api/v1/capabilities", "/nothing"):
        answers = set()
        for wrong in (
            "", bare, f"{bare}@bolt", f"{bare}@nobody", f"{bare}@*", f"{bare}@../acme", f"{bare[:-1]}~@acme",
            f"{agent.partition('@')[0]}@bolt", f"{bare[:-3]}xyz@acme", f"{bare[:-3]}xyz@unknown",
        ):  # fmt: skip
            answer = served.get(path, wrong)
            assert answer.status_code in (303, 401, 404)
            answers.add((answer.status_code, answer.text, answer.headers.get("location", "")))
        assert len(answers) == 1, path
    assert not opened_in(served)
    assert served.get("/api/v1/me", right).json()["name"] == "ann"
    assert opened_in(served) == ["acme"]


def test_a_session_of_one_workspace_is_none_in_another(served: Served) -> None:
    with httpx2.Client(base_url=served.address, timeout=60) as browser:
        browser.get("/login", params={"link": served.person("acme", "link")})
        (name, value) = next(iter(browser.cookies.items()))
    assert "@acme" in value
    moved = value.replace("@acme", "@bolt")
    for cookie, status in ((value, 200), (moved, 303)):
        answer = httpx2.get(f"{served.address}/", headers={"Cookie": f"{name}={cookie}"}, timeout=60)
        assert answer.status_code == status


def test_those_not_used_for_the_longest_are_closed_and_open_again(store_url: str, tmp_path: Path) -> None:
    for name in MARKERS:
        configure(tmp_path / "tenants", store_url, name)
    with serving_all(tmp_path / "tenants", store_url, KeptOpen(1)) as served:
        tokens = {name: served.person(name) for name in MARKERS}
        for name in ("acme", "bolt", "acme"):
            assert served.get("/api/v1/me", tokens[name]).status_code == 200
            deadline = time.monotonic() + 20
            while served.door.tenants.names != (name,) and time.monotonic() < deadline:
                time.sleep(0.02)  # the last answer is out a moment before its workspace is free
            assert served.door.tenants.names == (name,)


def test_beyond_the_memory_allowed_those_not_used_are_closed_and_never_one_that_answers(
    store_url: str, tmp_path: Path
) -> None:
    for name in MARKERS:
        configure(tmp_path / "tenants", store_url, name)

    def open_after_asking(name: str) -> tuple[str, ...]:
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            assert served.get("/api/v1/me", tokens[name]).status_code == 200
            if len(served.door.tenants.names) == 1:
                break
        return served.door.tenants.names

    kept, faces = KeptOpen(10, megabytes=1), ServedFaces(mcp=False)
    with serving_all(tmp_path / "tenants", store_url, kept, faces) as served:
        tokens = {name: served.person(name) for name in MARKERS}
        served.get("/api/v1/me", tokens["acme"])
        assert open_after_asking("bolt") == ("bolt",)
        listening = {"Authorization": f"Bearer {tokens['bolt']}"}
        with httpx2.stream("GET", f"{served.address}/api/v1/journal/stream", headers=listening) as heard:
            lines = heard.iter_lines()
            assert next(lines).startswith("retry")
            assert open_after_asking("acme") == ("bolt",)
            with served.engine("bolt") as engine:
                engine.offer("feed the okapi")
            assert any("okapi" in line or "offer" in line for line in lines)


def test_a_workspace_that_cannot_be_opened_disturbs_no_other(served: Served) -> None:
    tokens = {name: served.person(name) for name in MARKERS}
    file = served.folder / "bolt" / "prowess.toml"
    before = file.read_text()
    (served.folder / "bolt" / "okapi_tools.py").write_text("")
    for wrong in ("[nonsense", before + '[[source]]\ntype = "functions"\nmodule = "okapi_tools"\n'):
        file.write_text(wrong)
        refused = served.get("/api/v1/me", tokens["bolt"])
        assert refused.status_code == 503 and "okapi" not in refused.text
        assert served.get("/api/v1/me", tokens["acme"]).status_code == 200
    file.write_text(before)
    assert served.get("/api/v1/me", tokens["bolt"]).status_code == 200


def test_the_command_serves_them_and_says_how_it_does(store_url: str, tmp_path: Path) -> None:
    for name in MARKERS:
        configure(tmp_path / "tenants", store_url, name)
    token = Served(tmp_path / "tenants", store_url, "", None).person("acme")  # type: ignore[arg-type]
    other = Served(tmp_path / "tenants", store_url, "", None).person("bolt")  # type: ignore[arg-type]
    refused = tmp_path / "tenants" / "bolt" / "prowess.toml"
    refused.write_text(refused.read_text() + '[[source]]\ntype = "functions"\nmodule = "okapi_tools"\n')
    (refused.parent / "okapi_tools.py").write_text("")
    broken = tmp_path / "tenants" / "torn" / "prowess.toml"
    broken.parent.mkdir()
    broken.write_text("[nonsense")
    told = {
        "PROWESS_WORKSPACES": str(tmp_path / "tenants"),
        "PROWESS_SERVE_PORT": "0",
        "PROWESS_LOGS": "json",
    }
    run = [sys.executable, "-m", "prowess", "--store", store_url, "serve"]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with running(run, env={**os.environ, **told}, cwd=tmp_path, **pipes) as process:
        address = process.stdout.readline().strip()  # type: ignore[union-attr]
        served = Served(tmp_path / "tenants", store_url, address, None)  # type: ignore[arg-type]
        assert served.get("/readyz").text == "ok\n"
        assert served.get("/api/v1/me", token).json()["name"] == "ann"
        assert served.get("/api/v1/me", other).status_code == 503
        metrics = served.get("/metrics").text
        process.terminate()
        process.wait(30)
        logged = process.stderr.read().splitlines()  # type: ignore[union-attr]
    assert process.returncode == 0
    assert "prowess_workspaces_open 1" in metrics
    assert 'prowess_requests_total{face="api",method="GET",status="200"} 1' in metrics
    lines = [json.loads(line) for line in logged if line.startswith("{")]
    (line,) = [one for one in lines if one["level"] == "error"]
    assert "bolt cannot be opened" in line["message"]
    assert "ConfigError" in line["failure"]
    said = [line for line in logged if "cannot be served" in line]
    assert said[0].startswith(f"the workspace bolt cannot be served: {refused}: the module 'okapi_tools'")
    assert said[0].endswith(
        "offer its tools as an MCP server, or install it beside prowess for all workspaces"
    )
    assert said[1].startswith(f"the workspace torn cannot be served: {broken}: prowess.toml: is not TOML")
    assert len(said) == 2


PAGES = ("/", "/catalogue", "/graph", "/policy", "/injections", "/evolution", "/learning", "/journal",
         "/quarantine", "/approvals", "/ask", "/login")  # fmt: skip


def paths_to_read() -> list[str]:
    operations = [one for one in everything().operations if one.method == "GET"]
    return [f"/api/v1{one.path}" for one in operations if one.media == "application/json"]


def test_no_public_read_of_one_workspace_ever_holds_what_is_in_the_other(served: Served) -> None:
    ids = {"shelf", "tool:shelf/feed", "default", "1"}
    tokens = {name: served.person(name) for name in MARKERS}
    for name, marker in MARKERS.items():
        with served.engine(name) as engine:
            engine.sync()
            ids.add(engine.offer(f"feed the {marker}").id)
            engine.internals.journal.record(Raw("note", {"of": marker}), "default")
            ids |= {token.id for token in engine.tokens.list()}
    seen = dict.fromkeys(MARKERS, "")

    @settings(max_examples=150, deadline=None, database=None, derandomize=True,
              suppress_health_check=list(HealthCheck))  # fmt: skip
    @given(
        st.sampled_from(sorted(MARKERS)), st.sampled_from([*paths_to_read(), *PAGES]),
        st.lists(st.sampled_from(sorted(ids)), min_size=4, max_size=4),
        st.sampled_from(["", "?q=feed", "?query=feed+an+animal", "?agent=default", "?limit=500"]),
    )  # fmt: skip
    def reads(name: str, path: str, chosen: list[str], query: str) -> None:
        filled = iter(chosen)
        where = re.sub(r"\{[^}]*\}", lambda _: next(filled).replace("/", "%2F"), path)
        answer = served.get(f"{where}{query}", tokens[name])
        assert answer.status_code < 500, answer.text
        (other,) = MARKERS.keys() - {name}
        assert MARKERS[other] not in answer.text, where
        seen[name] += answer.text

    reads()
    assert all(MARKERS[name] in text for name, text in seen.items()), "what is its own is shown"
