"""A way with all servers behind it, started in a folder of its own and ready to be asked."""

import json
import os
import sys
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio

from bench.tasks.servers import Server, prepare, servers, write_config
from bench.tasks.ways import (
    FASTMCP,
    Counted,
    FastMcp,
    Prowess,
    SmartProxy,
    connected,
    prowess_command,
    standing,
)


@dataclass(frozen=True, slots=True)
class Opened:
    way: Counted
    around: dict[str, Any]
    """What a model knows of where it works."""
    standing: int
    """Tokens of the way's own list of tools."""
    everything: int
    """Tokens of all tools of all servers, listed."""


@asynccontextmanager
async def opened(kind: type[Counted], installed: Path, python: str = sys.executable) -> AsyncIterator[Opened]:
    """One way, for as long as it is used.

    kind: which.
    installed: where the servers were installed.
    python: the interpreter that it is installed for.
    """
    with tempfile.TemporaryDirectory() as made:
        place, folder = Path(made), Path(made) / "work"
        prepare(folder)
        started = servers(installed, folder)
        everything, tools = await listed_whole(started, folder)
        command, env = command_of(kind, python, place, started)
        async with connected(command, folder, env) as client:
            if kind is Prowess:
                await ready(client, tools)
            around = {"path": str(folder), "repository": str(folder), "timezone": "Europe/Berlin"}
            yield Opened(kind(client), around, await standing(client), everything)


async def ready(client: Any, tools: int) -> None:
    """All servers have been read, and everything has its vector."""
    with anyio.fail_after(180):
        while True:
            answer = await client.call_tool("list_capabilities", {})
            if json.loads(answer.content[0].text)["total"] >= tools:
                break
            await anyio.sleep(0.5)
        while "still being read" in str(
            await client.call_tool("discover_capabilities", {"query": "warm up"})
        ):
            await anyio.sleep(0.5)


async def listed_whole(started: dict[str, Server], folder: Path) -> tuple[int, int]:
    """Tokens of all tools of all servers, as a client without a gateway has them; and how many there are."""
    tokens = tools = 0
    for server in started.values():
        env = {**os.environ, **server.env}
        async with connected([server.command, *server.args], folder, env) as client:
            tokens += await standing(client)
            tools += len((await client.list_tools()).tools)
    return tokens, tools


def command_of(
    kind: type[Counted], python: str, place: Path, started: dict[str, Server]
) -> tuple[list[str], dict[str, str]]:
    env = dict(os.environ)
    if kind is Prowess:
        return prowess_command(python, write_config(place, started)), env
    entries = {
        name: {"command": one.command, "args": list(one.args), "env": {**env, **one.env}}
        for name, one in started.items()
    }
    if kind is FastMcp:
        return [python, "-c", FASTMCP, json.dumps({"mcpServers": entries})], env
    file = place / "mcp_config.json"
    file.write_text(json.dumps({"mcpServers": entries}))
    env |= {
        "MCPPROXY_ROUTING_TYPE": "CALL_TOOL",
        "MCPPROXY_CONFIG_PATH": str(file),
        "MCPPROXY_DATA_DIR": str(place),
        "MCPPROXY_TRUNCATE_OUTPUT_LEN": "0",
    }
    assert kind is SmartProxy
    return [str(Path(python).with_name("mcpproxy"))], env
