"""The dispatcher of a process that serves many workspaces: finds out whose request it is, and hands it there.

Whoever proves nothing is answered by an empty workspace that nobody is of, whatever name was said: who looks
from outside cannot tell an unknown workspace from a wrong secret, and opens nothing by asking.
"""

import logging
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import TYPE_CHECKING

from anyio import to_thread
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from prowess.listen import Rate
from prowess.store.database import Database
from prowess.tenants.open_tenants import OpenTenants
from prowess.tenants.presented import WORKSPACE, Presented, presented
from prowess.tenants.tenant import Tenant

if TYPE_CHECKING:
    from prowess.web.provider import ProviderFace

logger = logging.getLogger("prowess")

Recognise = Callable[[Presented], str]
"""The workspace that a request proves to be of, or nothing."""


class TenantDispatcher:
    def __init__(
        self,
        store: Database,
        tenants: OpenTenants,
        strangers: AbstractAsyncContextManager[Tenant],
        recognise: Recognise,
        rate: Rate,
        provider: "ProviderFace | None" = None,
    ) -> None:
        self.store = store
        self.tenants = tenants
        self._opening_strangers = strangers
        self._strangers: ASGIApp | None = None
        self._recognise = recognise
        self._rate = rate
        self._provider = provider

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        async with self._opening_strangers as self._strangers, self.tenants.running():
            yield

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await _begun_elsewhere(receive, send)
        elif scope["type"] == "http":
            await self._serve(scope, receive, send)

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        client = scope.get("client")
        if not self._rate.admits(str(client[0]) if client else ""):
            await _said(429, "too many requests; slow down")(scope, receive, send)
            return
        said, receive = await presented(scope, receive)
        found = await self._workspaces(said) if said.text else ()
        if len(found) > 1:
            await _said(400, f"this token is good for several workspaces; name one as {WORKSPACE}")(
                scope, receive, send
            )
            return
        workspace = next(iter(found), "")
        if not workspace:
            assert self._strangers is not None, "it serves only while it runs"
            await self._strangers(scope, receive, send)
            return
        lending = self.tenants.lent(workspace)
        try:
            tenant = await lending.__aenter__()
        except Exception:  # its own configuration may be wrong in any way; the others are served
            logger.exception("the workspace %s cannot be opened", workspace)
            await _said(503, "this workspace cannot be served now")(scope, receive, send)
            return
        try:
            await tenant(scope, receive, send)
        finally:
            await lending.__aexit__(None, None, None)

    async def _workspaces(self, said: Presented) -> tuple[str, ...]:
        """Those that a request may mean: none where it proves nothing."""
        if workspace := await to_thread.run_sync(self._recognise, said):
            return (workspace,)
        if self._provider is None or "token" not in said.kinds:
            return ()
        mine = await self._provider.workspaces_of(said.text)
        return (said.workspace,) if said.workspace in mine else mine


async def _begun_elsewhere(receive: Receive, send: Send) -> None:
    """A server asks whether it may begin; what there is runs already."""
    while True:
        message = await receive()
        await send({"type": f"{message['type']}.complete"})
        if message["type"] == "lifespan.shutdown":
            return


def _said(status: int, why: str) -> JSONResponse:
    return JSONResponse({"error": why}, status_code=status, headers={"Retry-After": "5"})
