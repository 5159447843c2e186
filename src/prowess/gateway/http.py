"""The gateway over HTTP: streamable HTTP on loopback, or anywhere for agents that bring a token.

A request is let in by the rate of its address, its token, the rate of its agent, its Host and Origin and
its size. As soon as one token is in use, every request needs one: else an agent could drop its own to
become another.
"""

import time
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

import anyio
import uvicorn
from anyio import to_thread
from mcp.server import ServerRequestContext
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from mcp.server.transport_security import TransportSecuritySettings
from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from prowess.calling.caller import Caller
from prowess.gateway.gateway import Gateway
from prowess.gateway.server import build
from prowess.listen import Bind, Rate, allowed_hosts, allowed_origins
from prowess.sources.mcp.self_check import CHAINED, HEADER, LOOP_DETECTED

CALLER = "prowess.caller"
PATH = "/mcp"
SECONDS_TO_FINISH = 1
"""How long a request that is being answered may go on when the gateway is told to stop."""
SECONDS_BETWEEN_LOOKS = 1.0
"""How long it may take until the first token closes the door to those without one."""

Holder = Callable[[str], Awaitable[str]]


def serve_http(gateway: Gateway, bind: Bind, agent: str) -> None:
    anyio.run(_serve, gateway, bind, agent)


async def _serve(gateway: Gateway, bind: Bind, agent: str) -> None:
    # The access log is off: it would be the only place where a request's address is written.
    config = uvicorn.Config(
        application(gateway, bind, agent),
        bind.host,
        bind.port,
        access_log=False,
        log_level="warning",
        timeout_graceful_shutdown=SECONDS_TO_FINISH,
    )
    async with gateway.running():
        await uvicorn.Server(config).serve()


def application(gateway: Gateway, bind: Bind, agent: str) -> ASGIApp:
    server = build(gateway, caller_of)
    hosts = allowed_hosts(bind, gateway.config.hosts)
    security = TransportSecuritySettings(
        allowed_hosts=list(hosts), allowed_origins=list(allowed_origins(hosts))
    )
    inner = server.streamable_http_app(streamable_http_path=PATH, transport_security=security, host=bind.host)
    return Door(inner, gateway, None if not bind.is_loopback else Caller(agent, authenticated=False))


def caller_of(context: ServerRequestContext[Any]) -> Caller:
    request = context.request
    assert request is not None, "requests over HTTP carry the request"
    caller: Caller = request.scope[CALLER]
    return caller


class Door:
    """Lets a request in as an agent, or says why not without saying who is inside."""

    def __init__(self, inner: ASGIApp, gateway: Gateway, anybody: Caller | None) -> None:
        self._inner = inner
        self._gateway = gateway
        self._anybody = anybody
        self._addresses = Rate(gateway.config.rate)
        self._agents = Rate(gateway.config.rate)
        self._in_use = False
        self._looked = -SECONDS_BETWEEN_LOOKS

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._inner(scope, receive, send)
            return
        if HEADER in Headers(scope=scope):
            await _refused(LOOP_DETECTED, CHAINED)(scope, receive, send)
            return
        if not self._addresses.admits(_address(scope)):
            await _refused(429, "too many requests; slow down")(scope, receive, send)
            return
        caller = await self._caller(Headers(scope=scope).get("authorization", ""))
        if caller is None:
            await _refused(401, "a valid token is needed")(scope, receive, send)
            return
        if not self._agents.admits(caller.agent):
            await _refused(429, "too many requests of this agent; slow down")(scope, receive, send)
            return
        user = AuthenticatedUser(AccessToken(token="", client_id=caller.agent, scopes=[]))
        await self._inner({**scope, CALLER: caller, "user": user}, receive, send)

    async def _caller(self, header: str) -> Caller | None:
        kind, _, token = header.partition(" ")
        if kind.lower() == "bearer" and token:
            agent = await to_thread.run_sync(self._gateway.engine.tokens.holder, token.strip())
            return Caller(agent) if agent else None
        return None if self._anybody is None or await self._tokens_in_use() else self._anybody

    async def _tokens_in_use(self) -> bool:
        now = time.monotonic()
        if now - self._looked > SECONDS_BETWEEN_LOOKS:
            self._in_use = await to_thread.run_sync(self._gateway.engine.tokens.any_valid)
            self._looked = now
        return self._in_use


def _address(scope: MutableMapping[str, Any]) -> str:
    client = scope.get("client")
    return str(client[0]) if client else ""


def _refused(status: int, why: str) -> JSONResponse:
    headers = {"WWW-Authenticate": "Bearer"} if status == 401 else {"Retry-After": "5"}
    return JSONResponse({"error": why}, status_code=status, headers=headers)
