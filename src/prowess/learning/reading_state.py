"""How far the journal was read for learning, and what is to be counted anew because of it.

Above: what reads the journal, in one transaction at a time. Below: the store.
"""

from collections.abc import Iterable, Mapping

from prowess.store.database import Transaction
from prowess.types import Head

LOCK = "*"
TAUGHT = "+"
"""Rows of `learning_seen` that are no chains: one to lock, one that counts changes of what is taught."""
ESCAPE = "="
"""Stands before a chain that begins like one of those rows, for an agent may have any name."""


def lock(transaction: Transaction) -> None:
    """Let nobody else learn until this transaction ends."""
    transaction.run(
        "INSERT INTO learning_seen (workspace, chain, count) VALUES (:workspace, :lock, 1)"
        " ON CONFLICT (workspace, chain) DO UPDATE SET count = learning_seen.count + 1",
        lock=LOCK,
    )


def heads(transaction: Transaction) -> tuple[Head, ...]:
    """How far the journal was read."""
    rows = transaction.all(
        "SELECT chain, count FROM learning_seen WHERE workspace = :workspace ORDER BY chain"
    )
    chains = ((row.removeprefix(ESCAPE), count) for row, count in rows if row not in (LOCK, TAUGHT))
    return tuple(Head(chain, count, "") for chain, count in chains)


def taught_version(transaction: Transaction) -> int:
    """A number that moves when a sync changes what is taught."""
    row = transaction.one(
        "SELECT count FROM learning_seen WHERE workspace = :workspace AND chain = :taught", taught=TAUGHT
    )
    return int(row[0]) if row else 0


def next_taught_version(transaction: Transaction) -> None:
    _advance(transaction, {TAUGHT: taught_version(transaction) + 1})


def advance(transaction: Transaction, seen: Iterable[Head]) -> None:
    """Say how far the journal was read."""
    _advance(transaction, {_row_of(head.chain): head.count for head in seen})


def _row_of(chain: str) -> str:
    return ESCAPE + chain if chain.startswith((LOCK, TAUGHT, ESCAPE)) else chain


def _advance(transaction: Transaction, counts: Mapping[str, int]) -> None:
    transaction.many(
        "INSERT INTO learning_seen (workspace, chain, count) VALUES (:workspace, :chain, :count)"
        " ON CONFLICT (workspace, chain) DO UPDATE SET count = excluded.count",
        ({"chain": row, "count": count} for row, count in counts.items()),
    )


def owe(transaction: Transaction, found: Iterable[tuple[str, str, str]]) -> None:
    """Note what is to be counted anew: whether it is a lesson or a gap, its id, and what is known of it."""
    transaction.many(
        "INSERT INTO learning_due (workspace, kind, id, record) VALUES (:workspace, :kind, :id, :record)"
        " ON CONFLICT (workspace, kind, id) DO NOTHING",
        ({"kind": kind, "id": id, "record": record} for kind, id, record in found),
    )


def due(transaction: Transaction, most: int) -> list[tuple[str, str, str]]:
    rows = transaction.all(
        "SELECT kind, id, record FROM learning_due"
        " WHERE workspace = :workspace ORDER BY kind DESC, id LIMIT :most",
        most=most,
    )
    return [(kind, id, record) for kind, id, record in rows]


def done(transaction: Transaction, counted: Iterable[tuple[str, str, str]]) -> None:
    transaction.many(
        "DELETE FROM learning_due WHERE workspace = :workspace AND kind = :kind AND id = :id",
        ({"kind": kind, "id": id} for kind, id, _ in counted),
    )
