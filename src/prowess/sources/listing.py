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
import httpx2
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
from prowess.sources.address import Address
from prowess.sources.conduct import REMEMBERED_LINE, Conduct
from prowess.sources.names import legible
from prowess.sources.upstream import cause, connect

MOST_EMPTY_PAGES = 10

Fetch = Callable[[str | None], Awaitable[PaginatedResult]]


@dataclass(slots=True)
class Listing:
    """What a server offers, in the SDK's types, and what was wrong with the lists themselves."""

    about: str = ""
    tools: list[Tool] = field(default_factory=list)
    prompts: list[Prompt] = field(default_factory=list)
    resources: list[Resource] = field(default_factory=list)
    templates: list[ResourceTemplate] = field(default_factory=list)
    cut: dict[str, str] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)
    complete: bool = False


def survey(address: Address, conduct: Conduct, seconds: float, most: int) -> Listing:
    """List a server from synchronous code, also where the calling thread already runs an event loop."""
    task = partial(list_server, address, conduct, seconds, most)
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


async def list_server(address: Address, conduct: Conduct, seconds: float, most: int) -> Listing:
    """Connect, list everything, disconnect; all of it within the given time."""
    listing = Listing()
    try:
        with anyio.move_on_after(seconds):
            async with connect(address, conduct) as client:
                await _fill(listing, client, most)
    except Exception as error:
        # A server that fails only while it is being left has still answered.
        if not listing.complete:
            raise _explained(cause(error), address, conduct) from error
    if not listing.complete:
        raise SourceError(
            address.place,
            f"the server did not answer within {seconds:g} s{_hints(conduct)}",
            "start it by hand to see what it waits for, or raise `timeout`",
        )
    return listing


async def _fill(listing: Listing, client: Client, most: int) -> None:
    listing.about = _about(client)
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
            listing.failed[name] = f"the server answered with an error: {_brief(error)}"
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


def _explained(error: BaseException, address: Address, conduct: Conduct) -> SourceError:
    what, remedy = _reason(error, address, conduct)
    return SourceError(address.place, f"{what}{_hints(conduct)}", remedy)


def _reason(error: BaseException, address: Address, conduct: Conduct) -> tuple[str, str]:
    """What happened and what to do about it."""
    match error:
        case OSError() | ValueError() if address.command and not isinstance(error, ValidationError):
            return _not_started(error, address)
        case httpx2.UnsupportedProtocol() | httpx2.InvalidURL():
            return "the URL cannot be used", "write one that starts with https:// or http://"
        case httpx2.TransportError():
            return f"the server cannot be reached: {error}", "check that it runs and that `url` is right"
        case MCPError() if conduct.status >= 400:
            return f"the server answered HTTP {conduct.status}", _http_remedy(conduct.status)
        case MCPError() if error.code == CONNECTION_CLOSED and address.command:
            return "the server stopped before it had answered", "start it by hand to see why it stops"
        case MCPError():
            return f"the server answered with an error: {_brief(error)}", "look at the server's own log"
    kind = type(error).__name__
    return f"the server does not speak the protocol: {kind}", "check that this is an MCP server"


def _not_started(error: OSError | ValueError, address: Address) -> tuple[str, str]:
    if isinstance(error, ValueError):
        return f"the command cannot be started: {error}", "correct `command`, `args` or `env`"
    if address.cwd and error.filename == address.cwd:
        return f"it cannot be started in the folder {address.cwd!r}: {error.strerror}", "correct `cwd`"
    if isinstance(error, FileNotFoundError):
        return f"there is no command {address.command!r}", "install it, or correct `command`"
    return f"the command cannot be started: {error.strerror}", "make it executable, or correct `command`"


def _brief(error: MCPError) -> str:
    """Its first line: a parser's message goes on with what it could not parse."""
    return legible(error.message.partition("\n")[0], REMEMBERED_LINE)


def _http_remedy(status: int) -> str:
    if status in (401, 403):
        return "put what the server asks for into `headers`, as a reference to the environment"
    return "check that `url` is right and that the server is well"


def _hints(conduct: Conduct) -> str:
    """What the server did that may explain why it failed."""
    hints = []
    if conduct.exit_code:
        hints.append(f"exit code {conduct.exit_code}")
    if conduct.too_long:
        hints.append("it sent a message without end")
    if conduct.noise:
        hints.append(f"{conduct.noise} lines on its output are not MCP, the first is {conduct.first_noise!r}")
    if conduct.last_words:
        hints.append(f"its last words were {conduct.last_words!r}")
    return f" ({'; '.join(hints)})" if hints else ""
