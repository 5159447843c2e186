"""A server that those who run it can look at: `/healthz`, `/readyz` and `/metrics`, before everything else.

`/healthz`: the process answers. `/readyz`: the store does, too. `/metrics`: counts, for Prometheus. They need
no token, so they are answered to this machine alone and to networks that were named; to anybody else they are
addresses at which there is nothing. Each request that passes is counted.
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


class Monitored:
    def __init__(self, app: App, state: ServerState, allowed: Sequence[Network] = ()) -> None:
        self._app = app
        self._state = state
        self._allowed = allowed
        self._counts = RequestCounts()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
        elif scope["path"] in PATHS and scope["method"] in ("GET", "HEAD") and self._may(scope):
            await self._answer(scope["path"], send)
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
        begun, status = time.monotonic(), 500

        async def noting(message: MutableMapping[str, Any]) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        self._counts.running += 1
        try:
            await self._app(scope, receive, noting)
        finally:
            self._counts.running -= 1
            self._counts.answered(_face(scope["path"]), scope["method"], status, time.monotonic() - begun)


def _face(path: str) -> str:
    if path == "/mcp" or path.startswith("/mcp/"):
        return "mcp"
    return "api" if path.startswith("/api/") else "dashboard"


async def _say(send: Send, status: int, text: str, media: bytes = PLAIN) -> None:
    headers = [(b"content-type", media), (b"cache-control", b"no-store")]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": text.encode()})
