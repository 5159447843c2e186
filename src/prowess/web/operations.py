"""What only a server has: who is asking, people's tokens, and the journal as a stream."""

import sys
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import Annotated, Literal

import msgspec

from prowess.errors import NotFound
from prowess.operations.agents import Days, IssuedTokenAnswer
from prowess.operations.journal import Which
from prowess.operations.operation import Call, NoParams, P, RequestParams, Table, declared_in, operation
from prowess.operations.table import OPERATIONS
from prowess.web.stream import JournalFilter, JournalFollower, Streams, counts_at, lines
from prowess.web.users import Pass, Users


@dataclass(frozen=True, slots=True)
class ServerParts:
    """What a server has besides its engine, for the operations below."""

    people: Users
    streams: Streams
    last_event: str = ""
    """Where a reader of a stream stopped."""


class Me(msgspec.Struct, frozen=True):
    name: str
    role: str


class NewToken(RequestParams, frozen=True, kw_only=True):
    name: Annotated[str, msgspec.Meta(pattern=r"^[\w.@-][\w.@ -]{0,99}$")]
    role: Literal["viewer", "operator", "admin"] = "viewer"
    days: Days = 90


class Listening(Which, frozen=True, kw_only=True):
    since: str = ""
    """Begin here, where Last-Event-ID cannot be sent; `start` is the beginning."""


@operation("me", "GET /me")
def me(call: Call[NoParams]) -> Me:
    """Who is asking, and as what."""
    return Me(call.person.name, call.person.role)


@operation("tokens.list", "GET /tokens", role="admin")
def list_tokens(call: Call[NoParams]) -> tuple[Pass, ...]:
    """The tokens of people, without the tokens themselves."""
    return _parts(call).people.tokens()


@operation("tokens.add", "POST /tokens", role="admin", status=201, signed=True, shown_once=True)
def add_token(call: Call[NewToken]) -> IssuedTokenAnswer:
    """A new token for a person."""
    said = call.params
    issued = _parts(call).people.issue(said.name, said.role, "token", timedelta(days=said.days), call.by)
    return IssuedTokenAnswer(issued.person_pass.id, issued.text, issued.person_pass.expires_at)


@operation("tokens.end", "DELETE /tokens/{id}", role="admin", signed=True, errors=(NotFound,))
def end_token(call: Call[NoParams]) -> Pass:
    """Make a token worthless, and what was opened with it."""
    return _parts(call).people.end(call.path["id"], call.by)


@operation("journal.export", "GET /journal/export", role="operator", media="application/x-ndjson")
def export(call: Call[Which]) -> Iterator[bytes]:
    """Every entry, a line each."""
    return lines(call.engine.journal, JournalFilter(call.params.agent, call.params.type))


@operation("journal.stream", "GET /journal/stream", media="text/event-stream", errors=(NotFound,))
def stream(call: Call[Listening]) -> AsyncIterator[bytes]:
    """What happens, as it happens; Last-Event-ID goes on where a reader stopped."""
    q = call.params
    journal, parts = call.engine.journal, _parts(call)
    place = parts.last_event or q.since
    if place == "start":
        start = {}
    else:
        start = counts_at(place) if place else {head.chain: head.count for head in journal.heads()}
    may_go_on = partial(parts.people.is_current, call.person)
    ticket = parts.streams.admit(call.person.pass_id or call.person.name)
    wanted, changed = JournalFilter(q.agent, q.type), call.engine.internals.database.told
    return JournalFollower(journal, wanted, start, may_go_on, changed).events(parts.streams, ticket)


def _parts(call: Call[P]) -> ServerParts:
    parts: ServerParts = call.server
    return parts


def everything() -> Table:
    """The whole table as a server has it."""
    return Table((*OPERATIONS, *declared_in(sys.modules[__name__])))
