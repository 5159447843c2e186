"""The workspaces of a store: which there are, how much each holds, and the end of one.

Above: a command of whoever runs the store. Nothing else may look across workspaces.
"""

from dataclasses import dataclass

from prowess.errors import nearest
from prowess.store.database import Database, tables


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkspaceSize:
    """A workspace, and how many of each it has."""

    name: str
    capabilities: int = 0
    agents: int = 0
    entries: int = 0
    """Of its journal."""


def workspaces(database: Database) -> tuple[WorkspaceSize, ...]:
    """Every workspace that something was ever written in, by name."""
    with database.reading(everywhere=True) as transaction:
        counted: list[dict[str, int]] = [
            {name: int(count) for name, count in transaction.all(sql)}
            for sql in (
                "SELECT workspace, COUNT(*) FROM capability GROUP BY workspace",
                "SELECT workspace, COUNT(*) FROM agent GROUP BY workspace",
                "SELECT workspace, SUM(count) FROM journal_head GROUP BY workspace",
            )
        ]
    capabilities, agents, entries = counted
    return tuple(
        WorkspaceSize(
            name=name,
            capabilities=capabilities.get(name, 0),
            agents=agents.get(name, 0),
            entries=entries.get(name, 0),
        )
        for name in sorted({*capabilities, *agents, *entries})
    )


def mistyped(database: Database) -> str:
    """The workspace that may be meant by one in which nothing was ever written; empty where none is near."""
    with database.reading() as transaction:
        if transaction.one("SELECT 1 FROM journal_head WHERE workspace = :workspace LIMIT 1"):
            return ""
    known = [one.name for one in workspaces(database)]
    return "" if database.workspace in known else nearest(database.workspace, known)


def remove(database: Database) -> int:
    """Delete everything that one workspace holds, its journal included; how many rows that were."""
    with database.writing() as transaction:
        return sum(
            transaction.run(f"DELETE FROM {table} WHERE workspace = :workspace")
            for table in reversed(tables())
        )
