"""The gateway over HTTP: streamable HTTP on loopback, or anywhere for agents that bring a token.

A request is let in by the rate of its address, its token, the rate of its agent, its Host and Origin and
its size. As soon as one token is in use, every request needs one: else an agent could drop its own to
become another.
"""

import time
from collections.abc import MutableMapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Any

import anyio
import uvicorn
from anyio import to_thread
from mcp.server import ServerRequestContext
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from mcp.server.transport_security import TransportSecuritySettings
from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.types import Receive, Scope, Send

from prowess.calling.caller import Caller
from prowess.gateway.access_tokens import WELL_KNOWN, AccessTokens
from prowess.gateway.gateway import Gateway
from prowess.gateway.server import build
from prowess.listen import Bind, Rate, allowed_hosts, allowed_origins
from prowess.monitoring.monitored import Monitored, Network, ServerState
from prowess.monitoring.stopping import SECONDS_TO_FINISH, StopTimes, serve_until_told
from prowess.sources.mcp.self_check import CHAINED, HEADER, LOOP_DETECTED

CALLER = "prowess.caller"
PATH = "/mcp"
SECONDS_BETWEEN_LOOKS = 1.0
"""How long it may take until the first token closes the door to those without one."""

ANYWHERE = {"Access-Control-Allow-Origin": "*"}
"""Clients in a browser look up where tokens are to be had, too."""


def serve_http(
    gateway: Gateway, bind: Bind, agent: str, looked_at_from: Sequence[Network], times: StopTimes
) -> None:
    """looked_at_from: networks that may ask how the server does, beside this machine."""
    anyio.run(_serve, gateway, bind, agent, looked_at_from, times)


async def _serve(
    gateway: Gateway, bind: Bind, agent: str, looked_at_from: Sequence[Network], times: StopTimes
) -> None:
    # The access log is off: it would be the only place where a request's address is written.
    database = gateway.engine.internals.database
    state = ServerState(database.check, database.gauges)
    app = Monitored(application(gateway, bind, agent), state, looked_at_from)
    config = uvicorn.Config(
        app,
        bind.host,
        bind.port,
        access_log=False,
        log_level="warning",
        timeout_graceful_shutdown=SECONDS_TO_FINISH,
    )
    async with gateway.running():
        await serve_until_told(app, config, times)


def application(gateway: Gateway, bind: Bind, agent: str | None) -> "Door":
    """What answers at `PATH`; without an `agent`, nobody is let in who has no token."""
    server = build(gateway, caller_of)
    hosts = allowed_hosts(bind, gateway.config.hosts)
    security = TransportSecuritySettings(
        allowed_hosts=list(hosts), allowed_origins=list(allowed_origins(hosts))
    )
    inner = server.streamable_http_app(streamable_http_path=PATH, transport_security=security, host=bind.host)
    authorization = gateway.config.authorization
    tokens = AccessTokens(authorization) if authorization else None
    # Who has an identity provider wants nobody in who has no token of it.
    is_open = bool(agent) and bind.is_loopback and tokens is None
    return Door(inner, gateway, Caller(agent, authenticated=False) if is_open and agent else None, tokens)


def caller_of(context: ServerRequestContext[Any]) -> Caller:
    request = context.request
    assert request is not None, "requests over HTTP carry the request"
    caller: Caller = request.scope[CALLER]
    return caller


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a request is not let in, in the words of RFC 6750."""

    status: int
    why: str
    error: str = ""


NO_TOKEN = Refusal(401, "a valid token is needed")


class Door:
    """Lets a request in as an agent, or says why not without saying who is inside."""

    def __init__(
        self, inner: Starlette, gateway: Gateway, anybody: Caller | None, tokens: AccessTokens | None
    ) -> None:
        self._inner = inner
        self._gateway = gateway
        self._anybody = anybody
        self._tokens = tokens
        self._addresses = Rate(gateway.config.rate)
        self._agents = Rate(gateway.config.rate)
        self._in_use = False
        self._looked = -SECONDS_BETWEEN_LOOKS

    def running(self) -> AbstractAsyncContextManager[object]:
        """Sessions are kept while this lasts; a server that tells it of its start does the same."""
        return self._inner.router.lifespan_context(self._inner)

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
        if self._tokens and scope["path"] in (self._tokens.metadata_path, WELL_KNOWN):
            await JSONResponse(self._tokens.metadata, headers=ANYWHERE)(scope, receive, send)
            return
        caller = await self._caller(Headers(scope=scope).get("authorization", ""))
        if isinstance(caller, Refusal):
            await self._sent_away(caller)(scope, receive, send)
            return
        if not self._agents.admits(caller.agent):
            await _refused(429, "too many requests of this agent; slow down")(scope, receive, send)
            return
        user = AuthenticatedUser(AccessToken(token="", client_id=caller.agent, scopes=[]))
        await self._inner({**scope, CALLER: caller, "user": user}, receive, send)

    async def _caller(self, header: str) -> Caller | Refusal:
        kind, _, token = header.partition(" ")
        if kind.lower() == "bearer" and token:
            agent = await to_thread.run_sync(self._gateway.engine.tokens.holder, token.strip())
            if agent:
                return Caller(agent)
            return await self._of_provider(token.strip()) if self._tokens else NO_TOKEN
        if self._anybody is None or await self._tokens_in_use():
            return NO_TOKEN
        return self._anybody

    async def _of_provider(self, token: str) -> Caller | Refusal:
        assert self._tokens is not None
        claims = await self._tokens.claims(token)
        if claims is None:
            return Refusal(401, "a valid token is needed", "invalid_token")
        if not self._tokens.has_scopes(claims):
            return Refusal(403, "the token lacks a scope", "insufficient_scope")
        return self._tokens.caller(claims) or Refusal(403, "this token stands for no agent here")

    def _sent_away(self, refusal: Refusal) -> JSONResponse:
        """The answer that tells a client where tokens are to be had."""
        said = {"error": refusal.error} if refusal.error else {}
        if self._tokens is not None:
            said |= {"scope": " ".join(self._tokens.scopes)} if self._tokens.scopes else {}
            said |= {"resource_metadata": self._tokens.metadata_url}
        wanted = ", ".join(f'{name}="{value}"' for name, value in said.items())
        headers = {"WWW-Authenticate": f"Bearer {wanted}".strip()}
        return JSONResponse({"error": refusal.why}, status_code=refusal.status, headers=headers)

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
    return JSONResponse({"error": why}, status_code=status, headers={"Retry-After": "5"})
