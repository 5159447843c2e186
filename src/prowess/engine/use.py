"""Policy at use: the decision that counts, with its approval and its limits, and recorded."""

from dataclasses import dataclass

from prowess.catalogue.view import View
from prowess.engine.world import World
from prowess.errors import ApprovalNeeded, Denied
from prowess.journal import Journal
from prowess.policy.policy import Policy, Settled
from prowess.store.database import Database, Transaction
from prowess.types import Decision


@dataclass(frozen=True, slots=True)
class Use:
    database: Database
    journal: Journal
    policy: Policy

    def check(self, world: World, agent: str, id: str, authenticated: bool) -> Decision:
        """Raises unless the agent may use it now; a stopped agent may use nothing."""
        meant = world.policy.meant(agent, id, authenticated)
        used = next((one for one in meant if _shut(world, agent, one)), meant[0])
        with self.database.writing() as transaction:
            settled = self._settled(transaction, world, agent, used, authenticated)
            decision = settled.decision
            approval = settled.approval.id if settled.approval else ""
            data = {"capability": used, "verdict": decision.verdict, "reason": decision.reason}
            more = {"revision": decision.revision or world.policy.revision, "approval": approval}
            self.journal.append(transaction, "decision", {**data, **more}, agent)
        if decision.verdict == "deny":
            raise Denied(agent, id, decision)  # as it was asked: what it was taken for tells what exists
        if decision.verdict == "ask":
            raise ApprovalNeeded(agent, used, approval, decision)
        return decision

    def _settled(
        self, transaction: Transaction, world: World, agent: str, id: str, authenticated: bool
    ) -> Settled:
        shut = _shut(world, agent, id)
        if shut:
            return Settled(Decision(verdict="deny", reason=shut))
        return self.policy.settle(transaction, agent, id, world.view, authenticated)


def _shut(world: World, agent: str, id: str) -> str:
    """What is stopped, off or held back is denied before policy is asked: nobody is asked to approve it."""
    if world.stopped.get(agent):
        return f"the agent is stopped: {world.stopped[agent]}"
    view, capability = world.view, world.view.capabilities.get(id)
    if capability is None:
        return ""
    if id in view.quarantined:
        return f"quarantined: {view.quarantined[id].reason}"
    return why_off(view, capability.provider, agent) if view.off(capability.provider, agent) else ""


def why_off(view: View, provider: str, agent: str) -> str:
    return f"provider {provider} is switched off: {view.why_off(provider, agent)}"
