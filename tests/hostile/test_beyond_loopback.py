"""A server that others can reach serves nobody without a token, and does not start where nobody has one."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx2
import pytest
from click.testing import CliRunner

from prowess.cli.main import prowess
from tests.support.gateway import free_port
from tests.web.test_api_serving import place as place

pytestmark = [pytest.mark.slow, pytest.mark.timeout(120)]

INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "x", "version": "1"},
    },
}
ACCEPT = {"Accept": "application/json, text/event-stream"}


@contextmanager
def serving(*arguments: str, waits_for: str) -> Iterator[str]:
    """A server on every address of this machine; returns what it said."""
    command = [sys.executable, "-m", "prowess", "serve", *arguments]
    pipe, both = subprocess.PIPE, subprocess.STDOUT
    with subprocess.Popen(command, stdout=pipe, stderr=both, text=True, env=os.environ.copy()) as process:
        try:
            assert process.stdout is not None
            said = ""
            while waits_for not in said:
                line = process.stdout.readline()
                assert line, f"it ended: {said}"
                said += line
            yield said
        finally:
            process.terminate()


def answers(url: str) -> httpx2.Response:
    """The first answer, once the server listens: its words come a moment before."""
    with httpx2.Client(transport=httpx2.HTTPTransport(retries=5)) as client:
        return client.post(url, json=INITIALIZE, headers=ACCEPT, timeout=60)


@pytest.mark.parametrize("command", [["serve"], ["serve", "web"]])
@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "example.org"])
def test_nothing_is_served_beyond_this_machine_while_nobody_has_a_token(
    place: Path, command: list[str], host: str
) -> None:
    refused = CliRunner().invoke(prowess, [*command, "--host", host, "--port", "0"])
    assert refused.exit_code == 1 and "prowess access-token add" in refused.output


def test_beyond_this_machine_every_address_wants_a_token_also_from_loopback(place: Path) -> None:
    assert CliRunner().invoke(prowess, ["access-token", "add", "ann", "--role", "admin"]).exit_code == 0
    port = str(free_port())
    with serving("--host", "0.0.0.0", "--port", port, waits_for="at /mcp") as said:
        assert "TLS" in said and "link=" not in said, "logs of a server are read by others"
        here = f"http://127.0.0.1:{port}"
        assert answers(f"{here}/mcp").status_code == 401
        with httpx2.Client(base_url=here, timeout=60) as client:
            described = client.get("/api/v1/openapi.json").json()
            open_doors = []
            for path, methods in described["paths"].items():
                at = path.replace("{agent}", "default").replace("{id}", "x").replace("{", "").replace("}", "")
                for method in methods:
                    if client.request(method, f"/api/v1{at.removeprefix('/api/v1')}").status_code != 401:
                        open_doors.append((method, path))
            assert len(described["paths"]) > 30 and open_doors == []
            for page in ("/", "/catalogue", "/journal", "/policy", "/ask", "/graph/data", "/approvals"):
                answer = client.get(page)
                assert answer.status_code == 303 and answer.headers["location"].startswith("/login"), page


def test_the_gateway_alone_beyond_this_machine_knows_no_client_without_a_token(place: Path) -> None:
    port = str(free_port())
    with serving("mcp", "--http", f"0.0.0.0:{port}", waits_for="every client needs a token"):
        assert answers(f"http://127.0.0.1:{port}/mcp").status_code == 401
