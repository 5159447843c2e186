"""The rows of the catalogue that a sync has to look at: those of some ids, of some places, of what waits.

Each question is for as much as there is to decide about, never for everything.
"""

from collections.abc import Collection, Iterable

from prowess.catalogue.arrival import OwnedContent
from prowess.store.database import Row, Transaction

COLUMNS = "c.id, c.source, c.place, c.provider, c.digest, c.definition, c.original_id, c.original_digest"
OWN_ID = "CASE WHEN c.original_id = '' THEN c.id ELSE c.original_id END"
OWN_DIGEST = "CASE WHEN c.original_id = '' THEN c.digest ELSE c.original_digest END"
Rows = dict[str, OwnedContent]


def of_ids(transaction: Transaction, ids: Collection[str]) -> Rows:
    return _rows(
        transaction.among(
            f"SELECT {COLUMNS} FROM capability c WHERE c.workspace = :workspace AND c.id IN (:listed)", ids
        )
    )


def at_places(transaction: Transaction, source: str, places: Collection[str]) -> Rows:
    """What is there at some places of a source."""
    return _rows(
        transaction.among(
            f"SELECT {COLUMNS} FROM capability c"
            " WHERE c.workspace = :workspace AND c.source = :source AND c.place IN (:listed)",
            places, source=source,
        )
    )  # fmt: skip


def unstamped(transaction: Transaction, sources: Collection[str]) -> dict[str, Rows]:
    """By source, what is there at places that are read every time."""
    found: dict[str, Rows] = {}
    for id, row in _rows(
        transaction.among(
            f"SELECT {COLUMNS} FROM capability c WHERE c.workspace = :workspace AND c.source IN (:listed)"
            " AND NOT EXISTS (SELECT 1 FROM source_entry e"
            " WHERE e.workspace = c.workspace AND e.source = c.source AND e.place = c.place"
            " AND e.definition = c.definition)",
            sources,
        )
    ).items():
        found.setdefault(row.source, {})[id] = row
    return found


def stamped_places(transaction: Transaction, sources: Collection[str]) -> dict[str, list[tuple[str, str]]]:
    """By source, the places that need not be read again, and how it was defined then."""
    found: dict[str, list[tuple[str, str]]] = {}
    for source, place, definition in transaction.among(
        "SELECT source, place, definition FROM source_entry"
        " WHERE workspace = :workspace AND source IN (:listed)",
        sources,
    ):
        found.setdefault(source, []).append((place, definition))
    return found


def waiting(transaction: Transaction, sources: Collection[str]) -> Rows:
    """What is held back of some sources."""
    return _rows(
        transaction.among(
            f"SELECT {COLUMNS} FROM quarantine q JOIN capability c"
            " ON c.workspace = q.workspace AND c.id = q.id"
            " WHERE q.workspace = :workspace AND c.source IN (:listed)",
            sources,
        )
    )


def unapproved(transaction: Transaction, sources: Collection[str]) -> Rows:
    """What nobody and nothing has approved with the content it has, of some sources."""
    return _rows(
        transaction.among(
            f"SELECT {COLUMNS} FROM capability c WHERE c.workspace = :workspace AND c.source IN (:listed)"
            " AND NOT EXISTS (SELECT 1 FROM approved_content a WHERE a.workspace = c.workspace"
            f" AND a.id = {OWN_ID} AND a.digest = {OWN_DIGEST})",
            sources,
        )
    )


def own_ids_present(transaction: Transaction, ids: Collection[str]) -> set[str]:
    """Of what authors call something, what is there."""
    rows = transaction.among(
        f"SELECT {OWN_ID} FROM capability c WHERE c.workspace = :workspace AND c.id IN (:listed)"
        " AND c.original_id = ''",
        ids,
    )
    rows += transaction.among(
        "SELECT original_id FROM capability"
        " WHERE workspace = :workspace AND original_id <> '' AND original_id IN (:listed)",
        ids,
    )
    return {row[0] for row in rows}


def sources_there(transaction: Transaction, table: str) -> list[str]:
    """Every source of which a table has something, read from its index alone."""
    rows = transaction.all(
        "WITH RECURSIVE found (source) AS ("
        f" SELECT MIN(source) FROM {table} WHERE workspace = :workspace"
        f" UNION ALL SELECT (SELECT MIN(t.source) FROM {table} t"
        " WHERE t.workspace = :workspace AND t.source > found.source)"
        " FROM found WHERE found.source IS NOT NULL)"
        " SELECT source FROM found WHERE source IS NOT NULL"
    )
    return [row[0] for row in rows]


def of_sources(transaction: Transaction, sources: Collection[str]) -> Rows:
    return _rows(
        transaction.among(
            f"SELECT {COLUMNS} FROM capability c WHERE c.workspace = :workspace AND c.source IN (:listed)",
            sources,
        )
    )


def texts(transaction: Transaction, ids: Collection[str]) -> dict[str, str]:
    """These capabilities as they are written, by id."""
    found = transaction.among(
        "SELECT c.id, t.capability FROM capability c JOIN capability_text t"
        " ON t.workspace = c.workspace AND t.id = c.id AND t.digest = c.digest"
        " WHERE c.workspace = :workspace AND c.id IN (:listed)",
        ids,
    )
    return dict(found)


def _rows(rows: Iterable[Row]) -> Rows:
    return {row[0]: OwnedContent(*row[1:]) for row in rows}
