"""The results of gates, kept append-only: what was run for a lesson, when, and what it found."""

from dataclasses import replace

import msgspec

from prowess.learning.promotion import SuiteResult
from prowess.store.database import Transaction

MOST_ROWS = 200


def keep(transaction: Transaction, lesson: str, result: SuiteResult) -> None:
    """Add a result; of many rows, those that failed are kept first."""
    row = transaction.one(
        "SELECT COALESCE(MAX(number), 0) FROM skill_gate WHERE workspace = :workspace AND skill = :lesson",
        lesson=lesson,
    )
    rows = tuple(sorted(result.rows, key=lambda each: each.ok))[:MOST_ROWS]
    transaction.run(
        "INSERT INTO skill_gate (workspace, skill, number, gate, record)"
        " VALUES (:workspace, :lesson, :number, :gate, :record)",
        lesson=lesson, number=(row[0] if row else 0) + 1, gate=result.suite,
        record=msgspec.json.encode(replace(result, rows=rows)).decode(),
    )  # fmt: skip


def of_skill(transaction: Transaction, lesson: str) -> tuple[SuiteResult, ...]:
    """Everything that was run for a lesson, oldest first."""
    rows = transaction.all(
        "SELECT record FROM skill_gate WHERE workspace = :workspace AND skill = :lesson ORDER BY number",
        lesson=lesson,
    )
    return tuple(msgspec.json.decode(record, type=SuiteResult) for (record,) in rows)
