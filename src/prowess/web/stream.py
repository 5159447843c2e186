"""The journal as it grows (server-sent events) and as a whole (lines of JSON).

Chains grow beside each other and an entry of one may be committed after a later one of another, so a
place in the stream is how far every chain was read: that is the id of an event, and `Last-Event-ID` gives
it back. Only the last event of a batch has one: a client that breaks off between gets the batch again,
and never misses an entry.
"""

import fnmatch
import math
import time
import zlib
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Lock

import anyio
import msgspec
from anyio import to_thread

from prowess.engine.namespaces.journal import JournalHistory
from prowess.errors import NotFound, Refused
from prowess.types import Head, JournalEntry
from prowess.waking import Told, waking
from prowess.web.credentials import quoted

BATCH = 500
SECONDS_BETWEEN_LOOKS = 0.25
SECONDS_BETWEEN_SIGNS = 15.0
"""How often a stream says that it lives."""
SECONDS_BETWEEN_CHECKS = 1.0
"""How often it looks whether its reader still may read."""
SECONDS_TO_BEGIN = 10.0
"""How long a place is kept for a stream that was let in."""
LARGEST_PLACE = 1_000_000

Counts = dict[str, int]
"""How far each chain was read."""


@dataclass(eq=False, slots=True)
class Ticket:
    """One stream that was let in."""

    reader: str
    until: float
    """When the place is free again, unless the stream has begun by then."""


@dataclass(slots=True)
class Streams:
    """How many may listen at once, all and each, and for how long until they must come again."""

    most: int = 100
    seconds: float = 3600.0
    most_of_one: int = 20
    now: Callable[[], float] = time.monotonic
    _tickets: list[Ticket] = field(default_factory=list)
    _lock: Lock = field(default_factory=Lock)

    def admit(self, reader: str) -> Ticket:
        """Take a place before an answer begins: afterwards nothing can be refused any more."""
        with self._lock:
            self._tickets = [one for one in self._tickets if one.until > self.now()]
            if len(self._tickets) >= self.most:
                raise Refused(429, f"{self.most} streams are open already", "close one, or poll the journal")
            if sum(one.reader == reader for one in self._tickets) >= self.most_of_one:
                what = f"{self.most_of_one} streams of yours are open already"
                raise Refused(429, what, "close one, or poll the journal")
            ticket = Ticket(reader, self.now() + SECONDS_TO_BEGIN)
            self._tickets.append(ticket)
            return ticket

    @property
    def open(self) -> int:
        """How many listen now."""
        return sum(one.until == math.inf for one in self._tickets)

    @contextmanager
    def listening(self, ticket: Ticket) -> Iterator[None]:
        ticket.until = math.inf
        try:
            yield
        finally:
            ticket.until = -math.inf


@dataclass(frozen=True, slots=True)
class JournalFilter:
    agent: str | None = None
    type: str = "*"

    def has(self, entry: JournalEntry) -> bool:
        right = self.agent is None or entry.chain == self.agent
        return right and (self.type == "*" or fnmatch.fnmatchcase(entry.type, self.type.replace("[", "[[]")))


@dataclass(frozen=True, slots=True)
class JournalFollower:
    """Somebody who listens, and from where on."""

    journal: JournalHistory
    wanted: JournalFilter
    start: Counts
    may_go_on: Callable[[], bool]
    """Whether the reader's pass is still good."""
    changed: Told
    """What says at once that something may have happened."""

    async def events(self, streams: Streams, ticket: Ticket) -> AsyncIterator[bytes]:
        with streams.listening(ticket), waking(self.changed) as pause:
            seen = self.start
            yield f"retry: 1000\nid: {place_of(seen)}\n\n".encode()
            sign, check, end = SECONDS_BETWEEN_SIGNS, SECONDS_BETWEEN_CHECKS, streams.seconds
            began = anyio.current_time()
            while (passed := anyio.current_time() - began) < end:
                if passed >= check:
                    if not await to_thread.run_sync(self.may_go_on):
                        return
                    check = passed + SECONDS_BETWEEN_CHECKS
                entries = await to_thread.run_sync(next_entries, self.journal, seen)
                if entries:
                    seen = moved(seen, entries)
                    yield _events([e for e in entries if self.wanted.has(e)], place_of(seen))
                if passed >= sign:
                    yield b": still here\n\n"
                    sign = passed + SECONDS_BETWEEN_SIGNS
                await pause(min(SECONDS_BETWEEN_LOOKS, end))


def lines(journal: JournalHistory, wanted: JournalFilter) -> Iterator[bytes]:
    """Every entry there is now, each chain in its order; to the letter, as its hash covers it."""
    until = {head.chain: head.count for head in journal.heads()}
    seen: Counts = {}
    while entries := [e for e in next_entries(journal, seen) if e.number <= until.get(e.chain, 0)]:
        seen = moved(seen, entries)
        yield b"".join(msgspec.json.encode(e) + b"\n" for e in entries if wanted.has(e))


def next_entries(journal: JournalHistory, seen: Counts) -> tuple[JournalEntry, ...]:
    return journal.after([Head(chain, count, "") for chain, count in seen.items()], BATCH)


def moved(seen: Counts, entries: Iterable[JournalEntry]) -> Counts:
    after = dict(seen)
    for entry in entries:
        after[entry.chain] = max(entry.number, after.get(entry.chain, 0))
    return after


def place_of(seen: Counts) -> str:
    return urlsafe_b64encode(zlib.compress(msgspec.json.encode(seen))).decode().rstrip("=")


def counts_at(place: str) -> Counts:
    """How far somebody had read who was given this place."""
    try:
        packed = urlsafe_b64decode(place + "=" * (-len(place) % 4))
        text = zlib.decompressobj().decompress(packed, LARGEST_PLACE)
        counts = msgspec.json.decode(text, type=Counts)
    except (ValueError, zlib.error, msgspec.MsgspecError):
        raise NotFound("place in the journal", place[:40], see="begin without Last-Event-ID") from None
    return {chain: max(0, count) for chain, count in counts.items()}


def _events(entries: Sequence[JournalEntry], place: str) -> bytes:
    said = [b"event: entry\ndata: " + msgspec.json.encode(quoted(entry)) + b"\n" for entry in entries]
    # The place goes out even when nothing of the batch is wanted, so that nobody reads it twice.
    last = said.pop() if said else b""
    return b"".join(one + b"\n" for one in said) + last + f"id: {place}\n\n".encode()
