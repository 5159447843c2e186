"""`engine.quarantine`: what is held back until a person has looked at it."""

from collections.abc import Callable
from dataclasses import dataclass

from prowess.catalogue.catalogue import Catalogue, Version
from prowess.catalogue.difference import difference, readable
from prowess.journal import Journal
from prowess.journal.entries import QuarantineApproved, QuarantineRejected
from prowess.store.database import Database
from prowess.types import HeldCapability
from prowess.world import Worlds


@dataclass(frozen=True, slots=True)
class Quarantine:
    """What servers added or changed, and what looks like an attack: held back until a person decides."""

    _database: Database
    _journal: Journal
    _catalogue: Catalogue
    _worlds: Worlds
    _now: Callable[[], str]

    def list(self) -> tuple[HeldCapability, ...]:
        """What is held back until a person has looked at it, or was rejected by one."""
        return tuple(self._worlds.now().view.quarantined.values())

    def approve(self, id: str, by: str, digest: str = "") -> HeldCapability:
        """A person lets a held capability go, with exactly the content it has now.

        id: the capability, such as "tool:github/create_issue".
        by: who decides; the journal names them.
        digest: the content they looked at, to raise Outdated when it has changed; empty for any.
        """
        with self._database.writing() as transaction:
            held = self._catalogue.approve(transaction, id, by, self._now(), digest)
            entry = QuarantineApproved(capability=id, digest=held.digest, by=by, was=held.reason)
            self._journal.append(transaction, entry)
        return held

    def reject(self, id: str, by: str, digest: str = "") -> HeldCapability:
        """A person keeps a capability out until its content changes.

        id: the capability, such as "tool:github/create_issue".
        by: who decides; the journal names them.
        digest: the content they looked at, to raise Outdated when it has changed; empty for any.
        """
        with self._database.writing() as transaction:
            held = self._catalogue.reject(transaction, id, digest)
            entry = QuarantineRejected(capability=id, digest=held.digest, by=by, was=held.reason)
            self._journal.append(transaction, entry)
        return held

    def approved_version(self, id: str) -> Version | None:
        """The text of a capability that was approved last, to compare a changed one with.

        id: the capability.
        """
        return self._catalogue.approved_version(id)

    def difference(self, id: str) -> tuple[str, ...]:
        """How a capability differs from what was approved last, as lines; all of it where nothing was.

        id: the capability.
        """
        approved = self.approved_version(id)
        before = readable(approved.capability, approved.detail) if approved else ()
        self._worlds.now().view.get(id)  # what does not exist is named with what is near
        now = self._catalogue.original(id)
        return difference(before, readable(now.capability, now.detail), ("approved", "now"))
