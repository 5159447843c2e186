"""A gateway in front of more than is held in memory: found, described, called, listed and kept back."""

from pathlib import Path

import pytest
from mcp import Client, StdioServerParameters

from tests.support.gateway import ask, call, served, text_of, until, workshop, write_config

pytestmark = [pytest.mark.slow, pytest.mark.anyio, pytest.mark.timeout(60)]

POLICY = """
profiles:
  owner: {agents: [default], additional_tools: ["*"], disallowed_tools: ["tool:shop/die"]}
"""


async def test_a_client_searches_describes_calls_and_lists(tmp_path: Path) -> None:
    file = write_config(tmp_path, POLICY, workshop())
    file.write_text(f"in_memory = 3\n{file.read_text()}")
    command, *args = served(file)
    async with Client(StdioServerParameters(command=command, args=args), cache=None) as client:

        async def found() -> bool:
            answer = await ask(client, "discover_capabilities", query="repeat a text")
            return "tool:shop/echo" in [hit["id"] for hit in answer["capabilities"]]

        await until(found)
        assert (await ask(client, "describe_capability", id="tool:shop/echo"))["id"] == "tool:shop/echo"
        assert text_of(await call(client, "tool:shop/echo", text="hi")) == "hi"
        assert "no" in text_of(await call(client, "tool:shop/die")).lower()
        names = {tool.name for tool in (await client.list_tools()).tools}
        assert "discover_capabilities" in names and not any("shop" in name for name in names)
        ids = (await ask(client, "list_capabilities", provider="shop"))["ids"]
        assert "tool:shop/echo" in ids and "tool:shop/die" not in ids
        assert "search" in (await ask(client, "list_capabilities"))["note"]


async def test_what_a_server_adds_is_found_by_the_next_search(tmp_path: Path) -> None:
    file = write_config(tmp_path, POLICY, workshop())
    file.write_text(f"in_memory = 3\n{file.read_text()}")
    command, *args = served(file)
    async with Client(StdioServerParameters(command=command, args=args), cache=None) as client:

        async def found(query: str, id: str) -> bool:
            answer = await ask(client, "discover_capabilities", query=query)
            return id in [hit["id"] for hit in answer["capabilities"]]

        await until(lambda: found("repeat a text", "tool:shop/echo"))
        await call(client, "tool:shop/grow")
        await until(lambda: found("solder wires with tin", "tool:shop/solder"))
