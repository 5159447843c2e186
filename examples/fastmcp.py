"""The office's 300 tools in a server of FastMCP, found by prowess: `python -m examples.fastmcp`."""

import asyncio
from typing import Any

from fastmcp import Client, FastMCP

from examples.office import STEPS, find_invoices, other_tools, print_report, send_email
from prowess.integrations.fastmcp import ProwessSearchTransform


def served() -> FastMCP[Any]:
    """What a user writes: any server, and one transform."""
    app: FastMCP[Any] = FastMCP("office", transforms=[ProwessSearchTransform(max_results=3)])
    tools: tuple[Any, ...] = (find_invoices, send_email, print_report, *other_tools())
    for function in tools:
        app.tool(function)
    return app


async def run(app: FastMCP[Any]) -> list[str]:
    """A client that searches, and calls what it found."""
    async with Client(app) as client:
        _, search, (name, arguments), _ = STEPS
        found = (await client.call_tool("search_tools", search[1])).data
        sent = await client.call_tool("call_tool", {"name": name, "arguments": arguments})
        return [tool["name"] for tool in found] + [sent.data]


if __name__ == "__main__":
    print(*asyncio.run(run(served())), sep="\n")
