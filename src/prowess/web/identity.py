"""Who is asking: a person by session or token, an agent by its own token, or nobody.

`protection` finds out once for each request and leaves the answer here; pages and operations ask
`person` or `require`. A form carries `csrf(request)`, which is masked anew each time so that compressing
a page tells nothing about it.
"""

import hmac
import secrets
from base64 import urlsafe_b64decode, urlsafe_b64encode
from dataclasses import dataclass

from starlette.requests import HTTPConnection

from prowess.engine.engine import Engine
from prowess.errors import Refused
from prowess.operations.person import Person, Role
from prowess.web.users import Users

CALLER = "prowess.caller"
COOKIE = "prowess_session"
SECURE_COOKIE = "__Host-prowess_session"
MASK = 32


@dataclass(frozen=True, slots=True)
class Requester:
    """Who sent a request, and the session it came with, if it came with one."""

    person: Person | None = None
    session: str = ""


def recognise(people: Users, engine: Engine, bearer: str, session: str) -> Requester:
    """Who a token or a cookie proves; a token that proves nobody is not helped by a cookie."""
    if bearer:
        if person := people.person(bearer, "token"):
            return Requester(person)
        agent = engine.tokens.holder(bearer)
        return Requester(Person(agent, "agent")) if agent else Requester()
    if session and (person := people.person(session, "session")):
        return Requester(person, session)
    return Requester()


def caller(request: HTTPConnection) -> Requester:
    found: Requester = request.scope.get(CALLER) or Requester()
    return found


def person(request: HTTPConnection) -> Person:
    """The person who is signed in; a page sends anybody else to /login."""
    return require(request, "viewer")


def require(request: HTTPConnection, role: Role) -> Person:
    """The one who asks, if they have at least this role."""
    found = caller(request).person
    if found is None:
        raise Refused(401, "nobody is signed in", "sign in, or send a token: prowess access-token add NAME")
    if not found.may(role):
        raise Refused(403, f"{found.name} is {found.role}; this needs {role}", "ask an admin of this server")
    return found


def csrf(request: HTTPConnection) -> str:
    """What a form must carry to be taken as sent by this session."""
    session = caller(request).session
    if not session:
        return ""
    mask = secrets.token_bytes(MASK)
    return urlsafe_b64encode(mask + _masked(_proof(session), mask)).decode()


def is_csrf(session: str, said: str) -> bool:
    try:
        raw = urlsafe_b64decode(said.encode())
    except ValueError:
        return False
    return hmac.compare_digest(_masked(raw[MASK:], raw[:MASK]), _proof(session))


def _proof(session: str) -> bytes:
    return hmac.digest(session.encode(), b"csrf", "sha256")


def _masked(value: bytes, mask: bytes) -> bytes:
    return bytes(a ^ b for a, b in zip(value, mask, strict=False))
