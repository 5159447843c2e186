"""What people decide between turns: providers, quarantine, agents, approvals and reviews.

Above: the engine, whose verbs these are. Below: the catalogue and the policy. Each decision is one
transaction with its journal entry.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from prowess.catalogue import findings as flagged
from prowess.catalogue.catalogue import Catalogue, Version
from prowess.catalogue.difference import difference, readable
from prowess.engine.evolution import EvolutionService
from prowess.engine.sync import OpenedGuard
from prowess.engine.world import Worlds
from prowess.journal import Journal
from prowess.journal.entries import (
    AgentBound,
    AgentRetired,
    AgentSpawned,
    ApprovalAnswered,
    ApprovalExpired,
    GrantReviewed,
    QuarantineApproved,
    QuarantineRejected,
    switched,
)
from prowess.policy.agents import Agent
from prowess.policy.approvals import Approval, ApprovalAnswer
from prowess.policy.policy import Policy
from prowess.store.database import Database
from prowess.types import HeldCapability, Problem

if TYPE_CHECKING:
    from prowess.guard.scan import Judged


@dataclass(frozen=True, slots=True)
class Administration:
    database: Database
    journal: Journal
    catalogue: Catalogue
    policy: Policy
    evolution: EvolutionService
    worlds: Worlds
    guard: OpenedGuard
    now: Callable[[], str]

    # --- providers ---------------------------------------------------------------------------

    def activate(self, provider: str, agent: str = "") -> None:
        """Switch a provider on again, for everybody or for one agent; a rollback lets go of it."""
        self._switch(provider, agent, None)

    def deactivate(
        self,
        provider: str,
        agent: str = "",
        reason: str = "switched off by a person",
        automatic: bool = False,
    ) -> None:
        """Switch a provider off, for everybody or for one agent: what it brings is in no answer.

        What a program switches off by itself is `automatic`: a rollback may switch it on again. What a person
        switched off stays off until a person switches it on.
        """
        self._switch(provider, agent, reason, "program" if automatic else "person")

    def _switch(self, provider: str, agent: str, why_off: str | None, decided: str = "person") -> None:
        with self.database.writing() as transaction:
            if why_off is None:
                self.evolution.release(transaction, agent, provider)
            if self.catalogue.switch(transaction, provider, agent, why_off, decided):
                self.journal.append(transaction, switched(provider, why_off, why_off or ""), agent)

    # --- quarantine --------------------------------------------------------------------------

    def quarantined(self) -> tuple[HeldCapability, ...]:
        """What is held back until a person has looked at it."""
        return tuple(self.worlds.now().view.quarantined.values())

    def approve(self, id: str, by: str, digest: str = "") -> HeldCapability:
        """A person lets a held capability go, with exactly the content it has now, or that of this digest."""
        with self.database.writing() as transaction:
            held = self.catalogue.approve(transaction, id, by, self.now(), digest)
            entry = QuarantineApproved(capability=id, digest=held.digest, by=by, was=held.reason)
            self.journal.append(transaction, entry)
        return held

    def reject(self, id: str, by: str, digest: str = "") -> HeldCapability:
        """A person keeps a capability out until its content changes."""
        with self.database.writing() as transaction:
            held = self.catalogue.reject(transaction, id, digest)
            entry = QuarantineRejected(capability=id, digest=held.digest, by=by, was=held.reason)
            self.journal.append(transaction, entry)
        return held

    def approved_version(self, id: str) -> Version | None:
        """The text of a capability that was approved last, to compare a changed one with."""
        return self.catalogue.approved_version(id)

    def difference(self, id: str) -> tuple[str, ...]:
        """How a capability differs from what was approved last; everything, where nothing was approved."""
        approved = self.approved_version(id)
        before = readable(approved.capability, approved.detail) if approved else ()
        now = self.worlds.now().view.get(id)
        return difference(before, readable(now, self.catalogue.detail(id)), ("approved", "now"))

    # --- what the guard found ----------------------------------------------------------------

    def flagged(self) -> tuple[Problem, ...]:
        """What the guard found in texts of this machine and nobody has accepted."""
        return flagged.standing(self.journal, self.worlds.now().view)

    def accept(self, id: str, by: str) -> Problem:
        """A person takes what the guard found in a capability, for exactly the content it has now."""
        return flagged.accept(self.journal, self.worlds.now().view, id, by)

    def findings(self, id: str) -> "tuple[Judged, ...]":
        """What the guard finds in each text of a capability as it is now."""
        from prowess.guard.scan import found_in  # numpy, at the first look

        now, approved = self.worlds.now().view.get(id), self.approved_version(id)
        return found_in(now, self.catalogue.detail(id), self.guard.classifier, approved)

    # --- agents ------------------------------------------------------------------------------

    def agents(self) -> tuple[Agent, ...]:
        """Everyone who is bound to a profile, in order of name."""
        self.policy.refresh()
        return self.policy.agents()

    def bind(self, name: str, profile: str) -> Agent:
        """Bind a name to a profile."""
        self.policy.refresh()
        with self.database.writing() as transaction:
            agent = self.policy.bind(transaction, name, profile)
            self.journal.append(transaction, AgentBound(profile=profile), name)
        return agent

    def spawn(self, parent: str, name: str, profile: str, approval: str = "") -> Agent:
        """Make a child of an agent that may have one; `approval` is what lets it."""
        view = self.worlds.now(parent).view
        with self.database.writing() as transaction:
            agent = self.policy.spawn(transaction, parent, name, profile, view, approval)
            self.journal.append(transaction, AgentSpawned(parent=parent, profile=profile), name)
        return agent

    def retire(self, name: str) -> tuple[str, ...]:
        """Take an agent out, and every one below it; returns their names."""
        self.policy.refresh()
        with self.database.writing() as transaction:
            gone = self.policy.retire(transaction, name)
            for one in sorted(gone):
                self.journal.append(transaction, AgentRetired(together_with=name), one)
        return gone

    # --- approvals and reviews ---------------------------------------------------------------

    def approvals(self, every: bool = False) -> tuple[Approval, ...]:
        """The questions that wait for a person; or every one that is remembered."""
        with self.database.writing() as transaction:
            for old in self.policy.expire(transaction):
                entry = ApprovalExpired(approval=old.id, capability=old.capability)
                self.journal.append(transaction, entry, old.agent)
        return self.policy.approvals(every)

    def answer(self, approval: str, said: ApprovalAnswer) -> Approval:
        """A person answers a question."""
        with self.database.writing() as transaction:
            answered = self.policy.answer(transaction, approval, said)
            entry = ApprovalAnswered(
                approval=answered.id,
                capability=answered.capability,
                state=answered.state,
                by=said.by,
                scope=said.scope,
            )
            self.journal.append(transaction, entry, answered.agent)
        return answered

    def review(self, grant: str, by: str, note: str = "") -> None:
        """An admin has looked at a grant as it is defined now."""
        self.policy.refresh()
        with self.database.writing() as transaction:
            review = self.policy.review(transaction, grant, by, note)
            entry = GrantReviewed(grant=grant, digest=review.digest, by=by, note=note)
            self.journal.append(transaction, entry)
