"""What happened: entries, the heads of the chains, and whether the record is intact."""

from typing import Annotated

import msgspec

from prowess.engine.request_reports import RequestReport, request_report
from prowess.errors import JournalBroken, NotFound
from prowess.journal import JournalPosition, JournalSearch
from prowess.operations.operation import Call, Limit, Name, NoParams, Number, RequestParams, operation
from prowess.operations.paging import Page, cursor_of, key_of
from prowess.text.secrets import without_secrets
from prowess.types import Head, JournalEntry, Json, Trace

MAX_ENTRIES = 500
Type = Annotated[str, msgspec.Meta(min_length=1, max_length=100)]


class Which(RequestParams, frozen=True, kw_only=True):
    agent: str | None = None
    """Only this agent's chain; empty for what concerns no agent."""
    type: Type = "*"
    """Only entries of this type; * stands for anything."""


class Entries(Which, frozen=True, kw_only=True):
    text: Annotated[str, msgspec.Meta(max_length=200)] = ""
    """Only entries with these words, beside each other, in what is shown of them."""
    since: Annotated[str, msgspec.Meta(max_length=40, pattern=r"^[0-9T:.+Z-]*$")] = ""
    """Only what is not before this time, such as 2026-11-19T08:00."""
    wrong: bool = False
    """Only what failed or was denied."""
    most: Number = 0
    """Look at so many of the newest entries, and go on from there at the cursor; 0: look at all of them."""
    cursor: str = ""
    limit: Limit = 50


class Traced(RequestParams, frozen=True, kw_only=True):
    id: Name
    """An offer, or a search through the gateway."""


class ExportedHead(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A head that was exported earlier."""

    chain: Annotated[str, msgspec.Meta(max_length=200)]
    count: Number
    hash: Annotated[str, msgspec.Meta(max_length=200)]


class KnownHeads(RequestParams, frozen=True, kw_only=True):
    heads: Annotated[tuple[ExportedHead, ...], msgspec.Meta(max_length=1_000)] = ()


class Verified(msgspec.Struct, frozen=True, kw_only=True):
    intact: bool
    entries: int
    heads: tuple[Head, ...]
    problem: str = ""
    remedy: str = ""


@operation("journal.list", "GET /journal", quotes=True, errors=(NotFound,))
def list_entries(call: Call[Entries]) -> Page[JournalEntry]:
    """What happened, the newest first."""
    q = call.params
    before = key_of(q.cursor, JournalPosition) if q.cursor else None
    end = call.engine.internals.history.place_back(q.most, before) if q.most else None
    since = max(q.since, end.at) if end else q.since
    search = JournalSearch(text=q.text, since=since, wrong=q.wrong)
    found = call.engine.journal.latest(q.limit + 1, q.agent, q.type, before, search)[::-1]
    last = found[q.limit - 1] if len(found) > q.limit else None
    # What is taken out of an answer cannot be searched for: who asks would learn it letter by letter.
    shown = tuple(one for one in found[: q.limit] if not q.text or search.is_in(_visible(one.data)))
    if last is None and end and end.at > q.since:
        return Page(shown, cursor_of((end.at, end.chain, end.number)))
    return Page(shown, cursor_of((last.at, last.chain, last.number)) if last else "")


@operation("journal.trace", "GET /journal/trace", quotes=True, errors=(NotFound,))
def trace(call: Call[Traced]) -> Trace:
    """One request, from what the model was shown to what came of it."""
    return call.engine.trace(call.params.id)


@operation("requests.show", "GET /requests/{id}", quotes=True, errors=(NotFound,))
def show_request(call: Call[NoParams]) -> RequestReport:
    """One request put together: what was offered and why, its calls and decisions, what was learnt."""
    return request_report(call.engine.internals, call.path["id"])


@operation("journal.heads", "GET /journal/heads")
def list_heads(call: Call[NoParams]) -> tuple[Head, ...]:
    """The end of each chain, to keep elsewhere."""
    return call.engine.journal.heads()


@operation("journal.after", "POST /journal/after", reads=True, quotes=True)
def list_after(call: Call[KnownHeads]) -> tuple[JournalEntry, ...]:
    """What came after heads that are known, in order of time; at most 500 entries of each chain."""
    return call.engine.journal.after(_heads(call.params), MAX_ENTRIES)


@operation("journal.verify", "POST /journal/verify", reads=True, slow=True)
def verify(call: Call[KnownHeads]) -> Verified:
    """Whether the record is intact, and agrees with heads kept."""
    try:
        found = call.engine.journal.verify(_heads(call.params))
    except JournalBroken as broken:
        return Verified(intact=False, entries=0, heads=(), problem=broken.message, remedy=broken.remedy)
    return Verified(intact=True, entries=sum(head.count for head in found), heads=found)


def _visible(value: Json) -> Json:
    """The data of an entry without credentials."""
    if isinstance(value, dict):
        return {name: _visible(part) for name, part in value.items()}
    if isinstance(value, list):
        return [_visible(part) for part in value]
    return without_secrets(value) if isinstance(value, str) else value


def _heads(known: KnownHeads) -> tuple[Head, ...]:
    return tuple(Head(head.chain, head.count, head.hash) for head in known.heads)
