"""Logging in at a server: a page for the person, and an address where the browser comes back to.

Above: `prowess login`, which listens for the browser itself, and the dashboard, to which it comes back.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Protocol
from urllib.parse import parse_qs, urlsplit
from uuid import uuid4

import anyio
from anyio.abc import SocketStream
from mcp.client.auth import AuthorizationCodeResult, OAuthClientProvider, OAuthFlowError
from mcp.shared.auth import OAuthClientInformationFull, OAuthMetadata
from pydantic import AnyUrl

from prowess.errors import SourceError
from prowess.sources.mcp.address import Address
from prowess.sources.mcp.connection import Party
from prowess.sources.mcp.diagnostics import Conduct
from prowess.sources.mcp.failure import cause, explained
from prowess.sources.mcp.listing import Listing, fill
from prowess.sources.mcp.login import Login, about_us, login_file
from prowess.sources.mcp.source import McpSource
from prowess.sources.mcp.upstream import connect

HOST = "127.0.0.1"
PATH = "/callback"
LONGEST_REQUEST = 16 * 1024

Show = Callable[[str], Awaitable[None]]
"""Brings a person to a URL."""


class Callback(Protocol):
    """Where a browser comes back to, with the code that the server gave it."""

    @property
    def url(self) -> str: ...

    async def brought(self) -> Mapping[str, str]:
        """Wait for the browser; the query it came with."""


Waiting = AbstractAsyncContextManager[Callback]


@dataclass(frozen=True, slots=True, kw_only=True)
class LoginRequest:
    """How to log in: the port to come back to, the time a person has, and who we are if that is settled."""

    port: int = 0
    seconds: float = 300.0
    client_id: str = ""
    client_secret: str = ""
    agent: str = ""
    """Whose login it is; without one, that of the agent `default`."""
    mark: str = field(default_factory=lambda: uuid4().hex)
    """Tells this login from others of the same agent."""


async def log_in(
    source: McpSource, show: Show, wanted: LoginRequest, waiting: Waiting | None = None
) -> Listing | None:
    """Let a person log in; returns what the server then offers, or nothing if it wants no login."""
    address = _address(source)
    kept = login_file(source.name, address.url, source.environment, wanted.agent)
    # Until it has worked, the old login stays.
    login = Login(kept.with_suffix(".new"), making=wanted.mark)
    login.forget()
    conduct = Conduct()
    party = Party(login=source.name)
    listing = Listing()
    try:
        async with waiting or returning(wanted.port) as back:

            async def shown(url: str) -> None:
                if wanted.client_secret:  # by now it is known how the issuer takes secrets
                    known = _registered(wanted, back.url, provider.context.oauth_metadata)
                    provider.context.client_info = known
                    await login.set_client_info(known)
                await show(url)

            code = partial(_code, back)
            provider = OAuthClientProvider(address.url, about_us(back.url), login, shown, code)
            login.follow(provider.context)
            if wanted.client_id:
                await login.set_client_info(_registered(wanted, back.url, None))
            party = Party(auth=provider, login=source.name)
            with anyio.fail_after(wanted.seconds):
                async with connect(address, conduct, party) as client:
                    await fill(listing, client, source.max_items)
        if not (login.exists and await login.get_tokens()):
            return None
        login.file.replace(kept)
    except Exception as error:
        raise _failure(error, source, partial(explained, error, address, conduct, party)) from error
    finally:
        login.forget()
    return listing


def _address(source: McpSource) -> Address:
    address = source.address.resolve(source.environment)
    if not address.url:
        raise SourceError(source.name, "is started as a command", "only servers with a `url` have logins")
    return address


def _registered(
    wanted: LoginRequest, redirect: str, issuer: OAuthMetadata | None
) -> OAuthClientInformationFull:
    taken = (issuer.token_endpoint_auth_methods_supported if issuer else None) or ["client_secret_basic"]
    by_secret = "client_secret_basic" if "client_secret_basic" in taken else "client_secret_post"
    return OAuthClientInformationFull(
        client_id=wanted.client_id,
        client_secret=wanted.client_secret or None,
        redirect_uris=[AnyUrl(redirect)],
        token_endpoint_auth_method=by_secret if wanted.client_secret else "none",
    )


def _failure(error: Exception, source: McpSource, otherwise: Callable[[], SourceError]) -> SourceError:
    match cause(error):
        case TimeoutError():
            return SourceError(source.name, "nobody logged in in time", "try again")
        case OAuthFlowError() as refused:
            what = f"the login failed: {source.safe(str(refused)[:300])}"
            return SourceError(source.name, what, "try again; some servers want --client-id")
        case OSError() as closed if closed.errno:
            return SourceError(source.name, f"cannot listen: {closed.strerror}", "choose another --port")
    return otherwise()


async def _code(back: Callback) -> AuthorizationCodeResult:
    """What a browser came back with."""
    query = await back.brought()
    if "error" in query:
        raise OAuthFlowError(f"the server said: {query.get('error_description') or query['error']}")
    return AuthorizationCodeResult(code=query.get("code", ""), state=query.get("state"), iss=query.get("iss"))


# --- where the browser comes back to -----------------------------------------------------------


@dataclass(slots=True)
class Returning:
    """An address on this machine that waits for one browser."""

    url: str
    _came: anyio.Event = field(default_factory=anyio.Event)
    _brought: dict[str, str] = field(default_factory=dict)

    async def brought(self) -> Mapping[str, str]:
        await self._came.wait()
        return self._brought

    async def serve(self, stream: SocketStream) -> None:
        async with stream:
            target = await _target(stream)
            found = target.path == PATH and not self._came.is_set()
            if found:
                self._brought = {name: values[0] for name, values in parse_qs(target.query).items()}
            text = "You can close this page and go back to the terminal." if found else "Nothing is here."
            status = "200 OK" if found else "404 Not Found"
            head = f"HTTP/1.1 {status}\r\nContent-Type: text/plain\r\nContent-Length: {len(text)}\r\n"
            await stream.send(f"{head}Connection: close\r\n\r\n{text}".encode())
            if found:
                self._came.set()


@asynccontextmanager
async def returning(port: int) -> AsyncIterator[Returning]:
    async with await anyio.create_tcp_listener(local_host=HOST, local_port=port) as listener:
        bound = listener.extra(anyio.abc.SocketAttribute.local_port)
        back = Returning(f"http://{HOST}:{bound}{PATH}")
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(listener.serve, back.serve)
            yield back
            tasks.cancel_scope.cancel()


async def _target(stream: SocketStream) -> "_Target":
    received = b""
    try:
        while b"\r\n\r\n" not in received and len(received) < LONGEST_REQUEST:
            received += await stream.receive()
    except anyio.EndOfStream:
        return _Target("", "")
    words = received.partition(b"\r\n")[0].decode("latin-1").split(" ")
    parts = urlsplit(words[1]) if len(words) == 3 and words[0] == "GET" else urlsplit("")
    return _Target(parts.path, parts.query)


@dataclass(frozen=True, slots=True)
class _Target:
    path: str
    query: str
