"""What happened since the last time, read from the journal in short transactions.

Above: learning. Below: `ingest`, which makes lessons and gaps of it. Others may write in between, and after
an interruption the next one goes on.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import takewhile

from prowess.journal import Journal
from prowess.journal.between_turns import LedgerCounted, LedgerWritten
from prowess.learning import reading_state as state
from prowess.learning.ingest import LearningReport, count_due, give_up, ingest, together
from prowess.learning.ledger import SkillLedger, ledger_events
from prowess.store.database import Database, Transaction, paced
from prowess.types import Head

PORTION = 200
COUNTED_AT_ONCE = 10
"""How many entries of the journal, and how many lessons and gaps, one transaction deals with."""


@dataclass(frozen=True, slots=True)
class JournalReading:
    database: Database
    journal: Journal

    def read(self, abandoned_before: str, is_over: Callable[[], bool] = lambda: False) -> LearningReport:
        """Take in what is new.

        abandoned_before: what was asked before this and came to nothing is given up.
        is_over: whether to leave the rest to the next time, asked after each portion.
        """
        until = self.journal.heads()  # what learning itself writes down is for the next time
        portions = paced(self.portions(until, abandoned_before))
        return together(takewhile(lambda _: not is_over(), portions))

    def portions(self, until: Sequence[Head], before: str) -> Iterator[LearningReport]:
        """One short transaction each, so that others may write in between; interrupted, the next goes on."""
        while (learnt := self._read_portion(until)) is not None:
            yield learnt
        given_up = 1
        while given_up:
            with self._learning() as transaction:
                given_up, ledgers = give_up(transaction, before, PORTION)
                learnt = self._noted(transaction, ledgers)
            yield learnt
        counted: LearningReport | None = LearningReport()
        while counted is not None:
            with self._learning() as transaction:
                counted = count_due(transaction, COUNTED_AT_ONCE)
            yield counted or LearningReport()

    def _read_portion(self, until: Sequence[Head]) -> LearningReport | None:
        """Take in the next entries of the journal; they are read before anything is locked."""
        with self.database.reading() as transaction:
            seen = state.heads(transaction)
        entries = self.journal.portion(seen, until, PORTION)
        if not entries:
            return None
        with self._learning() as transaction:
            if state.heads(transaction) != seen:
                return LearningReport()  # another process has just learnt from them
            return self._noted(transaction, ingest(transaction, entries))

    @contextmanager
    def _learning(self) -> Iterator[Transaction]:
        with self.database.writing() as transaction:
            state.lock(transaction)
            yield transaction

    def _noted(self, transaction: Transaction, ledgers: Sequence[SkillLedger]) -> LearningReport:
        for ledger in ledgers:
            written, counted = ledger_events(ledger)
            self.journal.append(transaction, LedgerWritten(id=written.id, payload=written.payload))
            self.journal.append(transaction, LedgerCounted(id=counted.id, payload=counted.payload))
        return LearningReport(tuple(ledgers))
