"""Rows of evolution that cannot be read: what is wrong with them, and what can be known without them. Pure.

Such a row stops nobody from searching, checking or evaluating: it is passed over, and where it says where an
agent stands, that is found anew from what can be read. `prowess evolve repair` puts the store in order.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from prowess.evolution.records import AgentState, Generation
from prowess.evolution.scores import Scores
from prowess.evolution.steadiness import Steadiness, steady
from prowess.evolution.triggers import DEFENSIVE
from prowess.types import Problem

NO_NUMBER = 0


@dataclass(frozen=True, slots=True)
class Damage:
    """One row that cannot be read: whose, and which."""

    agent: str
    what: str
    number: int = NO_NUMBER

    def problem(self) -> Problem:
        which = f"{self.what} {self.number}" if self.number else self.what
        remedy = f"run: prowess evolve repair --agent {self.agent}"
        return Problem("evolution", self.agent, f"{which} cannot be read and is passed over", remedy)


@dataclass(frozen=True, slots=True)
class Repaired:
    """What a repair did: rows that were written anew, and rows of which nothing could be read."""

    rewritten: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()


def rebuilt(
    stopped: str, counted: tuple[int, int], readable: Sequence[Generation], latest: Scores | None
) -> AgentState:
    """Where an agent stands, from how many generations and evaluations it has and those that can be read."""
    newest = readable[-1] if readable else None
    scores = latest or (newest.scores if newest else None)
    return AgentState(
        evaluations=counted[1],
        generation=counted[0],
        generation_at=counted[1],
        good=_good(newest) if newest else 0,
        previous=scores,
        steadiness=steady(scores) if scores else Steadiness(),
        stopped=stopped,
    )


def _good(newest: Generation) -> int:
    if newest.restored:
        return newest.restored
    return newest.parent if newest.trigger in DEFENSIVE else newest.number
