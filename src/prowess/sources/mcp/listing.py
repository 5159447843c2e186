"""Everything one MCP server offers, asked for page by page.

Above: the `mcp` source, which turns it into capabilities; the gateway, which keeps it current.
Below: `upstream`, which connects. Importing this module imports the SDK. A server that never stops
answering, never starts, or fails in one of its lists costs a bounded time and that list alone.
"""

from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial

import anyio
from mcp import Client, MCPError
from mcp_types import (
    CONNECTION_CLOSED,
    METHOD_NOT_FOUND,
    PaginatedResult,
    Prompt,
    Resource,
    ResourceTemplate,
    Tool,
)
from pydantic import ValidationError

from prowess.errors import SourceError
from prowess.sources.mcp.address import Address
from prowess.sources.mcp.connection import Party
from prowess.sources.mcp.diagnostics import Conduct
from prowess.sources.mcp.failure import behaviour, brief, explained
from prowess.sources.mcp.upstream import connect

MOST_EMPTY_PAGES = 10

Fetch = Callable[[str | None], Awaitable[PaginatedResult]]


@dataclass(slots=True)
class Listing:
    """What a server offers, in the SDK's types, and what was wrong with the lists themselves."""

    about: str = ""
    server: str = ""
    """What the server says it is: its name and version."""
    tools: list[Tool] = field(default_factory=list)
    prompts: list[Prompt] = field(default_factory=list)
    resources: list[Resource] = field(default_factory=list)
    templates: list[ResourceTemplate] = field(default_factory=list)
    cut: dict[str, str] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)
    complete: bool = False


def survey(address: Address, conduct: Conduct, party: Party, seconds: float, most: int) -> Listing:
    """List a server from synchronous code, also where the calling thread already runs an event loop."""
    task = partial(list_server, address, conduct, party, seconds, most)
    if not _in_event_loop():
        return anyio.run(task)
    with ThreadPoolExecutor(max_workers=1) as thread:
        return thread.submit(anyio.run, task).result()


def _in_event_loop() -> bool:
    try:
        anyio.get_current_task()
    except RuntimeError:
        return False
    return True


async def list_server(address: Address, conduct: Conduct, party: Party, seconds: float, most: int) -> Listing:
    """Connect, list everything, disconnect; all of it within the given time."""
    listing = Listing()
    try:
        with anyio.move_on_after(seconds):
            async with connect(address, conduct, party) as client:
                await fill(listing, client, most)
    except Exception as error:
        # A server that fails only while it is being left has still answered.
        if not listing.complete:
            raise explained(error, address, conduct, party) from error
    if not listing.complete:
        raise SourceError(
            address.place,
            f"the server did not answer within {seconds:g} s{behaviour(conduct)}",
            "start it by hand to see what it waits for, or raise `timeout`",
            conduct.output,
        )
    return listing


async def fill(listing: Listing, client: Client, most: int) -> None:
    """Ask a connected server for everything it offers."""
    listing.about = _about(client)
    info = client.server_info
    listing.server = " ".join(word for word in (info.name, info.version) if word) if info else ""
    offers = client.server_capabilities
    # Some servers offer tools without declaring that they do.
    await _list(listing, "tools", lambda cursor: client.list_tools(cursor=cursor), most)
    if offers.prompts is not None:
        await _list(listing, "prompts", lambda cursor: client.list_prompts(cursor=cursor), most)
    if offers.resources is not None:
        await _list(listing, "resources", lambda cursor: client.list_resources(cursor=cursor), most)
        await _list(listing, "templates", lambda cursor: client.list_resource_templates(cursor=cursor), most)
    listing.complete = True


async def _list(listing: Listing, name: str, fetch: Fetch, most: int) -> None:
    """Fill one list; a server that has no such list, or fails in it, may still have the others."""
    try:
        await _pages(listing, name, fetch, most)
    except MCPError as error:
        if error.code == CONNECTION_CLOSED:
            raise
        if error.code != METHOD_NOT_FOUND:
            listing.failed[name] = f"the server answered with an error: {brief(error)}"
    except ValidationError:
        listing.failed[name] = "the server's answer does not follow the protocol"


async def _pages(listing: Listing, name: str, fetch: Fetch, most: int) -> None:
    entries: list[object] = getattr(listing, name)
    seen: set[str] = set()
    cursor: str | None = None
    empty = 0
    while True:
        page = await fetch(cursor)
        found = getattr(page, "resource_templates" if name == "templates" else name)
        empty = 0 if found else empty + 1
        entries.extend(found)
        cursor = page.next_cursor
        listing.cut |= _endless(name, entries, most, cursor in seen or empty > MOST_EMPTY_PAGES)
        if not cursor or name in listing.cut:
            return
        seen.add(cursor)


def _endless(name: str, entries: list[object], most: int, turning: bool) -> Mapping[str, str]:
    """Whether to stop listening, and what to say then."""
    if len(entries) > most:
        del entries[most:]
        return {name: f"more than {most} {name}, the rest was left out"}
    return {name: f"the pages of {name} never end, reading stopped at {len(entries)}"} if turning else {}


def _about(client: Client) -> str:
    info = client.server_info
    return (info.description or info.title or info.name) if info else ""
