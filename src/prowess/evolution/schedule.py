"""When an agent is to be evaluated: after so many outcomes, or so many minutes, whichever process sees it.

Above: the engine. Below: the store. The row of an agent counts what was seen since its last evaluation; the
process that takes it, in the transaction of the evaluation, is the one that evaluates.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import NamedTuple

from prowess.config import EvolutionConfig
from prowess.journal import stamp
from prowess.store.database import Transaction


@dataclass(frozen=True, slots=True)
class Schedule:
    config: EvolutionConfig
    clock: Callable[[], datetime]

    @property
    def is_on(self) -> bool:
        return bool(self.config.every_outcomes or self.config.every_minutes)

    def note(self, transaction: Transaction, agent: str) -> bool:
        """Count one more outcome; true when the agent is to be evaluated."""
        row = transaction.one(
            "INSERT INTO evolution_due (workspace, agent, outcomes, since)"
            " VALUES (:workspace, :agent, 1, :now) ON CONFLICT (workspace, agent)"
            " DO UPDATE SET outcomes = evolution_due.outcomes + 1 RETURNING outcomes, since",
            agent=agent, now=stamp(self.clock()),
        )  # fmt: skip
        assert row is not None, "the row was written above"
        return self._is_due(*row)

    def is_left_to_others(self, transaction: Transaction, agent: str) -> bool:
        """Begin anew for an agent that is due; false for one process of those that see it."""
        return transaction.run(
            "UPDATE evolution_due SET outcomes = 0, since = :now"
            " WHERE workspace = :workspace AND agent = :agent AND outcomes > 0"
            " AND (outcomes >= :outcomes OR since <= :before OR since > :beyond)",
            agent=agent, now=stamp(self.clock()), **self._limits()._asdict(),
        ) != 1  # fmt: skip

    def begin_anew(self, transaction: Transaction, agent: str) -> None:
        """The agent was evaluated by hand."""
        transaction.run(
            "UPDATE evolution_due SET outcomes = 0, since = :now"
            " WHERE workspace = :workspace AND agent = :agent",
            agent=agent, now=stamp(self.clock()),
        )  # fmt: skip

    def due(self, transaction: Transaction) -> tuple[str, ...]:
        """The agents that are to be evaluated now, in order of name."""
        rows = transaction.all(
            "SELECT agent FROM evolution_due WHERE workspace = :workspace AND outcomes > 0"
            " AND (outcomes >= :outcomes OR since <= :before OR since > :beyond) ORDER BY agent",
            **self._limits()._asdict(),
        )
        return tuple(agent for (agent,) in rows)

    def _is_due(self, outcomes: int, since: str) -> bool:
        limits = self._limits()
        return outcomes >= limits.outcomes or since <= limits.before or since > limits.beyond

    def _limits(self) -> "_Limits":
        config, now = self.config, self.clock()
        enough, every = config.every_outcomes or NEVER, timedelta(minutes=config.every_minutes)
        return _Limits(enough, stamp(now - every), stamp(now + every)) if every else _Limits(enough)


class _Limits(NamedTuple):
    """When an agent is due: after so many outcomes, or by the time of its last evaluation."""

    outcomes: int
    before: str = ""
    beyond: str = "9999"
    """What is that far ahead was written by a clock that was wrong."""


NEVER = 2**62
"""More outcomes than there ever are."""
