"""FastMCP: a real server in memory, searched by its own client."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from fastmcp import Client, FastMCP
from fastmcp.exceptions import ToolError

from examples import fastmcp as example
from examples.office import print_report, send_email
from prowess.integrations.fastmcp import ProwessSearchTransform

Asking = Callable[[Client[Any]], Awaitable[Any]]


def asked(app: FastMCP[Any], do: Asking) -> Any:
    async def go() -> Any:
        async with Client(app) as client:
            return await do(client)

    return asyncio.run(go())


async def found(client: Client[Any], query: str) -> list[str]:
    result = await client.call_tool("search_tools", {"query": query})
    return [tool["name"] for tool in result.data or []]


def test_the_example_finds_one_tool_of_300_and_calls_it() -> None:
    assert asyncio.run(example.run(example.served())) == ["send_email", "sent to ann@example.com"]


def test_clients_see_the_search_alone_and_what_is_always_visible() -> None:
    app: FastMCP[Any] = FastMCP(
        "office",
        transforms=[ProwessSearchTransform(always_visible=["print_report"], search_tool_name="find")],
    )
    app.tool(send_email)
    app.tool(print_report)

    async def names(client: Client[Any]) -> set[str]:
        return {tool.name for tool in await client.list_tools()}

    assert asked(app, names) == {"print_report", "find", "call_tool"}


def test_nothing_is_found_where_nothing_fits() -> None:
    assert asked(example.served(), lambda client: found(client, "thanks, that is all")) == []


def test_a_tool_that_a_server_gains_or_loses_is_found_or_not() -> None:
    app = example.served()

    def knit(wool: str) -> str:
        """Knit a scarf of wool."""
        return wool

    async def go(client: Client[Any]) -> list[list[str]]:
        seen = [await found(client, "knit a scarf of wool")]
        app.tool(knit)
        seen.append(await found(client, "knit a scarf of wool"))
        app.local_provider.remove_tool("knit")
        return [*seen, await found(client, "knit a scarf of wool")]

    before, with_it, after = asked(app, go)
    assert "knit" not in before and with_it[0] == "knit" and "knit" not in after


def test_what_a_server_hides_from_the_client_is_not_found() -> None:
    app = example.served()
    app.disable(names={"send_email"})
    assert "send_email" not in asked(app, lambda client: found(client, "send an e-mail to a colleague"))


def test_what_raises_is_an_error_result() -> None:
    async def go(client: Client[Any]) -> None:
        await client.call_tool("call_tool", {"name": "print_report", "arguments": {"quarter": "Q3"}})

    with pytest.raises(ToolError, match="the printer is on fire"):
        asked(example.served(), go)
