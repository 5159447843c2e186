"""The topology of deploy/ as processes: somebody makes a workspace, agents are served, a node dies."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import anyio
import httpx2
import psycopg
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from scripts.processes import Topology, started
from tests.support.wire import eventually

pytestmark = [pytest.mark.slow, pytest.mark.timeout(240)]

TOOL = """
id: tool:tide-tables
name: tide-tables
kind: tool
description: Look up the tide of a harbour
"""
CONFIG = """
[policy]
files = ["policy.yaml"]
[[source]]
type = "manifests"
path = "capabilities"
"""


@pytest.fixture(scope="module")
def topology(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Topology]:
    with started(tmp_path_factory.mktemp("topology")) as one:
        yield one


def make_workspace(topology: Topology, name: str) -> None:
    place = topology.folder / "workspaces" / name
    (place / "capabilities").mkdir(parents=True)
    (place / "capabilities" / "CAPABILITY.yaml").write_text(TOOL)
    (place / "prowess.toml").write_text(CONFIG)
    policy = topology.folder / "workspaces" / "acme" / "policy.yaml"
    (place / "policy.yaml").write_text(policy.read_text())


def command(topology: Topology, name: str, *words: str) -> str:
    config = topology.folder / "workspaces" / name / "prowess.toml"
    run = [sys.executable, "-m", "prowess", "--config", str(config), "--store", topology.store,
           "--workspace", name, *words]  # fmt: skip
    done = subprocess.run(run, capture_output=True, text=True, timeout=120, cwd=topology.folder)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


async def tools_over_mcp(address: str, token: str, mode: Any) -> str:
    http = httpx2.AsyncClient(headers={"Authorization": f"Bearer {token}"}, timeout=60)
    transport = streamable_http_client(f"{address}/mcp", http_client=http)
    async with http, Client(transport, mode=mode, cache=None) as client:
        called = await client.call_tool("discover_capabilities", {"query": "the tide of a harbour"})
        return str(called.content)


def test_agents_are_served_through_the_proxy_while_a_node_is_killed_and_comes_back(
    topology: Topology,
) -> None:
    make_workspace(topology, "bolt")
    token = command(topology, "bolt", "access-token", "add", "ann", "--role", "admin")
    headers = {"Authorization": f"Bearer {token}"}
    with httpx2.Client(base_url=topology.address, headers=headers, timeout=60) as client:
        client.post("/api/v1/sync", json={}).raise_for_status()
        offers = []

        def offer() -> None:
            asked = {"request": "look up the tide of a harbour"}
            answer = client.post("/api/v1/agents/default/offer", json=asked)
            assert answer.status_code == 200, answer.text
            assert "tide-tables" in answer.text
            offers.append(answer.json()["id"])

        for _ in range(5):
            offer()
        for node in topology.nodes:
            assert node.process is not None
            killed = node.process
            os.kill(killed.pid, signal.SIGKILL)
            eventually(lambda killed=killed: killed.poll() is not None, 20)  # type: ignore[misc]
            for _ in range(10):
                offer()
            eventually(lambda killed=killed, node=node: node.process is not killed, 60)  # type: ignore[misc]
            eventually(lambda node=node: is_ready(node.port), 60)  # type: ignore[misc]
        entries = client.get("/api/v1/journal", params={"type": "offer", "limit": 500}).json()["items"]
    assert len(set(offers)) == len(offers) == 25
    assert {entry["data"]["offer"] for entry in entries} == set(offers), "none is lost, none is twice"
    command(topology, "bolt", "log", "--verify")  # which fails where a chain is broken


def is_ready(port: int) -> bool:
    try:
        return httpx2.get(f"http://127.0.0.1:{port}/readyz", timeout=10).status_code == 200
    except httpx2.TransportError:
        return False


def test_mcp_clients_are_served_through_the_proxy_also_those_that_have_sessions(topology: Topology) -> None:
    make_workspace(topology, "cord")
    token = command(topology, "cord", "agent", "access-token", "add", "default")
    for mode in ("auto", "legacy"):
        assert "tide-tables" in anyio.run(tools_over_mcp, topology.address, token, mode)


def test_what_those_who_run_it_ask_is_for_nobody_outside(topology: Topology) -> None:
    for path in ("/healthz", "/readyz", "/metrics"):
        assert httpx2.get(f"{topology.address}{path}", timeout=60).status_code == 404
        inside = httpx2.get(f"http://127.0.0.1:{topology.nodes[0].port}{path}", timeout=60)
        assert inside.status_code == 200


def test_the_database_keeps_vectors_and_its_owner_is_no_superuser(topology: Topology) -> None:
    with psycopg.connect(topology.store) as connection:
        row = connection.execute(
            "SELECT rolsuper, rolbypassrls FROM pg_roles WHERE rolname = current_user"
        ).fetchone()
        found = connection.execute("SELECT count(*) FROM pg_extension WHERE extname = 'vector'").fetchone()
    assert row == (False, False) and found == (1,)
