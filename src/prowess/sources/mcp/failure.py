"""Why a server could not be had, and what a person can do about it.

Above: `listing` and the gateway, which connect. Below: what `conduct` remembers. Importing this module
imports the SDK.
"""

import re

import httpx2
from mcp import MCPError
from mcp_types import CONNECTION_CLOSED
from pydantic import ValidationError

from prowess.errors import LoginNeeded, SourceError
from prowess.sources.mcp.address import Address
from prowess.sources.mcp.connection import Party
from prowess.sources.mcp.diagnostics import REMEMBERED_LINE, Conduct
from prowess.sources.mcp.self_check import CHAINED, LOOP_DETECTED, REMEDY
from prowess.sources.names import legible


def cause(error: BaseException) -> BaseException:
    """The error inside the groups that task groups wrap around it."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def explained(error: BaseException, address: Address, conduct: Conduct, party: Party) -> SourceError:
    """What a person is told about a connection that could not be had."""
    inner = cause(error)
    if isinstance(inner, SourceError):
        return inner
    if conduct.status == LOOP_DETECTED or CHAINED.encode() in conduct.stderr:
        return SourceError(address.place, CHAINED, REMEDY)
    if isinstance(inner, MCPError) and conduct.status == 401 and party.login:
        remedy = f"run: prowess login {party.login}; or put a token into `headers`"
        return LoginNeeded(address.place, f"the server wants a login{behaviour(conduct)}", remedy)
    what, remedy = _reason(inner, address, conduct)
    return SourceError(address.place, f"{what}{behaviour(conduct)}", remedy, conduct.output)


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
            return "the server stopped before it had answered", _half_downloaded(conduct) or BY_HAND
        case MCPError():
            return f"the server answered with an error: {brief(error)}", "look at the server's own log"
    kind = type(error).__name__
    return f"the server does not speak the protocol: {kind}", "check that this is an MCP server"


BY_HAND = "start it by hand to see why it stops"
NPX_FOLDER = re.compile(r"Cannot find (?:package|module) '([^'\n]*[/\\]_npx[/\\]\w+)")


def _half_downloaded(conduct: Conduct) -> str:
    """What to do about a package whose download was cut off: npx never mends one by itself."""
    found = NPX_FOLDER.search(conduct.stderr.decode(errors="replace"))
    return f"its download was cut off: remove {found[1]}, then sync again" if found else ""


BROUGHT_BY = {"npx": "Node.js", "node": "Node.js", "uvx": "uv", "bunx": "Bun", "dnx": ".NET"}
"""The programs that start most servers, and what a person installs to have them."""


def _not_started(error: OSError | ValueError, address: Address) -> tuple[str, str]:
    if isinstance(error, ValueError):
        return f"the command cannot be started: {error}", "correct `command`, `args` or `env`"
    if address.cwd and error.filename == address.cwd:
        return f"it cannot be started in the folder {address.cwd!r}: {error.strerror}", "correct `cwd`"
    if isinstance(error, FileNotFoundError):
        what = f"{BROUGHT_BY[address.command]}, which brings it" if address.command in BROUGHT_BY else "it"
        return f"there is no command {address.command!r}", f"install {what}, or correct `command`"
    return f"the command cannot be started: {error.strerror}", "make it executable, or correct `command`"


def brief(error: MCPError) -> str:
    """Its first line: a parser's message goes on with what it could not parse."""
    return legible(error.message.partition("\n")[0], REMEMBERED_LINE)


def _http_remedy(status: int) -> str:
    if status in (401, 403):
        return "put what the server asks for into `headers`, as a reference to the environment"
    return "check that `url` is right and that the server is well"


def behaviour(conduct: Conduct) -> str:
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
