"""The rows of evolution that cannot be read, found in the store and removed from it."""

from collections.abc import Iterator

from prowess.evolution.damage import Damage
from prowess.evolution.encoding import generation_from, params_from, scores_from, standing_from
from prowess.store.database import Row, Transaction

STANDING, PARAMS, GENERATION, EVALUATION = "where it stands", "its parameters", "generation", "evaluation"


def damaged_rows(transaction: Transaction) -> tuple[Damage, ...]:
    """Every row that cannot be read, in order of the agents."""
    rows = _agents(transaction)
    found = [
        *(Damage(agent, STANDING) for agent, text, _ in rows if not standing_from(text)),
        *(Damage(agent, PARAMS) for agent, _, text in rows if not params_from(text)),
        *_unreadable_generations(transaction),
        *_unreadable_evaluations(transaction),
    ]
    return tuple(sorted(found, key=lambda damage: damage.agent))


def _agents(transaction: Transaction) -> list[Row]:
    return transaction.all("SELECT agent, standing, params FROM evolution_agent WHERE workspace = :workspace")


def _unreadable_generations(transaction: Transaction) -> Iterator[Damage]:
    rows = transaction.all(
        "SELECT g.agent, g.number, g.record, s.snapshot, g.rollbacks FROM evolution_generation g"
        " LEFT JOIN evolution_snapshot s ON s.workspace = g.workspace AND s.digest = g.snapshot"
        " WHERE g.workspace = :workspace ORDER BY g.agent, g.number"
    )
    for agent, number, record, snapshot, rollbacks in rows:
        if generation_from(record, snapshot or "", rollbacks) is None:
            yield Damage(agent, GENERATION, number)


def _unreadable_evaluations(transaction: Transaction) -> Iterator[Damage]:
    rows = transaction.all(
        "SELECT agent, evaluation, scores FROM evolution_fitness"
        " WHERE workspace = :workspace ORDER BY agent, evaluation"
    )
    for agent, number, scores in rows:
        if scores_from(scores) is None:
            yield Damage(agent, EVALUATION, number)


def remove(transaction: Transaction, damage: Damage) -> None:
    if damage.what == GENERATION:
        transaction.run(
            "DELETE FROM evolution_generation"
            " WHERE workspace = :workspace AND agent = :agent AND number = :number",
            agent=damage.agent, number=damage.number,
        )  # fmt: skip
    if damage.what == EVALUATION:
        transaction.run(
            "DELETE FROM evolution_fitness"
            " WHERE workspace = :workspace AND agent = :agent AND evaluation = :number",
            agent=damage.agent, number=damage.number,
        )  # fmt: skip
