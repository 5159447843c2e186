"""The tables of the encodings of an index: vectors of its rows, their codes, and how far each model has come.

Rows and words are the same for all models. Each encoding goes up to a row: what comes after it has no vector
of that model yet.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from prowess.discovery.dense import Matrix
from prowess.discovery.stored.codes import Bytes, Numbers
from prowess.discovery.vectors import Half
from prowess.store.database import Transaction

SMALL_BATCHES = 12
"""So many batches of codes that are not full are kept beside each other; more are made into one."""


@dataclass(frozen=True, slots=True)
class Encoding:
    """What one model made of an index."""

    encoding: int = 0
    model: str = ""
    mean: bytes = b""
    upto: int = -1
    """The last row that it has seen to."""
    used_at: str = ""

    @property
    def centre(self) -> Matrix:
        return np.frombuffer(self.mean, np.float32)


@dataclass(frozen=True, slots=True)
class CodeBatch:
    """The codes of rows that were encoded together."""

    change: int
    numbers: Numbers
    codes: Bytes


def every(transaction: Transaction) -> list[Encoding]:
    rows = transaction.all(
        "SELECT encoding, model, mean, upto, used_at FROM index_encoding"
        " WHERE workspace = :workspace ORDER BY encoding"
    )
    return [Encoding(number, model, bytes(mean), upto, at) for number, model, mean, upto, at in rows]


def of_model(transaction: Transaction, model: str) -> Encoding | None:
    return next((each for each in every(transaction) if each.model == model), None)


def begin(transaction: Transaction, model: str, now: str) -> Encoding:
    """The encoding of a model, which begins before the first row."""
    known = of_model(transaction, model)
    if known is not None:
        return known
    number = max((each.encoding for each in every(transaction)), default=0) + 1
    transaction.run(
        "INSERT INTO index_encoding (workspace, encoding, model, mean, upto, used_at)"
        " VALUES (:workspace, :encoding, :model, :mean, -1, :now)",
        encoding=number, model=model, mean=b"", now=now,
    )  # fmt: skip
    return Encoding(number, model, used_at=now)


def advance(transaction: Transaction, encoding: int, upto: int, mean: bytes) -> None:
    transaction.run(
        "UPDATE index_encoding SET upto = :upto, mean = :mean"
        " WHERE workspace = :workspace AND encoding = :encoding AND upto < :upto",
        encoding=encoding, upto=upto, mean=mean,
    )  # fmt: skip


def use(transaction: Transaction, encoding: int, now: str) -> None:
    """Say that a process searches by it."""
    transaction.run(
        "UPDATE index_encoding SET used_at = :now WHERE workspace = :workspace AND encoding = :encoding",
        encoding=encoding, now=now,
    )  # fmt: skip


def lacking(transaction: Transaction, after: int, most: int) -> dict[int, str]:
    """Number -> id of rows in use behind one."""
    rows = transaction.all(
        "SELECT number, id FROM indexed_capability"
        " WHERE workspace = :workspace AND gone = 0 AND number > :after ORDER BY number LIMIT :most",
        after=after, most=most,
    )  # fmt: skip
    return dict(rows)


def count_lacking(transaction: Transaction, after: int) -> int:
    row = transaction.one(
        "SELECT COUNT(*) FROM indexed_capability"
        " WHERE workspace = :workspace AND gone = 0 AND number > :after",
        after=after,
    )
    return int(row[0]) if row else 0


def add(transaction: Transaction, encoding: int, batch: CodeBatch, vectors: Mapping[int, Half]) -> None:
    transaction.many(
        "INSERT INTO indexed_vector (workspace, encoding, number, vector)"
        " VALUES (:workspace, :encoding, :number, :vector) ON CONFLICT DO NOTHING",
        (
            {"encoding": encoding, "number": number, "vector": vector.tobytes()}
            for number, vector in vectors.items()
        ),
    )
    _add_codes(transaction, encoding, batch)


def count(transaction: Transaction, encoding: int) -> int:
    """How many rows in use have a vector."""
    row = transaction.one(
        "SELECT COUNT(*) FROM indexed_capability c JOIN indexed_vector v"
        " ON v.workspace = c.workspace AND v.encoding = :encoding AND v.number = c.number"
        " WHERE c.workspace = :workspace AND c.gone = 0",
        encoding=encoding,
    )
    return int(row[0]) if row else 0


def vectors_of(transaction: Transaction, encoding: int, numbers: Collection[int]) -> dict[int, Half]:
    rows = transaction.among(
        "SELECT number, vector FROM indexed_vector"
        " WHERE workspace = :workspace AND encoding = :encoding AND number IN (:listed)",
        numbers, encoding=encoding,
    )  # fmt: skip
    return {number: np.frombuffer(vector, np.float16) for number, vector in rows}


def codes_since(transaction: Transaction, encoding: int, change: int) -> list[CodeBatch]:
    """The batches that were written after a change of the index, oldest first."""
    rows = transaction.all(
        "SELECT change, numbers, codes FROM index_codes"
        " WHERE workspace = :workspace AND encoding = :encoding AND change > :change ORDER BY change",
        encoding=encoding, change=change,
    )  # fmt: skip
    return [_batch(*row) for row in rows]


def small_batches(transaction: Transaction, encoding: int, size: int) -> list[int]:
    """The changes that wrote fewer codes than a full batch has, where there are too many of them."""
    rows = transaction.all(
        "SELECT change FROM index_codes"
        " WHERE workspace = :workspace AND encoding = :encoding AND length(numbers) < :bytes",
        encoding=encoding, bytes=4 * size,
    )  # fmt: skip
    return [row[0] for row in rows] if len(rows) > SMALL_BATCHES else []


def merge(transaction: Transaction, encoding: int, changes: Sequence[int], change: int) -> None:
    """Make one batch out of several, as of a newer change."""
    wanted = set(changes)
    parts = [one for one in codes_since(transaction, encoding, min(wanted) - 1) if one.change in wanted]
    transaction.among(
        "DELETE FROM index_codes WHERE workspace = :workspace AND encoding = :encoding"
        " AND change IN (:listed) RETURNING change",
        changes, encoding=encoding,
    )  # fmt: skip
    numbers = np.concatenate([part.numbers for part in parts])
    _add_codes(transaction, encoding, CodeBatch(change, numbers, np.concatenate([p.codes for p in parts])))


def drop_some(transaction: Transaction, encoding: int, most: int) -> bool:
    """Forget a portion of an encoding that nobody uses; false once nothing of it is left."""
    numbers = transaction.all(
        "SELECT number FROM indexed_vector WHERE workspace = :workspace AND encoding = :encoding LIMIT :most",
        encoding=encoding, most=most,
    )  # fmt: skip
    transaction.among(
        "DELETE FROM indexed_vector WHERE workspace = :workspace AND encoding = :encoding"
        " AND number IN (:listed) RETURNING number",
        [row[0] for row in numbers], encoding=encoding,
    )  # fmt: skip
    if numbers:
        return True
    for statement in (
        "DELETE FROM index_codes WHERE workspace = :workspace AND encoding = :encoding",
        "DELETE FROM index_encoding WHERE workspace = :workspace AND encoding = :encoding",
    ):
        transaction.run(statement, encoding=encoding)
    return False


def _add_codes(transaction: Transaction, encoding: int, batch: CodeBatch) -> None:
    transaction.run(
        "INSERT INTO index_codes (workspace, encoding, change, numbers, codes)"
        " VALUES (:workspace, :encoding, :change, :numbers, :codes)",
        encoding=encoding, change=batch.change, numbers=batch.numbers.tobytes(), codes=batch.codes.tobytes(),
    )  # fmt: skip


def _batch(change: int, numbers: bytes, codes: bytes) -> CodeBatch:
    ids = np.frombuffer(numbers, np.int32)
    return CodeBatch(change, ids, np.frombuffer(codes, np.uint8).reshape(len(ids), -1))
