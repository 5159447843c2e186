"""What exists: every capability the sources offer now, versioned by content.

Above: the engine, which hands over what the sources read and asks for a `View` at each turn.
Below: the store. The catalogue owns the tables of capabilities, providers and problems; it holds
exactly what the sources offer, remembers every text a capability ever had, and numbers each
change, so that an open process learns of another's sync by reading one number.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import msgspec

from prowess.catalogue import claims, quarantine
from prowess.catalogue.merge import Row, Wanted, compare, merge, moved_only
from prowess.catalogue.view import View
from prowess.errors import NotFound
from prowess.journal import canonical
from prowess.store.database import Database, Transaction
from prowess.types import Capability, Changes, Detail, Held, Problem, Provider, Reading, Trust

DecodeAll = msgspec.json.Decoder(list[Capability])
DecodeDetail = msgspec.json.Decoder(Detail)
DecodeProblem = msgspec.json.Decoder(Problem)


@dataclass(frozen=True, slots=True)
class Version:
    """One text a capability had: since which catalogue version, and when it was first seen."""

    digest: str
    since: int
    seen_at: str
    capability: Capability
    detail: Detail


class Catalogue:
    def __init__(self, database: Database) -> None:
        self._database = database

    def version(self) -> int:
        with self._database.reading() as transaction:
            return _version(transaction)

    def view(self, known: View | None = None) -> View:
        """The catalogue as it is now; of what an earlier view knows, only what changed is read."""
        with self._database.reading() as transaction:
            return View(
                version=_version(transaction),
                capabilities=_capabilities(transaction, known),
                providers=_providers(transaction),
                quarantined=quarantine.held(transaction),
                first=claims.owners(transaction),
                switched_off={
                    (provider, agent): reason
                    for provider, agent, reason in transaction.all(
                        "SELECT provider, agent, reason FROM provider_off"
                    )
                },
            )

    def detail(self, id: str) -> Detail:
        with self._database.reading() as transaction:
            row = transaction.one(
                "SELECT t.detail FROM capability c JOIN capability_text t"
                " ON t.id = c.id AND t.digest = c.digest WHERE c.id = :id",
                id=id,
            )
        if row is None:
            raise NotFound("capability", id, see="see: prowess list")
        return DecodeDetail.decode(row[0])

    def history(self, id: str) -> tuple[Version, ...]:
        """Every text this capability had, oldest first."""
        with self._database.reading() as transaction:
            rows = transaction.all(
                "SELECT digest, since, seen_at, capability, detail FROM capability_text"
                " WHERE id = :id ORDER BY since, seen_at",
                id=id,
            )
        return tuple(
            Version(d, since, at, msgspec.json.decode(c, type=Capability), DecodeDetail.decode(t))
            for d, since, at, c, t in rows
        )

    def known(self) -> dict[str, dict[str, str]]:
        """Source -> place -> stamp of everything that need not be read again."""
        with self._database.reading() as transaction:
            stamps: dict[str, dict[str, str]] = {}
            for source, place, stamp in transaction.all("SELECT source, place, stamp FROM source_entry"):
                stamps.setdefault(source, {})[place] = stamp
            return stamps

    def problems(self) -> tuple[Problem, ...]:
        with self._database.reading() as transaction:
            rows = transaction.all("SELECT problem FROM problem ORDER BY source, number")
        return tuple(DecodeProblem.decode(row[0]) for row in rows)

    def apply(
        self,
        transaction: Transaction,
        readings: Mapping[str, Reading],
        configured: Mapping[str, Trust],
        now: str,
    ) -> Changes:
        """Make the catalogue hold exactly what these sources offer now.

        Sources that are configured but were not read keep what they have; sources that are no
        longer configured lose everything. What a source that is not fully trusted changes is held back.
        """
        version = _lock(transaction)
        current = _rows(transaction)
        wanted = merge(current, readings, configured)
        changes = compare(current, wanted.rows)
        moved = moved_only(current, wanted)
        _write_capabilities(transaction, wanted, [*changes.added, *changes.changed, *moved], version + 1, now)
        transaction.many("DELETE FROM capability WHERE id = :id", ({"id": id} for id in changes.removed))
        held = quarantine.update(transaction, changes, current, wanted, configured, now)
        _write_stamps(transaction, wanted.stamps, readings, configured)
        touched = _write_providers(transaction, readings, wanted, configured)
        _write_problems(transaction, wanted.problems, readings, configured)
        if changes or touched or moved or held or not claims.are_known(transaction):
            touched = claims.update(transaction) or touched
        if changes or touched or moved or held:
            _changed(transaction)
        return changes

    def approve(self, transaction: Transaction, id: str, by: str, now: str, digest: str = "") -> Held:
        """A person lets a held capability go, with exactly the content it has now."""
        found = quarantine.approve(transaction, id, by, now, digest)
        _changed(transaction)
        return found

    def reject(self, transaction: Transaction, id: str, digest: str = "") -> Held:
        """A person keeps a capability out until its content changes."""
        found = quarantine.reject(transaction, id, digest)
        _changed(transaction)
        return found

    def hold(self, transaction: Transaction, id: str, digest: str, reason: str, now: str) -> bool:
        """Hold a capability back for a reason that reading alone does not show."""
        done = quarantine.hold(transaction, id, digest, reason, now)
        if done:
            _changed(transaction)
        return done

    def approved_version(self, id: str) -> Version | None:
        """The text that was approved last, to compare a changed one with."""
        with self._database.reading() as transaction:
            digest = quarantine.last_approved(transaction, id)
        return next((version for version in self.history(id) if version.digest == digest), None)

    def switch(self, transaction: Transaction, provider: str, agent: str, why_off: str | None) -> bool:
        """Switch a provider off (with the reason) or on, for one agent or for all (empty)."""
        _lock(transaction)
        known = _providers(transaction)
        if provider not in known:
            raise NotFound("provider", provider, known, "see: prowess provider list")
        where = {"provider": provider, "agent": agent}
        touched = transaction.run(
            "DELETE FROM provider_off WHERE provider = :provider AND agent = :agent", **where
        )
        if why_off is not None:
            transaction.run(
                "INSERT INTO provider_off (provider, agent, reason) VALUES (:provider, :agent, :reason)",
                reason=why_off, **where,
            )  # fmt: skip
        changed = bool(touched) != (why_off is not None)
        if changed:
            _changed(transaction)
        return changed


def _version(transaction: Transaction) -> int:
    row = transaction.one("SELECT version FROM catalogue_version WHERE one = 1")
    return int(row[0]) if row else 0


def _capabilities(transaction: Transaction, known: View | None) -> dict[str, Capability]:
    rows = transaction.all(
        "SELECT t.capability FROM capability c JOIN capability_text t ON t.id = c.id AND t.digest = c.digest"
        " WHERE c.version > :since",
        since=known.version if known else 0,
    )
    found = {c.id: c for c in DecodeAll.decode(f"[{','.join(row[0] for row in rows)}]")}
    together = {**known.capabilities, **found} if known else found
    count = transaction.one("SELECT COUNT(*) FROM capability")
    if count != (len(together),):
        left = {row[0] for row in transaction.all("SELECT id FROM capability")}
        together = {id: c for id, c in together.items() if id in left}
    in_order = known is not None and found.keys() <= known.capabilities.keys()
    return together if in_order else dict(sorted(together.items()))


def _changed(transaction: Transaction) -> None:
    transaction.run("UPDATE catalogue_version SET version = version + 1 WHERE one = 1")


def _lock(transaction: Transaction) -> int:
    """Let one sync at a time through; the next one waits here."""
    row = transaction.one("UPDATE catalogue_version SET version = version WHERE one = 1 RETURNING version")
    return int(row[0]) if row else 0


def _rows(transaction: Transaction) -> dict[str, Row]:
    rows = transaction.all("SELECT id, source, place, provider, digest FROM capability")
    return {row[0]: Row(*row[1:]) for row in rows}


def _providers(transaction: Transaction) -> dict[str, Provider]:
    return {
        name: Provider(
            name=name,
            source=source,
            description=description,
            faculties=tuple(msgspec.json.decode(faculties)),
            down=down,
        )
        for name, source, description, faculties, down in transaction.all(
            "SELECT name, source, description, faculties, down FROM provider ORDER BY name"
        )
    }


def _write_capabilities(
    transaction: Transaction, wanted: Wanted, ids: Iterable[str], version: int, now: str
) -> None:
    rows = []
    for id in ids:
        row, draft = wanted.rows[id], wanted.drafts[id]
        capability = replace(
            draft.capability, source=row.source, provider=row.provider, digest=row.digest, unavailable=()
        )
        rows.append(
            {
                "id": id,
                "source": row.source,
                "place": row.place,
                "provider": row.provider,
                "digest": row.digest,
                "capability": canonical(capability),
                "detail": canonical(draft.detail),
                "since": version,
                "seen_at": now,
            }
        )
    transaction.many(
        "INSERT INTO capability_text (id, digest, since, seen_at, capability, detail)"
        " VALUES (:id, :digest, :since, :seen_at, :capability, :detail)"
        " ON CONFLICT (id, digest) DO UPDATE SET capability = excluded.capability",
        rows,
    )
    transaction.many(
        "INSERT INTO capability (id, source, place, provider, digest, version)"
        " VALUES (:id, :source, :place, :provider, :digest, :since)"
        " ON CONFLICT (id) DO UPDATE SET source = excluded.source, place = excluded.place,"
        " provider = excluded.provider, digest = excluded.digest, version = excluded.version",
        rows,
    )


def _write_stamps(
    transaction: Transaction,
    stamps: Mapping[tuple[str, str], str],
    readings: Mapping[str, Reading],
    configured: Collection[str],
) -> None:
    held = {
        (source, place): stamp
        for source, place, stamp in transaction.all("SELECT source, place, stamp FROM source_entry")
    }
    untouched = {name for name in configured if name not in readings or readings[name].down}
    gone = [key for key in held if key[0] not in untouched and stamps.get(key) != held[key]]
    new = [key for key, stamp in stamps.items() if held.get(key) != stamp]
    transaction.many(
        "DELETE FROM source_entry WHERE source = :source AND place = :place",
        ({"source": source, "place": place} for source, place in gone),
    )
    transaction.many(
        "INSERT INTO source_entry (source, place, stamp) VALUES (:source, :place, :stamp)"
        " ON CONFLICT (source, place) DO UPDATE SET stamp = excluded.stamp",
        ({"source": key[0], "place": key[1], "stamp": stamps[key]} for key in new),
    )


def _write_providers(
    transaction: Transaction, readings: Mapping[str, Reading], wanted: Wanted, configured: Collection[str]
) -> bool:
    """Bring the providers in line; true when any of them changed."""
    held = _providers(transaction)
    now: dict[str, Provider] = {}
    for source in configured:
        reading = readings.get(source)
        found = _providers_of(source, reading, [p for p in held.values() if p.source == source])
        now |= {p.name: p for p in found if p.name not in now}
    for row in wanted.rows.values():
        now.setdefault(row.provider, Provider(name=row.provider, source=row.source))
    if now == held:
        return False
    transaction.many(
        "DELETE FROM provider WHERE name = :name", ({"name": n} for n in held.keys() - now.keys())
    )
    transaction.many(
        "INSERT INTO provider (name, source, description, faculties, down)"
        " VALUES (:name, :source, :description, :faculties, :down)"
        " ON CONFLICT (name) DO UPDATE SET source = excluded.source,"
        " description = excluded.description, faculties = excluded.faculties, down = excluded.down",
        (
            {
                "name": p.name,
                "source": p.source,
                "description": p.description,
                "faculties": canonical(p.faculties),
                "down": p.down,
            }
            for p in now.values()
            if held.get(p.name) != p
        ),
    )
    return True


def _providers_of(source: str, reading: Reading | None, held: Sequence[Provider]) -> Sequence[Provider]:
    if reading is None:
        return held
    if reading.down:
        known = held or reading.providers or [Provider(name=source, source=source)]
        return [replace(p, source=source, down=reading.down) for p in known]
    return [replace(p, source=source) for p in reading.providers]


def _write_problems(
    transaction: Transaction,
    problems: Mapping[str, Sequence[Problem]],
    readings: Mapping[str, Reading],
    configured: Collection[str],
) -> None:
    for (source,) in transaction.all("SELECT DISTINCT source FROM problem"):
        if source in readings or source not in configured:
            transaction.run("DELETE FROM problem WHERE source = :source", source=source)
    transaction.many(
        "INSERT INTO problem (source, number, problem) VALUES (:source, :number, :problem)",
        (
            {"source": source, "number": number, "problem": canonical(problem)}
            for source, found in problems.items()
            if source in readings
            for number, problem in enumerate(found)
        ),
    )
