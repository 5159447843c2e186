"""A workspace that is open: its engine, and the applications that serve its people and agents."""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field

import anyio
from starlette.types import ASGIApp, Receive, Scope, Send

from prowess.engine.engine import Engine
from prowess.gateway.gateway import Gateway
from prowess.gateway.http import application
from prowess.gateway.in_thread import in_thread
from prowess.listen import Bind
from prowess.tenants.presented import is_for_mcp

WebOf = Callable[[Engine], ASGIApp]


@dataclass(slots=True, eq=False)
class Tenant:
    """Serves requests of one workspace, each of whose senders proved that they are of it."""

    web: ASGIApp | None
    mcp: ASGIApp | None
    requests: int = 0
    """How many are being answered now."""
    leaving: anyio.Event = field(default_factory=anyio.Event)
    """Set when it shall close."""
    closed: anyio.Event = field(default_factory=anyio.Event)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self.web is None or (self.mcp is not None and is_for_mcp(scope)):
            assert self.mcp is not None, "a process serves at least one of the two"
            await self.mcp(scope, receive, send)
        else:
            await self.web(scope, receive, send)


@asynccontextmanager
async def with_gateway(
    opening: AbstractContextManager[Gateway], bind: Bind, web: WebOf | None
) -> AsyncIterator[Tenant]:
    async with AsyncExitStack() as stack:
        gateway = await stack.enter_async_context(in_thread(opening))
        door = application(gateway, bind, None)
        await stack.enter_async_context(gateway.running())
        await stack.enter_async_context(door.running())
        yield Tenant(web(gateway.engine) if web else None, door)


@asynccontextmanager
async def without_gateway(opening: AbstractContextManager[Engine], web: WebOf) -> AsyncIterator[Tenant]:
    async with in_thread(opening) as engine:
        yield Tenant(web(engine), None)
