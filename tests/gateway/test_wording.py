"""A gateway that runs follows what prowess.toml calls a tool, and what prowess.lock has of it."""

import json
import sys
from pathlib import Path

import pytest
from mcp import Client, StdioServerParameters

from tests.support.gateway import ask, call, served, text_of, until
from tests.support.places import SERVERS
from tests.support.terminal import Terminal

pytestmark = [pytest.mark.slow, pytest.mark.anyio, pytest.mark.timeout(100)]

TEXT = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
WORDED = """
[source.tools.read]
name = "open_page"
description = "Open a page of the handbook."
[source.tools.read.parameters.text]
name = "address"
"""


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


async def test_a_tool_is_found_and_called_as_the_configuration_has_it_and_held_once_the_lock_differs(
    tmp_path: Path,
) -> None:
    tool = {
        "name": "read",
        "description": "Read.",
        "inputSchema": TEXT,
        "annotations": {"readOnlyHint": True},
    }
    (tmp_path / "shelf.json").write_text(json.dumps({"name": "shelf", "tools": [tool]}))
    args = json.dumps(["-S", str(SERVERS / "shelf.py"), str(tmp_path / "shelf.json")])
    source = f'[[source]]\ntype = "mcp"\nname = "shelf"\ncommand = "{sys.executable}"\nargs = {args}\n'
    file, lock = tmp_path / "prowess.toml", tmp_path / "prowess.lock"
    (tmp_path / "home").mkdir()
    terminal = Terminal(tmp_path, tmp_path / "home")
    assert terminal.run("init").returncode == 0
    policy = '[policy]\nfiles = ["policy.yaml"]\n'
    file.write_text(source + policy)

    command, *words = served(file)
    server = StdioServerParameters(command=command, args=words, env=terminal.environment, cwd=tmp_path)
    async with Client(server, cache=None) as client:

        async def finds(id: str) -> bool:
            answer = await ask(client, "discover_capabilities", query="read, or open a page of the handbook")
            return [one["id"] for one in answer["capabilities"]] == [id]

        async def is_held() -> bool:
            return bool((await call(client, "tool:shelf/open_page", address="start")).is_error)

        await until(lambda: finds("tool:shelf/read"))
        file.write_text(source + WORDED + policy)
        await until(lambda: finds("tool:shelf/open_page"))
        said = await call(client, "tool:shelf/open_page", address="start")
        assert text_of(said) == 'given {"text": "start"}'
        assert (await call(client, "tool:shelf/read", text="start")).is_error

        lock.write_text('format = 1\n[server.shelf.offers]\n"tool:read" = "sha256:another"\n')
        await until(is_held)
        assert "prowess.lock" in terminal.run("quarantine", "list").stdout
