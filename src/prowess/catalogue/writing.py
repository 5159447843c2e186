"""The rows of the catalogue as a sync leaves them: capabilities, stamps, providers and problems.

Texts are kept by their digest and are in no answer until a row names them, so a large sync writes them
beforehand, a portion at a time; the change that everybody sees is short.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice

import msgspec

from prowess.catalogue.merge import Arrival, MergedCatalogue, OwnedContent
from prowess.catalogue.ownership import Ownership
from prowess.journal import canonical
from prowess.store.database import Transaction
from prowess.types import Problem, Provider, SourceReading

PORTION = 250
"""How many texts one transaction writes."""

Written = Mapping[str, object]

INSERT_TEXT = (
    "INSERT INTO capability_text (workspace, id, digest, since, seen_at, capability, detail)"
    " VALUES (:workspace, :id, :digest, :since, :seen_at, :capability, :detail)"
)


def encoded(wanted: MergedCatalogue, ids: Iterable[str], version: int, now: str) -> dict[str, Written]:
    """What is written for these ids; made before any lock is held."""
    found: dict[str, Written] = {}
    for id in ids:
        row, draft = wanted.rows[id], wanted.drafts[id]
        capability = replace(
            draft.capability, source=row.source, provider=row.provider, digest=row.digest, unavailable=()
        )
        found[id] = {
            "id": id,
            "source": row.source,
            "place": row.place,
            "provider": row.provider,
            "digest": row.digest,
            "definition": row.definition,
            "original_id": row.original_id,
            "original_digest": row.original_digest,
            "capability": canonical(capability),
            # In the author's order, which is the order of parameters on pages and in definitions.
            "detail": msgspec.json.encode(draft.detail).decode(),
            "since": version,
            "seen_at": now,
        }
    return found


def originals(wanted: MergedCatalogue, ids: Iterable[str], version: int, now: str) -> list[Written]:
    """What the authors wrote of these ids, where prowess.toml words it otherwise."""
    found: list[Written] = []
    for id in ids:
        row, draft = wanted.rows[id], wanted.drafts[id].original
        if draft is not None:
            capability = replace(
                draft.capability, source=row.source, provider=row.provider, digest=row.original_digest
            )
            found.append(
                {
                    "id": row.original_id,
                    "digest": row.original_digest,
                    "since": version,
                    "seen_at": now,
                    "capability": canonical(capability),
                    "detail": canonical(draft.detail),
                }
            )
    return found


def portions(rows: Iterable[Written]) -> Iterator[list[Written]]:
    waiting = iter(rows)
    while portion := list(islice(waiting, PORTION)):
        yield portion


def known_texts(transaction: Transaction, rows: Iterable[Written]) -> set[str]:
    """The ids whose text is kept already."""
    one = "SELECT 1 FROM capability_text WHERE workspace = :workspace AND id = :id AND digest = :digest"
    return {str(r["id"]) for r in rows if transaction.one(one, id=r["id"], digest=r["digest"])}


def write_texts(transaction: Transaction, rows: Iterable[Written]) -> None:
    """Texts that no row names yet."""
    transaction.many(f"{INSERT_TEXT} ON CONFLICT DO NOTHING", rows)


def write_capabilities(
    transaction: Transaction, rows: Mapping[str, Written], has_text: Iterable[str] = ()
) -> None:
    kept = set(has_text)
    transaction.many(
        f"{INSERT_TEXT} ON CONFLICT (workspace, id, digest) DO UPDATE SET capability = excluded.capability",
        [row for id, row in rows.items() if id not in kept],
    )
    transaction.many(
        "INSERT INTO capability (workspace, id, source, place, provider, digest, version, definition,"
        " original_id, original_digest)"
        " VALUES (:workspace, :id, :source, :place, :provider, :digest, :since, :definition,"
        " :original_id, :original_digest)"
        " ON CONFLICT (workspace, id) DO UPDATE SET source = excluded.source, place = excluded.place,"
        " provider = excluded.provider, digest = excluded.digest, version = excluded.version,"
        " definition = excluded.definition, original_id = excluded.original_id,"
        " original_digest = excluded.original_digest",
        rows.values(),
    )


def remove_capabilities(transaction: Transaction, ids: Iterable[str]) -> None:
    transaction.many(
        "DELETE FROM capability WHERE workspace = :workspace AND id = :id", ({"id": id} for id in ids)
    )


def redefine(transaction: Transaction, rows: Mapping[str, OwnedContent], ids: Iterable[str]) -> None:
    transaction.many(
        "UPDATE capability SET definition = :definition WHERE workspace = :workspace AND id = :id",
        ({"id": id, "definition": rows[id].definition} for id in ids),
    )


def write_stamps(
    transaction: Transaction, stamps: Mapping[tuple[str, str], str], arrival: Arrival, ownership: Ownership
) -> None:
    rows = transaction.all(
        "SELECT source, place, stamp, definition FROM source_entry WHERE workspace = :workspace"
    )
    claimed = arrival.claimed
    held = {(source, place): stamp for source, place, stamp, definition in rows
            if claimed.get(source) == definition}  # fmt: skip
    untouched = {name for name in claimed if not arrival.was_read(name)}
    gone = [
        (source, place)
        for source, place, stamp, definition in rows
        if not ownership.is_foreign(source, definition)
        and source not in untouched
        and stamps.get((source, place)) != stamp
    ]
    new = [key for key, stamp in stamps.items() if held.get(key) != stamp]
    transaction.many(
        "DELETE FROM source_entry WHERE workspace = :workspace AND source = :source AND place = :place",
        ({"source": source, "place": place} for source, place in gone),
    )
    transaction.many(
        "INSERT INTO source_entry (workspace, source, place, stamp, definition)"
        " VALUES (:workspace, :source, :place, :stamp, :definition) ON CONFLICT (workspace, source, place)"
        " DO UPDATE SET stamp = excluded.stamp, definition = excluded.definition",
        (
            {"source": key[0], "place": key[1], "stamp": stamps[key], "definition": claimed[key[0]]}
            for key in new
        ),
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


def write_providers(
    transaction: Transaction, arrival: Arrival, rows: Mapping[str, OwnedContent], ownership: Ownership
) -> bool:
    """Bring the providers in line; true when any of them changed."""
    held = providers(transaction)
    now = {name: each for name, each in held.items() if ownership.is_foreign(each[0].source, each[1])}
    for source, definition in arrival.claimed.items():
        mine = [p for p, said in held.values() if p.source == source and ownership.is_ours(source, said)]
        for provider in _providers_of(source, arrival.readings.get(source), mine):
            now.setdefault(provider.name, (provider, definition))
    for row in rows.values():
        now.setdefault(row.provider, (Provider(name=row.provider, source=row.source), row.definition))
    if now == held:
        return False
    transaction.many(
        "DELETE FROM provider WHERE workspace = :workspace AND name = :name",
        ({"name": n} for n in held.keys() - now.keys()),
    )
    transaction.many(
        "INSERT INTO provider (workspace, name, source, description, faculties, definition)"
        " VALUES (:workspace, :name, :source, :description, :faculties, :definition)"
        " ON CONFLICT (workspace, name)"
        " DO UPDATE SET source = excluded.source, definition = excluded.definition,"
        " description = excluded.description, faculties = excluded.faculties",
        (
            {
                "name": p.name,
                "source": p.source,
                "description": p.description,
                "faculties": canonical(p.faculties),
                "definition": definition,
            }
            for p, definition in now.values()
            if held.get(p.name) != (p, definition)
        ),
    )
    return True


def _providers_of(source: str, reading: SourceReading | None, held: Sequence[Provider]) -> Sequence[Provider]:
    if reading is None:
        return held
    if reading.down:
        known = held or reading.providers or [Provider(name=source, source=source)]
        return [replace(p, source=source, down="") for p in known]
    return [replace(p, source=source, down="") for p in reading.providers]


def write_problems(
    transaction: Transaction,
    problems: Mapping[str, Sequence[Problem]],
    arrival: Arrival,
    ownership: Ownership,
) -> None:
    claimed = arrival.claimed
    for source, definition in transaction.all(
        "SELECT DISTINCT source, definition FROM problem WHERE workspace = :workspace"
    ):
        is_old = arrival.was_read(source) or source not in claimed
        if is_old and not ownership.is_foreign(source, definition):
            transaction.run(
                "DELETE FROM problem"
                " WHERE workspace = :workspace AND source = :source AND definition = :definition",
                source=source, definition=definition,
            )  # fmt: skip
    for source, found in problems.items():
        if arrival.was_read(source) and found:
            _add_problems(transaction, source, claimed[source], found)


def _add_problems(transaction: Transaction, source: str, definition: str, found: Sequence[Problem]) -> None:
    row = transaction.one(
        "SELECT COALESCE(MAX(number), -1) FROM problem WHERE workspace = :workspace AND source = :source",
        source=source,
    )
    first = int(row[0]) + 1 if row else 0
    transaction.many(
        "INSERT INTO problem (workspace, source, number, problem, definition)"
        " VALUES (:workspace, :source, :number, :problem, :definition)",
        (
            {"source": source, "number": number, "problem": canonical(problem), "definition": definition}
            for number, problem in enumerate(found, first)
        ),
    )
