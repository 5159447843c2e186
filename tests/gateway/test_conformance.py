"""The official conformance suite against a gateway, in front of a server and in the place of a client.

`bench/conformance.py` runs the rest of it: the logins, which take minutes.
"""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from prowess.sources.mcp.source import McpSource
from tests.support.conformance import Score, of_client, of_server, required
from tests.support.gateway import OWNER, SERVERS, free_port, served, write_config
from tests.support.wire import eventually, listens

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]

NEWEST, OLDER = "2026-07-28", "2025-11-25"
KNOWN = {
    # Two of its 28 checks call a diagnostic tool by the name it must have in the list; ours say whose they
    # are.
    "server-stateless": Score(26, 2),
    # A server hears of everything that any client could answer, so that what it offers does not depend on who
    # is there; the client is still asked only what it can answer.
    "input-required-result-capability-check": Score(1, 1),
}


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder, port = tmp_path_factory.mktemp("conformance"), free_port()
    source = McpSource(name="conf", command=sys.executable, args=(str(SERVERS / "conformance.py"),))
    file = write_config(folder, OWNER, source, gateway="rate = 0")
    process = subprocess.Popen(served(file, "--http", f"127.0.0.1:{port}"), stderr=subprocess.DEVNULL)
    try:
        eventually(lambda: listens(port), 60)
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        process.terminate()
        process.wait(20)


@pytest.mark.parametrize("revision", [NEWEST, OLDER])
def test_a_gateway_is_the_server_that_the_revision_requires(url: str, revision: str, tmp_path: Path) -> None:
    scores = of_server(url, revision, tmp_path)
    failing = {
        name: scores[name]
        for name in required(revision, "server")
        if scores[name].failed and scores[name] != KNOWN.get(name)
    }
    assert failing == {}


@pytest.mark.parametrize(
    ("revision", "scenario"),
    [
        (revision, scenario)
        for revision, scenarios in (
            (OLDER, ("initialize", "tools_call", "elicitation-sep1034-client-defaults", "sse-retry")),
            (
                NEWEST,
                (
                    "tools_call",
                    "request-metadata",
                    "sep-2322-client-request-state",
                    "http-standard-headers",
                    "http-custom-headers",
                    "http-invalid-tool-headers",
                    "json-schema-ref-no-deref",
                    "auth/metadata-default",
                    "auth/pre-registration",
                ),
            ),
        )
        for scenario in scenarios
    ],
)
def test_a_gateway_is_the_client_that_the_revision_requires(
    revision: str, scenario: str, tmp_path: Path
) -> None:
    score = of_client(scenario, revision, tmp_path)
    assert score.passed and not score.failed
