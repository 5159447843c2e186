"""What one hostile server does to the calls of an honest one, and to the gateway's memory.

    python -m bench.hostile [--seconds 8] [--only NAME]

For each case two gateways are measured one after the other, over HTTP, by the same client: one with the
honest server alone, one with the hostile server beside it, which is made to do its worst all the while.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from http.client import HTTPException
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Event, Thread
from typing import Any

from prowess.sources.mcp.source import McpSource
from tests.support.gateway import OWNER, free_port, served, write_config
from tests.support.wire import Message, begun, eventually, listens, memory, post, sent, told, tool, wish

RESULTS = Path(__file__).parent / "results" / "hostile.md"
MB = 1_000_000
PAUSE = 0.02
"""Seconds between two honest calls: somebody who works, not a load test."""
MOST_TIMES = 3.0
MOST_MEGABYTES = 200.0

Drive = Callable[[int, Event], None]


@dataclass
class Case:
    """A hostile server, and what makes it do its worst through the gateway at a port."""

    name: str
    content: Message = field(default_factory=dict)
    drive: Drive = lambda port, over: None
    kind: str = ""
    """Of the answers over HTTP; over pipes where there is none."""


@dataclass(frozen=True)
class Measured:
    p50: float
    p99: float
    megabytes: float
    failures: int = 0
    calls: int = 0


# --- making servers do their worst -------------------------------------------------------------------


def calling(name: str, arguments: Message | None = None, pause: float = 0.05) -> Drive:
    def drive(port: int, over: Event) -> None:
        message = wish(f"tool:bad/{name}")
        message["params"]["arguments"]["arguments"] = arguments or {}
        session = begun(port)
        while not over.wait(pause):
            with suppress(OSError, HTTPException):
                post(port, message, session)

    return drive


def reading_slowly(name: str) -> Drive:
    def drive(port: int, over: Event) -> None:
        message = wish(f"tool:bad/{name}", _meta={"progressToken": "t"})
        with closing(sent(port, message, begun(port))) as connection:
            while not over.wait(1):
                connection.sock.recv(100)

    return drive


def doubling(levels: int) -> Message:
    steps = {f"d{i}": {"allOf": [{"$ref": f"#/$defs/d{i + 1}"}] * 2} for i in range(levels)}
    return {"$ref": "#/$defs/d0", "$defs": steps | {f"d{levels}": {"type": "object"}}}


def many(count: int) -> list[Message]:
    said = "Tool number {0} looks up record {1} in the register."
    return [{**tool(f"t{n}"), "description": said.format(n, n * 7 % 101)} for n in range(count)]


PATTERN = {"properties": {"x": {"type": "string", "pattern": "^(a+)+$"}}}
HALF = r'{"jsonrpc":"2.0","id":ID,"result":{"content":[{"type":"text","text":"cut \ud83d"}]}}'

CASES = (
    Case("schema bomb", {"tools": [tool("bomb", **doubling(24))]}, calling("bomb")),
    Case("pattern bomb", {"tools": [tool("bomb", **PATTERN)]}, calling("bomb", {"x": "a" * 45 + "!"})),
    Case("gzip bomb, JSON, 1 GB", {}, calling("bomb"), "application/json"),
    Case("gzip bomb, SSE, 1 GB", {}, calling("bomb"), "text/event-stream"),
    Case("endless progress of 1 KB", {"tools": [tool("w")], "endless": {"w": 1000}}, reading_slowly("w")),
    Case("endless progress of 1 MB", {"tools": [tool("w")], "endless": {"w": MB}}, reading_slowly("w")),
    Case("half characters", {"tools": [tool("cut")], "raw": {"cut": HALF}}, calling("cut")),
    Case("3,000 tools", {"tools": many(3000)}),
    Case("300 tools, new texts every second", {"tools": many(300), "restless": 1.0}),
    Case("results of 60 MB", {"tools": [tool("big")], "large": {"big": 60}}, calling("big")),
    Case("answer byte by byte", {"tools": [tool("slow")], "dribbles": ["slow"]}, calling("slow")),
    Case("crash at every call", {"tools": [tool("die")], "crashes": ["die"]}, calling("die")),
    Case("20,000 lines of noise", {"tools": [tool("talk")], "noise": {"talk": 20_000}}, calling("talk")),
)


# --- a server over HTTP whose answers are small until they are decoded ---------------------------------


def squeezed(piece: bytes) -> bytes:
    """A part of a deflated stream: others may follow."""
    squeeze = zlib.compressobj(wbits=-15)
    return squeeze.compress(piece) + squeeze.flush(zlib.Z_FULL_FLUSH)


def bomb(id: object, kind: str, inside: bytes) -> bytes:
    event = "event: message\ndata: " if "event" in kind else ""
    start = f'{event}{{"jsonrpc":"2.0","id":{json.dumps(id)},"result":{{"content":[{{"type":"text","text":"'
    return squeezed(start.encode()) + inside


def plain(request: Message) -> bytes:
    if "id" not in request:
        return b""
    about = {"serverInfo": {"name": "bombs", "version": "1"}, "capabilities": {"tools": {}}}
    known: dict[str, Message] = {"tools/list": {"tools": [tool("bomb")]}}
    if request["method"] == "initialize":
        known["initialize"] = {"protocolVersion": request["params"]["protocolVersion"], **about}
    result = known.get(request["method"])
    said = {"result": result} if result else {"error": {"code": -32601, "message": "no such method"}}
    return json.dumps({"jsonrpc": "2.0", "id": request["id"], **said}).encode()


def serve_bombs(port: int, kind: str) -> None:
    inside = squeezed(b"x" * MB) * 1000

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers.get("content-length", 0))))
            is_call = request["method"] == "tools/call"
            body = bomb(request["id"], kind, inside) if is_call else plain(request)
            self.send_response(200 if body else 202)
            self.send_header("content-type", kind if is_call else "application/json")
            if is_call:
                self.send_header("content-encoding", "deflate")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            with suppress(OSError):
                self.wfile.write(body)

        def do_GET(self) -> None:
            self.send_error(405)

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing."""

    ThreadingHTTPServer(("127.0.0.1", port), Handler).serve_forever()


@contextmanager
def bombs(kind: str) -> Iterator[McpSource]:
    port = free_port()
    command = [sys.executable, "-m", "bench.hostile", "--serve", kind, str(port)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            eventually(lambda: listens(port))
            yield McpSource(name="bad", url=f"http://127.0.0.1:{port}/mcp")
        finally:
            process.kill()


# --- measuring ---------------------------------------------------------------------------------------


@contextmanager
def running(folder: Path, *sources: McpSource) -> Iterator[tuple[int, int]]:
    """A gateway in a process of its own: its port and its number."""
    started = [one for one in sources if one.command]
    port, file = free_port(), write_config(folder, OWNER, *started, gateway="rate = 0")
    lines = [
        f'[[source]]\ntype = "mcp"\nname = "{one.name}"\nurl = "{one.url}"' for one in sources if one.url
    ]
    file.write_text("\n".join((file.read_text(), *lines, "[calls]", "timeout = 30")))
    command = served(file, "--http", f"127.0.0.1:{port}")
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            eventually(lambda: listens(port), 60)
            yield port, process.pid
        finally:
            process.terminate()
            process.wait(10)


def answered(port: int, session: str) -> bool:
    """Whether an honest call came back with what the honest server says, and not with an error."""
    with suppress(OSError, HTTPException), closing(sent(port, wish("tool:good/echo"), session)) as connection:
        return b'"text":"called"' in connection.getresponse().read().replace(b": ", b":")
    return False


def measured(port: int, pid: int, seconds: float) -> Measured:
    """Honest calls one after the other, each with its time; and the most memory seen between them."""
    session = begun(port)
    times: list[float] = []
    most, failures = 0, 0
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        started = time.perf_counter()
        failures += not answered(port, session)
        times.append((time.perf_counter() - started) * 1000)
        most = max(most, memory(pid))
        time.sleep(PAUSE)
    times.sort()
    return Measured(statistics.median(times), times[int(len(times) * 0.99)], most / MB, failures, len(times))


def warm(port: int) -> None:
    """Until the honest server answers and the search has loaded what it needs."""
    session = begun(port)
    searched = {"name": "discover_capabilities", "arguments": {"query": "look up a record"}}
    post(port, {"id": 3, "method": "tools/call", "params": searched}, session)
    for _ in range(20):
        post(port, wish("tool:good/echo"), session)


def alone(folder: Path, seconds: float) -> Measured:
    with running(folder, told(folder, "good", {"tools": [tool("echo")]})) as (port, pid):
        warm(port)
        return measured(port, pid, seconds)


def beside(folder: Path, case: Case, hostile: McpSource, seconds: float) -> Measured:
    over = Event()
    with running(folder, told(folder, "good", {"tools": [tool("echo")]}), hostile) as (port, pid):
        warm(port)
        driver = Thread(target=case.drive, args=(port, over), daemon=True)
        driver.start()
        try:
            return measured(port, pid, seconds)
        finally:
            over.set()


def compared(case: Case, seconds: float) -> tuple[Measured, Measured]:
    with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as two:
        quiet = alone(Path(one), seconds)
        if case.kind:
            with bombs(case.kind) as hostile:
                return quiet, beside(Path(two), case, hostile, seconds)
        return quiet, beside(Path(two), case, told(Path(two), "bad", case.content), seconds)


def row(case: Case, quiet: Measured, loud: Measured) -> str:
    times, more = loud.p99 / quiet.p99, loud.megabytes - quiet.megabytes
    met = "yes" if times <= MOST_TIMES and more <= MOST_MEGABYTES and not loud.failures else "**no**"
    return (
        f"| {case.name} | {quiet.p50:.1f} | {loud.p50:.1f} | {quiet.p99:.1f} | {loud.p99:.1f} | {times:.1f} |"
        f" {quiet.megabytes:.0f} | {more:+.0f} | {quiet.calls}, {loud.calls} | {loud.failures} | {met} |"
    )


def written(rows: list[str], seconds: float) -> str:
    load = f"{os.getloadavg()[0]:.1f} on {os.cpu_count()} cores"
    heads = ("hostile server", "p50 ms without", "with", "p99 ms without", "with", "times", "MB without")
    heads += ("more", "calls without, with", "failed", "goal met")
    return f"""# An honest server beside a hostile one

`python -m bench.hostile --seconds {seconds:g}`. Calls of an honest server over HTTP, one every
{PAUSE * 1000:.0f} ms, without and with a hostile server that does its worst all the while; memory is the
gateway's largest resident size. The goal: p99 at most {MOST_TIMES:g} times, memory at most
{MOST_MEGABYTES:g} MB more. Load of the machine at the end: {load}.

The p99 of some 200 calls is that of the two slowest: on a busy machine it moves by several times from run
to run. 3,000 tools are measured after the first search, which waits up to 8 s for them: what their first sync
costs others is not in it.

| {" | ".join(heads)} |
|{"---|" * len(heads)}
""" + "".join(f"{row}\n" for row in rows)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=8.0)
    parser.add_argument("--only", default="")
    parser.add_argument("--serve", nargs=2, metavar=("KIND", "PORT"), help=argparse.SUPPRESS)
    given: Any = parser.parse_args()
    if given.serve:
        serve_bombs(int(given.serve[1]), given.serve[0])
        return
    rows = []
    for case in CASES:
        if given.only in case.name:
            rows.append(row(case, *compared(case, given.seconds)))
            print(rows[-1], flush=True)
    if not given.only:
        RESULTS.write_text(written(rows, given.seconds))


if __name__ == "__main__":
    main()
