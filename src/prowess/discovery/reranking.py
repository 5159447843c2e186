"""What the relations of the hits change about their order: dependencies come along, relatives gain.

Bounded on purpose: a relative never overtakes what the request itself ranks higher, and a dependency
stands a fixed step below what needs it, so an answer that is nearly as good stays above it.
"""

from collections.abc import Callable, Sequence
from math import inf
from typing import NamedTuple

from prowess.discovery.graph import Edge, Graph

USUAL_BOOST = 0.15
# How far below its user a dependency stands at the usual boost, in units of strength.
DEPENDENCY_STEP = 1.5
DEEPER_STEP = 0.1
USERS = 10


class Found(NamedTuple):
    """A capability on its way to become a hit; `strength` is unbounded, 0 is even odds."""

    id: str
    strength: float
    called: bool = False
    reasons: tuple[str, ...] = ()
    needed_by: str = ""


def in_order(found: Sequence[Found]) -> list[Found]:
    """Called by name first, then by strength; equals by id."""
    return sorted(found, key=lambda each: (-each.strength, not each.called, each.id))


def with_relatives(
    found: Sequence[Found], graph: Graph, allowed: Callable[[str], bool], boost: float, lifted: int = USERS
) -> list[Found]:
    """The same hits and what they need or are used with, in their new order; the first may be lifted."""
    if boost <= 0:
        return list(found)
    users = [each for each in found[:USERS] if graph.leads_on(each.id)]
    together = _with_needed(found, users, graph, allowed, boost) if users else found
    return _supported(together, graph, boost, min(lifted, USERS))


def _with_needed(
    found: Sequence[Found], users: Sequence[Found], graph: Graph, allowed: Callable[[str], bool], boost: float
) -> list[Found]:
    known = {each.id: each for each in found}
    for user in users:
        for pulled in _pulled_in(user, graph, allowed, boost):
            present = known.get(pulled.id)
            known[pulled.id] = pulled if present is None else _stronger(present, pulled)
    return in_order(list(known.values()))


def _pulled_in(user: Found, graph: Graph, allowed: Callable[[str], bool], boost: float) -> Sequence[Found]:
    step = DEPENDENCY_STEP * USUAL_BOOST / boost
    pulled = [
        Found(
            id=needed.id,
            strength=user.strength - step - DEEPER_STEP * (needed.depth - 1),
            reasons=(f"needed by {needed.needed_by}",),
            needed_by=user.id,
        )
        for needed in graph.dependencies(user.id, allowed)
    ]
    for edge in graph.together(user.id):
        if allowed(edge.target):
            strength = user.strength - step / edge.weight
            reason = f"used together with {user.id}"
            pulled.append(Found(id=edge.target, strength=strength, reasons=(reason,)))
    return pulled


def _stronger(present: Found, pulled: Found) -> Found:
    reasons = tuple(dict.fromkeys((*present.reasons, *pulled.reasons)))
    strength = max(present.strength, pulled.strength)
    needed_by = present.needed_by or pulled.needed_by
    return present._replace(strength=strength, reasons=reasons, needed_by=needed_by)


def _supported(found: Sequence[Found], graph: Graph, boost: float, count: int) -> list[Found]:
    """Each hit gains from related hits, up to the strength of the one above it and no further."""
    order: list[Found] = []
    stronger: set[str] = set()
    for each in found[:count]:
        above = found[len(stronger) : len(order)]
        stronger |= {other.id for other in above if other.strength > each.strength}
        helper = next(iter(graph.neighbours(each.id, stronger)), None)
        ceiling = order[-1].strength if order else inf
        order.append(each if helper is None else _lifted(each, helper, boost, ceiling))
    return [*order, *found[count:]]


def _lifted(found: Found, helper: Edge, boost: float, ceiling: float) -> Found:
    strength = max(found.strength, min(found.strength + boost * helper.weight, ceiling))
    reason = f"{_WORDS[helper.type]} {helper.target}"
    return found._replace(strength=strength, reasons=tuple(dict.fromkeys((*found.reasons, reason))))


_WORDS = {
    "DEPENDS_ON": "needs",
    "COMPOSED_WITH": "used together with",
    "TAGGED_WITH": "shares tags with",
    "SAME_CATEGORY": "same category as",
}
