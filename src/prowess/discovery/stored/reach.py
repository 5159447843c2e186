"""Which rows of an index in the store a search may look at: found out once, and held while it is true."""

from collections import OrderedDict
from collections.abc import Callable, Collection, Hashable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from prowess.discovery.corpus import same_name
from prowess.discovery.ranking import Options
from prowess.discovery.stored import queries
from prowess.discovery.stored.codes import Mask, Numbers
from prowess.discovery.stored.conditions import EVERYTHING, RowCondition
from prowess.discovery.stored.held import HeldIndex
from prowess.store.database import Database, Transaction

MOST_HELD = 64
MAX_SHARE_BY_NUMBER = 0.25
"""Up to this share of all rows, they are compared one by one rather than all and then left out."""
FILTERS = ("kind", "category", "provider")


class Allowed(NamedTuple):
    """Which rows somebody may use, worked out when nobody has asked for it yet."""

    key: Hashable
    """Moves with everything that this depends on."""
    condition: Callable[[Transaction], RowCondition]


@dataclass(frozen=True, slots=True)
class Reach:
    """Rows that may be looked at."""

    mask: Mask
    count: int
    numbers: Numbers | None = None
    """The same by number, where they are few."""

    @classmethod
    def of(cls, mask: Mask) -> "Reach":
        count = int(np.count_nonzero(mask))
        is_few = count <= MAX_SHARE_BY_NUMBER * len(mask)
        return cls(mask, count, np.flatnonzero(mask).astype(np.int32) if is_few else None)

    def within(self, other: "Reach") -> "Reach":
        return Reach.of(self.mask & other.mask)


class Reaches:
    """Those that were asked for lately."""

    def __init__(self, database: Database, allowed: Callable[[Collection[str]], Allowed]) -> None:
        """allowed: the rows of what somebody may use."""
        self.condition_of = allowed
        self._database = database
        self._held: OrderedDict[Hashable, Reach] = OrderedDict()

    def of(self, held: HeldIndex, allowed: Collection[str], options: Options) -> Reach:
        """The rows that may be looked at: what is allowed, less what the options leave out."""
        rows = self.condition_of(allowed)
        found = self._known((held.change, rows.key), held, lambda t, h: _fulfilling(rows.condition(t), t, h))
        for name in FILTERS:
            if value := getattr(options, name):
                found = found.within(self._having(held, name, value))
        if options.without_kind:
            without = self._having(held, "kind", options.without_kind)
            if without.count:
                found = Reach.of(found.mask & ~without.mask)
        return found

    def _having(self, held: HeldIndex, name: str, value: str) -> Reach:
        """The rows with a value in a column, however its words are written."""

        def mask(transaction: Transaction, held: HeldIndex) -> Mask:
            return masked(queries.having(transaction, name, lambda one: same_name(one, value)), held)

        return self._known((held.change, name, value), held, mask)

    def _known(self, key: Hashable, held: HeldIndex, mask: Callable[[Transaction, HeldIndex], Mask]) -> Reach:
        found = self._held.get(key)
        if found is None:
            rows = self._database.from_replica(lambda transaction: mask(transaction, held))
            found = Reach.of(rows & held.in_use)
            self._held[key] = found
            while len(self._held) > MOST_HELD:
                self._held.popitem(last=False)
        return found


def _fulfilling(condition: RowCondition, transaction: Transaction, held: HeldIndex) -> Mask:
    """The rows that a condition is true of. The smaller side is read: those, or the others."""
    if condition == EVERYTHING:
        return held.in_use
    if 2 * queries.count(transaction, condition) <= held.population:
        return masked(queries.selected(transaction, condition), held)
    return held.in_use & ~masked(queries.selected(transaction, condition.negated()), held)


def masked(numbers: Collection[int] | Numbers, held: HeldIndex) -> Mask:
    """Numbers as a mask over the rows; what came since is left out."""
    mask = np.zeros(len(held.in_use), np.bool_)
    given = np.fromiter(numbers, np.int64, len(numbers))
    mask[given[given < len(mask)]] = True
    return mask
