"""The application: pages and API over one engine, behind one protection."""

from hashlib import blake2b
from importlib.metadata import version
from typing import TYPE_CHECKING

import msgspec
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Mount, Route

from prowess.engine.engine import Engine
from prowess.errors import ProwessError
from prowess.journal import Clock
from prowess.opening import now
from prowess.operations.operation import Table
from prowess.web import page, signin
from prowess.web.dispatch import ROOT, Api, ApiContext
from prowess.web.idempotency import Answers
from prowess.web.openapi import document
from prowess.web.operations import everything
from prowess.web.pages import (
    agent,
    alerts,
    approvals,
    ask,
    capability,
    catalogue,
    digest,
    evolution,
    graph,
    injections,
    journal,
    learning,
    offers,
    overview,
    policy,
    policy_change,
    quarantine,
    server_changes,
    server_login,
    servers,
    try_tool,
    welcome,
)
from prowess.web.problems import answer_to, handle
from prowess.web.protection import HEADERS, LOCAL, Protection, RequestLimits
from prowess.web.server_logins import ServerLogins
from prowess.web.stream import Streams
from prowess.web.users import Users

if TYPE_CHECKING:
    from prowess.web.provider import ProviderFace

PAGES = (
    overview,
    agent,
    catalogue,
    capability,
    ask,
    graph,
    policy,
    policy_change,
    servers,
    server_changes,
    server_login,
    try_tool,
    injections,
    evolution,
    learning,
    offers,
    journal,
    quarantine,
    approvals,
    alerts,
    digest,
    welcome,
)
SMALLEST_COMPRESSED = 1000


def create_app(
    engine: Engine,
    limits: RequestLimits = LOCAL,
    clock: Clock = now,
    secure: bool = False,
    streams: Streams | None = None,
    provider: "ProviderFace | None" = None,
) -> Starlette:
    """Everything the web face serves; `secure` cookies reach only browsers that speak TLS with us.

    provider: where people sign in besides.
    """
    database = engine.internals.database
    people = Users(database, engine.internals.journal, clock)
    table = everything()
    api = Api(ApiContext(engine, people, Answers(database, clock), table, streams or Streams()))
    app = Starlette(
        routes=[_described(table), Mount(ROOT, api), *_signing_in(provider), *_pages(), *page.FILES],
        middleware=[
            Middleware(GZipMiddleware, minimum_size=SMALLEST_COMPRESSED),
            Middleware(Protection, engine=engine, people=people, limits=limits, provider=provider),
        ],
        exception_handlers={ProwessError: handle, HTTPException: handle, Exception: _failed},
    )
    app.state.engine = engine
    app.state.clock = clock
    app.state.people = people
    app.state.secure = secure
    app.state.logins = ServerLogins()
    app.state.provider = provider
    return app


def _described(table: Table) -> Route:
    """The document, made once; it tells nothing that the source does not, so anybody may read it."""
    text = msgspec.json.encode(document(table, version("prowess")))
    tag = f'W/"{blake2b(text, digest_size=12).hexdigest()}"'

    def described(request: Request) -> Response:
        headers = {"ETag": tag, "Cache-Control": "no-cache"}
        if request.headers.get("if-none-match") == tag:
            return Response(status_code=304, headers=headers)
        return Response(text, 200, headers, media_type="application/json")

    return Route(f"{ROOT}/openapi.json", described)


async def _failed(request: Request, failure: Exception) -> Response:
    """What nobody foresaw is answered outside of the protection, so that its headers are put on here."""
    answer = answer_to(request, failure)
    answer.headers.update(HEADERS)
    return answer


def _signing_in(provider: "ProviderFace | None") -> list[BaseRoute]:
    if provider is None:
        return [*signin.ROUTES]
    from prowess.web.provider import routes  # the optional part `oidc`

    return [*signin.ROUTES, *routes(provider)]


def _pages() -> list[BaseRoute]:
    return [route for module in PAGES for route in module.ROUTES]
