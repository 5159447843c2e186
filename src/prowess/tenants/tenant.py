"""A workspace that is open: its engine, and the applications that serve its people and agents."""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractContextManager, AsyncExitStack, ExitStack, asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import TypeVar

import anyio
from anyio import to_thread
from starlette.types import ASGIApp, Receive, Scope, Send

from prowess.engine.engine import Engine
from prowess.gateway.gateway import Gateway
from prowess.gateway.http import application
from prowess.listen import Bind
from prowess.tenants.presented import is_for_mcp

Opened = TypeVar("Opened")
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
        gateway = await stack.enter_async_context(_in_thread(opening))
        door = application(gateway, bind, None)
        await stack.enter_async_context(gateway.running())
        await stack.enter_async_context(door.running())
        yield Tenant(web(gateway.engine) if web else None, door)


@asynccontextmanager
async def without_gateway(opening: AbstractContextManager[Engine], web: WebOf) -> AsyncIterator[Tenant]:
    async with _in_thread(opening) as engine:
        yield Tenant(web(engine), None)


@asynccontextmanager
async def _in_thread(opening: AbstractContextManager[Opened]) -> AsyncIterator[Opened]:
    """Opening and closing a store takes a while; others are served meanwhile."""
    with ExitStack() as stack:
        opened = await to_thread.run_sync(partial(stack.enter_context, opening))
        held = stack.pop_all()
    try:
        yield opened
    finally:
        with anyio.CancelScope(shield=True):
            await to_thread.run_sync(held.close)
