"""Which rows of an index in the store somebody may use: by the rules alone, where the database can ask them.

Above: the parts of a turn. Below: policy, which says it as a condition of SQL, and discovery, whose rows
these are. It decides what is looked at; whether something may be used is asked of policy again for what was
found.
"""

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from prowess.catalogue.stored import PagedCapabilities
from prowess.discovery.stored import tables
from prowess.discovery.stored.codes import Mask
from prowess.discovery.stored.held import HeldIndex
from prowess.discovery.stored.reach import Allowed, masked
from prowess.policy.selection import selection
from prowess.store.database import Transaction
from prowess.visible import VisibleCapabilities

PAGE = 5000


def allowed_rows(allowed: Collection[str]) -> Allowed:
    """The rows of what an agent may use, of everything, or of some ids."""
    if isinstance(allowed, VisibleCapabilities):
        rows = _RowsOfAgent(allowed)
        return Allowed(rows.key, rows.mask)
    if isinstance(allowed, PagedCapabilities):
        return Allowed("everything", lambda _, held: held.in_use)
    ids = frozenset(allowed)
    return Allowed(ids, lambda transaction, held: masked(tables.numbers_of(transaction, ids), held))


@dataclass(frozen=True, slots=True)
class _RowsOfAgent:
    """What one agent may use."""

    visible: VisibleCapabilities

    @property
    def key(self) -> tuple[object, ...]:
        """Moves with everything that what it may use depends on."""
        visible = self.visible
        return (visible.asked, visible.policy.state, visible.view.version)

    def mask(self, transaction: Transaction, held: HeldIndex) -> Mask:
        if not transaction.has_arrays:
            return self._by_pages(transaction, held)
        view, asked = self.visible.view, self.visible.asked
        chosen = selection(self.visible.policy, asked.agent, asked.authenticated, asked.over_mcp)
        off = sorted({name for name, whose in view.switched_off if whose in ("", asked.agent)})
        text = f"({chosen.text}) AND c.provider <> ALL(:off)" if off else chosen.text
        values = {**chosen.values, **({"off": off} if off else {})}
        mask = self._selected(transaction, held, text, values)
        mask[masked(tables.numbers_of(transaction, view.quarantined.keys()), held)] = False
        return mask

    def _selected(
        self, transaction: Transaction, held: HeldIndex, text: str, values: dict[str, object]
    ) -> Mask:
        """The smaller side is read: what is selected, or what is not."""
        count = tables.count_selected(transaction, text, values)
        if 2 * count <= held.population:
            return masked(tables.selected(transaction, text, values), held)
        return held.in_use & ~masked(tables.selected(transaction, f"NOT ({text})", values), held)

    def _by_pages(self, transaction: Transaction, held: HeldIndex) -> Mask:
        """Where conditions are not for the database: as policy says of each, a page after the other."""
        mask, after = np.zeros(len(held.in_use), np.bool_), -1
        while rows := tables.pages(transaction, after, PAGE):
            usable = self.visible.several([id for _, id in rows])
            mask |= masked([number for number, id in rows if id in usable], held)
            after = rows[-1][0]
        return mask
