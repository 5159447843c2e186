"""How soon a gateway that was just started answers its client, on an idle machine and on a busy one.

    python -m bench.start [--runs 15]

A client starts `prowess serve mcp` and sends its first messages at once. Beside it, in turns, a server that
does nothing but answer with the protocol's SDK. Busy means one process a core that computes.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from tests.support.gateway import OWNER, served, workshop, write_config

RESULTS = Path(__file__).parent / "results" / "start.md"
BARE = """
import anyio
from mcp.server import Server
from mcp.server.stdio import stdio_server
from mcp_types import ListToolsResult

async def listed(context, params):
    return ListToolsResult(tools=[])

async def main():
    server = Server("bare", on_list_tools=listed)
    async with stdio_server() as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())

anyio.run(main)
"""
HANDSHAKE = {
    "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"},
}  # fmt: skip
MESSAGES = (
    {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": HANDSHAKE},
    {"jsonrpc": "2.0", "method": "notifications/initialized"},
    {"jsonrpc": "2.0", "id": 2, "method": "tools/list"},
)


def started(command: Sequence[str]) -> tuple[float, float]:
    """Milliseconds from the start of the process to its first answer, and to its list of tools."""
    begin = time.perf_counter()
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as process:
        assert process.stdin and process.stdout
        process.stdin.write(b"".join(json.dumps(message).encode() + b"\n" for message in MESSAGES))
        process.stdin.flush()
        times = []
        for _ in range(2):
            assert json.loads(process.stdout.readline())["result"]
            times.append((time.perf_counter() - begin) * 1000)
        process.stdin.close()
        process.wait(30)
    return times[0], times[1]


@contextmanager
def busy() -> Iterator[None]:
    command = [sys.executable, "-c", "while True: pass"]
    computing = [subprocess.Popen(command) for _ in range(os.cpu_count() or 1)]
    try:
        yield
    finally:
        for process in computing:
            process.kill()
            process.wait()


def rows(name: str, ways: dict[str, list[str]], runs: int) -> list[str]:
    times: dict[str, list[tuple[float, float]]] = {way: [] for way in ways}
    for _ in range(runs):
        for way, command in ways.items():
            times[way].append(started(command))
    lines = []
    for way, found in times.items():
        first, listed = zip(*found, strict=True)
        p50, worst = statistics.median(first), max(first)
        lines.append(f"| {way} | {name} | {p50:.0f} | {worst:.0f} | {statistics.median(listed):.0f} |")
    return lines


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=15)
    runs = parser.parse_args().runs
    with tempfile.TemporaryDirectory() as folder:
        ways = {
            "gateway": list(served(write_config(Path(folder), OWNER, workshop()))),
            "a bare server of the SDK": [sys.executable, "-c", BARE],
        }
        started(ways["gateway"])  # reads its server once, as every start but the first
        load = os.getloadavg()[0]
        table = rows("idle", ways, runs)
        with busy():
            table += rows("busy", ways, runs)
    text = (
        "# The start of a gateway\n\n"
        f"Milliseconds from the start of the process, {runs} runs each, in turns; load before: {load:.1f} on"
        f" {os.cpu_count()} cores. `python -m bench.start`\n\n"
        "| server | machine | first answer, p50 | slowest | list of tools, p50 |\n|---|---|---|---|---|\n"
    )
    RESULTS.write_text(text + "\n".join(table) + "\n")
    print(RESULTS.read_text())


if __name__ == "__main__":
    main()
