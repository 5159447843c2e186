"""What may an agent use? The part of the engine that asks policy, before an offer and at use."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property

from prowess.catalogue.view import View
from prowess.context.secrets import without_secrets
from prowess.engine.exists import WhatExists
from prowess.engine.reading import SyncProgress
from prowess.errors import ApprovalNeeded, Denied
from prowess.policy.agents import Agent
from prowess.policy.approvals import Answer, Approval
from prowess.policy.arguments import digest_of, shown
from prowess.policy.policy import Policy, Settled, Use
from prowess.policy.spawning import SPAWN
from prowess.policy.tokens import Tokens
from prowess.types import Capability, Decision, JsonObject, Problem, SyncReport

REMEMBERED_AGENTS = 256
SHORTEST_SECRET = 4


class WhatIsAllowed(WhatExists):
    @cached_property
    def policy(self) -> Policy:
        return Policy(self._database, self._clock, self._ways.policy_files)

    @cached_property
    def tokens(self) -> Tokens:
        """What proves over HTTP that somebody is an agent."""
        return Tokens(self._database, self.journal, self._clock)

    @cached_property
    def _visible(self) -> dict[tuple[str, bool], tuple[object, View]]:
        """What each agent may see, with the moment for which that holds."""
        return {}

    def visible(self, agent: str, authenticated: bool = True) -> View:
        """What exists for this agent and what it may use: everything an answer may speak of."""
        view = self.view()
        self.policy.refresh()
        moment = self.policy.at(view)
        held = self._visible.get((agent, authenticated))
        if held is None or held[0] is not moment:
            reach = self.policy.allowed(agent, view, authenticated)
            allowed = {id: c for id, c in view.active(agent).items() if id in reach.allow or id in reach.ask}
            needy = [c for c in allowed.values() if c.required_tools]
            seen = {**allowed, **{c.id: _without_denied_names(c, view, allowed) for c in needy}}
            if len(self._visible) >= REMEMBERED_AGENTS:
                self._visible.clear()
            held = self._visible[agent, authenticated] = (moment, replace(view, capabilities=seen))
        return held[1]

    def capabilities(self, agent: str | None = None, kind: str = "") -> tuple[Capability, ...]:
        """Everything that exists and is on, in order of id; for one agent, only what it may use."""
        found = self.view().active("") if agent is None else self.visible(agent).capabilities
        return tuple(c for c in found.values() if not kind or c.kind == kind)

    def check(
        self, agent: str, id: str, authenticated: bool = True, arguments: JsonObject | None = None
    ) -> Decision:
        """Policy at use: rules may have changed since the offer. Raises unless it is allowed.

        A person who is asked sees the arguments, and a yes holds for them alone unless the person says more.
        """
        view = self.view()
        self.policy.refresh()
        use = None if arguments is None else Use(shown(arguments, self.hidden), digest_of(arguments))
        with self._database.writing() as transaction:
            settled = _if_off(view, agent, id) or self.policy.settle(
                transaction, agent, id, view, authenticated, use
            )
            approval = settled.approval.id if settled.approval else ""
            decision = replace(settled.decision, approval=approval)
            data = {"capability": id, "verdict": decision.verdict, "reason": decision.reason}
            more = {"revision": decision.revision or self.policy.revision, "approval": approval}
            self.journal.append(transaction, "decision", {**data, **more}, agent)
        if decision.verdict == "deny":
            raise Denied(agent, id, decision)
        if decision.verdict == "ask":
            raise ApprovalNeeded(agent, id, approval, decision)
        return decision

    def not_used(self, agent: str, decision: Decision) -> None:
        """What was allowed has not come about yet: a yes that holds for one use still holds."""
        if decision.approval:
            with self._database.writing() as transaction:
                if self.policy.give_back(transaction, decision.approval):
                    data = {"approval": decision.approval}
                    self.journal.append(transaction, "approval.unused", data, agent)

    def hidden(self, text: str) -> str:
        """A text without credentials: those of the environment, and what looks like one."""
        for name in self.view().secret_names:
            value = self._environment.get(name, "")
            if len(value) >= SHORTEST_SECRET:
                text = text.replace(value, f"${{{name}}}")
        return without_secrets(text)

    def explain(self, agent: str, id: str, request: str = "") -> tuple[str, ...]:
        """Why an agent may use something, or not, step by step: for people."""
        view = self.view()
        self.policy.refresh()
        steps = list(self.policy.explain(agent, id, view).steps)
        capability = view.capabilities.get(id)
        if capability is None:
            return tuple(steps)
        if view.off(capability.provider, agent):
            steps.append(_off(view, capability.provider, agent))
        if id in view.quarantined:
            steps.append(f"quarantined: {view.quarantined[id].reason}")
        return (*steps, *(f"unavailable: {reason}" for reason in capability.unavailable))

    def diagnose(self) -> tuple[Problem, ...]:
        view = self.view()
        self.policy.refresh()
        return (*super().diagnose(), *(self.policy.problems(view) or self._nobody_bound()))

    def _nobody_bound(self) -> tuple[Problem, ...]:
        """Nothing is broken then, and yet no agent may use anything that matters."""
        if self.policy.agents():
            return ()
        what, remedy = "there is none, so agents have only base", "run: prowess init"
        if self.policy.files:
            what = "no agent is bound to a profile, so agents have only base"
            remedy = "name agents in a profile, or run: prowess agent add NAME --profile PROFILE"
        return (Problem("policy", "policy", what, remedy, "warning"),)

    # --- agents and what people say ----------------------------------------------------------

    def agents(self) -> tuple[Agent, ...]:
        self.policy.refresh()
        return self.policy.agents()

    def bind(self, name: str, profile: str) -> Agent:
        """Bind a name to a profile."""
        self.policy.refresh()
        with self._database.writing() as transaction:
            agent = self.policy.bind(transaction, name, profile)
            self.journal.append(transaction, "agent.bound", {"profile": profile}, name)
        return agent

    def spawn(self, parent: str, name: str, profile: str) -> Agent:
        """Make a child of an agent, which never exceeds its parent."""
        arguments = {"name": name, "profile": profile}
        approval = self.check(parent, SPAWN, arguments=arguments).approval
        view = self.view()
        with self._database.writing() as transaction:
            agent = self.policy.spawn(transaction, parent, name, profile, view, approval)
            self.journal.append(transaction, "agent.spawned", {"parent": parent, "profile": profile}, name)
        return agent

    def retire(self, name: str) -> tuple[str, ...]:
        """Take an agent out, and every one below it; returns their names."""
        self.policy.refresh()
        with self._database.writing() as transaction:
            gone = self.policy.retire(transaction, name)
            for one in sorted(gone):
                self.journal.append(transaction, "agent.retired", {"with": name}, one)
        return gone

    def approvals(self, every: bool = False) -> tuple[Approval, ...]:
        """The questions that wait for a person; or every one that is remembered."""
        with self._database.writing() as transaction:
            for old in self.policy.expire(transaction):
                data = {"approval": old.id, "capability": old.capability}
                self.journal.append(transaction, "approval.expired", data, old.agent)
        return self.policy.approvals(every)

    def answer(self, approval: str, said: Answer) -> Approval:
        """A person answers a question."""
        with self._database.writing() as transaction:
            answered = self.policy.answer(transaction, approval, said)
            data = {"approval": answered.id, "capability": answered.capability, "state": answered.state}
            more = {"by": said.by, "scope": said.scope}
            self.journal.append(transaction, "approval.answered", {**data, **more}, answered.agent)
        return answered

    def review(self, grant: str, by: str, note: str = "") -> None:
        """An admin has looked at a grant as it is defined now."""
        self.policy.refresh()
        with self._database.writing() as transaction:
            review = self.policy.review(transaction, grant, by, note)
            data = {"grant": grant, "digest": review.digest, "by": by, "note": note}
            self.journal.append(transaction, "grant.reviewed", data)

    def _take_in(self, names: Sequence[str], progress: SyncProgress) -> SyncReport:
        before = self.view()
        report = super()._take_in(names, progress)
        if report.changes:
            for shift in self.policy.shifts(before, self.view()):
                data = {"profile": shift.profile, "gained": shift.gained, "lost": shift.lost}
                self.journal.record("policy.shifted", data)
        return report


def _if_off(view: View, agent: str, id: str) -> Settled | None:
    """What is off or held back is denied before policy is asked, so that nobody is asked to approve it."""
    capability = view.capabilities.get(id)
    if capability and id in view.quarantined:
        return Settled(Decision(verdict="deny", reason=f"quarantined: {view.quarantined[id].reason}"))
    if capability and view.off(capability.provider, agent):
        return Settled(Decision(verdict="deny", reason=_off(view, capability.provider, agent)))
    return None


def _without_denied_names(
    capability: Capability, view: View, allowed: Mapping[str, Capability]
) -> Capability:
    """What an allowed capability requires may be denied, and then its name is not the agent's to read."""
    needed = {tool: view.tool_id(tool) for tool in capability.required_tools}
    denied = [tool for tool, id in needed.items() if id and id not in allowed]
    if not denied:
        return capability
    kept = tuple(tool for tool in capability.required_tools if tool not in denied)
    reasons = tuple(r for r in capability.unavailable if not any(tool in r for tool in denied))
    if len(reasons) < len(capability.unavailable):
        reasons = (*reasons, "something it requires is unavailable")
    return replace(capability, required_tools=kept, unavailable=reasons)


def _off(view: View, provider: str, agent: str) -> str:
    return f"provider {provider} is switched off: {view.why_off(provider, agent)}"
