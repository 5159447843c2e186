"""What an evaluation comes to is done: providers are switched, and what happened is journalled."""

from dataclasses import replace

from prowess.catalogue.catalogue import Catalogue
from prowess.engine.usable import Usable, keep_reasons, read_reasons, with_cause
from prowess.errors import NotFound
from prowess.evolution.records import Evaluation
from prowess.evolution.snapshot import Snapshot
from prowess.journal import Journal, typed
from prowess.journal.entries import switched
from prowess.store.database import Transaction


def carry_out(
    transaction: Transaction, parts: tuple[Catalogue, Journal], evaluation: Evaluation, now: Usable | None,
    before: Snapshot,
) -> Evaluation:  # fmt: skip
    """Switch what it names and journal what happened, in the evaluation's transaction.

    parts: where providers are switched, and where that is told.
    now: what the agent can use, where nobody said it.
    before: what it could use at the last evaluation.
    """
    catalogue, journal = parts
    agent = evaluation.agent
    if switches := evaluation.switches:
        # What a person switched off in the meantime stays the person's.
        people = catalogue.decided_off(transaction, agent)
        for provider in (name for name in switches.off if name not in people):
            _switch(transaction, parts, evaluation, provider, switches.why)
        for provider in switches.on:
            _switch(transaction, parts, evaluation, provider, None)
    if now is not None:
        reasons = read_reasons(transaction, agent)
        told = tuple(with_cause(event, now, before, reasons) for event in evaluation.events)
        evaluation = replace(evaluation, events=told)
        keep_reasons(transaction, agent, now.reasons, reasons)
    for event in evaluation.events:
        journal.append(transaction, typed(event.type, event.data), agent)
    return evaluation


def _switch(
    transaction: Transaction, parts: tuple[Catalogue, Journal], evaluation: Evaluation, provider: str,
    off: str | None,
) -> None:  # fmt: skip
    catalogue, journal = parts
    why = evaluation.switches.why if evaluation.switches else ""
    try:
        changed = catalogue.switch(transaction, provider, evaluation.agent, off, "rollback")
    except NotFound:
        return  # it has left the catalogue since, so there is nothing to switch
    if changed:
        journal.append(transaction, switched(provider, off, why), evaluation.agent)
