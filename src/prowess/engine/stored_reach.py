"""Which rows of an index in the store somebody may use, as a condition of SQL: by the rules alone.

Above: the parts of a turn. Below: policy, which says it as a condition of SQL, and discovery, whose rows
these are. It decides what is looked at and counted; whether something may be used is asked of policy again
for what was found.
"""

from collections.abc import Collection, Iterable

from prowess.catalogue.stored import PagedCapabilities
from prowess.catalogue.view import View
from prowess.discovery.stored.conditions import EVERYTHING, RowCondition
from prowess.discovery.stored.reach import Allowed
from prowess.policy.dialect import Dialect, dialect_of
from prowess.policy.selection import selection
from prowess.policy.spelling import composed
from prowess.store.database import Transaction
from prowess.visible import VisibleCapabilities


def allowed_rows(allowed: Collection[str]) -> Allowed:
    """The rows of what an agent may use, of everything, or of some ids."""
    if isinstance(allowed, VisibleCapabilities):
        key = (allowed.asked, allowed.policy.state, allowed.view.version)
        return Allowed(key, lambda transaction: _of_agent(allowed, transaction))
    if isinstance(allowed, PagedCapabilities):
        return Allowed("everything", lambda _: EVERYTHING)
    ids = frozenset(allowed)
    return Allowed(ids, lambda transaction: _one_of(dialect_for(transaction), "id", "ids", ids))


def active_rows(view: View, agent: str, transaction: Transaction) -> RowCondition:
    """The rows of what is neither switched off nor held back."""
    dialect = dialect_for(transaction)
    off = {composed(name) for name, whose in view.switched_off if whose in ("", agent)}
    found = EVERYTHING
    if off:
        found = _one_of(dialect, "provider", "off", off).negated()
    if view.quarantined:
        found = found.and_also(_one_of(dialect, "id", "held", view.quarantined.keys()).negated())
    return found


def _of_agent(allowed: VisibleCapabilities, transaction: Transaction) -> RowCondition:
    asked = allowed.asked
    chosen = selection(
        allowed.policy, asked.agent, asked.authenticated, asked.over_mcp, dialect=dialect_for(transaction)
    )
    ruled = RowCondition(chosen.text, chosen.values)
    return ruled.and_also(active_rows(allowed.view, asked.agent, transaction))


def _one_of(dialect: Dialect, column: str, name: str, values: Iterable[str]) -> RowCondition:
    return RowCondition(dialect.one_of(f"c.{column}", f":{name}"), {name: dialect.listed(sorted(values))})


def dialect_for(transaction: Transaction) -> Dialect:
    """How conditions are written for the database of a transaction."""
    return dialect_of(transaction.has_arrays)
