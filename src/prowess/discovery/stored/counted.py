"""What was counted of an index in the store, remembered while neither the index nor the question changes."""

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from threading import Lock

from prowess.discovery.stored import queries
from prowess.discovery.stored.conditions import RowCondition
from prowess.store.database import Database

MOST_HELD = 256
MOST_VALUES = 50_000
"""Values that are held of one answer, such as the names of servers."""
Counts = Mapping[tuple[str, ...], int]


class Counted:
    def __init__(self, database: Database) -> None:
        self._database = database
        self._lock = Lock()
        self._held: OrderedDict[tuple[object, ...], Counts] = OrderedDict()

    def count(self, change: int, condition: RowCondition) -> int:
        """How many rows a condition is true of.

        change: of the index, for which it holds.
        """
        return self.counts(change, condition, ()).get((), 0)

    def counts(self, change: int, condition: RowCondition, fields: Sequence[str]) -> Counts:
        """How many of them have each value of some fields, in order of these."""
        key = (change, condition.text, repr(sorted(condition.values.items())), *fields)
        with self._lock:
            known = self._held.get(key)
            if known is not None:
                self._held.move_to_end(key)
                return known
        with self._database.reading() as transaction:
            if fields:
                found: Counts = dict(sorted(queries.counts(transaction, condition, fields).items()))
            else:
                found = {(): queries.count(transaction, condition)}
        if len(found) <= MOST_VALUES:
            with self._lock:
                self._held[key] = found
                while len(self._held) > MOST_HELD:
                    self._held.popitem(last=False)
        return found
