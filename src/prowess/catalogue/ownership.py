"""Whose a source is: the configurations that name it, and how each of them defines it.

Several configurations may share a store. What was read belongs to a definition of a source; two
configurations that define it alike share it, and only those that have it may take it away.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from prowess.store.database import Transaction


@dataclass(frozen=True, slots=True)
class Ownership:
    """Which sources in the store are ours, and which are defined by others."""

    ours: Mapping[str, str]
    """Source -> our definition of it."""
    others: frozenset[tuple[str, str]]
    """Source and definition, as other configurations have them."""

    def is_ours(self, source: str, definition: str) -> bool:
        """What we define so, and what our source left behind when its definition changed."""
        own = self.ours.get(source)
        return own is not None and (own == definition or (source, definition) not in self.others)

    def is_foreign(self, source: str, definition: str) -> bool:
        return (source, definition) in self.others and not self.is_ours(source, definition)


def read(transaction: Transaction, owner: str, definitions: Mapping[str, str]) -> Ownership:
    rows = transaction.all(
        "SELECT source, definition FROM source_claim WHERE workspace = :workspace AND owner <> :owner",
        owner=owner,
    )
    return Ownership(definitions, frozenset((source, definition) for source, definition in rows))


def claim(transaction: Transaction, owner: str, definitions: Mapping[str, str]) -> frozenset[str] | None:
    """Write down which sources a configuration has now, and how it defines each.

    Returns those that are defined otherwise than before; nothing where nothing is news.
    """
    rows = transaction.all(
        "SELECT source, definition FROM source_claim WHERE workspace = :workspace AND owner = :owner",
        owner=owner,
    )
    held: dict[str, str] = dict(rows)
    if held == definitions:
        return None
    transaction.many(
        "DELETE FROM source_claim WHERE workspace = :workspace AND owner = :owner AND source = :source",
        ({"owner": owner, "source": source} for source in held.keys() - definitions.keys()),
    )
    changed = {source for source, definition in definitions.items() if held.get(source) != definition}
    transaction.many(
        "INSERT INTO source_claim (workspace, owner, source, definition)"
        " VALUES (:workspace, :owner, :source, :definition)"
        " ON CONFLICT (workspace, owner, source) DO UPDATE SET definition = excluded.definition",
        (
            {"owner": owner, "source": source, "definition": definitions[source]}
            for source in definitions
            if source in changed
        ),
    )
    return frozenset(changed)


def owners(transaction: Transaction) -> dict[str, list[str]]:
    """Every configuration that shares the store, with the sources it has."""
    found: dict[str, list[str]] = {}
    for owner, source in transaction.all(
        "SELECT owner, source FROM source_claim WHERE workspace = :workspace ORDER BY owner, source"
    ):
        found.setdefault(owner, []).append(source)
    return found
