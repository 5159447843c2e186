"""A server that those who run it can look at: `/healthz`, `/readyz` and `/metrics`, before everything else.

`/healthz`: the process answers. `/readyz`: the store does, too, and nobody told the process to stop.
`/metrics`: counts, for Prometheus. They need no token, so they are answered to this machine alone and to
networks that were named; to anybody else they are addresses at which there is nothing. Each request that
passes is counted.
"""

import ipaddress
import logging
import time
from collections.abc import Awaitable, Callable, Mapping, MutableMapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import anyio
from anyio import to_thread

from prowess.errors import ConfigError, ProwessError
from prowess.listen import LOOPBACK, is_among
from prowess.monitoring.counts import RequestCounts, text_of

logger = logging.getLogger("prowess")

Scope: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send: TypeAlias = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App: TypeAlias = Callable[[Scope, Receive, Send], Awaitable[None]]

SECONDS_TO_BE_READY = 3.0
PATHS = ("/healthz", "/readyz", "/metrics")
PROMETHEUS = b"text/plain; version=0.0.4; charset=utf-8"
PLAIN = b"text/plain; charset=utf-8"
Header: TypeAlias = tuple[bytes, bytes]
CLOSE: Header = (b"connection", b"close")

Network: TypeAlias = ipaddress.IPv4Network | ipaddress.IPv6Network


def networks(named: Sequence[str]) -> tuple[Network, ...]:
    """Such as `10.0.0.0/8`, or one address."""
    try:
        return tuple(ipaddress.ip_network(one.strip()) for one in named)
    except ValueError as error:
        remedy = "write a network such as 10.0.0.0/8, or an address"
        raise ConfigError("--monitoring-from", str(error), remedy) from None


@dataclass(frozen=True, slots=True)
class ServerState:
    """What is asked of the server behind."""

    check: Callable[[], None]
    """Raises what keeps it from serving."""
    gauges: Callable[[], Mapping[str, tuple[str, float]]] = dict
    """Name -> what it says, and its value now."""


@dataclass(slots=True, eq=False)
class Stopping:
    """How far a server is that was told to stop."""

    is_told: bool = False
    refuses: bool = False
    calls: int = 0
    """Requests that are being answered, without streams that stand open for news."""


class Monitored:
    def __init__(self, app: App, state: ServerState, allowed: Sequence[Network] = ()) -> None:
        self._app = app
        self._state = state
        self._allowed = allowed
        self._counts = RequestCounts()
        self.stopping = Stopping()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
        elif scope["path"] in PATHS and scope["method"] in ("GET", "HEAD") and self._may(scope):
            await self._answer(scope["path"], send)
        elif self.stopping.refuses:
            await _say(send, 503, "this server is stopping\n", more=(CLOSE, (b"retry-after", b"1")))
        else:
            await self._counted(scope, receive, send)

    def _may(self, scope: Scope) -> bool:
        """This machine asks by its own name; through a proxy on it, others ask by theirs."""
        try:
            address = ipaddress.ip_address((scope.get("client") or ("", 0))[0])
        except ValueError:
            return False
        if any(address in network for network in self._allowed):
            return True
        hosts = [value.decode("latin-1") for name, value in scope["headers"] if name == b"host"]
        return address.is_loopback and all(is_among(host, LOOPBACK) for host in hosts)

    async def _answer(self, path: str, send: Send) -> None:
        if path == "/metrics":
            await _say(send, 200, text_of(self._counts, self._state.gauges()), PROMETHEUS)
        elif path == "/readyz" and self.stopping.is_told:
            await _say(send, 503, "this server is stopping\n")
        elif path == "/healthz" or await self._is_ready():
            await _say(send, 200, "ok\n")
        else:
            await _say(send, 503, "the store does not answer\n")

    async def _is_ready(self) -> bool:
        with anyio.move_on_after(SECONDS_TO_BE_READY):
            try:
                await to_thread.run_sync(self._state.check, abandon_on_cancel=True)
                return True
            except ProwessError as error:
                logger.warning("not ready: %s", error)
        return False

    async def _counted(self, scope: Scope, receive: Receive, send: Send) -> None:
        begun, status, calls = time.monotonic(), 500, 1

        async def noting(message: MutableMapping[str, Any]) -> None:
            nonlocal status, calls
            if message["type"] == "http.response.start":
                status = message["status"]
                if scope["method"] == "GET" and _is_stream(message):
                    self.stopping.calls -= calls
                    calls = 0
                if self.stopping.is_told:  # whoever keeps the connection shall look for another server
                    message = {**message, "headers": [*message.get("headers", ()), CLOSE]}
            await send(message)

        self._counts.running += 1
        self.stopping.calls += 1
        try:
            await self._app(scope, receive, noting)
        finally:
            self._counts.running -= 1
            self.stopping.calls -= calls
            self._counts.answered(_face(scope["path"]), scope["method"], status, time.monotonic() - begun)


def _face(path: str) -> str:
    if path == "/mcp" or path.startswith("/mcp/"):
        return "mcp"
    return "api" if path.startswith("/api/") else "dashboard"


def _is_stream(message: MutableMapping[str, Any]) -> bool:
    types = (value for name, value in message.get("headers", ()) if name.lower() == b"content-type")
    return any(value.startswith(b"text/event-stream") for value in types)


async def _say(send: Send, status: int, text: str, media: bytes = PLAIN, more: Sequence[Header] = ()) -> None:
    headers = [(b"content-type", media), (b"cache-control", b"no-store"), *more]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": text.encode()})
