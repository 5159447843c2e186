"""The tables of an index in the store: rows with numbers, segments and posting lists.

Every change of the index has a number, by which a process that holds a part of it reads what it has not seen.
`+gone` keeps SQLite from reading all rows in use where it is asked for a few of them.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from prowess.areas import area_of
from prowess.discovery.names import name_key
from prowess.discovery.stored.codes import Numbers
from prowess.discovery.stored.postings import Floats, Weights
from prowess.store.database import Row, Transaction
from prowess.types import Capability

Columns = Callable[[Capability], Mapping[str, object]]
"""What policy looks at in a capability."""
COLUMNS = (
    "number", "id", "digest", "name_key", "shown_key", "area", "spelling", "kind", "provider", "category",
    "source", "tags", "effects", "joined_grant", "climbs", "requires_auth", "demanding",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class IndexState:
    """Up to which version of the catalogue an index goes, and how often it changed."""

    version: int = 0
    change: int = 0
    next: int = 0
    """The number that the next row gets."""


@dataclass(frozen=True, slots=True)
class Segment:
    """Rows that were indexed together."""

    segment: int
    numbers: Numbers
    lengths: Floats
    """How long the text of each is."""


def state(transaction: Transaction) -> IndexState | None:
    row = transaction.one("SELECT version, change, next FROM stored_index WHERE workspace = :workspace")
    return IndexState(*row) if row else None


def begin(transaction: Transaction) -> None:
    transaction.run(
        "INSERT INTO stored_index (workspace, version, change, next) VALUES (:workspace, 0, 1, 0)"
        " ON CONFLICT DO NOTHING"
    )


def advance(transaction: Transaction, rows: int = 0) -> IndexState:
    """The next change, with numbers for new rows; whoever else changes the index waits until it is made."""
    row = transaction.one(
        "UPDATE stored_index SET change = change + 1, next = next + :rows"
        " WHERE workspace = :workspace RETURNING version, change, next",
        rows=rows,
    )
    return IndexState(*row) if row else IndexState()


def reach(transaction: Transaction, version: int) -> None:
    """The index goes up to this version of the catalogue."""
    transaction.run(
        "UPDATE stored_index SET version = :version WHERE workspace = :workspace AND version < :version",
        version=version,
    )


def newest(transaction: Transaction) -> int:
    """The version of the catalogue."""
    row = transaction.one("SELECT version FROM catalogue_version WHERE workspace = :workspace AND one = 1")
    return int(row[0]) if row else 0


def changed(transaction: Transaction, since: int, after: str, most: int) -> dict[str, str]:
    """Id -> digest of what changed since a version of the catalogue, in order of id, behind an id."""
    rows = transaction.all(
        "SELECT id, digest FROM capability"
        " WHERE workspace = :workspace AND version > :since AND id > :after ORDER BY id LIMIT :most",
        since=since, after=after, most=most,
    )  # fmt: skip
    return dict(rows)


def indexed(transaction: Transaction, ids: Collection[str]) -> dict[str, str]:
    """Id -> digest of what is indexed of these."""
    rows = transaction.among(
        "SELECT id, digest FROM indexed_capability"
        " WHERE workspace = :workspace AND id IN (:listed) AND +gone = 0",
        ids,
    )
    return dict(rows)


def texts(transaction: Transaction, ids: Collection[str]) -> dict[str, tuple[str, str]]:
    """Id -> digest and text of these as they are now."""
    rows = transaction.among(
        "SELECT c.id, c.digest, t.capability FROM capability c JOIN capability_text t"
        " ON t.workspace = c.workspace AND t.id = c.id AND t.digest = c.digest"
        " WHERE c.workspace = :workspace AND c.id IN (:listed)",
        ids,
    )
    return {id: (digest, text) for id, digest, text in rows}


def retire(transaction: Transaction, ids: Collection[str], change: int) -> None:
    """What is indexed of these is of no use from this change on."""
    transaction.among(
        "UPDATE indexed_capability SET gone = :change"
        " WHERE workspace = :workspace AND id IN (:listed) AND +gone = 0 RETURNING number",
        ids, change=change,
    )  # fmt: skip


def retire_removed(transaction: Transaction, change: int) -> int:
    """What the catalogue does not hold any more, or holds with another content; returns how many."""
    there = transaction.one("SELECT COUNT(*) FROM capability WHERE workspace = :workspace")
    if there == transaction.one(
        "SELECT COUNT(*) FROM indexed_capability WHERE workspace = :workspace AND gone = 0"
    ):
        return 0  # what was added or changed is indexed by now, so nothing was removed
    return transaction.run(
        "UPDATE indexed_capability SET gone = :change WHERE workspace = :workspace AND gone = 0"
        " AND NOT EXISTS (SELECT 1 FROM capability c WHERE c.workspace = indexed_capability.workspace"
        " AND c.id = indexed_capability.id AND c.digest = indexed_capability.digest)",
        change=change,
    )


def add_rows(transaction: Transaction, rows: Mapping[int, Capability], columns: Columns) -> None:
    transaction.many(
        f"INSERT INTO indexed_capability (workspace, {', '.join(COLUMNS)})"
        f" VALUES (:workspace, {', '.join(f':{name}' for name in COLUMNS)})",
        (_row(number, each, columns) for number, each in rows.items()),
    )


def _row(number: int, capability: Capability, columns: Columns) -> Mapping[str, object]:
    shown = name_key(capability.display_name)
    return {
        **columns(capability),
        "number": number,
        "id": capability.id,
        "digest": capability.digest,
        "name_key": name_key(capability.name),
        "shown_key": shown,
        "area": area_of(capability),
        "demanding": bool(capability.required_tools or "declared_available" in capability.metadata),
    }


def add_segment(
    transaction: Transaction, segment: Segment, change: int, lists: Iterable[tuple[str, Numbers, Weights]]
) -> None:
    transaction.run(
        "INSERT INTO index_segment (workspace, segment, change, size, numbers, lengths)"
        " VALUES (:workspace, :segment, :change, :size, :numbers, :lengths)",
        segment=segment.segment, change=change, size=len(segment.numbers),
        numbers=segment.numbers.tobytes(), lengths=segment.lengths.tobytes(),
    )  # fmt: skip
    transaction.many(
        "INSERT INTO posting_list (workspace, term, segment, numbers, weights)"
        " VALUES (:workspace, :term, :segment, :numbers, :weights)",
        (
            {
                "term": term,
                "segment": segment.segment,
                "numbers": numbers.tobytes(),
                "weights": weights.tobytes(),
            }
            for term, numbers, weights in lists
        ),
    )


def drop_segments(transaction: Transaction, segments: Collection[int]) -> None:
    for statement in (
        "DELETE FROM index_segment WHERE workspace = :workspace AND segment IN (:listed) RETURNING segment",
        "DELETE FROM posting_list WHERE workspace = :workspace AND segment IN (:listed) RETURNING segment",
    ):
        transaction.among(statement, segments)


def sizes(transaction: Transaction) -> dict[int, int]:
    """Segment -> how many rows it was made of."""
    rows = transaction.all(
        "SELECT segment, size FROM index_segment WHERE workspace = :workspace ORDER BY segment"
    )
    return dict(rows)


def segments_since(transaction: Transaction, change: int) -> list[Segment]:
    rows = transaction.all(
        "SELECT segment, numbers, lengths FROM index_segment"
        " WHERE workspace = :workspace AND change > :change ORDER BY segment",
        change=change,
    )
    return [_segment(row) for row in rows]


def segments(transaction: Transaction, which: Collection[int]) -> list[Segment]:
    rows = transaction.among(
        "SELECT segment, numbers, lengths FROM index_segment"
        " WHERE workspace = :workspace AND segment IN (:listed) ORDER BY segment",
        which,
    )
    return [_segment(row) for row in rows]


def _segment(row: Row) -> Segment:
    number, numbers, lengths = row
    return Segment(number, np.frombuffer(numbers, np.int32), np.frombuffer(lengths, np.float32))


def lists_in(transaction: Transaction, which: Collection[int]) -> list[tuple[str, Numbers, Weights]]:
    """Every posting list of some segments, those of a term one after the other."""
    rows = transaction.among(
        "SELECT term, numbers, weights FROM posting_list"
        " WHERE workspace = :workspace AND segment IN (:listed) ORDER BY term, segment",
        which,
    )
    return [
        (term, np.frombuffer(numbers, np.int32), np.frombuffer(weights, np.uint8))
        for term, numbers, weights in rows
    ]


def gone_since(transaction: Transaction, change: int) -> list[int]:
    rows = transaction.all(
        "SELECT number FROM indexed_capability WHERE workspace = :workspace AND gone > :change", change=change
    )
    return [row[0] for row in rows]


def ids_of(transaction: Transaction, numbers: Collection[int]) -> dict[int, str]:
    rows = transaction.among(
        "SELECT number, id FROM indexed_capability"
        " WHERE workspace = :workspace AND number IN (:listed) AND +gone = 0",
        numbers,
    )
    return dict(rows)


def numbers_of(transaction: Transaction, ids: Collection[str]) -> dict[str, int]:
    rows = transaction.among(
        "SELECT id, number FROM indexed_capability"
        " WHERE workspace = :workspace AND id IN (:listed) AND +gone = 0",
        ids,
    )
    return dict(rows)


def called(transaction: Transaction, keys: Collection[str], most: int) -> list[int]:
    """The numbers of what is called by one of these keys; not those of a name that many share."""
    rows = transaction.among(
        "SELECT number FROM indexed_capability WHERE workspace = :workspace AND +gone = 0"
        " AND (name_key IN (:listed) OR shown_key IN (:listed)) LIMIT :most",
        keys, most=most,
    )  # fmt: skip
    return sorted(row[0] for row in rows)
