"""Who sees what: fixed lists, two agents in two worlds, and nothing that is denied in any answer."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import pytest
from mcp import Client, MCPError
from mcp.client.session import IncomingMessage
from mcp.shared.subscriptions import ToolsListChanged
from mcp_types import ToolListChangedNotification

import prowess
from prowess.prompt.small_sets import MOST_TOOLS, STAYS
from prowess.sources.mcp.source import McpSource
from prowess.sources.python.functions import Functions
from prowess.testing import StaticSource, capability
from prowess.token_counts import counter
from tests.support.gateway import World, ask, call, library, put, shelf, text_of, workshop, world

pytestmark = [pytest.mark.slow, pytest.mark.anyio, pytest.mark.timeout(30)]

META = [
    "discover_capabilities",
    "describe_capability",
    "call_read_only",
    "call_with_effects",
    "list_capabilities",
    "read_reference",
]

TWO = """
profiles:
  reader:
    agents: [reader]
    additional_tools: ["tool:library/find_book", "tool:shop/echo"]
    pinned: ["tool:library/find_book"]
  smith:
    agents: [smith]
    additional_tools: ["tool:shop/*"]
    pinned: ["tool:shop/engrave", "tool:library/find_book"]
  nobody:
    agents: [nobody]
"""

SECRET_WORDS = ("library", "find_book", "lendBook", "recommend", "opening-hours", "Emma")
"""Everything that would tell `smith` of the library."""


@asynccontextmanager
async def two_worlds(folder: Path) -> AsyncIterator[World]:
    async with world(folder, workshop(), library(), policy=TWO) as here:
        yield here


async def tool_list(client: Client) -> str:
    listed = await client.list_tools()
    return json.dumps([tool.model_dump(by_alias=True, exclude_none=True) for tool in listed.tools])


async def test_the_tool_list_is_the_same_bytes_every_time_and_costs_under_900_tokens(tmp_path: Path) -> None:
    async with two_worlds(tmp_path) as here:
        async with here.client("nobody") as client:
            first = await tool_list(client)
            await ask(client, "discover_capabilities", query="engrave")
            assert await tool_list(client) == first
        async with here.client("nobody", mode="legacy") as client:
            older = await tool_list(client)
            assert await tool_list(client) == older
            assert json.loads(older) == json.loads(first)
        assert [tool["name"] for tool in json.loads(first)] == META
        assert counter(True).count(first) < 900


async def test_lists_say_how_long_they_hold_and_for_whom(tmp_path: Path) -> None:
    async with two_worlds(tmp_path) as here, here.client("smith") as client:
        tools, prompts = await client.list_tools(), await client.list_prompts()
        resources, templates = await client.list_resources(), await client.list_resource_templates()
        for listed in (tools, prompts, resources, templates):
            assert (listed.ttl_ms, listed.cache_scope) == (60_000, "private")


async def test_only_the_tool_that_may_change_something_says_so(tmp_path: Path) -> None:
    async with two_worlds(tmp_path) as here, here.client("nobody") as client:
        tools = (await client.list_tools()).tools
        changing = [t.name for t in tools if t.annotations and not t.annotations.read_only_hint]
        assert changing == ["call_with_effects"]


async def test_two_agents_on_one_gateway_see_two_worlds(tmp_path: Path) -> None:
    async with two_worlds(tmp_path) as here, here.client("reader") as reader, here.client("smith") as smith:
        for client, seen, pinned in ((reader, 2, "find_book"), (smith, 15, "engrave")):
            assert (await ask(client, "list_capabilities"))["total"] == seen
            (name,) = [t.name for t in (await client.list_tools()).tools if t.name not in META]
            assert pinned in name
        assert text_of(await call(reader, "tool:library/find_book", title="Emma")) == "Emma (0)"
        assert (await call(smith, "tool:library/find_book", title="Emma")).is_error
        assert text_of(await call(smith, "tool:shop/engrave", with_effects=True, text="x")) == "x"
        assert (await call(reader, "tool:shop/engrave", with_effects=True, text="x")).is_error


async def test_a_pinned_tool_is_called_by_its_name_with_its_own_arguments(tmp_path: Path) -> None:
    async with two_worlds(tmp_path) as here, here.client("reader") as reader:
        (pinned,) = [t for t in (await reader.list_tools()).tools if t.name not in META]
        assert len(pinned.name) <= 48 and pinned.annotations and pinned.annotations.read_only_hint
        assert text_of(await reader.call_tool(pinned.name, {"title": "Emma", "year": 1815})) == "Emma (1815)"
        assert "is a required property" in text_of(await reader.call_tool(pinned.name, {}))
        async with here.client("smith") as smith:
            assert "There is no capability" in text_of(await smith.call_tool(pinned.name, {"title": "x"}))


async def test_what_is_denied_and_what_does_not_exist_get_the_same_answer(tmp_path: Path) -> None:
    async with two_worlds(tmp_path) as here, here.client("smith") as smith:
        for tool in ("describe_capability", "call_read_only", "call_with_effects"):
            denied = text_of(await smith.call_tool(tool, {"id": "tool:library/find_book"}))
            absent = text_of(await smith.call_tool(tool, {"id": "tool:nowhere/find_book"}))
            assert denied.replace("library", "nowhere") == absent
        for uri in ("library://opening-hours", "library://nothing"):
            with pytest.raises(MCPError, match=f"^no resource named '{uri}'$"):
                await smith.read_resource(uri)
        for name in ("library/recommend", "library/nothing"):
            with pytest.raises(MCPError, match=f"^no prompt named '{name}'$"):
                await smith.get_prompt(name, {"genre": "x"})


async def everything_said_to(client: Client) -> str:
    """Whatever the gateway tells a client that asks for all there is, by every way there is."""
    said: list[Any] = [await client.list_tools(), await client.list_prompts()]
    said += [await client.list_resources(), await client.list_resource_templates()]
    asked: list[tuple[str, dict[str, Any]]] = [
        *(("discover_capabilities", {"query": q, "limit": 20}) for q in ("a book", "lend", "open", "echo")),
        ("list_capabilities", {}),
        *(("list_capabilities", {"kind": kind}) for kind in ("tool", "prompt", "resource")),
        ("read_reference", {"reference": ""}),
        ("call_read_only", {"id": "tool:shop/sleep", "arguments": {"count": "x"}}),
        ("call_read_only", {"id": "tool:shop/pid"}),
    ]
    said += [await client.call_tool(tool, arguments) for tool, arguments in asked]
    return repr(said)


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_nothing_denied_is_in_any_list_search_error_or_result(tmp_path: Path, mode: str) -> None:
    async with two_worlds(tmp_path) as here, here.client("smith", mode=mode) as smith:
        said = await everything_said_to(smith)
        assert "engrave" in said
        assert [word for word in SECRET_WORDS if word in said] == []
        async with here.client("nobody", mode=mode) as nobody:
            said = await everything_said_to(nobody)
            assert [word for word in (*SECRET_WORDS, "engrave") if word in said] == []


async def test_a_policy_that_changes_holds_at_the_next_call(tmp_path: Path) -> None:
    async with two_worlds(tmp_path) as here, here.client("smith") as smith:
        assert text_of(await call(smith, "tool:shop/echo", text="a")) == "a"
        (tmp_path / "policy.yaml").write_text(TWO.replace('"tool:shop/*"', '"tool:shop/pid"'))
        assert "There is no capability" in text_of(await call(smith, "tool:shop/echo", text="a"))


async def test_when_nothing_fits_it_says_so_and_what_is_missing(tmp_path: Path) -> None:
    needy = capability("tool:weather", "The weather of tomorrow.", required_secrets=("WEATHER_KEY",))
    source = StaticSource(capabilities=[needy, capability("tool:add", "Add numbers.")])
    policy = 'profiles: {owner: {agents: [default], additional_tools: ["*"]}}'
    async with world(tmp_path, source, policy=policy, embedder=None) as here, here.client() as client:
        (hit,) = (await ask(client, "discover_capabilities", query="weather tomorrow"))["capabilities"]
        assert hit["unavailable"] == ["secret WEATHER_KEY is not set"]
        nothing = await ask(client, "discover_capabilities", query="translate a poem into Finnish")
        assert {hit["fit"] for hit in nothing["capabilities"]} == {"weak"}
        assert nothing["note"].startswith("Nothing fits well")
        (needy_hit,) = [hit for hit in nothing["capabilities"] if hit["id"] == "tool:weather"]
        assert needy_hit["unavailable"] == ["secret WEATHER_KEY is not set"]


async def test_a_server_that_was_never_reached_is_named_once_where_it_matters_to_those_who_may_use_it(
    tmp_path: Path,
) -> None:
    broken = McpSource(name="forge", command="no-such-command-at-all")
    policy = TWO.replace('"tool:shop/*"]', '"tool:shop/*", "tool:forge/*"]')
    async with world(tmp_path, workshop(), broken, policy=policy) as here:
        async with here.client("smith") as smith:
            assert "servers_down" not in await ask(smith, "discover_capabilities", query="tool:shop/echo")
            found = await ask(smith, "discover_capabilities", query="forge an iron gate")
            (down,) = found["servers_down"]
            assert down["server"] == "forge" and "there is no command" in down["why"]
            poem = await ask(smith, "discover_capabilities", query="translate a poem into Finnish")
            assert "servers_down" not in poem
        async with here.client("reader") as reader:
            assert "forge" not in await everything_said_to(reader)


@prowess.tool(name="read_reference", description="Read a reference aloud.")
def read_aloud() -> str:
    return "aloud"


async def test_a_pinned_capability_named_like_one_of_our_tools_has_a_name_of_its_own(tmp_path: Path) -> None:
    policy = """
profiles:
  owner: {agents: [default], additional_tools: ["*"], pinned: ["tool:read_reference"]}
"""
    source = Functions(name="own", functions=(read_aloud,))
    async with world(tmp_path, source, policy=policy) as here, here.client() as client:
        names = [tool.name for tool in (await client.list_tools()).tools]
        assert names[:6] == META and names[6].startswith("read_reference-x") and len(names) == 7
        assert text_of(await client.call_tool(names[6], {})) == "aloud"


async def test_clients_of_both_generations_are_told_of_a_changed_list(tmp_path: Path) -> None:
    told = anyio.Event()

    async def heard(message: IncomingMessage) -> None:
        if isinstance(message, ToolListChangedNotification):
            told.set()

    owner = """
profiles:
  owner: {agents: [default], additional_tools: ["*"], pinned: ["tool:shop/solder"]}
"""
    async with (
        world(tmp_path, workshop(), policy=owner) as here,
        here.client(mode="legacy", message_handler=heard) as older,
        here.client() as newest,
        newest.listen(tools_list_changed=True) as events,
    ):
        assert older.server_capabilities.tools and older.server_capabilities.tools.list_changed
        await call(older, "tool:shop/grow")
        with anyio.fail_after(20):
            await told.wait()
            assert isinstance(await anext(aiter(events)), ToolsListChanged)


async def test_a_small_server_passes_through_whole_until_it_has_grown(tmp_path: Path) -> None:
    told = anyio.Event()

    async def heard(message: IncomingMessage) -> None:
        if isinstance(message, ToolListChangedNotification):
            told.set()

    def offered(count: int) -> list[dict[str, Any]]:
        return [{"name": f"t{n:02}", "inputSchema": {"type": "object"}} for n in range(count)]

    small = shelf(tmp_path, "shelf", tools=offered(MOST_TOOLS))
    async with (
        world(tmp_path, small, tools="auto") as here,
        here.client(mode="legacy", message_handler=heard) as client,
    ):
        names = [tool.name for tool in (await client.list_tools()).tools]
        assert names == [*META, *(f"shelf__t{n:02}" for n in range(MOST_TOOLS))]
        assert not (await client.call_tool(names[-1], {})).is_error
        put(tmp_path, "shelf", tools=offered(int(MOST_TOOLS * STAYS) + 1))
        await anyio.to_thread.run_sync(here.engine.sync)
        with anyio.fail_after(20):
            await told.wait()
        assert [tool.name for tool in (await client.list_tools()).tools] == META
        # Who did not ask again goes on: the names that it knows still lead where they led.
        assert not (await client.call_tool(names[-1], {})).is_error


async def test_a_scripted_agent_solves_tasks_with_the_meta_tools_alone(tmp_path: Path) -> None:
    """Search, take the first hit, fill in its arguments by name, call the tool it says."""
    facts = {"title": "Emma", "year": 1815, "text": "for Ada", "count": 4}
    tasks = {
        "find a book by its title": "Emma (1815)",
        "engrave a text into brass": "for Ada",
        "repeat a text": "for Ada",
        "lend a book to somebody": "Emma",
        "return a long text of some characters": "xxxx",
    }
    policy = 'profiles: {owner: {agents: [default], additional_tools: ["*"]}}'
    async with world(tmp_path, workshop(), library(), policy=policy) as here, here.client() as client:
        await anyio.to_thread.run_sync(here.engine.sync)  # until vectors are made, words alone decide
        for task, wanted in tasks.items():
            hit = (await ask(client, "discover_capabilities", query=task, kind="tool"))["capabilities"][0]
            given = {name: facts[name] for name in hit["arguments"]["properties"]}
            result = await client.call_tool(hit["use"], {"id": hit["id"], "arguments": given})
            assert text_of(result) == wanted, task
