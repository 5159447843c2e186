"""A server that is told to stop says so first, then refuses, and loses no call that it began."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import httpx2
import pytest

import prowess
from prowess.opening import now
from prowess.web.users import Users
from tests.support.processes import running
from tests.support.wire import eventually

pytestmark = [pytest.mark.slow, pytest.mark.timeout(120)]

CONFIG = """
store = "sqlite:store.db"
[policy]
files = ["policy.yaml"]
[[source]]
type = "functions"
module = "waiting_tools"
"""
POLICY = """
profiles:
  owner:
    agents: [default]
    additional_tools: ["*"]
"""
TOOLS = '''
import pathlib, time
import prowess

@prowess.tool
def wait_for(file: str) -> str:
    """Wait until a file is there.

    file: which one.
    """
    pathlib.Path(file + ".begun").touch()
    while not pathlib.Path(file).exists():
        time.sleep(0.01)
    return "it came"
'''


class Waiting(NamedTuple):
    process: "subprocess.Popen[Any]"
    address: str
    token: str
    file: Path

    def get(self, path: str, client: httpx2.Client | None = None) -> httpx2.Response:
        headers = {"Authorization": f"Bearer {self.token}"}
        return (client or httpx2).get(f"{self.address}{path}", headers=headers, timeout=30)

    def call(self) -> httpx2.Response:
        """A call that ends when the file is there."""
        said = {"name": "tool:wait_for", "arguments": {"file": str(self.file)}}
        headers = {"Authorization": f"Bearer {self.token}"}
        return httpx2.post(
            f"{self.address}/api/v1/agents/default/call", json=said, headers=headers, timeout=60
        )

    def refuses(self) -> bool:
        try:
            return self.get("/api/v1/me").status_code == 503
        except httpx2.TransportError:
            return True


@contextmanager
def serving(folder: Path, **told: str) -> Iterator[Waiting]:
    (folder / "prowess.toml").write_text(CONFIG)
    (folder / "policy.yaml").write_text(POLICY)
    (folder / "waiting_tools.py").write_text(TOOLS)
    with prowess.open(config=str(folder / "prowess.toml")) as engine:
        people = Users(engine.internals.database, engine.internals.journal, now)
        token = people.issue("ann", "admin").text
    run = [sys.executable, "-m", "prowess", "serve", "--port", "0"]
    environment = {**os.environ, "PROWESS_CONFIG": str(folder / "prowess.toml"), **told}
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL, "text": True}
    with running(run, cwd=folder, env=environment, **pipes) as process:
        address = process.stdout.readline().strip().partition("/login")[0]  # type: ignore[union-attr]
        server = Waiting(process, address, token, folder / "there")
        eventually(lambda: server.get("/readyz").status_code == 200, 60)
        told_by = {"Authorization": f"Bearer {token}"}
        httpx2.post(f"{address}/api/v1/sync", json={}, headers=told_by, timeout=60).raise_for_status()
        yield server


def begun(server: Waiting) -> bool:
    return server.file.with_name("there.begun").exists()


def test_readiness_turns_first_then_new_requests_are_refused_and_those_in_flight_end(tmp_path: Path) -> None:
    with serving(tmp_path, PROWESS_DRAIN="3", PROWESS_GRACE="60") as server, ThreadPoolExecutor() as threads:
        call = threads.submit(server.call)
        eventually(lambda: begun(server), 30)
        server.process.send_signal(signal.SIGTERM)
        eventually(lambda: server.get("/readyz").status_code == 503, 20)
        assert server.get("/healthz").status_code == 200
        still = server.get("/api/v1/me")
        assert still.status_code == 200, "whoever was sent here before others knew is served"
        assert still.headers["connection"] == "close"
        eventually(server.refuses, 30)
        assert not call.done()
        server.file.touch()
        assert "it came" in json.dumps(call.result(30).json())
        server.process.wait(30)
    assert server.process.returncode == 0


def test_what_does_not_end_in_time_is_given_up(tmp_path: Path) -> None:
    with serving(tmp_path, PROWESS_GRACE="0.2") as server, ThreadPoolExecutor() as threads:
        call = threads.submit(server.call)
        eventually(lambda: begun(server), 30)
        server.process.send_signal(signal.SIGTERM)
        server.process.wait(30)
        assert call.exception(30) or call.result().status_code >= 500


def test_a_stream_that_stands_open_keeps_nobody_waiting(tmp_path: Path) -> None:
    with serving(tmp_path, PROWESS_GRACE="3000") as server, httpx2.Client(timeout=60) as client:
        headers = {"Authorization": f"Bearer {server.token}"}
        with client.stream("GET", f"{server.address}/api/v1/journal/stream", headers=headers) as news:
            assert news.status_code == 200
            server.process.send_signal(signal.SIGTERM)
            server.process.wait(30)
    assert server.process.returncode == 0
