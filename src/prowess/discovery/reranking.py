"""What the relations of the hits change about their order: dependencies come along, relatives gain.

Bounded on purpose: a relative never overtakes what the request itself ranks higher. What is brought along
stands a step below what brings it, and below everything near the top that answers the request itself.
"""

from collections.abc import Callable, Iterable, Sequence
from math import inf
from typing import NamedTuple

from prowess.discovery.graph import Edge, Graph

USUAL_BOOST = 0.15
# How far below its user a dependency stands at the usual boost, in units of strength.
DEPENDENCY_STEP = 1.5
DEEPER_STEP = 0.1
LATER_STEP = 0.001
USERS = 10
# From this strength on (a relevance of .98) something surely answers the request, and no dependency stands
# above it; from even odds on, nothing does that is only used together with another.
SURE = 6.0
EVEN = 0.0


class Candidate(NamedTuple):
    """A capability on its way to become a hit; `strength` is unbounded, 0 is even odds."""

    id: str
    strength: float
    called: bool = False
    asked: bool = True
    """Found by the request itself, whoever else brings it along."""
    reasons: tuple[str, ...] = ()
    brought_by: str = ""
    needed: bool = False
    """Whether what brought it cannot do without it."""


def in_order(found: Sequence[Candidate]) -> list[Candidate]:
    """By strength; among equals what was called by name, then what the request found, then by id."""
    return sorted(found, key=lambda each: (-each.strength, not each.called, not each.asked, each.id))


def with_relatives(
    found: Sequence[Candidate],
    graph: Graph,
    allowed: Callable[[str], bool],
    boost: float,
    lifted: int = USERS,
) -> list[Candidate]:
    """The same hits and what they need or are used with, in their new order; the first may be lifted."""
    if boost <= 0:
        return list(found)
    first = found[: min(lifted, USERS)]
    users = [(place, each) for place, each in enumerate(found[:USERS]) if graph.leads_on(each.id)]
    if users:
        ceilings = _Ceilings(_weakest(first, SURE), _weakest(first, EVEN))
        found = _with_brought(found, users, graph, allowed, boost, ceilings)
    return _supported(found, graph, boost, len(first))


class _Ceilings(NamedTuple):
    """How strong at most what is needed may stand, and what is only used together."""

    needed: float
    together: float


def _with_brought(
    found: Sequence[Candidate], users: Sequence[tuple[int, Candidate]], graph: Graph,
    allowed: Callable[[str], bool], boost: float, ceilings: _Ceilings,
) -> list[Candidate]:  # fmt: skip
    step = DEPENDENCY_STEP * USUAL_BOOST / boost
    known = {each.id: each for each in found}
    for place, user in users:
        for brought in _brought_along(user, step, graph, allowed):
            ceiling = ceilings.needed if brought.needed else ceilings.together
            held = brought._replace(strength=min(brought.strength, ceiling) - LATER_STEP * place)
            present = known.get(held.id)
            known[held.id] = held if present is None else _stronger(present, held)
    return in_order(list(known.values()))


def _weakest(found: Sequence[Candidate], least: float) -> float:
    return min((each.strength for each in found if each.strength >= least), default=inf)


def _brought_along(
    user: Candidate, step: float, graph: Graph, allowed: Callable[[str], bool]
) -> Iterable[Candidate]:
    for needed in graph.dependencies(user.id, allowed):
        strength = user.strength - step - DEEPER_STEP * (needed.depth - 1)
        reason = f"needed by {needed.needed_by}"
        yield Candidate(needed.id, strength, asked=False, reasons=(reason,), brought_by=user.id, needed=True)
    for edge in graph.together(user.id):
        if allowed(edge.target):
            strength = user.strength - step / edge.weight
            reason = f"used together with {user.id}"
            yield Candidate(edge.target, strength, asked=False, reasons=(reason,), brought_by=user.id)


def _stronger(present: Candidate, pulled: Candidate) -> Candidate:
    reasons = tuple(dict.fromkeys((*present.reasons, *pulled.reasons)))
    strength = max(present.strength, pulled.strength)
    first = present if present.needed or not pulled.needed else pulled
    return present._replace(
        strength=strength, reasons=reasons, brought_by=first.brought_by, needed=first.needed
    )


def _supported(found: Sequence[Candidate], graph: Graph, boost: float, count: int) -> list[Candidate]:
    """Each hit gains from related hits, up to the strength of the one above it and no further."""
    order: list[Candidate] = []
    stronger: set[str] = set()
    for each in found[:count]:
        above = found[len(stronger) : len(order)]
        stronger |= {other.id for other in above if other.strength > each.strength}
        helper = next(iter(graph.neighbours(each.id, stronger)), None)
        ceiling = order[-1].strength if order else inf
        order.append(each if helper is None else _lifted(each, helper, boost, ceiling))
    return [*order, *found[count:]]


def _lifted(found: Candidate, helper: Edge, boost: float, ceiling: float) -> Candidate:
    strength = max(found.strength, min(found.strength + boost * helper.weight, ceiling))
    reason = f"{_WORDS[helper.type]} {helper.target}"
    return found._replace(strength=strength, reasons=tuple(dict.fromkeys((*found.reasons, reason))))


_WORDS = {
    "DEPENDS_ON": "needs",
    "COMPOSED_WITH": "used together with",
    "TAGGED_WITH": "shares tags with",
    "SAME_CATEGORY": "same category as",
}
