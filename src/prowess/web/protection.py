"""What stands before every request: Host, rate, size, who is asking, Origin and CSRF, in order of cost.

Everything that goes out gets the headers that keep a browser from running, framing or storing what it
should not. A body is read here, up to a limit, so that nothing behind this ever reads an endless one.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import parse_qs

import anyio
from anyio import to_thread
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request, cookie_parser
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from prowess.engine.engine import Engine
from prowess.errors import Refused
from prowess.listen import LOOPBACK, Rate, allowed_origins, is_among
from prowess.web.identity import CALLER, COOKIE, SECURE_COOKIE, Requester, is_csrf, recognise
from prowess.web.problems import answer_to
from prowess.web.users import Users

if TYPE_CHECKING:
    from prowess.web.provider import ProviderFace

THIS_MACHINE = ("127.", "localhost", "[::1]", "::1")
SAFE = ("GET", "HEAD", "OPTIONS")
OPEN = ("/static/", "/login")
"""Where nobody need be known, so that no pass is looked up."""
POLICY = (
    "default-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; object-src 'none';"
    " img-src 'self' data:"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}
FORM = "application/x-www-form-urlencoded"


@dataclass(frozen=True, slots=True)
class RequestLimits:
    hosts: Sequence[str]
    body: int = 1_000_000
    """The most bytes a request may bring."""
    rate: int = 1200
    """The most requests a minute from one address; 0: any."""
    seconds: float = 30.0
    """How long a body may take to arrive."""


LOCAL = RequestLimits(LOOPBACK)


class Protection:
    def __init__(
        self, app: ASGIApp, engine: Engine, people: Users, limits: RequestLimits,
        provider: "ProviderFace | None" = None,
    ) -> None:  # fmt: skip
        self._app = app
        self._provider = provider
        self._engine = engine
        self._people = people
        self._limits = limits
        # A page on another port of this machine is another site, however alike its name is.
        self._origins = allowed_origins([host for host in limits.hosts if not host.startswith(THIS_MACHINE)])
        self._rate = Rate(limits.rate)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        guarded = _with_headers(send)
        try:
            headers = Headers(scope=scope)
            self._check_door(scope, headers)
            body = await self._body(headers, receive)
            caller = await self._caller(scope, headers)
            self._check_origin(scope["method"], headers, caller, body)
        except Refused as refused:
            await answer_to(Request(scope), refused)(scope, receive, guarded)
            return
        await self._app({**scope, CALLER: caller}, _replay(body, receive), guarded)

    def _check_door(self, scope: Scope, headers: Headers) -> None:
        if not is_among(headers.get("host", ""), self._limits.hosts):
            raise Refused(421, "this server does not answer to that Host", "add it to hosts in [web]")
        if b"%00" in scope["query_string"]:
            raise Refused(422, "the query holds a NUL, which no database keeps", "leave it out")
        client = scope.get("client")
        if not self._rate.admits(str(client[0]) if client else ""):
            raise Refused(429, "too many requests", "slow down")

    async def _body(self, headers: Headers, receive: Receive) -> bytes:
        too_large = Refused(413, f"the body is larger than {self._limits.body} bytes", "send less at a time")
        said = headers.get("content-length", "")
        if said.isdigit() and int(said) > self._limits.body:
            raise too_large
        if not said and "transfer-encoding" not in headers:
            return b""
        body = bytearray()
        with anyio.move_on_after(self._limits.seconds):
            while True:
                message = await receive()
                if message["type"] == "http.disconnect":
                    raise Refused(400, "the body broke off", "send it whole")
                body += message.get("body", b"")
                if len(body) > self._limits.body:
                    raise too_large
                if not message.get("more_body"):
                    return bytes(body)
        raise Refused(408, f"the body did not arrive in {self._limits.seconds:g} seconds", "send it again")

    async def _caller(self, scope: Scope, headers: Headers) -> Requester:
        kind, _, token = headers.get("authorization", "").partition(" ")
        bearer = token.strip() if kind.lower() == "bearer" else ""
        session = _session(headers)
        if scope["path"].startswith(OPEN) or not (bearer or session):
            return Requester()
        found = await to_thread.run_sync(recognise, self._people, self._engine, bearer, session)
        if bearer and self._provider and not found.person:
            return Requester(await self._provider.person(bearer, self._engine.internals.database.workspace))
        return found

    def _check_origin(self, method: str, headers: Headers, caller: Requester, body: bytes) -> None:
        """A write must come from our own pages; one that a cookie vouches for must prove it."""
        if method in SAFE:
            return
        origin = headers.get("origin")
        if origin is not None and not self._is_ours(origin, headers):
            raise Refused(403, "this request comes from another site", "use the pages of this server")
        if caller.session and not is_csrf(caller.session, _said_csrf(headers, body)):
            raise Refused(403, "the form is not from this session", "load the page again and repeat it")

    def _is_ours(self, origin: str, headers: Headers) -> bool:
        same = origin.lower().partition("://")[2] == headers.get("host", "").lower()
        return same or is_among(origin, self._origins)


def _said_csrf(headers: Headers, body: bytes) -> str:
    said = headers.get("x-csrf-token", "")
    if said or not headers.get("content-type", "").startswith(FORM):
        return said
    return parse_qs(body.decode("latin-1")).get("csrf", [""])[0]


def _session(headers: Headers) -> str:
    # Others on this machine set cookies too, in any form: what they wrote must not hide ours.
    cookies = cookie_parser(headers.get("cookie", ""))
    return cookies.get(SECURE_COOKIE) or cookies.get(COOKIE, "")


def _replay(body: bytes, receive: Receive) -> Receive:
    """The body that was read, then whatever comes after it."""
    given = False

    async def again() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return again


def _with_headers(send: Send) -> Send:
    async def guarded(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in HEADERS.items():
                headers.setdefault(name, value)
            headers.setdefault("Cache-Control", "no-store")
        await send(message)

    return guarded
