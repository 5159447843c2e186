"""What happened, in order, tamper-evident.

Above: the engine and every stage that records. Below: the store. Each agent has a chain of its
own and there is one more for what concerns no agent, so agents never wait for each other. An
entry's hash covers the entry and the hash before it; the head of each chain (count and hash) is
kept apart and can be exported, so that an edit, a gap and a cut tail are all found.
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import NamedTuple

import msgspec

from prowess.errors import JournalBroken
from prowess.journal.entry import Entry, Raw, encoded, plain
from prowess.journal.search import EVERYTHING, WRONG, JournalSearch, escaped
from prowess.store.database import Database, Row, Transaction
from prowess.types import Head, JournalEntry

Clock = Callable[[], datetime]

BATCH = 1000
FEWEST_OF_A_CHAIN = 20


class JournalPosition(NamedTuple):
    """Where an entry stands among all: by time, then by chain and number."""

    at: str
    chain: str
    number: int


END = JournalPosition("9999", "", 0)
"""After everything that ever happens."""


def canonical(value: object) -> str:
    """One text for one value: sorted keys, no spaces."""
    return msgspec.json.encode(value, order="deterministic").decode()


def stamp(moment: datetime) -> str:
    """A time as text whose order is the order of time."""
    return moment.astimezone(UTC).isoformat(timespec="microseconds")


def spoken(at: str) -> str:
    """A time that was stamped, as a sentence says it."""
    return f"{at[:16].replace('T', ' ')} UTC"


def entry_hash(previous: str, entry: JournalEntry, data: str) -> str:
    fields = [previous, entry.chain, str(entry.number), entry.at, entry.type, data]
    return hashlib.sha256(canonical(fields).encode()).hexdigest()


class Journal:
    def __init__(self, database: Database, clock: Clock, from_replica: bool = False) -> None:
        """from_replica: for who looks back, and writes nothing that depends on what is found."""
        self._database = database
        self._clock = clock
        self._read = database.from_replica if from_replica else database.read

    def append(self, transaction: Transaction, recorded: Entry | Raw, agent: str = "") -> JournalEntry:
        """Record one thing; it is there when the transaction is, and not before."""
        number, previous, last = _next(transaction, agent)
        type, data, text = recorded.type, plain(recorded), encoded(recorded)
        at = stamp(self._clock())
        moment = at if at > last else _just_after(last)  # a clock that is set back turns no order round
        entry = JournalEntry(chain=agent, number=number, at=at, type=type, data=data, hash="")
        entry = replace(entry, hash=entry_hash(previous, entry, text))
        transaction.run(
            "INSERT INTO journal (workspace, chain, number, at, moment, type, data, hash, trace)"
            " VALUES (:workspace, :chain, :number, :at, :moment, :type, :data, :hash, :trace)",
            chain=agent, number=number, at=at, moment=moment, type=type, data=text, hash=entry.hash,
            trace=recorded.trace,
        )  # fmt: skip
        transaction.run(
            "UPDATE journal_head SET hash = :hash, moment = :moment"
            " WHERE workspace = :workspace AND chain = :chain",
            hash=entry.hash, moment=moment, chain=agent,
        )  # fmt: skip
        return entry

    def record(self, recorded: Entry | Raw, agent: str = "") -> JournalEntry:
        """Append in a transaction of its own."""
        with self._database.writing() as transaction:
            return self.append(transaction, recorded, agent)

    def heads(self) -> tuple[Head, ...]:
        return self._read(heads_of)

    def latest(
        self,
        limit: int = 50,
        agent: str | None = None,
        type: str = "*",
        before: JournalPosition | None = None,
        search: JournalSearch = EVERYTHING,
    ) -> tuple[JournalEntry, ...]:
        """The newest entries (older than a place), oldest first; in `type`, `*` stands for anything."""
        # Only what is equal is found by its index.
        is_type = "type = :pattern" if "*" not in type else "type LIKE :pattern ESCAPE '\\'"
        pattern = type if "*" not in type else escaped(type).replace("*", "%")

        def found(transaction: Transaction) -> list[Row]:
            moment, chain, number = _moment(transaction, before or END)
            return transaction.all(
                "SELECT chain, number, at, type, data, hash FROM journal"
                " WHERE workspace = :workspace AND (:any_agent = 1 OR chain = :chain)"
                f" AND {is_type}"
                " AND (:any_text = 1 OR LOWER(data) LIKE :text ESCAPE '\\')"
                " AND (:any_ending = 1 OR data LIKE :not_ok OR data LIKE :failed OR data LIKE :denied)"
                " AND moment >= :since"
                " AND moment <= :at AND"
                " (moment < :at OR chain < :below OR (chain = :below AND number < :number))"
                " ORDER BY moment DESC, chain DESC, number DESC LIMIT :limit",
                any_agent=int(agent is None), chain=agent or "", pattern=pattern, limit=limit,
                at=moment, below=chain, number=number, any_text=int(not search.text), text=search.pattern,
                any_ending=int(not search.wrong), since=search.since, **WRONG,
            )  # fmt: skip

        return tuple(_entry(row) for row in reversed(self._read(found)))

    def place_back(self, number: int, before: JournalPosition | None = None) -> JournalPosition | None:
        """Where the entry so many before a place stands, or before the end; nothing where there are fewer."""

        def found(transaction: Transaction) -> Row | None:
            moment, chain, below = _moment(transaction, before or END)
            return transaction.one(
                "SELECT moment, chain, number FROM journal WHERE workspace = :workspace AND moment <= :at"
                " AND (moment < :at OR chain < :chain OR (chain = :chain AND number < :below))"
                " ORDER BY moment DESC, chain DESC, number DESC LIMIT 1 OFFSET :number",
                at=moment, chain=chain, below=below, number=number,
            )  # fmt: skip

        row = self._read(found)
        return JournalPosition(*row) if row else None

    def trace(self, id: str) -> tuple[JournalEntry, ...]:
        """What belongs to one request (an offer or a search), in order of time."""
        rows = self._read(
            lambda transaction: transaction.all(
                "SELECT chain, number, at, type, data, hash FROM journal"
                " WHERE workspace = :workspace AND trace = :trace"
                " ORDER BY moment, chain, number",
                trace=id,
            )
        )
        return tuple(_entry(row) for row in rows)

    def per_hour(self, type: str, since: datetime) -> dict[str, int]:
        """How often something happened in each hour, by the hour's text as `stamp` begins it."""
        rows = self._read(
            lambda transaction: transaction.all(
                "SELECT substr(at, 1, 13), COUNT(*) FROM journal"
                " WHERE workspace = :workspace AND type = :type AND moment >= :since AND at >= :since"
                " GROUP BY substr(at, 1, 13)",
                type=type,
                since=stamp(since),
            )
        )
        return {hour: int(count) for hour, count in rows}

    def after(self, seen: Iterable[Head], most: int | None = None) -> tuple[JournalEntry, ...]:
        """What is beyond these heads (at most so much of each chain), in order of time."""
        count = {head.chain: head.count for head in seen}

        def rows(transaction: Transaction) -> list[Row]:
            ahead = (head for head in heads_of(transaction) if head.count > count.get(head.chain, 0))
            each = (_rows(transaction, head.chain, count.get(head.chain, 0)) for head in ahead)
            return [row for one in each for row in islice(one, most)]

        found = [(JournalPosition(row[6], row[0], row[1]), _entry(row[:6])) for row in self._read(rows)]
        return tuple(entry for _, entry in sorted(found, key=lambda each: each[0]))

    def portion(self, seen: Iterable[Head], until: Iterable[Head], most: int) -> tuple[JournalEntry, ...]:
        """The next entries between these heads in the order of all, at most so many; empty at the end.

        Each has the time at which it stands in that order: of two entries of a chain, the later one has the
        later time, also where a clock was set back.
        """
        known = {head.chain: head.count for head in seen}
        ahead = [head for head in until if head.count > known.get(head.chain, 0)]
        each = max(FEWEST_OF_A_CHAIN, most // max(1, len(ahead)))
        found: list[tuple[JournalPosition, JournalEntry]] = []
        bound = END
        with self._database.reading() as transaction:
            for head in ahead:
                start = known.get(head.chain, 0)
                placed = _placed(islice(_rows(transaction, head.chain, start), min(each, head.count - start)))
                found += placed
                if start + len(placed) < head.count:
                    bound = min(bound, placed[-1][0])  # what comes after this is not known here
        found.sort(key=lambda one: one[0])
        return tuple(replace(entry, at=place.at) for place, entry in found if place <= bound)[:most]

    def verify(self, exported: Iterable[Head] = ()) -> tuple[Head, ...]:
        """Walk every chain to its head; raise `JournalBroken` at the first thing that is wrong."""
        with self._database.reading() as transaction:
            return verified(transaction, exported)


def verified(transaction: Transaction, exported: Iterable[Head] = ()) -> tuple[Head, ...]:
    """Walk every chain as one transaction sees it."""
    expected = {head.chain: head for head in exported}
    heads, archived = heads_of(transaction), {head.chain: head for head in archived_heads(transaction)}
    for (chain,) in transaction.all("SELECT DISTINCT chain FROM journal WHERE workspace = :workspace"):
        if chain not in {head.chain for head in heads}:
            raise JournalBroken(chain, 1, "its head is missing")
    for head in heads:
        begun = archived.get(head.chain, Head(head.chain, 0, ""))
        _verify_chain(transaction, begun, head, expected.pop(head.chain, None))
    for lost in expected.values():
        if lost.count:
            raise JournalBroken(lost.chain, lost.count, "the chain was exported and is gone")
    return heads


def _moment(transaction: Transaction, place: JournalPosition) -> JournalPosition:
    """Where an entry stands in the order that `latest` goes by; one that is not there, by its time."""
    row = transaction.one(
        "SELECT moment FROM journal WHERE workspace = :workspace AND chain = :chain AND number = :number",
        chain=place.chain, number=place.number,
    )  # fmt: skip
    return place._replace(at=row[0]) if row else place


def _just_after(moment: str) -> str:
    return stamp(datetime.fromisoformat(moment) + timedelta(microseconds=1))


def _placed(rows: Iterable[Row]) -> list[tuple[JournalPosition, JournalEntry]]:
    """Entries of one chain, each with a place that is never before the one before it."""
    found: list[tuple[JournalPosition, JournalEntry]] = []
    last = ""
    for row in rows:
        last = max(last, row[6])
        found.append((JournalPosition(last, row[0], row[1]), _entry(row[:6])))
    return found


def _next(transaction: Transaction, chain: str) -> tuple[int, str, str]:
    """Take the next number of a chain; its head stays locked until the transaction ends."""
    take = (
        "UPDATE journal_head SET count = count + 1"
        " WHERE workspace = :workspace AND chain = :chain RETURNING count, hash, moment"
    )
    row = transaction.one(take, chain=chain)
    if row is None:
        transaction.run(
            "INSERT INTO journal_head (workspace, chain, count, hash) VALUES (:workspace, :chain, 0, '')"
            " ON CONFLICT DO NOTHING",
            chain=chain,
        )
        row = transaction.one(take, chain=chain)
    assert row is not None, "the head was inserted above"
    return row[0], row[1], row[2]


def heads_of(transaction: Transaction) -> tuple[Head, ...]:
    return tuple(
        Head(*row)
        for row in transaction.all(
            "SELECT chain, count, hash FROM journal_head WHERE workspace = :workspace ORDER BY chain"
        )
    )


def count_of(transaction: Transaction, chain: str) -> int:
    """The number of the last entry of a chain."""
    row = transaction.one(
        "SELECT count FROM journal_head WHERE workspace = :workspace AND chain = :chain", chain=chain
    )
    return int(row[0]) if row else 0


def _rows(transaction: Transaction, chain: str, after: int) -> Iterator[Row]:
    """The entries of one chain beyond a number, a batch at a time."""
    while True:
        rows = transaction.all(
            "SELECT chain, number, at, type, data, hash, moment FROM journal"
            " WHERE workspace = :workspace AND chain = :chain AND number > :after"
            " ORDER BY number LIMIT :limit",
            chain=chain, after=after, limit=BATCH,
        )  # fmt: skip
        yield from rows
        if len(rows) < BATCH:
            return
        after = rows[-1][1]


def _entry(row: Row) -> JournalEntry:
    chain, number, at, type, data, hash = row
    return JournalEntry(
        chain=chain, number=number, at=at, type=type, data=msgspec.json.decode(data), hash=hash
    )


def archived_heads(transaction: Transaction) -> tuple[Head, ...]:
    """How far each chain lies in archives."""
    rows = transaction.all("SELECT chain, count, hash FROM journal_archive WHERE workspace = :workspace")
    return tuple(Head(*row) for row in rows)


def entries_until(transaction: Transaction, head: Head, before: str) -> int:
    """The number of the last entry of a chain that is older than a time, as are all before it."""
    row = transaction.one(
        "SELECT MIN(number) FROM journal"
        " WHERE workspace = :workspace AND chain = :chain AND moment >= :before",
        chain=head.chain, before=before,
    )  # fmt: skip
    return row[0] - 1 if row and row[0] is not None else head.count


def stored_rows(transaction: Transaction, chain: str, after: int, until: int) -> Iterator[Row]:
    """The entries of a chain as they are stored: chain, number, at, type, data, hash, moment, trace."""
    for start in range(after, until, BATCH):
        yield from transaction.all(
            "SELECT chain, number, at, type, data, hash, moment, trace FROM journal"
            " WHERE workspace = :workspace AND chain = :chain AND number > :after AND number <= :until"
            " ORDER BY number",
            chain=chain, after=start, until=min(until, start + BATCH),
        )  # fmt: skip


def drop_archived(transaction: Transaction, head: Head, most: int) -> int:
    """Delete some of the entries up to a head, the oldest first; returns how many."""
    row = transaction.one(
        "SELECT MIN(number) FROM journal WHERE workspace = :workspace AND chain = :chain", chain=head.chain
    )
    if row is None or row[0] is None or row[0] > head.count:
        return 0
    return transaction.run(
        "DELETE FROM journal WHERE workspace = :workspace AND chain = :chain AND number <= :until",
        chain=head.chain, until=min(head.count, row[0] - 1 + most),
    )  # fmt: skip


def _verify_chain(transaction: Transaction, begun: Head, head: Head, exported: Head | None) -> None:
    previous, number = begun.hash, begun.count
    for row in _rows(transaction, head.chain, begun.count):
        number += 1
        chain, found, at, type, data, stored = row[:6]
        if found != number:
            raise JournalBroken(head.chain, number, "it is missing")
        entry = JournalEntry(chain=chain, number=number, at=at, type=type, data={}, hash=stored)
        if entry_hash(previous, entry, data) != stored:
            raise JournalBroken(head.chain, number, "it was edited after it was written")
        if exported and exported.count == number and exported.hash != stored:
            raise JournalBroken(head.chain, number, "it is not the entry whose hash was exported")
        previous = stored
    if number != head.count or previous != head.hash:
        raise JournalBroken(head.chain, number + 1, f"the chain ends here, but its head counts {head.count}")
    if exported and exported.count > number:
        raise JournalBroken(
            head.chain, number + 1, f"the chain ends here; {exported.count} entries were exported"
        )
