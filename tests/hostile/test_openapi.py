"""Services behind OpenAPI documents that answer too slowly or too much, and values that fit no request."""

import json
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from prowess.sources.openapi.source import OpenApiSource
from tests.support.gateway import call, text_of, world
from tests.support.ports import LOOKS

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(60)]


class Service(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.end_headers()
        with suppress(OSError):
            match self.path:
                case "/dribble":
                    while True:
                        self.wfile.write(b" ")
                        self.wfile.flush()
                        time.sleep(0.2)
                case "/big":
                    for _ in range(40):
                        self.wfile.write(b"x" * 1024 * 1024)
                case _:
                    heard = {name: self.headers.get(name) for name in ("cookie", "note")}
                    self.wfile.write(json.dumps(heard).encode())

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


def operation(id: str, *parameters: dict[str, Any]) -> dict[str, Any]:
    return {"get": {"operationId": id, "summary": f"Ask for {id}", "parameters": list(parameters)}}


@pytest.fixture
def service(tmp_path: Path) -> Iterator[OpenApiSource]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Service)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, args=(LOOKS,), daemon=True).start()
    text = {"schema": {"type": "string"}}
    document = {
        "openapi": "3.1.0",
        "info": {"title": "service", "version": "1"},
        "servers": [{"url": f"http://127.0.0.1:{server.server_port}"}],
        "paths": {
            "/dribble": operation("dribble"),
            "/big": operation("big"),
            "/heard": operation(
                "heard", {"in": "cookie", "name": "mine", **text}, {"in": "header", "name": "note", **text}
            ),
        },
    }
    file = tmp_path / "service.json"
    file.write_text(json.dumps(document))
    yield OpenApiSource(name="service", location=str(file))
    server.shutdown()
    server.server_close()


@pytest.mark.slow
async def test_an_answer_that_dribbles_in_ends_with_the_time_of_the_call(
    tmp_path: Path, service: OpenApiSource
) -> None:
    async with world(tmp_path, service, timeout=2.0) as here, here.client() as client:
        started = time.monotonic()
        answer = await call(client, "tool:service/dribble")
        assert time.monotonic() - started < 10
        assert answer.is_error and "no answer within 2 s" in text_of(answer)


async def test_an_answer_that_is_too_long_is_an_error_that_says_so(
    tmp_path: Path, service: OpenApiSource
) -> None:
    async with world(tmp_path, service) as here, here.client() as client:
        answer = await call(client, "tool:service/big")
        assert answer.is_error and "its answer is longer than 32 MiB" in text_of(answer)


async def test_the_value_of_a_cookie_adds_no_cookie(tmp_path: Path, service: OpenApiSource) -> None:
    async with world(tmp_path, service) as here, here.client() as client:
        heard = await call(client, "tool:service/heard", mine="a; admin=true")
        assert heard.structured_content == {"cookie": "mine=a%3B%20admin=true", "note": None}
        plain = await call(client, "tool:service/heard", mine="c2Vzc2lvbg==")
        assert plain.structured_content == {"cookie": "mine=c2Vzc2lvbg==", "note": None}


async def test_a_header_that_cannot_be_sent_is_an_error_that_says_so(
    tmp_path: Path, service: OpenApiSource
) -> None:
    async with world(tmp_path, service) as here, here.client() as client:
        answer = await call(client, "tool:service/heard", note="größer")
        assert answer.is_error and "a header may hold only ASCII characters" in text_of(answer)
        broken = await call(client, "tool:service/heard", note="a\r\nx-more: b")
        assert broken.is_error
        assert here.journal("call")[0].data["outcome"] == "failed"
