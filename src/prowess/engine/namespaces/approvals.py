"""`engine.approvals`: the questions that policy asks people, and their answers."""

from dataclasses import dataclass

from prowess.calling.use import UseCheck
from prowess.journal import Journal
from prowess.journal.entries import ApprovalAnswered, ApprovalExpired
from prowess.policy.approvals import Approval, ApprovalAnswer
from prowess.policy.arguments import digest_of
from prowess.policy.policy import Policy
from prowess.store.database import Database
from prowess.tool_names import tool_name
from prowess.types import Decision, JsonObject


@dataclass(frozen=True, slots=True)
class Approvals:
    """What agents may use only after a person said yes."""

    _database: Database
    _journal: Journal
    _policy: Policy
    _use: UseCheck

    def list(self, every: bool = False) -> tuple[Approval, ...]:
        """The questions that wait for a person.

        every: also those that were answered or have expired, as far as they are remembered.
        """
        with self._database.writing() as transaction:
            for old in self._policy.expire(transaction):
                entry = ApprovalExpired(approval=old.id, capability=old.capability)
                self._journal.append(transaction, entry, old.agent)
        return self._policy.approvals(every)

    def waiting(self, agent: str, name: str, arguments: JsonObject) -> Approval | None:
        """The question that a call waits for: a host that begins a call anew need not ask again.

        agent: who calls.
        name: the id of a capability, or its name as a tool.
        arguments: what it is called with.
        """
        asked = (agent, digest_of(arguments))
        for one in self._policy.approvals(False):
            if (one.agent, one.arguments_digest) == asked and name in (
                one.capability,
                tool_name(one.capability),
            ):
                return one
        return None

    def answer(self, approval: str, said: ApprovalAnswer) -> Approval:
        """A person answers a question.

        approval: the id of the question, as `ApprovalNeeded.approval` names it.
        said: yes or no, who says so, for how long and for which uses.
        """
        with self._database.writing() as transaction:
            answered = self._policy.answer(transaction, approval, said)
            entry = ApprovalAnswered(
                approval=answered.id,
                capability=answered.capability,
                state=answered.state,
                by=said.by,
                scope=said.scope,
            )
            self._journal.append(transaction, entry, answered.agent)
        return answered

    def give_back(self, agent: str, decision: Decision) -> None:
        """What `check` allowed has not come about: a yes that holds for one use still holds.

        agent: who was allowed.
        decision: what `check` returned.
        """
        self._use.not_used(agent, decision)
