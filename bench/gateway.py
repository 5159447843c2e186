"""What the gateway adds to a call, beside a direct call and FastMCP's proxy; and what its tool list costs.

    python -m bench.gateway [--peer PYTHON] [--calls 300]

PYTHON is an interpreter with FastMCP installed; without one the peer is left out. Every way calls the
same tool of the same server with the same client, one call at a time and 32 in flight, in turns, so that
whatever else the machine does meets all of them.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import anyio
from mcp import Client, StdioServerParameters

from prowess.token_counts import counter
from tests.support.gateway import OWNER, SERVERS, free_port, served, workshop, write_config

ROUNDS = 6
SERVER = SERVERS / "workshop.py"
LIBRARY = SERVER.with_name("library.py")
RESULTS = Path(__file__).parent / "results" / "gateway.md"

PEER = """
import sys
from fastmcp import Client
from fastmcp.client.transports import StdioTransport
from fastmcp.server import create_proxy
proxy = create_proxy(Client(StdioTransport(sys.executable, ["-S", {server!r}, ""])), name="peer")
if {port}:
    proxy.run(transport="http", host="127.0.0.1", port={port}, show_banner=False, log_level="ERROR")
else:
    proxy.run(show_banner=False, log_level="ERROR")
"""

Call = Callable[[], Awaitable[object]]
CallOf = Callable[[Client], Call]


@dataclass
class Way:
    """One way to the same tool."""

    name: str
    call: Call
    pid: int = 0
    times: dict[int, list[float]] = field(default_factory=lambda: {1: [], 32: []})
    cpu: dict[int, float] = field(default_factory=lambda: {1: 0.0, 32: 0.0})
    """Milliseconds that the process which was called has computed."""


def direct(client: Client) -> Call:
    return lambda: client.call_tool("echo", {"text": "hello"})


def by_title(client: Client) -> Call:
    return lambda: client.call_tool("find_book", {"title": "hello"})


def through(client: Client) -> Call:
    given = {"id": "tool:shop/echo", "arguments": {"text": "hello"}}
    return lambda: client.call_tool("call_read_only", given)


def children() -> set[int]:
    lists = Path("/proc/self/task").glob("*/children")
    return {int(pid) for one in lists for pid in one.read_text().split()}


def computed(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) * 1000 / os.sysconf("SC_CLK_TCK")


async def measure(way: Way, in_flight: int, calls: int) -> None:
    left = calls
    before = computed(way.pid)

    async def worker() -> None:
        nonlocal left
        while left > 0:
            left -= 1
            started = time.perf_counter()
            result = await way.call()
            way.times[in_flight].append((time.perf_counter() - started) * 1000)
            assert "hello" in repr(result)

    async with anyio.create_task_group() as tasks:
        for _ in range(in_flight):
            tasks.start_soon(worker)
    way.cpu[in_flight] += computed(way.pid) - before


@asynccontextmanager
async def stdio(command: list[str]) -> AsyncIterator[Client]:
    async with Client(StdioServerParameters(command=command[0], args=command[1:]), cache=None) as client:
        await client.list_tools()
        yield client


@asynccontextmanager
async def http(command: list[str], port: int, path: str = "/mcp") -> AsyncIterator[Client]:
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    try:
        await listening(port)
        async with Client(f"http://127.0.0.1:{port}{path}", cache=None) as client:
            await client.list_tools()
            yield client
    finally:
        process.terminate()
        process.wait(20)


async def listening(port: int) -> None:
    with anyio.fail_after(60):
        while True:
            try:
                async with await anyio.connect_tcp("127.0.0.1", port):
                    return
            except OSError:
                await anyio.sleep(0.1)


async def options(folder: Path, peer: str, stack: AsyncExitStack) -> list[Way]:
    ports: set[int] = set()
    while len(ports) < 3:
        ports.add(free_port())
    own, ours, theirs = ports
    found: list[Way] = []

    async def add(name: str, connection: AbstractAsyncContextManager[Client], call: CallOf) -> None:
        before = children()
        client = await stack.enter_async_context(connection)
        (pid,) = children() - before
        found.append(Way(name, call(client), pid))

    file = write_config(folder, OWNER, workshop())
    over_http = served(file, "--http", f"127.0.0.1:{ours}")
    await add("direct, stdio", stdio([sys.executable, "-S", str(SERVER), ""]), direct)
    await add("gateway, stdio", stdio(served(file)), through)
    await add("direct, HTTP", http([sys.executable, str(LIBRARY), str(own)], own), by_title)
    await add("gateway, HTTP", http(over_http, ours), through)
    if peer:
        script = [peer, "-c", PEER.format(server=str(SERVER), port=0)]
        await add("FastMCP proxy, stdio", stdio(script), direct)
        script = [peer, "-c", PEER.format(server=str(SERVER), port=theirs)]
        await add("FastMCP proxy, HTTP", http(script, theirs), direct)
    return found


async def compare(peer: str, calls: int) -> list[Way]:
    async with AsyncExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        found = await options(folder, peer, stack)
        for way in found:
            await measure(way, 1, 20)
            way.times, way.cpu = {1: [], 32: []}, {1: 0.0, 32: 0.0}
        for _ in range(ROUNDS):
            for way in found:
                for in_flight in way.times:
                    await measure(way, in_flight, calls // ROUNDS)
        return found


def percentile(times: list[float], share: float) -> float:
    return statistics.quantiles(times, n=1000)[round(share * 1000) - 1]


def call_table(found: list[Way]) -> list[str]:
    lines = [
        "| way | in flight | p50 ms | p99 ms | p50 over direct | CPU ms a call |",
        "|---|---|---|---|---|---|",
    ]
    for way in found:
        for in_flight, times in way.times.items():
            p50, p99 = percentile(times, 0.5), percentile(times, 0.99)
            plain = next(one for one in found if one.name == f"direct, {way.name.rpartition(' ')[2]}")
            more = p50 - percentile(plain.times[in_flight], 0.5)
            cpu = way.cpu[in_flight] / len(times)
            lines.append(f"| {way.name} | {in_flight} | {p50:.2f} | {p99:.2f} | {more:+.2f} | {cpu:.2f} |")
    return lines


async def list_cost(tools: int) -> tuple[int, int]:
    """Tokens of the tool list through the gateway, and of the servers' own, for so many tools behind."""
    with tempfile.TemporaryDirectory() as folder:
        source = workshop(f"number:{tools}")
        async with stdio(served(write_config(Path(folder), OWNER, source))) as client:
            through_us = await tokens_of(client)
        async with stdio([sys.executable, *source.args]) as client:
            return through_us, await tokens_of(client)


async def tokens_of(client: Client) -> int:
    listed = (await client.list_tools()).tools
    text = json.dumps([tool.model_dump(by_alias=True, exclude_none=True) for tool in listed])
    return counter(True).count(text)


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("--peer", default="")
    options.add_argument("--calls", type=int, default=300)
    given = options.parse_args()
    lines = [
        "# The gateway",
        "",
        f"{given.calls} calls each way, in {ROUNDS} turns. `python -m bench.gateway --peer PYTHON`."
        " The gateway asks policy and keeps a journal at every call; the peer does neither. CPU is of the"
        " process that is called, without the server behind it: where the machine is busy with other things"
        f" (load now: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores), it says more than the time.",
        "",
    ]
    lines += call_table(anyio.run(compare, given.peer, given.calls))
    lines += [
        "",
        "| tools behind | tokens of the gateway's list | tokens of the server's own |",
        "|---|---|---|",
    ]
    for tools in (10, 100, 500):
        ours, own = anyio.run(list_cost, tools)
        lines.append(f"| {tools} | {ours} | {own} |")
    text = "\n".join(lines) + "\n"
    RESULTS.write_text(text)
    print(text)


if __name__ == "__main__":
    main()
