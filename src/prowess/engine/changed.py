"""What changed, and was it good? The part of the engine that evaluates, restores and stops."""

from dataclasses import replace
from functools import cached_property

from prowess.catalogue.view import View
from prowess.engine.evolving import Evolving
from prowess.engine.needed import WhatIsNeeded
from prowess.errors import Denied
from prowess.evolution.records import Evaluation
from prowess.evolution.scores import Scores
from prowess.evolution.snapshot import Snapshot
from prowess.journal import stamp
from prowess.types import Decision, JsonObject

TRIGGER = "event:evolution:trigger"


class WhatChanged(WhatIsNeeded):
    @cached_property
    def evolution(self) -> Evolving:
        return Evolving(
            self._database,
            self.journal,
            self._catalogue,
            lambda: stamp(self._clock()),
            self.view,
            lambda: self.policy.revision,
        )

    def evaluate(
        self, agent: str, scores: Scores | None = None, snapshot: Snapshot | None = None
    ) -> Evaluation:
        """Scores as given or as the journal has them; the snapshot as given or of what is active."""
        return self.evolution.evaluate(agent, scores, snapshot)

    def trigger(self, agent: str, trigger: str, reason: str, by: str) -> Evaluation:
        """A transition that a system outside asks for, if policy lets `by` use `evolution:trigger`."""
        self.check(by, TRIGGER, arguments={"agent": agent, "trigger": trigger, "reason": reason})
        return self.evolution.trigger(agent, trigger, reason, by)

    def visible(self, agent: str, authenticated: bool = True) -> View:
        """What an agent may use; nothing while it is stopped."""
        if self.evolution.stopped(agent):
            return replace(self.view(), capabilities={})
        return super().visible(agent, authenticated)

    def check(
        self, agent: str, id: str, authenticated: bool = True, arguments: JsonObject | None = None
    ) -> Decision:
        """Policy at use; a stopped agent may use nothing."""
        stopped = self.evolution.stopped(agent)
        if not stopped:
            return super().check(agent, id, authenticated, arguments)
        decision = Decision(verdict="deny", reason=f"the agent is stopped: {stopped}")
        data = {"capability": id, "verdict": "deny", "reason": decision.reason}
        self.journal.record("decision", data, agent)
        raise Denied(agent, id, decision)

    def explain(self, agent: str, id: str, request: str = "") -> tuple[str, ...]:
        """Why an agent may use something and would be offered it, or not: for people."""
        stopped = self.evolution.stopped(agent)
        first = (f"the agent is stopped: {stopped}",) if stopped else ()
        return (*first, *super().explain(agent, id, request))

    def activate(self, provider: str, agent: str = "") -> None:
        """Switch a provider on again, for everybody or for one agent; a rollback lets go of it."""
        with self._database.writing() as transaction:
            self.evolution.release(transaction, agent, provider)
        super().activate(provider, agent)
