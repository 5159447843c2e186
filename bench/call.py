"""Measure calls: `python -m bench.call [--calls N]`. Prints a report in Markdown.

What a call through prowess adds, with policy, validation and journal, to calling the function directly, and
to the MCP SDK's own client; beside ToolRegistry on the same calls, where it is installed. The ways take turns
in one run, so that whatever else the machine does falls on all of them.
"""

import argparse
import statistics
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import anyio
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

import prowess
from prowess import Engine
from prowess.sources.mcp.source import McpSource
from prowess.sources.python.functions import Functions
from tests.support.places import SERVERS

POLICY = 'profiles: {owner: {agents: [default], additional_tools: ["*"]}}\n'
WORKSHOP = ("-S", str(SERVERS / "workshop.py"))

Timed = Callable[[], object]


@prowess.tool(side_effects=False)
def add(a: int, b: int = 2) -> int:
    """Add two numbers."""
    return a + b


@prowess.tool
def put(a: int, b: int = 2) -> int:
    """Add two numbers and remember the sum."""
    return a + b


@contextmanager
def opened(folder: Path) -> Iterator[Engine]:
    (folder / "policy.yaml").write_text(POLICY)
    config = folder / "prowess.toml"
    config.write_text('store = "store.db"\n[policy]\nfiles = ["policy.yaml"]\n')
    shop = McpSource(name="shop", command=sys.executable, args=WORKSHOP)
    sources = [Functions(name="own", functions=(add, put)), shop]
    with prowess.open(config=str(config), sources=sources) as engine:
        engine.sync(vectors=False)
        for held in engine.quarantine.list():
            engine.quarantine.approve(held.id, by="bench")
        yield engine


def in_turns(ways: dict[str, Timed], calls: int) -> dict[str, list[float]]:
    """Milliseconds of each way, each call of one followed by one of the next."""
    took: dict[str, list[float]] = {name: [] for name in ways}
    for number in range(calls + 20):
        for name, way in ways.items():
            begun = time.perf_counter()
            way()
            if number >= 20:
                took[name].append((time.perf_counter() - begun) * 1000)
    return took


async def in_turns_awaited(
    ways: dict[str, Callable[[], Awaitable[Any]]], calls: int
) -> dict[str, list[float]]:
    took: dict[str, list[float]] = {name: [] for name in ways}
    for number in range(calls + 20):
        for name, way in ways.items():
            begun = time.perf_counter()
            await way()
            if number >= 20:
                took[name].append((time.perf_counter() - begun) * 1000)
    return took


def functions(engine: Engine, calls: int) -> dict[str, list[float]]:
    ways: dict[str, Timed] = {
        "the function itself": lambda: add(1, 2),
        "`engine.call`, no effects": lambda: engine.call("add", {"a": 1, "b": 2}),
        "`engine.call`, with effects": lambda: engine.call("put", {"a": 1, "b": 2}),
        "`engine.check` and `engine.record`": lambda: (
            engine.check("default", "tool:add"),
            engine.record(prowess.Outcome(offer="", capability="tool:add", ok=True)),
        ),
    }
    try:
        from toolregistry import ToolRegistry
    except ImportError:
        return in_turns(ways, calls)
    registry = ToolRegistry()
    registry.register(add)
    made = [{"id": "1", "type": "function", "function": {"name": "add", "arguments": '{"a": 1, "b": 2}'}}]
    ways["ToolRegistry, no policy, no journal"] = lambda: registry.execute_tool_calls(made)
    return in_turns(ways, calls)


async def servers(engine: Engine, calls: int) -> dict[str, list[float]]:
    server = StdioServerParameters(command=sys.executable, args=list(WORKSHOP))
    async with Client(stdio_client(server)) as client:
        return await in_turns_awaited(
            {
                "the SDK's client": lambda: client.call_tool("echo", {"text": "hello"}),
                "`engine.acall`": lambda: engine.acall("shop__echo", {"text": "hello"}),
            },
            calls,
        )


def table(title: str, took: dict[str, list[float]]) -> list[str]:
    first = statistics.median(next(iter(took.values())))
    rows = [f"## {title}", "", "| way | p50 ms | p90 ms | p50 more than the first |", "|---|---|---|---|"]
    for name, times in took.items():
        median = statistics.median(times)
        ninetieth = statistics.quantiles(times, n=10)[8]
        rows.append(f"| {name} | {median:.3f} | {ninetieth:.3f} | {median - first:.3f} |")
    return [*rows, ""]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, default=1000)
    calls = parser.parse_args().calls
    with tempfile.TemporaryDirectory() as folder, opened(Path(folder)) as engine:
        lines = ["# Calls", "", f"`python -m bench.call --calls {calls}`, on SQLite.", ""]
        lines += table("A Python function", functions(engine, calls))
        lines += table("A tool of an MCP server over pipes", anyio.run(servers, engine, calls))
    print("\n".join(lines))


if __name__ == "__main__":
    main()
