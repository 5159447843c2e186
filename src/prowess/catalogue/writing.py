"""The rows of the catalogue as a sync leaves them: capabilities, stamps and problems.

Texts are kept by their digest and are in no answer until a row names them, so a large sync writes them
beforehand, a portion at a time; the change that everybody sees is short.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice

import msgspec

from prowess.catalogue.arrival import Arrival
from prowess.catalogue.merge import MergedCatalogue
from prowess.catalogue.ownership import Ownership
from prowess.catalogue.sync_state import Place
from prowess.journal import canonical
from prowess.store.database import Transaction
from prowess.types import Problem

PORTION = 250
"""How many texts one transaction writes."""

Written = Mapping[str, object]

INSERT_TEXT = (
    "INSERT INTO capability_text (workspace, id, digest, since, seen_at, capability, detail)"
    " VALUES (:workspace, :id, :digest, :since, :seen_at, :capability, :detail)"
)


def encoded(
    wanted: MergedCatalogue, ids: Iterable[str], versions: tuple[int, int], now: str
) -> dict[str, Written]:
    """What is written for these ids; made before any lock is held.

    versions: of the catalogue from now on, and the one in which what is new counts as having come.
    """
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
            "version": versions[0],
            "since": versions[1],
            "seen_at": now,
        }
    return found


def originals(wanted: MergedCatalogue, ids: Iterable[str], since: int, now: str) -> list[Written]:
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
                    "since": since,
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
    digests = {str(row["id"]): row["digest"] for row in rows}
    kept = transaction.among(
        "SELECT id, digest FROM capability_text WHERE workspace = :workspace AND id IN (:listed)", digests
    )
    return {id for id, digest in kept if digests[id] == digest}


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
        " VALUES (:workspace, :id, :source, :place, :provider, :digest, :version, :definition,"
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


def redefine(transaction: Transaction, sources: Iterable[str], claimed: Mapping[str, str], owner: str) -> int:
    """What was not read stays, as its source is defined now; returns how many rows that concerns."""
    return sum(
        transaction.run(
            "UPDATE capability SET definition = :definition"
            " WHERE workspace = :workspace AND source = :source AND definition <> :definition"
            " AND NOT EXISTS (SELECT 1 FROM source_claim k WHERE k.workspace = capability.workspace"
            " AND k.source = capability.source AND k.definition = capability.definition"
            " AND k.owner <> :owner)",
            source=source, definition=claimed[source], owner=owner,
        )
        for source in sources
    )  # fmt: skip


def write_stamps(
    transaction: Transaction, stamps: Mapping[Place, str], gone: Iterable[Place], claimed: Mapping[str, str]
) -> None:
    """Take down what need not be read again; `gone`: entries that must be, or that are no more."""
    transaction.many(
        "DELETE FROM source_entry WHERE workspace = :workspace AND source = :source AND place = :place",
        ({"source": source, "place": place} for source, place in gone),
    )
    transaction.many(
        "INSERT INTO source_entry (workspace, source, place, stamp, definition)"
        " VALUES (:workspace, :source, :place, :stamp, :definition) ON CONFLICT (workspace, source, place)"
        " DO UPDATE SET stamp = excluded.stamp, definition = excluded.definition",
        (
            {"source": source, "place": place, "stamp": stamp, "definition": claimed[source]}
            for (source, place), stamp in stamps.items()
        ),
    )


def forget_stamps(transaction: Transaction, sources: Iterable[str]) -> None:
    """Of sources that this configuration does not have; what others configured stays."""
    for source in sources:
        transaction.run(
            "DELETE FROM source_entry WHERE workspace = :workspace AND source = :source AND NOT EXISTS"
            " (SELECT 1 FROM source_claim k WHERE k.workspace = source_entry.workspace"
            " AND k.source = source_entry.source AND k.definition = source_entry.definition)",
            source=source,
        )


def write_problems(
    transaction: Transaction, problems: Mapping[str, Sequence[Problem]], arrival: Arrival,
    ownership: Ownership,
) -> None:  # fmt: skip
    """What was wrong with the sources of which nothing more comes, in place of what was wrong before."""
    claimed = arrival.claimed
    for source, definition in transaction.all(
        "SELECT DISTINCT source, definition FROM problem WHERE workspace = :workspace"
    ):
        is_old = source in problems or (arrival.is_last and source not in claimed)
        if is_old and not ownership.is_foreign(source, definition):
            transaction.run(
                "DELETE FROM problem"
                " WHERE workspace = :workspace AND source = :source AND definition = :definition",
                source=source, definition=definition,
            )  # fmt: skip
    for source, found in problems.items():
        if found:
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
