"""The gateway before other people's servers and behind other people's clients.

mcp-server-time, mcp-server-git, mcp-server-fetch and FastMCP's client. Everything stays on this machine.
"""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from prowess.sources.mcp.source import McpSource
from tests.support.gateway import OWNER, ask, call, served, text_of, world, write_config

PYTHON = sys.executable

pytestmark = [
    pytest.mark.slow,
    pytest.mark.anyio,
    pytest.mark.timeout(60),
]

FASTMCP = """
import asyncio, json, sys
from fastmcp import Client
from fastmcp.client.transports import StdioTransport

async def main():
    command = json.loads(sys.argv[1])
    async with Client(StdioTransport(command[0], command[1:])) as client:
        tools = [tool.name for tool in await client.list_tools()]
        given = {"id": "tool:time/convert_time", "arguments": {
            "source_timezone": "UTC", "time": "12:00", "target_timezone": "Asia/Tokyo"}}
        result = await client.call_tool("call_read_only", given)
        print(json.dumps([len(tools), "21:00" in str(result.content)]))

asyncio.run(main())
"""


def reference(name: str) -> McpSource:
    return McpSource(name=name, command=PYTHON, args=("-m", f"mcp_server_{name}"))


async def test_three_reference_servers_stand_behind_one_gateway(tmp_path: Path) -> None:
    repository = tmp_path / "repository"
    subprocess.run(["git", "init", "-q", str(repository)], check=True)
    (repository / "tea.txt").write_text("green\n")
    servers = [reference(name) for name in ("time", "git", "fetch")]
    async with world(tmp_path, *servers, embedder=None) as here, here.client() as client:
        listed = await ask(client, "list_capabilities")
        assert {row["provider"] for row in listed["providers"]} == {"time", "git", "fetch"}
        hit = (await ask(client, "discover_capabilities", query="what time is it in Tokyo"))["capabilities"][
            0
        ]
        assert hit["id"].startswith("tool:time/")
        status = await call(client, "tool:git/git_status", repo_path=str(repository))
        assert "tea.txt" in text_of(status)
        refused = await call(client, "tool:fetch/fetch", with_effects=True, url="http://127.0.0.1:9/nothing")
        assert refused.is_error
        assert "- 'url' is a required property" in text_of(
            await call(client, "tool:fetch/fetch", with_effects=True)
        )


async def test_the_client_of_fastmcp_lists_and_calls(tmp_path: Path) -> None:
    command = served(write_config(tmp_path, OWNER, reference("time")))
    run = subprocess.run(
        [PYTHON, "-c", FASTMCP, json.dumps(command)], capture_output=True, text=True, timeout=40, check=True
    )
    assert json.loads(run.stdout.splitlines()[-1]) == [6, True]
