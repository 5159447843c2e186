"""Policy at use: the decision that counts, with its approval and its limits, and recorded."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial

from prowess.catalogue.view import View
from prowess.errors import ApprovalNeeded, Denied
from prowess.journal import Journal
from prowess.journal.entries import ApprovalUnused, Decided
from prowess.policy.arguments import digest_of, shown
from prowess.policy.conditions import Arguments
from prowess.policy.policy import Policy
from prowess.policy.settlement import Authorization
from prowess.policy.settlement import UseArguments as Given
from prowess.policy.snapshot import as_id
from prowess.store.database import Database, Transaction
from prowess.text.secrets import without_secrets
from prowess.tool_names import tool_id
from prowess.types import Decision, JsonObject
from prowess.world import World, Worlds

SHORTEST_SECRET = 4
UNASKED = "unasked"
"""What was stopped, off or held back: the rules were not asked."""


@dataclass(frozen=True, slots=True)
class UseCheck:
    database: Database
    journal: Journal
    policy: Policy
    worlds: Worlds
    environment: Mapping[str, str]

    def check(
        self, world: World, agent: str, id: str, authenticated: bool = True,
        arguments: JsonObject | None = None, allowed: Callable[[Transaction], None] | None = None,
        flush: bool = True, call: str = "",
    ) -> Decision:  # fmt: skip
        """Raises unless the agent may use it now; a stopped agent may use nothing.

        `allowed` writes what belongs to a use that is allowed, in the transaction that allows it; without
        `flush` that transaction does not wait for the disk. `call` names the call it is for.
        """
        meant = world.policy.meant(agent, id, authenticated, arguments)
        used = next((one for one in meant if shut_out(world, agent, one)), meant[0])
        given = self._given(world, agent, used, authenticated, arguments)
        with self.database.writing(flush) as transaction:
            settled = self._settled(transaction, world, agent, used, authenticated, given)
            approval = settled.approval.id if settled.approval else ""
            decision = replace(settled.decision, approval=approval)
            decided = Decided(
                capability=used,
                verdict=decision.verdict,
                reason=decision.reason,
                revision=decision.revision or world.policy.revision,
                approval=approval,
                rules=settled.stated.verdict if settled.stated else UNASKED,
                call=call,
                **self._watched(world, agent, used, authenticated, arguments, settled),
            )
            self.journal.append(transaction, decided, agent)
            if allowed is not None and decision.verdict == "allow":
                allowed(transaction)
        return _allowed(decision, agent, id, used)

    def would(
        self, world: World, agent: str, id: str, authenticated: bool = True,
        arguments: JsonObject | None = None,
    ) -> Decision:  # fmt: skip
        """Raises where `check` would, but records nothing and asks nobody."""
        return _allowed(self.foretold(world, agent, id, authenticated, arguments), agent, id, id)

    def _watched(
        self, world: World, agent: str, id: str, authenticated: bool, arguments: JsonObject | None,
        settled: Authorization,
    ) -> Mapping[str, str]:  # fmt: skip
        """What rules that are only watched would have decided, where that differs."""
        watched = world.policy.watched
        if watched is None or settled.stated is None:
            return {}
        said = watched.use(agent, as_id(id), authenticated, arguments)
        if said.verdict == settled.stated.verdict:
            return {}
        return {"shadow": said.verdict, "shadow_reason": said.reason}

    def foretold(
        self, world: World, agent: str, id: str, authenticated: bool = True,
        arguments: JsonObject | None = None,
    ) -> Decision:  # fmt: skip
        """What `check` would say about a capability, recorded nowhere and without what people answered."""
        given: Arguments = "any" if arguments is None else arguments
        known = world.view.capabilities
        id = id if id in known else tool_id(id, known) or id
        if shut := shut_out(world, agent, id):
            return Decision(verdict="deny", reason=shut, revision=world.policy.revision)
        said = world.policy.use(agent, id, authenticated, given)
        return said if said.revision else replace(said, revision=world.policy.revision)

    def not_used(self, agent: str, decision: Decision) -> None:
        """What was allowed has not come about yet: a yes that holds for one use still holds."""
        if decision.approval:
            with self.database.writing() as transaction:
                if self.policy.give_back(transaction, decision.approval):
                    self.journal.append(transaction, ApprovalUnused(approval=decision.approval), agent)

    def _given(
        self, world: World, agent: str, id: str, authenticated: bool, arguments: JsonObject | None
    ) -> Given:
        """The arguments as a person is shown them, which takes its time: only where one is asked.

        Where the rules turn to asking in this very moment the question has none, and is asked anew with them.
        """
        said = world.policy.use(agent, as_id(id), authenticated, arguments)
        if arguments is None or said.verdict != "ask":
            return Given(given=arguments)
        hide = partial(self.without_credentials, world.view)
        return Given(shown(arguments, hide), digest_of(arguments), arguments)

    def hidden(self, text: str) -> str:
        """A text without credentials: those of the environment, and what looks like one."""
        return self.hiding()(text)

    def hiding(self) -> Callable[[str], str]:
        """What takes credentials out of one text after another."""
        return partial(self.without_credentials, self.worlds.now().view)

    def without_credentials(self, view: View, text: str) -> str:
        """The same with the names of secrets that a view knows."""
        for name in view.secret_names:
            value = self.environment.get(name, "")
            if len(value) >= SHORTEST_SECRET:
                text = text.replace(value, f"${{{name}}}")
        return without_secrets(text)

    def _settled(
        self, transaction: Transaction, world: World, agent: str, id: str, authenticated: bool,
        given: Given,
    ) -> Authorization:  # fmt: skip
        shut = shut_out(world, agent, id)
        if shut:
            return Authorization(Decision(verdict="deny", reason=shut))
        return self.policy.settle(transaction, agent, id, world.view, authenticated, given)


def _allowed(decision: Decision, agent: str, id: str, used: str) -> Decision:
    if decision.verdict == "deny":
        raise Denied(agent, id, decision)  # as it was asked: what it was taken for tells what exists
    if decision.verdict == "ask":
        raise ApprovalNeeded(agent, used, decision.approval, decision)
    return decision


def shut_out(world: World, agent: str, id: str) -> str:
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
