"""The `mcp` source against real servers over real sockets, well-behaved and not."""

import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from prowess.sources.mcp.source import McpSource
from prowess.types import SourceReading
from tests.support.places import SERVERS
from tests.support.ports import LOOKS, free_port

pytestmark = pytest.mark.slow

LIBRARY = str(SERVERS / "library.py")


@pytest.fixture(scope="module")
def http_library() -> Iterator[str]:
    port = free_port()
    process = subprocess.Popen(
        [sys.executable, LIBRARY, str(port)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        wait_for_port(port)
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        process.terminate()
        process.wait(10)


def wait_for_port(port: int) -> None:
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        with socket.socket() as caller:
            if caller.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise AssertionError("the server did not start")


def test_a_server_over_http_offers_the_same_as_over_pipes(http_library: str) -> None:
    called = McpSource(name="library", url=http_library).read({})
    started = McpSource(name="library", command=sys.executable, args=(LIBRARY,)).read({})
    assert called == started
    assert sum(len(entry.drafts or ()) for entry in called.entries) == 5


def test_a_wrong_path_on_a_server_is_down_with_its_http_status(http_library: str) -> None:
    reading = McpSource(name="library", url=f"{http_library}/nowhere", timeout=10).read({})
    assert reading.down == "the server answered HTTP 404"


class Gate(BaseHTTPRequestHandler):
    """Answers 401 without the right header, and with it something that is no protocol."""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers.get("content-length", 0)))
        allowed = self.headers.get("Authorization") == "Bearer sesame-open-1234"
        self.send_response(200 if allowed else 401)
        self.send_header("content-type", "application/json")
        self.end_headers()
        self.wfile.write(b'{"repeated": sesame-open-1234' if allowed else b"{}")

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@pytest.fixture
def gate() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Gate)
    threading.Thread(target=server.serve_forever, args=(LOOKS,), daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/mcp"
    server.shutdown()
    server.server_close()


def gated(url: str, environment: dict[str, str]) -> SourceReading:
    headers = {"Authorization": "Bearer ${GATE_TOKEN}"}
    return McpSource(name="gate", url=url, headers=headers, environment=environment, timeout=10).read({})


def test_a_server_that_refuses_for_want_of_a_variable_is_down_with_its_name(gate: str) -> None:
    reading = gated(gate, {})
    assert reading.down == "the server answered HTTP 401; environment variable GATE_TOKEN is not set"
    assert "headers" in reading.problems[0].remedy


def test_a_header_reaches_the_server_and_no_message(gate: str, capfd: pytest.CaptureFixture[str]) -> None:
    reading = gated(gate, {"GATE_TOKEN": "sesame-open-1234"})
    assert "the server answered with an error" in reading.down
    assert "sesame" not in repr(reading)
    assert capfd.readouterr() == ("", "")


def test_an_address_where_nobody_listens_is_down_and_says_so() -> None:
    reading = McpSource(name="nobody", url=f"http://127.0.0.1:{free_port()}/mcp", timeout=10).read({})
    assert reading.down.startswith("the server cannot be reached")
    assert "`url`" in reading.problems[0].remedy


def test_a_socket_that_accepts_and_never_answers_is_down_within_its_time() -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        started = time.monotonic()
        url = f"http://127.0.0.1:{listener.getsockname()[1]}/mcp"
        reading = McpSource(name="silent", url=url, timeout=0.5).read({})
        assert "did not answer within 0.5 s" in reading.down
        assert time.monotonic() - started < 15
