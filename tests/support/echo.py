"""A service that answers every request with what it heard, and a gateway in front of it."""

import base64
import json
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from anyio.from_thread import BlockingPortal, start_blocking_portal
from mcp import Client
from mcp_types import CallToolResult
from starlette.datastructures import UploadFile
from starlette.requests import Request

from prowess.sources.openapi.source import OpenApiSource
from tests.support.gateway import call, text_of, world
from tests.support.ports import LOOKS


class Echo(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length", "0")))
        heard = {
            "method": self.command,
            "target": self.path,
            "headers": [[name.lower(), value] for name, value in self.headers.items()],
            "body": base64.b64encode(body).decode(),
        }
        answer = json.dumps(heard).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    do_POST = do_PUT = do_QUERY = do_GET

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@dataclass(frozen=True, slots=True)
class Heard:
    """What arrived, or what was said instead."""

    result: CallToolResult

    @property
    def error(self) -> str:
        return text_of(self.result) if self.result.is_error else ""

    @property
    def target(self) -> str:
        return str(self._said["target"])

    @property
    def path(self) -> str:
        return self.target.partition("?")[0]

    @property
    def query(self) -> str:
        return self.target.partition("?")[2]

    @property
    def body(self) -> bytes:
        return base64.b64decode(self._said["body"])

    def header(self, name: str) -> str | None:
        found = [value for key, value in self._said["headers"] if key == name.lower()]
        assert len(found) < 2, f"{name} arrived more than once"
        return found[0] if found else None

    @property
    def type(self) -> str:
        return self.header("content-type") or ""

    async def form(self) -> list[tuple[str, Any]]:
        """The body as starlette and python-multipart read it: a file is its name, type and content."""
        headers = [(name.encode(), value.encode()) for name, value in self._said["headers"]]

        async def receive() -> dict[str, Any]:
            return {"type": "http.request", "body": self.body, "more_body": False}

        request = Request({"type": "http", "headers": headers, "method": "POST"}, receive)
        async with request.form() as form:
            return [(name, await _read(one)) for name, one in form.multi_items()]

    @property
    def _said(self) -> dict[str, Any]:
        assert not self.result.is_error, text_of(self.result)
        said = self.result.structured_content
        assert isinstance(said, dict)
        return said


@dataclass(frozen=True, slots=True)
class EchoService:
    """The operations of a document, called through the gateway; every one is at the path of its name."""

    client: Client
    portal: BlockingPortal

    async def send(self, operation: str, **arguments: Any) -> Heard:
        return Heard(await call(self.client, f"tool:shop/{operation}", with_effects=True, **arguments))

    def sent(self, operation: str, **arguments: Any) -> Heard:
        """The same for who cannot wait."""
        return self.portal.call(lambda: self.send(operation, **arguments))

    def form(self, heard: Heard) -> list[tuple[str, Any]]:
        """The form that arrived."""
        return self.portal.call(heard.form)


async def _read(part: UploadFile | str) -> Any:
    return (part.filename, part.content_type, await part.read()) if isinstance(part, UploadFile) else part


@contextmanager
def echo_server() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Echo)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, args=(LOOKS,), daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


def echo_document(
    folder: Path, server: str, paths: dict[str, Any], version: str, more: dict[str, Any]
) -> OpenApiSource:
    document = {
        "openapi": version,
        "info": {"title": "echo", "version": "1"},
        "servers": [{"url": server}],
        "paths": paths,
        **more,
    }
    file = folder / "echo.json"
    file.write_text(json.dumps(document))
    return OpenApiSource(name="shop", location=str(file))


@contextmanager
def echo_service(
    folder: Path, paths: dict[str, Any], version: str = "3.1.1", **more: Any
) -> Iterator[EchoService]:
    @asynccontextmanager
    async def opened(source: OpenApiSource) -> AsyncIterator[Client]:
        async with world(folder, source) as here, here.client() as client:
            yield client

    with echo_server() as server, start_blocking_portal() as portal:
        source = echo_document(folder, server, paths, version, more)
        with portal.wrap_async_context_manager(opened(source)) as client:
            yield EchoService(client, portal)
