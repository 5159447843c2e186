"""What exists: every capability the sources offer now, versioned by content.

Above: the engine, which hands over what the sources read and asks for a `View` at each turn.
Below: the store. The catalogue owns the tables of capabilities, providers and problems; it holds
exactly what the sources offer, remembers every text a capability ever had, and numbers each
change, so that an open process learns of another's sync by reading one number.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime

import msgspec

from prowess.catalogue import claims, health, quarantine, writing
from prowess.catalogue.applying import apply
from prowess.catalogue.arrival import Arrival
from prowess.catalogue.health import Observation, ReadingNode
from prowess.catalogue.planning import Plan, PlannedWrite, plan_of
from prowess.catalogue.providers import providers as read_providers
from prowess.catalogue.stored import HeldTexts, StoredCapabilities
from prowess.catalogue.sync_state import SyncState
from prowess.catalogue.view import View
from prowess.catalogue.writing import Written
from prowess.errors import NotFound
from prowess.store.database import Database, Transaction, paced
from prowess.types import Capability, Detail, Draft, HeldCapability, Problem, Provider

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
    def __init__(self, database: Database, most_held: int | None = None) -> None:
        """most_held: with more capabilities than that, none are held in memory, but looked up."""
        self._database = database
        self._most_held = most_held
        self._held_texts = HeldTexts()

    def view(self, known: View | None = None) -> View:
        """The catalogue as it is now; of what an earlier view knows, only what changed is read."""
        with self._database.reading() as transaction:
            return self.read(transaction, known)

    def read(self, transaction: Transaction, known: View | None = None) -> View:
        """The catalogue as a transaction sees it: the view that is known, when nothing changed since."""
        version = _version(transaction)
        if known is not None and (known.era, known.version) == (transaction.era, version):
            return _with_news_of_health(transaction, known)
        providers = read_providers(transaction)
        return View(
            version=version,
            era=transaction.era,
            capabilities=self._capabilities(transaction, known, version),
            providers={name: each for name, (each, _) in providers.items()},
            observations=_observations(transaction, providers.values()),
            quarantined=quarantine.held(transaction),
            accepted=quarantine.accepted(transaction),
            first=claims.owners(transaction),
            switched_off={
                (provider, agent): reason
                for provider, agent, reason in transaction.all(
                    "SELECT provider, agent, reason FROM provider_off WHERE workspace = :workspace"
                )
            },
        )

    def _capabilities(
        self, transaction: Transaction, known: View | None, version: int
    ) -> Mapping[str, Capability]:
        row = transaction.one("SELECT COUNT(*) FROM capability WHERE workspace = :workspace")
        size = int(row[0]) if row else 0
        if self._most_held is not None and size > self._most_held:
            return StoredCapabilities(self._database, version, size, self._held_texts)
        return _in_memory(transaction, known if known is None or not known.is_stored else None, size)

    def detail(self, id: str) -> Detail:
        with self._database.reading() as transaction:
            row = transaction.one(
                "SELECT t.detail FROM capability c JOIN capability_text t"
                " ON t.workspace = c.workspace AND t.id = c.id AND t.digest = c.digest"
                " WHERE c.workspace = :workspace AND c.id = :id",
                id=id,
            )
        if row is None:
            raise NotFound("capability", id, see="see: prowess list")
        return DecodeDetail.decode(row[0])

    def details(self, wanted: Collection[Capability]) -> dict[str, Detail]:
        """By id, what belongs to these capabilities with exactly the content they have, also later."""
        one = (
            "SELECT detail FROM capability_text"
            " WHERE workspace = :workspace AND id = :id AND digest = :digest"
        )
        with self._database.reading() as transaction:
            found = {c.id: transaction.one(one, id=c.id, digest=c.digest) for c in wanted}
        return {id: DecodeDetail.decode(row[0]) for id, row in found.items() if row}

    def history(self, id: str) -> tuple[Version, ...]:
        """Every text this capability had, oldest first."""
        with self._database.reading() as transaction:
            rows = transaction.all(
                "SELECT digest, since, seen_at, capability, detail FROM capability_text"
                " WHERE workspace = :workspace AND id = :id ORDER BY since, seen_at",
                id=id,
            )
        return tuple(
            Version(d, since, at, msgspec.json.decode(c, type=Capability), DecodeDetail.decode(t))
            for d, since, at, c, t in rows
        )

    def known(self, definitions: Mapping[str, str], sources: Collection[str]) -> dict[str, dict[str, str]]:
        """Source -> place -> stamp of everything that need not be read again, as these are defined."""
        stamps: dict[str, dict[str, str]] = {}
        with self._database.reading() as transaction:
            rows = transaction.among(
                "SELECT source, place, stamp, definition FROM source_entry"
                " WHERE workspace = :workspace AND source IN (:listed)",
                sources,
            )
        for source, place, stamp, definition in rows:
            if definitions.get(source, "") == definition:
                stamps.setdefault(source, {})[place] = stamp
        return stamps

    def problems(self, view: View) -> tuple[Problem, ...]:
        """What the last syncs could not read, and why this view takes sources to be down."""
        with self._database.reading() as transaction:
            rows = transaction.all(
                "SELECT problem FROM problem WHERE workspace = :workspace ORDER BY source, number"
            )
        found = (*view.health.problems, *(DecodeProblem.decode(row[0]) for row in rows))
        return tuple(sorted(found, key=lambda problem: problem.source))

    def plan(self, arrival: Arrival, so_far: SyncState) -> Plan:
        """What a portion of a sync would change, as the catalogue is now; nothing is written."""
        with self._database.reading() as transaction:
            return plan_of(transaction, arrival, so_far, _version(transaction))

    def keep_texts(self, rows: Mapping[str, Written]) -> frozenset[str]:
        """Write new texts beforehand, in short transactions, where there are many; returns whose."""
        if len(rows) <= writing.PORTION:
            return frozenset()
        with self._database.reading() as transaction:
            known = writing.known_texts(transaction, rows.values())
        new = {id: row for id, row in rows.items() if id not in known}
        for portion in paced(writing.portions(new.values())):
            with self._database.writing() as transaction:
                writing.write_texts(transaction, portion)
        return frozenset(new)

    def confirm(self, transaction: Transaction, arrival: Arrival, so_far: SyncState, plan: Plan) -> Plan:
        """The plan as it is now that nobody else can change the catalogue: mostly the same one."""
        version = _lock(transaction)
        return plan if version == plan.version else plan_of(transaction, arrival, so_far, version)

    def apply(
        self, transaction: Transaction, arrival: Arrival, so_far: SyncState, step: PlannedWrite,
        has_text: Collection[str], node: ReadingNode, now: datetime,
    ) -> None:  # fmt: skip
        """Make the catalogue hold what these sources offer now; of those that were not read, what it had."""
        if apply(transaction, arrival, so_far, step, has_text, node, now):
            _changed(transaction)

    def approve(
        self, transaction: Transaction, id: str, by: str, now: str, digest: str = ""
    ) -> HeldCapability:
        """A person lets a held capability go, with exactly the content it has now."""
        found = quarantine.approve(transaction, id, by, now, digest)
        _changed(transaction)
        return found

    def accept(self, transaction: Transaction, id: str, digest: str, by: str, now: str) -> None:
        """A person takes what the guard found in a text of this machine, for exactly this content."""
        quarantine.accept(transaction, id, digest, by, now)
        _changed(transaction)

    def reject(self, transaction: Transaction, id: str, digest: str = "") -> HeldCapability:
        """A person keeps a capability out until its content changes."""
        found = quarantine.reject(transaction, id, digest)
        _changed(transaction)
        return found

    def approved_version(self, id: str) -> Version | None:
        """The text that was approved last, to compare a changed one with."""
        with self._database.reading() as transaction:
            own, digest = quarantine.last_approved(transaction, id)
        return next((version for version in self.history(own) if version.digest == digest), None)

    def original(self, id: str) -> Draft:
        """A capability as its author wrote it, also where prowess.toml words it otherwise."""
        with self._database.reading() as transaction:
            row = transaction.one(
                "SELECT t.capability, t.detail FROM capability c JOIN capability_text t"
                " ON t.workspace = c.workspace"
                " AND t.id = CASE WHEN c.original_id = '' THEN c.id ELSE c.original_id END"
                " AND t.digest = CASE WHEN c.original_id = '' THEN c.digest ELSE c.original_digest END"
                " WHERE c.workspace = :workspace AND c.id = :id",
                id=id,
            )
        if row is None:
            raise NotFound("capability", id, see="see: prowess list")
        return Draft(msgspec.json.decode(row[0], type=Capability), DecodeDetail.decode(row[1]))

    def decided_off(self, transaction: Transaction, agent: str) -> frozenset[str]:
        """The providers that a person switched off, for this agent or for everybody."""
        rows = transaction.all(
            "SELECT provider FROM provider_off"
            " WHERE workspace = :workspace AND decided = 'person' AND (agent = :agent OR agent = '')",
            agent=agent,
        )
        return frozenset(provider for (provider,) in rows)

    def switch(
        self,
        transaction: Transaction,
        provider: str,
        agent: str,
        why_off: str | None,
        decided: str = "person",
    ) -> bool:
        """Switch a provider off (with the reason, and who decided it) or on, for one agent or all (empty)."""
        _lock(transaction)
        known = read_providers(transaction)
        if provider not in known:
            raise NotFound("provider", provider, known, "see: prowess provider list")
        where = {"provider": provider, "agent": agent}
        touched = transaction.run(
            "DELETE FROM provider_off"
            " WHERE workspace = :workspace AND provider = :provider AND agent = :agent",
            **where,
        )
        if why_off is not None:
            transaction.run(
                "INSERT INTO provider_off (workspace, provider, agent, reason, decided)"
                " VALUES (:workspace, :provider, :agent, :reason, :decided)",
                reason=why_off, decided=decided, **where,
            )  # fmt: skip
        changed = bool(touched) != (why_off is not None)
        if changed:
            _changed(transaction)
        return changed


def _observations(
    transaction: Transaction, providers: Iterable[tuple[Provider, str]]
) -> tuple[Observation, ...]:
    """What was seen of the sources as they are defined where their providers come from."""
    defined = {(provider.source, definition) for provider, definition in providers}
    return tuple(one for one in health.observations(transaction) if (one.source, one.definition) in defined)


def _with_news_of_health(transaction: Transaction, known: View) -> View:
    """Where processes do not agree, it counts whether they still run."""
    if not any(one.is_wrong for one in known.observations):
        return known
    defined = {(one.source, one.definition) for one in known.observations}
    found = tuple(one for one in health.observations(transaction) if (one.source, one.definition) in defined)
    return known if found == known.observations else replace(known, observations=found)


def _version(transaction: Transaction) -> int:
    row = transaction.one("SELECT version FROM catalogue_version WHERE workspace = :workspace AND one = 1")
    return int(row[0]) if row else 0


def _in_memory(transaction: Transaction, known: View | None, size: int) -> dict[str, Capability]:
    rows = transaction.all(
        "SELECT t.capability FROM capability c JOIN capability_text t"
        " ON t.workspace = c.workspace AND t.id = c.id AND t.digest = c.digest"
        " WHERE c.workspace = :workspace AND c.version > :since",
        since=known.version if known else 0,
    )
    found = {c.id: c for c in DecodeAll.decode(f"[{','.join(row[0] for row in rows)}]")}
    together = {**known.capabilities, **found} if known else found
    if size != len(together):
        left = {row[0] for row in transaction.all("SELECT id FROM capability WHERE workspace = :workspace")}
        together = {id: c for id, c in together.items() if id in left}
    in_order = known is not None and found.keys() <= known.capabilities.keys()
    return together if in_order else dict(sorted(together.items()))


def _changed(transaction: Transaction) -> None:
    transaction.run(
        "INSERT INTO catalogue_version (workspace, one, version) VALUES (:workspace, 1, 1)"
        " ON CONFLICT (workspace, one) DO UPDATE SET version = catalogue_version.version + 1"
    )
    transaction.announce()


def _lock(transaction: Transaction) -> int:
    """Let one sync at a time through; the next one waits here."""
    row = transaction.one(
        "INSERT INTO catalogue_version (workspace, one, version) VALUES (:workspace, 1, 0)"
        " ON CONFLICT (workspace, one) DO UPDATE SET version = catalogue_version.version RETURNING version"
    )
    return int(row[0]) if row else 0
