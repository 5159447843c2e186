"""`engine.calls`: calls that were begun and whose end nobody knows."""

from dataclasses import dataclass

from prowess.calling.intents import Intent, Intents
from prowess.journal import Journal
from prowess.journal.entries import CallSettled
from prowess.store.database import Database


@dataclass(frozen=True, slots=True)
class OpenCalls:
    """What was cut off: a call that may have taken effect, and no word of how it ended."""

    _database: Database
    _journal: Journal
    _intents: Intents

    def open(self) -> tuple[Intent, ...]:
        """Every call that was begun and cut off, the oldest first."""
        with self._database.reading() as transaction:
            return self._intents.open(transaction)

    def settle(self, call: str, by: str, note: str = "") -> Intent:
        """A person has found out what came of a call; its key is free again.

        call: the id of the call, as `open` gives it.
        by: who looked; the journal names them.
        note: what they found.
        """
        with self._database.writing() as transaction:
            intent = self._intents.settle(transaction, call)
            entry = CallSettled(call=intent.id, capability=intent.capability, by=by, note=note)
            self._journal.append(transaction, entry, intent.agent)
        return intent
