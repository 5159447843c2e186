"""The tables of an index in the store: rows with numbers, their vectors, segments and posting lists.

Every change of the index has a number, by which a process that holds a part of it reads what it has not seen.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from prowess.areas import area_of
from prowess.discovery.names import name_key
from prowess.discovery.stored.codes import Bytes, Numbers
from prowess.discovery.stored.postings import PostingList
from prowess.discovery.vectors import Half
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
    """Up to which version of the catalogue an index goes, how often it changed, what its vectors are of."""

    version: int = 0
    change: int = 0
    next: int = 0
    """The number that the next row gets."""
    model: str = ""
    mean: bytes = b""


@dataclass(frozen=True, slots=True)
class Segment:
    """Rows that were indexed together."""

    segment: int
    size: int
    length: float
    """Of all their texts together."""
    numbers: Numbers
    codes: Bytes


def state(transaction: Transaction) -> IndexState | None:
    row = transaction.one(
        "SELECT version, change, next, model, mean FROM stored_index WHERE workspace = :workspace"
    )
    if row is None:
        return None
    version, change, after, model, mean = row
    return IndexState(version, change, after, model, bytes(mean))


def write_state(transaction: Transaction, now: IndexState) -> None:
    transaction.run(
        "INSERT INTO stored_index (workspace, version, change, next, model, mean)"
        " VALUES (:workspace, :version, :change, :next, :model, :mean)"
        " ON CONFLICT (workspace) DO UPDATE SET version = excluded.version, change = excluded.change,"
        " next = excluded.next, model = excluded.model, mean = excluded.mean",
        version=now.version, change=now.change, next=now.next, model=now.model, mean=now.mean,
    )  # fmt: skip


def clear(transaction: Transaction) -> None:
    """Begin anew, such as with another model."""
    for statement in (
        "DELETE FROM indexed_capability WHERE workspace = :workspace",
        "DELETE FROM indexed_vector WHERE workspace = :workspace",
        "DELETE FROM index_segment WHERE workspace = :workspace",
        "DELETE FROM posting_list WHERE workspace = :workspace",
    ):
        transaction.run(statement)


def changed(transaction: Transaction, since: int, after: str, most: int) -> dict[str, str]:
    """Id -> digest of what changed since a version of the catalogue, in order of id, behind an id."""
    rows = transaction.all(
        "SELECT id, digest FROM capability"
        " WHERE workspace = :workspace AND version > :since AND id > :after ORDER BY id LIMIT :most",
        since=since, after=after, most=most,
    )  # fmt: skip
    return dict(rows)


def indexed(transaction: Transaction, after: str, last: str, with_vector: bool) -> dict[str, str]:
    """Id -> digest of what is indexed, behind an id and up to another; of all, or of what has a vector."""
    rows = transaction.all(
        "SELECT i.id, i.digest FROM indexed_capability i LEFT JOIN indexed_vector v"
        " ON v.workspace = i.workspace AND v.number = i.number"
        " WHERE i.workspace = :workspace AND i.id > :after AND i.id <= :last AND i.gone = 0"
        " AND (v.number IS NOT NULL OR :any = 1)",
        after=after, last=last, any=int(not with_vector),
    )  # fmt: skip
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
        " WHERE workspace = :workspace AND id IN (:listed) AND gone = 0 RETURNING number",
        ids, change=change,
    )  # fmt: skip


def retire_removed(transaction: Transaction, change: int) -> int:
    """What the catalogue does not hold any more, or holds with another content; returns how many."""
    return transaction.run(
        "UPDATE indexed_capability SET gone = :change WHERE workspace = :workspace AND gone = 0"
        " AND NOT EXISTS (SELECT 1 FROM capability c WHERE c.workspace = indexed_capability.workspace"
        " AND c.id = indexed_capability.id AND c.digest = indexed_capability.digest)",
        change=change,
    )


def add_rows(
    transaction: Transaction, rows: Mapping[int, Capability], columns: Columns,
    vectors: Mapping[int, Half],
) -> None:  # fmt: skip
    transaction.many(
        f"INSERT INTO indexed_capability (workspace, {', '.join(COLUMNS)})"
        f" VALUES (:workspace, {', '.join(f':{name}' for name in COLUMNS)})",
        (_row(number, each, columns) for number, each in rows.items()),
    )
    transaction.many(
        "INSERT INTO indexed_vector (workspace, number, vector) VALUES (:workspace, :number, :vector)",
        ({"number": number, "vector": vector.tobytes()} for number, vector in vectors.items()),
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
    transaction: Transaction, segment: Segment, change: int, lists: Iterable[tuple[str, PostingList]]
) -> None:
    transaction.run(
        "INSERT INTO index_segment (workspace, segment, change, size, length, numbers, codes)"
        " VALUES (:workspace, :segment, :change, :size, :length, :numbers, :codes)",
        segment=segment.segment, change=change, size=segment.size, length=segment.length,
        numbers=segment.numbers.tobytes(), codes=segment.codes.tobytes(),
    )  # fmt: skip
    transaction.many(
        "INSERT INTO posting_list (workspace, term, segment, numbers, impacts)"
        " VALUES (:workspace, :term, :segment, :numbers, :impacts)",
        (
            {
                "term": term,
                "segment": segment.segment,
                "numbers": one.numbers.tobytes(),
                "impacts": one.impacts.tobytes(),
            }
            for term, one in lists
        ),
    )


def drop_segments(transaction: Transaction, segments: Collection[int]) -> None:
    for statement in (
        "DELETE FROM index_segment WHERE workspace = :workspace AND segment IN (:listed) RETURNING segment",
        "DELETE FROM posting_list WHERE workspace = :workspace AND segment IN (:listed) RETURNING segment",
    ):
        transaction.among(statement, segments)


def sizes(transaction: Transaction) -> dict[int, tuple[int, float]]:
    """Segment -> how many rows it was made of, and how long their texts are together."""
    rows = transaction.all(
        "SELECT segment, size, length FROM index_segment WHERE workspace = :workspace ORDER BY segment"
    )
    return {segment: (size, length) for segment, size, length in rows}


def segments_since(transaction: Transaction, change: int) -> list[Segment]:
    rows = transaction.all(
        "SELECT segment, size, length, numbers, codes FROM index_segment"
        " WHERE workspace = :workspace AND change > :change ORDER BY segment",
        change=change,
    )
    return [_segment(row) for row in rows]


def segments(transaction: Transaction, which: Collection[int]) -> list[Segment]:
    rows = transaction.among(
        "SELECT segment, size, length, numbers, codes FROM index_segment"
        " WHERE workspace = :workspace AND segment IN (:listed) ORDER BY segment",
        which,
    )
    return [_segment(row) for row in rows]


def _segment(row: Row) -> Segment:
    number, size, length, numbers, codes = row
    ids = np.frombuffer(numbers, np.int32)
    return Segment(number, size, length, ids, np.frombuffer(codes, np.uint8).reshape(len(ids), -1))


def lists_in(transaction: Transaction, which: Collection[int]) -> list[tuple[str, PostingList]]:
    """Every posting list of some segments, those of a term one after the other."""
    rows = transaction.among(
        "SELECT term, numbers, impacts FROM posting_list"
        " WHERE workspace = :workspace AND segment IN (:listed) ORDER BY term, segment",
        which,
    )
    return [
        (term, PostingList(np.frombuffer(numbers, np.int32), np.frombuffer(impacts, np.uint8)))
        for term, numbers, impacts in rows
    ]


def gone_since(transaction: Transaction, change: int) -> list[int]:
    rows = transaction.all(
        "SELECT number FROM indexed_capability WHERE workspace = :workspace AND gone > :change", change=change
    )
    return [row[0] for row in rows]


def ids_of(transaction: Transaction, numbers: Collection[int]) -> dict[int, str]:
    rows = transaction.among(
        "SELECT number, id FROM indexed_capability"
        " WHERE workspace = :workspace AND number IN (:listed) AND gone = 0",
        numbers,
    )
    return dict(rows)


def numbers_of(transaction: Transaction, ids: Collection[str]) -> dict[str, int]:
    rows = transaction.among(
        "SELECT id, number FROM indexed_capability"
        " WHERE workspace = :workspace AND id IN (:listed) AND gone = 0",
        ids,
    )
    return dict(rows)


def called(transaction: Transaction, keys: Collection[str], most: int) -> list[int]:
    """The numbers of what is called by one of these keys; not those of a name that many share."""
    found: set[int] = set()
    for statement in (
        "SELECT number FROM indexed_capability"
        " WHERE workspace = :workspace AND name_key IN (:listed) AND gone = 0 LIMIT :most",
        "SELECT number FROM indexed_capability"
        " WHERE workspace = :workspace AND shown_key IN (:listed) AND gone = 0 LIMIT :most",
    ):
        found.update(row[0] for row in transaction.among(statement, keys, most=most))
    return sorted(found)


def count_vectors(transaction: Transaction) -> int:
    """How many rows in use have a vector."""
    row = transaction.one(
        "SELECT COUNT(*) FROM indexed_capability c JOIN indexed_vector v"
        " ON v.workspace = c.workspace AND v.number = c.number WHERE c.workspace = :workspace AND c.gone = 0"
    )
    return int(row[0]) if row else 0


def vectors_of(transaction: Transaction, numbers: Collection[int]) -> dict[int, Half]:
    rows = transaction.among(
        "SELECT number, vector FROM indexed_vector WHERE workspace = :workspace AND number IN (:listed)",
        numbers,
    )
    return {number: np.frombuffer(vector, np.float16) for number, vector in rows}
