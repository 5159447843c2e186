"""Servers that do their worst, and a client over raw pipes that waits for nothing longer than it says."""

import json
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing, suppress
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from queue import Queue
from threading import Event, Thread
from typing import Any, Self

from prowess.sources.mcp.source import McpSource
from tests.support.gateway import SERVERS, served
from tests.support.ports import LOOKS

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
        self._reads = Event()
        self._reads.set()
        self._reader = Thread(target=self._read, daemon=True)

    def __enter__(self) -> Self:
        self._reader.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.process.kill()
        self.process.wait(10)
        self._reads.set()
        with suppress(OSError):
            assert self.process.stdin is not None and self.process.stdout is not None
            self.process.stdin.close()
        self._reader.join(10)
        assert self.process.stdout is not None
        self.process.stdout.close()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            with suppress(ValueError):  # one that was being written when it ended
                self._heard.put(json.loads(line))
            if not self._reads.wait(60):
                return

    def stop_reading(self) -> None:
        self._reads.clear()

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


def gateway(file: Path, *options: str, store: str = "") -> Pipes:
    program, script, *more = served(file, *options)
    return Pipes([program, script, *(("--store", store) if store else ()), *more])


def eventually(condition: Callable[[], object], seconds: float = 20) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.02)


def listens(port: int) -> bool:
    with socket.socket() as caller:
        return caller.connect_ex(("127.0.0.1", port)) == 0


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
        Thread(target=self._server.serve_forever, args=(LOOKS,), daemon=True).start()
        return self

    def __exit__(self, *error: object) -> None:
        self._server.shutdown()
        self._server.server_close()


def result(id: object, text: str) -> bytes:
    """An answer whose text is JSON already, escapes and all."""
    content = f'[{{"type":"text","text":"{text}"}}]'
    return f'{{"jsonrpc":"2.0","id":{json.dumps(id)},"result":{{"content":{content}}}}}'.encode()


def memory(pid: int | str = "self") -> int:
    """Bytes that a process holds now."""
    with open(f"/proc/{pid}/statm") as file:
        return int(file.read().split()[1]) * 4096


def post(port: int, message: Message, session: str = "") -> str:
    """Send one message to a gateway over HTTP and read the answer; returns the session it is in."""
    with closing(sent(port, message, session)) as connection:
        answer = connection.getresponse()
        answer.read()
        return answer.headers.get("mcp-session-id", "")


def sent(port: int, message: Message, session: str = "") -> HTTPConnection:
    """Send one message to a gateway over HTTP and read nothing."""
    headers = {"content-type": "application/json", "accept": "application/json, text/event-stream"}
    headers |= {"mcp-session-id": session} if session else {}
    connection = HTTPConnection("127.0.0.1", port, timeout=30)
    connection.request("POST", "/mcp", json.dumps({"jsonrpc": "2.0", **message}), headers)
    return connection


def begun(port: int) -> str:
    """The session of a client that has just come."""
    about = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    return post(port, {"id": 1, "method": "initialize", "params": about})


def request(id: str, **more: Any) -> Message:
    given = {"name": "call_read_only", "arguments": {"id": id, "arguments": {}}, **more}
    return {"id": 2, "method": "tools/call", "params": given}
