"""`prowess serve web`, `prowess serve` and `--server`, as the processes they are."""

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import anyio
import httpx2
import pytest
from click.testing import CliRunner, Result
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from prowess.cli.main import prowess
from tests.support.processes import running
from tests.support.stores import OWNER

pytestmark = pytest.mark.slow

TOOLS = """
id: tool:read
name: read
kind: tool
description: Read a file from the disk
"""


class Served(NamedTuple):
    address: str
    link: str


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "m").mkdir()
    (tmp_path / "m" / "CAPABILITY.yaml").write_text(TOOLS)
    (tmp_path / "policy.yaml").write_text(OWNER)
    (tmp_path / "prowess.toml").write_text(
        'store = "store.db"\n[[source]]\ntype = "manifests"\npath = "m"\n[policy]\nfiles = ["policy.yaml"]\n'
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PROWESS_CONFIG", str(tmp_path / "prowess.toml"))
    assert CliRunner().invoke(prowess, ["sync"]).exit_code == 0
    return tmp_path


@contextmanager
def served(*command: str) -> Iterator[Served]:
    run = [sys.executable, "-m", "prowess", "serve", *command, "--port", "0"]
    with running(run, stdout=subprocess.PIPE, text=True, env=os.environ.copy()) as process:
        try:
            assert process.stdout is not None
            link = process.stdout.readline().strip()
            address = link.partition("/login")[0]
            # Answers wait at the open socket, so the first one says that it is up and can be told to stop.
            assert httpx2.get(f"{address}/api/v1/me", timeout=60).status_code == 401
            yield Served(address, link)
        finally:
            process.terminate()
            process.wait(30)
    assert process.returncode == 0, "it closes everything when it is told to stop"


def new_token(role: str) -> str:
    added = CliRunner().invoke(prowess, ["access-token", "add", "ann", "--role", role])
    return added.stdout.strip()


def test_serve_web_prints_a_link_that_signs_in_once(place: Path) -> None:
    with served("web") as server, httpx2.Client(follow_redirects=True) as client:
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+", server.address)
        assert client.get(server.link).status_code == 200
        me = client.get(f"{server.address}/api/v1/me").json()
        assert me["role"] == "admin"
        assert httpx2.get(server.link).status_code == 403


def test_serve_speaks_mcp_and_serves_the_api_in_one_process(place: Path) -> None:
    token = new_token("viewer")

    async def tools(address: str) -> list[str]:
        with anyio.fail_after(60):
            async with Client(streamable_http_client(f"{address}/mcp"), cache=None) as client:
                return [tool.name for tool in (await client.list_tools()).tools]

    with served() as server:
        assert "discover_capabilities" in anyio.run(tools, server.address)
        found = httpx2.get(
            f"{server.address}/api/v1/capabilities", headers={"Authorization": f"Bearer {token}"}
        )
        assert [item["id"] for item in found.json()["items"]] == ["tool:read"]


def test_a_host_that_others_can_reach_is_refused_without_a_token(place: Path) -> None:
    refused = CliRunner().invoke(prowess, ["serve", "web", "--host", "0.0.0.0", "--port", "0"])
    assert refused.exit_code == 1
    assert "prowess access-token add" in refused.output


def test_a_port_that_is_taken_is_a_clear_error(place: Path) -> None:
    with served("web") as server:
        port = server.address.rpartition(":")[2]
        refused = CliRunner().invoke(prowess, ["serve", "web", "--port", port])
        assert refused.exit_code == 1 and "choose another port" in refused.output


SAME_BOTH_WAYS = (
    ["find", "read a file", "--json"],
    ["find", "read a file"],
    ["find", "read a file", "--why"],
    ["offer", "read a file"],
    ["list"],
    ["list", "--json", "--agent", "ada"],
    ["show", "tool:read"],
    ["show", "tool:read", "--json"],
    ["show", "tool:read", "--history"],
    ["why", "ada", "tool:read"],
    ["why", "ada", "tool:read", "--request", "read a file", "--json"],
    ["doctor"],
    ["quarantine", "list"],
    ["approval", "list", "--all"],
    ["lessons", "list"],
    ["evolve", "status"],
    ["evolve", "status", "--json", "--agent", "ada"],
    ["evolve", "history"],
    ["evolve", "params"],
    ["provider", "list"],
    ["agent", "list", "--json"],
    ["cards", "report"],
    ["cards", "review", "--json"],
    ["gaps", "list", "--json"],
)


def test_a_command_says_the_same_over_a_server_as_beside_the_store(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PROWESS_TOKEN", new_token("operator"))
    with served("web") as server:
        for command in SAME_BOTH_WAYS:
            here = CliRunner().invoke(prowess, command)
            there = CliRunner().invoke(prowess, ["--server", server.address, *command])
            assert there.exit_code == here.exit_code, (command, there.output)
            assert there.stdout == here.stdout, command


def over(server: Served, *command: str) -> Result:
    return CliRunner().invoke(prowess, ["--server", server.address, *command])


def test_commands_act_over_a_server(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROWESS_TOKEN", new_token("admin"))
    with served("web") as server:
        (place / "m" / "two").mkdir()
        (place / "m" / "two" / "CAPABILITY.yaml").write_text(TOOLS.replace("read", "write"))
        assert "+ tool:write" in over(server, "sync").stdout
        assert over(server, "offer", "read a file", "--json").exit_code == 0
        assert "catalogue.synced" in over(server, "log").stdout
        assert "intact" in over(server, "log", "--verify").stderr
        assert over(server, "log", "--export-heads").exit_code == 0
        assert over(server, "evolve", "params", "--set", "alpha=0.2").exit_code == 0
        assert "0.2" in over(server, "evolve", "params").stdout
        assert over(server, "agent", "add", "eve", "--profile", "owner").stdout.startswith("prowess_")
        (token,) = json.loads(over(server, "agent", "access-token", "list", "--json").stdout)
        assert "of eve is revoked" in over(server, "agent", "access-token", "revoke", token["id"]).stderr
        assert "removed eve" in over(server, "agent", "remove", "eve").stderr
        missing = over(server, "show", "tool:rad")
        assert missing.exit_code == 1 and "did you mean 'tool:read'" in missing.output


def test_a_policy_is_changed_and_changed_back_over_a_server(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PROWESS_TOKEN", new_token("admin"))
    file = place / "policy.yaml"
    before = file.read_text()
    with served("web") as server:
        seen = CliRunner().invoke(
            prowess, ["--server", server.address, "policy", "set", "owner", "ask+=tool:read"], input="n\n"
        )
        assert seen.exit_code == 1 and "tool:read" in seen.stdout and file.read_text() == before
        changed = over(server, "policy", "set", "owner", "ask+=tool:read", "--yes")
        assert changed.exit_code == 0 and "policy.yaml is changed" in changed.stderr, changed.output
        assert "tool:read" in file.read_text()
        assert "policy.changed" in over(server, "log").stdout
        assert over(server, "policy", "undo", "--yes").exit_code == 0
        assert file.read_text() == before
        nobody = over(server, "policy", "set", "ownr", "level=read", "--yes")
        assert nobody.exit_code == 1 and "did you mean 'owner'" in nobody.output


def test_what_evolved_is_shown_and_brought_back_over_a_server(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PROWESS_TOKEN", new_token("admin"))
    scores = {"cognitive": 0.8, "behavioral": 0.7, "safety": 1.0, "autonomy": 3, "meta_learning": 0.5}
    with served("web") as server:
        headers = {"Authorization": f"Bearer {os.environ['PROWESS_TOKEN']}"}
        url = f"{server.address}/api/v1/evolution/evaluate"
        assert httpx2.post(url, json={"scores": scores}, headers=headers).status_code == 200
        (provider,) = json.loads(over(server, "provider", "list", "--json").stdout)
        assert over(server, "provider", "off", provider["name"], "--agent", "default").exit_code == 0
        assert json.loads(over(server, "evolve", "status", "--json").stdout)["autonomy_level"] == "L3"
        for shown in (("history",), ("show", "1")):
            assert '"L3"' in over(server, "evolve", *shown, "--json").stdout
        kept = over(server, "evolve", "rollback", "1")
        assert f"{provider['name']} stays off: a person decided it" in kept.stderr, kept.output
        assert "can be read" in over(server, "evolve", "repair").stderr


BY_ITSELF = """
[learning]
mode = "accumulate"
every_minutes = 0.01
[evolution]
every_minutes = 0.01
"""


def test_what_passes_the_api_is_learnt_and_evaluated_though_nobody_asks(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = place / "prowess.toml"
    file.write_text(file.read_text() + BY_ITSELF)
    monkeypatch.setenv("PROWESS_TOKEN", new_token("admin"))

    def done_by_itself() -> tuple[list[str], int]:
        lessons, status = (api.get(path).json() for path in ("/lessons", "/evolution/status"))
        return [one["method"] for one in lessons["items"] if one["successes"]], status["evaluations"]

    headers = {"Authorization": f"Bearer {os.environ['PROWESS_TOKEN']}"}
    with served("web") as server, httpx2.Client(headers=headers, timeout=60) as api:
        api.base_url = f"{server.address}/api/v1"
        assert done_by_itself() == ([], 0)
        offer = json.loads(over(server, "offer", "read a file from the disk", "--json").stdout)
        used = {"offer": offer["id"], "capability": "tool:read", "ok": True}
        assert api.post("/agents/default/outcomes", json=used).status_code == 201
        end = time.monotonic() + 60
        while (done := done_by_itself()) != (["tool:read"], 1) and time.monotonic() < end:
            time.sleep(0.1)
        assert done == (["tool:read"], 1)


def test_a_command_that_cannot_go_over_a_server_says_so(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROWESS_TOKEN", new_token("admin"))
    with served("web") as server:
        for command in (["init"], ["policy", "check"], ["sync", "--watch"], ["bench", "x"],
                        ["cards", "baseline"]):  # fmt: skip
            refused = over(server, *command)
            assert refused.exit_code == 1
            assert "where the store is" in refused.output


def test_without_a_token_or_a_server_the_remedy_is_named(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PROWESS_TOKEN", raising=False)
    nothing = Served("http://127.0.0.1:9", "")
    assert "PROWESS_TOKEN" in over(nothing, "list").output
    monkeypatch.setenv("PROWESS_TOKEN", "prowess_token_0000000000000000_nobody-has-this-secret")
    assert "cannot be reached" in over(nothing, "list").output
    assert "is not an address" in over(Served("nonsense", ""), "list").output
    with served("web") as server:
        assert "prowess access-token add" in over(server, "list").output
