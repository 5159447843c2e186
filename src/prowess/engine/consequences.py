"""What follows from an evaluation, in its transaction: providers are switched, and events say why.

Above: evolution. Below: the catalogue, whose switches they are, and the journal.
"""

from dataclasses import dataclass, replace

from prowess.catalogue.catalogue import Catalogue
from prowess.engine.usable import Usable, keep_reasons, read_reasons, with_cause
from prowess.errors import NotFound
from prowess.evolution.records import Evaluation
from prowess.evolution.snapshot import Snapshot
from prowess.journal import Journal, typed
from prowess.journal.entries import switched
from prowess.store.database import Transaction


@dataclass(frozen=True, slots=True)
class Consequences:
    journal: Journal
    catalogue: Catalogue

    def carry_out(
        self, transaction: Transaction, evaluation: Evaluation, now: Usable | None, before: Snapshot
    ) -> Evaluation:
        """Switch what a rollback or a trial names and journal what happened; the events say why.

        now: what the agent can use, unless whoever evaluates it said it.
        before: what it could use at the last evaluation.
        """
        agent = evaluation.agent
        if switches := evaluation.switches:
            # What a person switched off in the meantime stays the person's.
            people = self.catalogue.decided_off(transaction, agent)
            for provider in (name for name in switches.off if name not in people):
                self._switch(transaction, agent, provider, switches.why, is_on=False)
            for provider in switches.on:
                self._switch(transaction, agent, provider, switches.why, is_on=True)
        if now is not None:
            reasons = read_reasons(transaction, agent)
            told = tuple(with_cause(event, now, before, reasons) for event in evaluation.events)
            evaluation = replace(evaluation, events=told)
            keep_reasons(transaction, agent, now.reasons, reasons)
        for event in evaluation.events:
            self.journal.append(transaction, typed(event.type, event.data), agent)
        return evaluation

    def _switch(self, transaction: Transaction, agent: str, provider: str, why: str, is_on: bool) -> None:
        off = None if is_on else why
        try:
            changed = self.catalogue.switch(transaction, provider, agent, off, "rollback")
        except NotFound:
            return  # it has left the catalogue since, so there is nothing to switch
        if changed:
            self.journal.append(transaction, switched(provider, off, why), agent)
