"""A server sends its spans to the collector that OpenTelemetry's variables name."""

import gzip
import os
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import anyio
import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from tests.support.ports import LOOKS, free_port
from tests.support.processes import running
from tests.support.wire import eventually, listens

pytestmark = [pytest.mark.slow, pytest.mark.timeout(120)]


class Collector:
    """Takes spans as a collector does, and keeps them."""

    def __init__(self) -> None:
        self.received: list[ExportTraceServiceRequest] = []
        received = self.received

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                if self.headers.get("content-encoding") == "gzip":
                    body = gzip.decompress(body)
                received.append(ExportTraceServiceRequest.FromString(body))
                self.send_response(200)
                self.send_header("content-length", "0")
                self.end_headers()

            def log_message(self, *_: object) -> None:
                """It says nothing."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self.server.server_address[1]}"

    def spans(self) -> set[str]:
        return {
            span.name
            for request in self.received
            for resource in request.resource_spans
            for scope in resource.scope_spans
            for span in scope.spans
        }

    def services(self) -> set[str]:
        return {
            attribute.value.string_value
            for request in self.received
            for resource in request.resource_spans
            for attribute in resource.resource.attributes
            if attribute.key == "service.name"
        }


async def ask(address: str) -> None:
    http = httpx2.AsyncClient(timeout=60)
    async with http, Client(streamable_http_client(f"{address}/mcp", http_client=http), cache=None) as client:
        await client.call_tool("discover_capabilities", {"query": "the tide of a harbour"})


@pytest.mark.parametrize("is_there", [True, False])
def test_spans_of_a_search_reach_a_collector_and_one_that_is_away_holds_nobody_up(
    tmp_path: Path, is_there: bool
) -> None:
    collector, port = Collector(), free_port()
    thread = threading.Thread(target=collector.server.serve_forever, args=(LOOKS,))
    thread.start()
    address = collector.address if is_there else f"http://127.0.0.1:{free_port()}"
    told = {"OTEL_EXPORTER_OTLP_ENDPOINT": address, "OTEL_SERVICE_NAME": "node-a"}
    (tmp_path / "prowess.toml").write_text('store = "sqlite:store.db"\n')
    run = [sys.executable, "-m", "prowess", "serve", "mcp", "--http", f"127.0.0.1:{port}"]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    try:
        with running(run, cwd=tmp_path, env={**os.environ, **told}, **quiet) as process:
            eventually(lambda: listens(port), 60)
            anyio.run(ask, f"http://127.0.0.1:{port}")
            process.terminate()
            process.wait(30)
        assert process.returncode == 0
    finally:
        collector.server.shutdown()
        thread.join(10)
        collector.server.server_close()
    if is_there:
        assert "retrieval prowess" in collector.spans()
        assert collector.services() == {"node-a"}
