"""Clients of others use the gateway as their users do: they start it, search, and call what they found."""

import json
import subprocess
from pathlib import Path
from typing import Any

import anyio
import fastmcp
import pytest
from fastmcp.client.transports import StdioTransport

from prowess.gateway.tools import META
from tests.support.gateway import OWNER, SERVERS, library, served, write_config
from tests.support.npm import locked_modules, node

pytestmark = [pytest.mark.slow, pytest.mark.timeout(120)]

ENTRY = ["discover_capabilities", "call_read_only", "call_with_effects"]
QUERY = "find a book by its title"
BOOK: dict[str, Any] = {"title": "Emma", "year": 1815}


@pytest.mark.parametrize("generation", ["sdk", "client"])
def test_both_typescript_sdks_find_and_call(tmp_path: Path, generation: str) -> None:
    file = write_config(tmp_path, OWNER, library())
    script = str(SERVERS / "typescript_client.mjs")
    command = [node(), script, str(locked_modules()), generation, *served(file)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=110, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    saw = json.loads(done.stdout)
    assert saw["tools"] == [tool.name for tool in META]
    assert saw["loaded"] == ENTRY
    assert (saw["hit"], saw["answer"]) == ("tool:library/find_book", "Emma (1815)")
    assert saw["prompts"] == ["library/recommend"]
    assert saw["instructions"].startswith("One server in front of many.")


@pytest.mark.anyio
async def test_the_client_of_fastmcp_finds_and_calls(tmp_path: Path) -> None:
    program, *arguments = served(write_config(tmp_path, OWNER, library()))
    transport = StdioTransport(program, arguments, log_file=tmp_path / "log")
    with anyio.fail_after(110):
        async with fastmcp.Client(transport) as client:
            assert [tool.name for tool in await client.list_tools()] == [tool.name for tool in META]
            found = await client.call_tool("discover_capabilities", {"query": QUERY})
            hit = json.loads(found.content[0].text)["capabilities"][0]
            called = await client.call_tool(hit["use"], {"id": hit["id"], "arguments": BOOK})
            assert called.content[0].text == "Emma (1815)"
