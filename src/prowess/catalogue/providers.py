"""Who offers capabilities: the providers that sources name, and those that their capabilities name.

Above: the catalogue. Below: the store. There are few of them beside what they offer.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

import msgspec

from prowess.catalogue.arrival import Arrival, OwnedContent
from prowess.catalogue.ownership import Ownership
from prowess.journal import canonical
from prowess.store.database import Transaction
from prowess.types import Provider, SourceReading

INSERT = (
    "INSERT INTO provider (workspace, name, source, description, faculties, definition)"
    " VALUES (:workspace, :name, :source, :description, :faculties, :definition)"
    " ON CONFLICT (workspace, name)"
)


def providers(transaction: Transaction) -> dict[str, tuple[Provider, str]]:
    """Every provider by its name, with the definition of the source it belongs to."""
    rows = transaction.all(
        "SELECT name, source, description, faculties, definition FROM provider"
        " WHERE workspace = :workspace ORDER BY name"
    )
    return {
        name: (
            Provider(
                name=name,
                source=source,
                description=description,
                faculties=tuple(msgspec.json.decode(faculties)),
            ),
            definition,
        )
        for name, source, description, faculties, definition in rows
    }


def add_missing(transaction: Transaction, arrival: Arrival, rows: Collection[OwnedContent]) -> None:
    """Those of some rows that are not there yet, so that nothing is ever without its provider."""
    found = {row.provider: (Provider(name=row.provider, source=row.source), row.definition) for row in rows}
    for source, reading in arrival.readings.items():
        for each in _providers_of(source, reading, ()):
            if each.name in found:
                found[each.name] = each, arrival.claimed[source]
    transaction.many(f"{INSERT} DO NOTHING", map(_row, found.values()))


def settle(
    transaction: Transaction, readings: Mapping[str, SourceReading], claimed: Mapping[str, str],
    ownership: Ownership, rows: Iterable[OwnedContent],
) -> bool:  # fmt: skip
    """Bring the providers in line once everything is read; true when any of them changed.

    readings: of all sources that were read, without their entries; rows: those of the last portion.
    """
    held = providers(transaction)
    now = {name: each for name, each in held.items() if ownership.is_foreign(each[0].source, each[1])}
    mine: dict[str, list[Provider]] = {}
    for each, definition in held.values():
        if ownership.is_ours(each.source, definition):
            mine.setdefault(each.source, []).append(each)
    for source, definition in claimed.items():
        for provider in _providers_of(source, readings.get(source), mine.get(source, ())):
            now.setdefault(provider.name, (provider, definition))
    for row in rows:
        now.setdefault(row.provider, (Provider(name=row.provider, source=row.source), row.definition))
    unnamed = {name: held[name][0].source for name in held.keys() - now.keys()}
    for name, (source, definition) in _offering(transaction, unnamed).items():
        now[name] = Provider(name=name, source=source), definition
    transaction.many(
        "DELETE FROM provider WHERE workspace = :workspace AND name = :name",
        ({"name": n} for n in held.keys() - now.keys()),
    )
    transaction.many(
        f"{INSERT} DO UPDATE SET source = excluded.source, definition = excluded.definition,"
        " description = excluded.description, faculties = excluded.faculties",
        (_row(each) for name, each in now.items() if held.get(name) != each),
    )
    return now != held


def _offering(transaction: Transaction, names: Mapping[str, str]) -> dict[str, tuple[str, str]]:
    """Provider -> a source that offers something of it, and its definition; names: whose each was."""
    found: dict[str, tuple[str, str]] = {}
    for provider, source, definition in transaction.among(
        "SELECT DISTINCT provider, source, definition FROM capability"
        " WHERE workspace = :workspace AND source IN (:listed)",
        list(set(names.values())),
    ):
        if names.get(provider) == source:
            found[provider] = source, definition
    elsewhere = transaction.among(
        "SELECT DISTINCT provider, source, definition FROM capability"
        " WHERE workspace = :workspace AND provider IN (:listed)",
        list(names.keys() - found.keys()),
    )
    for provider, source, definition in elsewhere:
        found.setdefault(provider, (source, definition))
    return found


def _row(each: tuple[Provider, str]) -> Mapping[str, object]:
    provider, definition = each
    return {
        "name": provider.name,
        "source": provider.source,
        "description": provider.description,
        "faculties": canonical(provider.faculties),
        "definition": definition,
    }


def _providers_of(source: str, reading: SourceReading | None, held: Sequence[Provider]) -> Sequence[Provider]:
    if reading is None:
        return held
    if reading.down:
        known = held or reading.providers or [Provider(name=source, source=source)]
        return [replace(p, source=source, down="") for p in known]
    return [replace(p, source=source, down="") for p in reading.providers]
