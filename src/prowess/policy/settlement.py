"""A use, decided for good: what the rules say, what a person answered, and the limits it counts against.

Above: `Policy`, which opens the transaction. Below: one moment of the rules, and the tables of approvals and
of what was used.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime

from prowess.errors import Denied
from prowess.journal import spoken
from prowess.policy import approvals as approval_table
from prowess.policy import state as standing_tables
from prowess.policy.approvals import Approval, Question
from prowess.policy.grants import INTENSIVE, Limits
from prowess.policy.snapshot import PolicySnapshot, declares
from prowess.policy.spawning import SPAWN, too_many
from prowess.store.database import Transaction
from prowess.types import Decision, JsonObject


@dataclass(frozen=True, slots=True)
class Authorization:
    """The decision at use, and the approval it waits for or rests on."""

    decision: Decision
    approval: Approval | None = None
    stated: Decision | None = None
    """What the rules said, before anybody was asked and anything counted."""


@dataclass(frozen=True, slots=True)
class UseArguments:
    """What something is to be used with: as a person is shown it, which arguments they are, and they."""

    shown: Mapping[str, str] = field(default_factory=dict)
    digest: str = ""
    given: JsonObject | None = None
    """None where the host does not say."""


@dataclass(frozen=True, slots=True)
class UseSettlement:
    """One transaction, and the rules as it sees them."""

    transaction: Transaction
    moment: PolicySnapshot
    now: datetime

    def settle(self, agent: str, id: str, authenticated: bool, use: UseArguments) -> Authorization:
        """With what a person answered, and counted against its limits."""
        stated = decision = self.moment.use(agent, id, authenticated, use.given)
        approval = None
        question = self._question(agent, id, stated, use)
        if stated.verdict == "ask":
            approval = approval_table.ask(self.transaction, question, self.now)
            decision = _answered(stated, approval)
        if decision.verdict == "allow":
            decision = self._counted(agent, id, decision)
        taken = decision.verdict == "allow" and approval is not None and approval.scope == "once"
        if taken and approval and not approval_table.use(self.transaction, approval.id):
            approval = approval_table.ask(self.transaction, question, self.now)
            decision = _answered(stated, approval)
        return Authorization(decision, approval, stated)

    def foretell(self, agent: str, id: str, decision: Decision, use: UseArguments) -> Decision:
        """The same, written nowhere."""
        if decision.verdict == "ask":
            question = self._question(agent, id, decision, use)
            held = approval_table.standing_answer(self.transaction, question, self.now)
            decision = _answered(decision, held) if held else decision
        if decision.verdict != "allow":
            return decision
        if id == SPAWN and (reason := too_many(self.moment, agent)):
            return replace(decision, verdict="deny", reason=reason, chain=(*decision.chain, reason))
        limits = self._limits(agent, id)
        reached = standing_tables.limit_reached(self.transaction, limits, self.now)
        return _over(decision, reached, limits) if reached else decision

    def refuse_non_spawner(self, parent: str, approval: str) -> None:
        """Raise `Denied` unless an agent may have children; `approval` is the yes that was taken up."""
        decision = self.moment.decision(parent, SPAWN, True)
        if decision.verdict == "ask" and approval:
            return
        if decision.verdict == "ask":
            question = self._question(parent, SPAWN, decision, UseArguments())
            held = approval_table.standing_answer(self.transaction, question, self.now)
            decision = _answered(decision, held) if held else decision
        if decision.verdict != "allow":
            raise Denied(parent, SPAWN, decision)

    def _question(self, agent: str, id: str, decision: Decision, use: UseArguments) -> Question:
        capability = self.moment.capabilities.get(id)
        return Question(
            agent=agent,
            capability=id,
            digest=capability.digest if capability else "",
            reason=decision.reason,
            arguments=use.shown,
            arguments_digest=use.digest,
        )

    def _limits(self, agent: str, id: str) -> Limits:
        """Agent -> how often an hour it may use what is as costly as this; of it and everyone above it."""
        if not declares(self.moment.capabilities.get(id), "resource_intensive"):
            return {}
        stated = {one: self.moment.holding(one).limits.get(INTENSIVE) for one in self.moment.line(agent)}
        return {one: most for one, most in stated.items() if most is not None}

    def _counted(self, agent: str, id: str, decision: Decision) -> Decision:
        if not declares(self.moment.capabilities.get(id), "resource_intensive"):
            return decision
        limits = self._limits(agent, id)
        reached = standing_tables.over_limit(self.transaction, limits, id, agent, self.now)
        return _over(decision, reached, limits) if reached else decision


def _over(decision: Decision, reached: str, limits: Limits) -> Decision:
    reason = f"{INTENSIVE} of agent {reached!r} is reached: {limits[reached]} uses an hour"
    return replace(decision, verdict="deny", reason=reason, chain=(*decision.chain, reason), conditions=())


def _answered(decision: Decision, approval: Approval | None) -> Decision:
    if approval is None:
        reason = "too many questions of this agent wait for an answer"
        return replace(decision, verdict="deny", reason=reason, conditions=())
    if approval.state == "pending":
        return decision
    yes = approval.state == "approved"
    word = "approved" if yes else "refused"
    reason = f"{word} by {approval.answered_by} until {spoken(approval.expires_at)}"
    chain = (*decision.chain, reason)
    if yes:
        return replace(decision, verdict="allow", reason=reason, chain=chain)
    return replace(decision, verdict="deny", reason=reason, chain=chain, conditions=())
