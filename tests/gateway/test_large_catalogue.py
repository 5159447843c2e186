"""A gateway in front of more than is held in memory: found, described, called, listed and kept back."""

from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters

from prowess.engine.internals import Internals
from prowess.testing import StaticSource, capability
from tests.support.gateway import (
    World,
    ask,
    call,
    served,
    text_of,
    until,
    workshop,
    world,
    write_config,
)

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
        ids = (await ask(client, "list_capabilities", provider="shop"))["ids"]
        assert "tool:shop/echo" in ids and "tool:shop/die" not in ids


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


SEVERAL = """
profiles:
  owner: {agents: [default], additional_tools: ["*"], disallowed_tools: ["tool:shop/die"]}
  reader: {agents: [reader], additional_tools: ["tool:library/*"]}
  nobody: {agents: [nobody]}
"""
ASKED: tuple[dict[str, Any], ...] = (
    {},
    {"provider": "shop"},
    {"kind": "tool"},
    {"kind": "any", "after": "tool:library/find"},
    {"provider": "desk", "kind": "tool"},
    {"after": "library"},
)


async def told(here: World, agent: str) -> dict[str, Any]:
    """Everything that a client of this agent learns about what there is."""
    async with here.client(agent) as client:
        listed = [await ask(client, "list_capabilities", **one) for one in ASKED]
        nothing = await ask(client, "discover_capabilities", query="zzqx", kind="no such kind")
        return {
            "instructions": client.instructions,
            "listed": listed,
            "tools": [tool.name for tool in (await client.list_tools()).tools],
            "nothing": nothing,
            "by_own_name": text_of(await client.call_tool("stamp", {})),
        }


def servers() -> StaticSource:
    tools = [
        capability(f"tool:{server}/{name}", f"{name.title()} a letter.", name=name, provider=server)
        for server, names in {"desk": ("stamp",), "library": ("find", "lend"), "shop": "abcdefgh"}.items()
        for name in (*names, "die" if server == "shop" else "fold")
    ]
    skill = capability("skill:post", "How letters are sent.", required_secrets=("POST_KEY",))
    return StaticSource("many", capabilities=[*tools, skill])


async def test_each_client_is_told_what_it_is_told_of_a_catalogue_in_memory(
    store_url: str, tmp_path: Path
) -> None:
    found = []
    for store, in_memory in (("", 1000), (store_url, 2)):
        folder = tmp_path / str(in_memory)
        folder.mkdir()
        async with world(
            folder, servers(), policy=SEVERAL, store=store, in_memory=in_memory, tools="auto"
        ) as here:
            inner = here.engine.internals
            assert inner.world().view.is_stored == (in_memory == 2)

            async def indexed(inner: Internals = inner) -> bool:
                return not inner.search(inner.world()).unencoded

            await until(indexed)
            found.append({agent: await told(here, agent) for agent in ("default", "reader", "nobody")})
    for agent, said in found[0].items():
        for what, answer in said.items():
            assert (agent, what, found[1][agent][what]) == (agent, what, answer)
    assert "- library (" in found[0]["reader"]["instructions"]
    assert "POST_KEY is not set" in found[0]["default"]["nothing"]["note"]
    assert "shop" not in str(found[0]["reader"]) and "tool:shop/die" not in str(found)
