"""What a request presents: a token, a one-time link, what was typed into the form, or a cookie.

Above: the door of a process that serves many workspaces, which asks whose it is. Nothing is looked up here.
"""

from dataclasses import dataclass
from typing import Literal, TypeAlias
from urllib.parse import parse_qs

from starlette.datastructures import Headers
from starlette.requests import cookie_parser
from starlette.types import Message, Receive, Scope

from prowess.gateway.access_tokens import WELL_KNOWN
from prowess.gateway.http import PATH
from prowess.web.identity import COOKIE, SECURE_COOKIE

ProofKind: TypeAlias = Literal["agent", "token", "link", "session"]

LOGIN = "/login"
STATIC = "/static/"
WORKSPACE = "prowess-workspace"
"""The header in which a token of an identity provider says which of its workspaces is meant."""
LONGEST_FORM = 10_000
"""More bytes than a token and a place to go to ever need."""


@dataclass(frozen=True, slots=True)
class Presented:
    """A text that may prove who somebody is, and as what it may count here."""

    text: str = ""
    kinds: tuple[ProofKind, ...] = ()
    workspace: str = ""
    """Which one is meant, where it is good for several."""


NOTHING = Presented()


def is_for_mcp(scope: Scope) -> bool:
    path = scope["path"]
    return any(path == at or path.startswith(f"{at}/") for at in (PATH, WELL_KNOWN))


async def presented(scope: Scope, receive: Receive) -> tuple[Presented, Receive]:
    """What it presents, and the request's body as it was."""
    headers = Headers(scope=scope)
    kind, _, bearer = headers.get("authorization", "").partition(" ")
    token = bearer.strip() if kind.lower() == "bearer" else ""
    if is_for_mcp(scope):
        return Presented(token, ("agent",)), receive
    if scope["path"].startswith((STATIC, f"{LOGIN}/")):  # who is on the way to a provider is nobody yet
        return NOTHING, receive
    if scope["path"] == LOGIN:
        if scope["method"] != "POST":
            return Presented(_first(scope["query_string"], "link"), ("link", "token")), receive
        body, again = await _read(receive)
        return Presented(_first(body, "token"), ("token", "link")), again
    if token:
        return Presented(token, ("token", "agent"), headers.get(WORKSPACE, "")), receive
    cookies = cookie_parser(headers.get("cookie", ""))
    return Presented(cookies.get(SECURE_COOKIE) or cookies.get(COOKIE, ""), ("session",)), receive


def _first(pairs: bytes, name: str) -> str:
    return parse_qs(pairs.decode("latin-1")).get(name, [""])[0].strip()


async def _read(receive: Receive) -> tuple[bytes, Receive]:
    """The first bytes of a body, and what gives all of it again; a longer one is no form of ours."""
    seen: list[Message] = []
    size = 0
    while size <= LONGEST_FORM:
        message = await receive()
        seen.append(message)
        size += len(message.get("body", b""))
        if message["type"] != "http.request" or not message.get("more_body"):
            break

    async def again() -> Message:
        return seen.pop(0) if seen else await receive()

    text = b"".join(message.get("body", b"") for message in seen)
    return (text if size <= LONGEST_FORM else b""), again
