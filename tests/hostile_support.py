"""Servers that do their worst, and a client over raw pipes that waits for nothing longer than it says."""

import json
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from queue import Queue
from threading import Thread
from typing import Any, Self

from prowess.sources.mcp import McpSource
from tests.gateway_support import SERVERS, served

Message = dict[str, Any]


def tool(name: str, **schema: Any) -> Message:
    return {
        "name": name,
        "description": "Looks up a record.",
        "inputSchema": {"type": "object", **schema},
        "annotations": {"readOnlyHint": True},
    }


def told(folder: Path, name: str, content: Message, **more: Any) -> McpSource:
    """A server that offers and answers what is written down here."""
    file = folder / f"{name}.json"
    file.write_text(json.dumps(content))
    return McpSource(
        name=name, command=sys.executable, args=("-S", str(SERVERS / "told.py"), str(file)), **more
    )


class Pipes:
    """A program that speaks MCP over pipes, and its client."""

    def __init__(self, command: list[str], **more: Any) -> None:
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(
            command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, text=True, **more
        )
        self._number = 0
        self._heard: Queue[Message] = Queue()
        self._reader = Thread(target=self._read, daemon=True)

    def __enter__(self) -> Self:
        self._reader.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.process.kill()
        self.process.wait(10)
        with suppress(OSError):
            assert self.process.stdin is not None and self.process.stdout is not None
            self.process.stdin.close()
        self._reader.join(10)
        assert self.process.stdout is not None
        self.process.stdout.close()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self._heard.put(json.loads(line))

    def send(self, **message: Any) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        self.process.stdin.flush()

    def ask(self, method: str, **params: Any) -> int:
        self._number += 1
        self.send(id=self._number, method=method, params=params)
        return self._number

    def answer(self, number: int, seconds: float = 20) -> Message:
        """What was answered to a request; raises `queue.Empty` when nothing comes in time."""
        while (message := self._heard.get(timeout=seconds)).get("id") != number or "method" in message:
            pass
        return message

    def begin(self) -> None:
        about = {"name": "test", "version": "1"}
        number = self.ask("initialize", protocolVersion="2025-06-18", capabilities={}, clientInfo=about)
        self.answer(number)
        self.send(method="notifications/initialized")

    def call(self, id: str, arguments: Message, **more: Any) -> int:
        given = {"id": id, "arguments": arguments}
        return self.ask("tools/call", name="call_read_only", arguments=given, **more)

    def text(self, number: int, seconds: float = 20) -> str:
        content = self.answer(number, seconds)["result"]["content"]
        return "\n".join(block.get("text", "") for block in content)


def gateway(file: Path, *options: str) -> Pipes:
    return Pipes(served(file, *options))


Answer = tuple[str, dict[str, str], bytes]
"""The kind of content, more headers, and the body."""


class HttpServer:
    """An MCP server over HTTP that answers each call as `answers` says: by tool, from the request's id."""

    def __init__(self, answers: dict[str, Callable[[Any], Answer]]) -> None:
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                request = json.loads(self.rfile.read(int(self.headers.get("content-length", 0))))
                kind, headers, body = outer.answer(request)
                self.send_response(200 if body else 202)
                for name, value in {
                    **headers,
                    "content-type": kind,
                    "content-length": str(len(body)),
                }.items():
                    self.send_header(name, value)
                self.end_headers()
                with suppress(ConnectionError):
                    self.wfile.write(body)

            def do_GET(self) -> None:
                self.send_response(405)
                self.send_header("content-length", "0")
                self.end_headers()

            def log_message(self, format: str, *args: object) -> None:
                """Say nothing."""

        self._answers = answers
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/mcp"

    def answer(self, request: Message) -> Answer:
        id, params = request.get("id"), request.get("params") or {}
        if id is None:
            return "application/json", {}, b""
        if request["method"] == "tools/call":
            return self._answers[params["name"]](id)
        error = {"error": {"code": -32601, "message": "no such method"}}
        result = self._result(request["method"], params)
        said = {"result": result} if result is not None else error
        return "application/json", {}, json.dumps({"jsonrpc": "2.0", "id": id, **said}).encode()

    def _result(self, method: str, params: Message) -> Message | None:
        if method == "initialize":
            about = {"name": "http", "version": "1"}
            return {
                "protocolVersion": params["protocolVersion"],
                "capabilities": {"tools": {}},
                "serverInfo": about,
            }
        return {"tools": [tool(name) for name in self._answers]} if method == "tools/list" else None

    def __enter__(self) -> Self:
        Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *error: object) -> None:
        self._server.shutdown()
        self._server.server_close()


def result(id: object, text: str) -> bytes:
    """An answer whose text is JSON already, escapes and all."""
    content = f'[{{"type":"text","text":"{text}"}}]'
    return f'{{"jsonrpc":"2.0","id":{json.dumps(id)},"result":{{"content":{content}}}}}'.encode()


def memory() -> int:
    """Bytes that this process holds now."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096
