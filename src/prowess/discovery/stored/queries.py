"""Rows of an index in the store by conditions: counted, listed in order, found by a name.

Beside `tables`, which writes them. What a statement calls `c` is a row that is in use.
"""

from collections.abc import Callable, Sequence

from prowess.discovery.stored.conditions import RowCondition
from prowess.store.database import Transaction

SERVER = "CASE WHEN c.provider = '' THEN c.source ELSE c.provider END"
"""Who brings a row, called `c`."""
FIELDS = {"kind": "c.kind", "provider": "c.provider", "category": "c.category", "area": "c.area",
          "source": "c.source", "server": SERVER}  # fmt: skip
"""What rows are counted and filtered by."""


def selected(transaction: Transaction, condition: RowCondition) -> list[int]:
    """The numbers of the rows of which a condition is true."""
    rows = transaction.all(
        "SELECT c.number FROM indexed_capability c"
        f" WHERE c.workspace = :workspace AND c.gone = 0 AND ({condition.text})",
        **condition.values,
    )
    return [row[0] for row in rows]


def count(transaction: Transaction, condition: RowCondition) -> int:
    """How many rows a condition is true of."""
    row = transaction.one(
        "SELECT COUNT(*) FROM indexed_capability c"
        f" WHERE c.workspace = :workspace AND c.gone = 0 AND ({condition.text})",
        **condition.values,
    )
    return int(row[0]) if row else 0


def counts(
    transaction: Transaction, condition: RowCondition, fields: Sequence[str]
) -> dict[tuple[str, ...], int]:
    """Of the rows that a condition is true of, how many have each value, or pair of values, of fields."""
    listed = ", ".join(FIELDS[name] for name in fields)
    rows = transaction.all(
        f"SELECT {listed}, COUNT(*) FROM indexed_capability c"
        f" WHERE c.workspace = :workspace AND c.gone = 0 AND ({condition.text}) GROUP BY {listed}",
        **condition.values,
    )
    return {tuple(row[:-1]): row[-1] for row in rows}


def ids(transaction: Transaction, condition: RowCondition, after: str, most: int) -> list[str]:
    """Ids of which a condition is true, in order, behind one."""
    rows = transaction.all(
        "SELECT c.id FROM indexed_capability c WHERE c.workspace = :workspace AND c.gone = 0"
        f" AND c.id > :after AND ({condition.text}) ORDER BY c.id LIMIT :most",
        after=after, most=most, **condition.values,
    )  # fmt: skip
    return [row[0] for row in rows]


def closest_ids(
    transaction: Transaction, condition: RowCondition, words: Sequence[str], skipped: int, most: int
) -> list[str]:
    """Ids of which a condition is true, behind so many: those with most of the words in their id first."""
    named = {f"word{number}": word for number, word in enumerate(words)}
    having = [
        f"(CASE WHEN replace(lower(c.id), :{name}, '') <> lower(c.id) THEN 1 ELSE 0 END)" for name in named
    ]
    order = f"{' + '.join(having)} DESC, " if named else ""
    rows = transaction.all(
        "SELECT c.id FROM indexed_capability c WHERE c.workspace = :workspace AND c.gone = 0"
        f" AND ({condition.text}) ORDER BY {order}c.id LIMIT :most OFFSET :skipped",
        skipped=skipped, most=most, **condition.values, **named,
    )  # fmt: skip
    return [row[0] for row in rows]


def with_id_like(transaction: Transaction, word: str) -> list[int]:
    """The numbers of the rows whose id has this in it, in lower case."""
    rows = transaction.all(
        "SELECT number FROM indexed_capability WHERE workspace = :workspace AND gone = 0"
        " AND replace(lower(id), :word, '') <> lower(id)",
        word=word,
    )
    return [row[0] for row in rows]


def shared_names(transaction: Transaction, after: str, most: int) -> list[str]:
    """Names that more than one is called by, in order, behind one."""
    rows = transaction.all(
        "SELECT name_key FROM indexed_capability WHERE workspace = :workspace AND gone = 0"
        " AND name_key > :after GROUP BY name_key HAVING COUNT(*) > 1 ORDER BY name_key LIMIT :most",
        after=after, most=most,
    )  # fmt: skip
    return [row[0] for row in rows]


def ids_called(transaction: Transaction, name: str, most: int) -> list[str]:
    """The first ids of what is called so."""
    rows = transaction.all(
        "SELECT id FROM indexed_capability WHERE workspace = :workspace AND gone = 0"
        " AND name_key = :name ORDER BY id LIMIT :most",
        name=name, most=most,
    )  # fmt: skip
    return [row[0] for row in rows]


def having(transaction: Transaction, name: str, wanted: Callable[[str], bool]) -> list[int]:
    """The numbers of the rows whose value in a column is a wanted one; a category may be a server's, too."""
    found: list[int] = []
    for column in ("category", "area") if name == "category" else (name,):
        values = [
            row[0]
            for row in transaction.all(
                f"SELECT DISTINCT {column} FROM indexed_capability WHERE workspace = :workspace AND gone = 0"
            )
            if wanted(row[0])
        ]
        found += [
            row[0]
            for row in transaction.among(
                "SELECT number FROM indexed_capability"
                f" WHERE workspace = :workspace AND {column} IN (:listed) AND +gone = 0",
                values,
            )
        ]
    return found
