"""Ways to find and call the tools of all servers: prowess's gateway, and what others offer for it."""

import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from mcp import Client, StdioServerParameters

from bench.tasks.found import Found
from bench.tasks.model import Tally
from prowess.token_counts import counter

COUNT = counter(True).count


@asynccontextmanager
async def connected(
    command: Sequence[str], folder: Path, env: dict[str, str] | None = None
) -> AsyncIterator[Client]:
    """A client of a server that it starts in a folder."""
    started = StdioServerParameters(command=command[0], args=list(command[1:]), cwd=str(folder), env=env)
    async with Client(started, cache=None, read_timeout_seconds=120) as client:
        yield client


async def standing(client: Client) -> int:
    """Tokens of what a model has before it anything is asked: instructions, and the list of tools."""
    listed = (await client.list_tools()).tools
    written = json.dumps([tool.model_dump(by_alias=True, exclude_none=True, mode="json") for tool in listed])
    return COUNT(written) + COUNT(client.instructions or "")


class Counted:
    """A client whose calls are counted, in tokens that a model writes and reads."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self.tally = Tally()

    async def ask(self, tool: str, arguments: dict[str, Any]) -> tuple[str, bool]:
        answer = await self.client.call_tool(tool, arguments)
        text = "\n".join(getattr(block, "text", "") for block in answer.content)
        self.tally.tokens += COUNT(json.dumps({"name": tool, "arguments": arguments})) + COUNT(text)
        return text, bool(answer.is_error)

    async def did(self, tool: str, arguments: dict[str, Any]) -> bool:
        self.tally.calls += 1
        _, failed = await self.ask(tool, arguments)
        self.tally.failures += failed
        return not failed


class Prowess(Counted):
    """The gateway; the steps of a plan as one list, or `one_by_one`."""

    name = "prowess"

    async def search(self, needs: Sequence[str]) -> list[list[Found]]:
        self.tally.searches += 1
        asked: dict[str, Any] = {"query": needs[0]} if len(needs) == 1 else {"needs": list(needs)}
        answer = json.loads((await self.ask("discover_capabilities", asked))[0])
        return shown_by(answer, needs)

    async def described(self, found: Found) -> Found:
        text, _ = await self.ask("describe_capability", {"id": found.id})
        return described_as(json.loads(text), found)

    async def call(self, found: Found, arguments: dict[str, Any]) -> bool:
        if not found.use.startswith("call_"):
            return False
        return await self.did(found.use, {"id": found.id, "arguments": arguments})


def shown_by(answer: dict[str, Any], needs: Sequence[str]) -> list[list[Found]]:
    """What one answer of `discover_capabilities` shows for each need; what is only named comes last."""
    hits = {hit["id"]: _hit(hit) for hit in answer.get("capabilities", ())}
    named = [_named(id, gist) for id, gist in answer.get("also_near", {}).items()]
    by_need = {one["need"]: one["capabilities"] for one in answer.get("needs", ())}
    return [[*(hits[id] for id in by_need.get(need, hits) if id in hits), *named] for need in needs]


def described_as(said: dict[str, Any], found: Found) -> Found:
    """The same tool, with what `describe_capability` says of it."""
    acts = said["use"] == "call_with_effects"
    return replace(found, schema=said.get("arguments") or {}, use=said["use"], acts=acts)


def _hit(hit: dict[str, Any]) -> Found:
    acts = hit["use"] == "call_with_effects"
    return Found(
        hit["id"], hit["description"], hit.get("arguments"), hit.get("fit") == "weak", hit["use"], acts,
        tuple(hit.get("parameters", ())),
    )  # fmt: skip


def _named(id: str, gist: str) -> Found:
    """What is named with a few words and, in brackets, its parameters."""
    says, _, listed = gist.removesuffix(")").rpartition(" (")
    names = tuple(listed.split(", ")) if says and gist.endswith(")") else ()
    return Found(id, says if names else gist, weak=True, parameters=names)


class FastMcp(Counted):
    """FastMCP's proxy with its search transform: one search for each need."""

    name = "FastMCP"

    async def search(self, needs: Sequence[str]) -> list[list[Found]]:
        shown = []
        for need in needs:
            self.tally.searches += 1
            text, failed = await self.ask("search_tools", {"query": need})
            shown.append([] if failed else [self._found(one) for one in _listed(text)])
        return shown

    def _found(self, tool: dict[str, Any]) -> Found:
        server, _, name = str(tool["name"]).partition("_")
        acts = (tool.get("annotations") or {}).get("readOnlyHint") is False
        says = str(tool.get("description") or "")
        return Found(f"tool:{server}/{name}", says, tool["inputSchema"], use=str(tool["name"]), acts=acts)

    async def described(self, found: Found) -> Found:
        return found

    async def call(self, found: Found, arguments: dict[str, Any]) -> bool:
        return await self.did("call_tool", {"name": found.use, "arguments": arguments})


class SmartProxy(FastMcp):
    """mcpproxy as it is on PyPI (smart-mcp-proxy), which names tools and lets one tool call them."""

    name = "smart-mcp-proxy"

    async def search(self, needs: Sequence[str]) -> list[list[Found]]:
        shown = []
        for need in needs:
            self.tally.searches += 1
            text, failed = await self.ask("retrieve_tools", {"query": need})
            shown.append([] if failed else [self._found(one) for one in json.loads(text).get("tools", ())])
        return shown

    def _found(self, tool: dict[str, Any]) -> Found:
        server, _, name = str(tool["name"]).partition("_")
        schema = tool.get("input_schema") or tool.get("inputSchema") or tool.get("params") or {}
        says = str(tool.get("description") or "")
        return Found(f"tool:{server}/{name}", says, schema, use=str(tool["name"]))

    async def call(self, found: Found, arguments: dict[str, Any]) -> bool:
        return await self.did("call_tool", {"name": found.use, "args": arguments})


def _listed(text: str) -> list[dict[str, Any]]:
    found = json.loads(text) if text.startswith(("[", "{")) else []
    return found if isinstance(found, list) else list(found.get("result", ()))


FASTMCP = """
import asyncio, json, sys
from fastmcp import Client
from fastmcp.server import create_proxy
from fastmcp.server.transforms.search import BM25SearchTransform
async def main():
    async with Client(json.loads(sys.argv[1])) as client:
        proxy = create_proxy(client, name="peer")
        proxy.add_transform(BM25SearchTransform())
        await proxy.run_async(show_banner=False)
asyncio.run(main())
"""
"""One connection to every server, as the others have: its proxy would start them for each request."""


def prowess_command(python: str, config: Path) -> list[str]:
    return [python, "-m", "prowess", "--config", str(config), "serve", "mcp"]
