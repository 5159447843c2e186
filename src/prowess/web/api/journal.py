"""What happened: entries, the heads of the chains, whether the record is intact, and the stream."""

from collections.abc import AsyncIterator, Iterator
from functools import partial
from typing import Annotated

import msgspec

from prowess.errors import JournalBroken
from prowess.journal import JournalPosition
from prowess.types import Head, JournalEntry, Trace
from prowess.web.operations import Call, Limit, Name, Number, Operation, RequestParams
from prowess.web.paging import Page, cursor_of, key_of
from prowess.web.stream import JournalFilter, JournalFollower, counts_at, lines

Type = Annotated[str, msgspec.Meta(min_length=1, max_length=100)]


class Which(RequestParams, frozen=True, kw_only=True):
    agent: str | None = None
    """Only this agent's chain; empty for what concerns no agent."""
    type: Type = "*"
    """Only entries of this type; * stands for anything."""


class Entries(Which, frozen=True, kw_only=True):
    cursor: str = ""
    limit: Limit = 50


class Listening(Which, frozen=True, kw_only=True):
    since: str = ""
    """Begin here, where Last-Event-ID cannot be sent; `start` is the beginning."""


class Traced(RequestParams, frozen=True, kw_only=True):
    id: Name
    """An offer, or a search through the gateway."""


class ExportedHead(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A head that was exported earlier."""

    chain: Annotated[str, msgspec.Meta(max_length=200)]
    count: Number
    hash: Name


class Verify(RequestParams, frozen=True, kw_only=True):
    heads: Annotated[tuple[ExportedHead, ...], msgspec.Meta(max_length=1_000)] = ()


class Verified(msgspec.Struct, frozen=True, kw_only=True):
    intact: bool
    entries: int
    heads: tuple[Head, ...]
    problem: str = ""
    remedy: str = ""


def entries(call: Call) -> Page[JournalEntry]:
    q: Entries = call.query
    before = key_of(q.cursor, JournalPosition) if q.cursor else None
    found = call.engine.journal.latest(q.limit + 1, q.agent, q.type, before)[::-1]
    shown = found[: q.limit]
    last = shown[-1] if len(found) > q.limit else None
    return Page(shown, cursor_of((last.at, last.chain, last.number)) if last else "")


def trace(call: Call) -> Trace:
    return call.engine.trace(call.query.id)


def heads(call: Call) -> tuple[Head, ...]:
    return call.engine.journal.heads()


def verify(call: Call) -> Verified:
    exported = [Head(head.chain, head.count, head.hash) for head in call.body.heads]
    try:
        found = call.engine.journal.verify(exported)
    except JournalBroken as broken:
        return Verified(intact=False, entries=0, heads=(), problem=broken.message, remedy=broken.remedy)
    return Verified(intact=True, entries=sum(head.count for head in found), heads=found)


def export(call: Call) -> Iterator[bytes]:
    return lines(call.engine.journal, JournalFilter(call.query.agent, call.query.type))


def stream(call: Call) -> AsyncIterator[bytes]:
    q: Listening = call.query
    journal = call.engine.journal
    place = call.last_event or q.since
    if place == "start":
        start = {}
    else:
        start = counts_at(place) if place else {head.chain: head.count for head in journal.heads()}
    may_go_on = partial(call.people.is_valid, call.person.pass_id)
    ticket = call.streams.admit(call.person.pass_id or call.person.name)
    return JournalFollower(journal, JournalFilter(q.agent, q.type), start, may_go_on).events(
        call.streams, ticket
    )


OPERATIONS = (
    Operation(id="journal.list", quotes=True, method="GET", path="/journal", run=entries, query=Entries,
              answer=Page[JournalEntry], does="What happened, the newest first"),
    Operation(id="journal.trace", quotes=True, method="GET", path="/journal/trace", run=trace, query=Traced,
              answer=Trace, does="One request, from what the model was shown to what came of it"),
    Operation(id="journal.heads", method="GET", path="/journal/heads", run=heads, answer=tuple[Head, ...],
              does="The end of each chain, to keep elsewhere"),
    Operation(id="journal.verify", slow=True, method="POST", path="/journal/verify", run=verify, body=Verify,
              answer=Verified, reads=True, does="Whether the record is intact, and agrees with heads kept"),
    Operation(id="journal.export", method="GET", path="/journal/export", run=export, query=Which,
              answer=str, media="application/x-ndjson", role="operator", does="Every entry, a line each"),
    Operation(id="journal.stream", method="GET", path="/journal/stream", run=stream, query=Listening,
              answer=str, media="text/event-stream",
              does="What happens, as it happens; Last-Event-ID goes on where a reader stopped"),
)  # fmt: skip
