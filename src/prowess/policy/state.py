"""What the store knows of policy: who is bound to what, what was reviewed, what was used.

Owns the tables `policy_version`, `grant_review` and `resource_use`.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from prowess.journal import stamp
from prowess.policy.agents import Agent, read_agents
from prowess.policy.composed import composed_profiles
from prowess.policy.profiles import Profile
from prowess.store.database import Transaction

WINDOW = timedelta(hours=1)
"""Over which time `max_resource_intensive` counts."""


@dataclass(frozen=True, slots=True)
class PolicyState:
    agents: Mapping[str, Agent] = field(default_factory=dict)
    reviewed: frozenset[str] = frozenset()
    version: int = -1
    profiles: Mapping[str, Profile] = field(default_factory=dict)
    """Those that were written for one agent each."""
    era: int = 0
    """The state of the store within which the version counts."""

    def is_current(self, transaction: Transaction) -> bool:
        return self.era == transaction.era and self.version == read_version(transaction)


@dataclass(frozen=True, slots=True, kw_only=True)
class GrantReview:
    """That an admin has looked at one definition of a grant."""

    grant: str
    digest: str
    by: str
    at: str
    note: str = ""


def read_version(transaction: Transaction) -> int:
    row = transaction.one("SELECT version FROM policy_version WHERE workspace = :workspace AND one = 1")
    return int(row[0]) if row else 0


def read_standing(transaction: Transaction) -> PolicyState:
    reviewed = frozenset(
        row[0] for row in transaction.all("SELECT digest FROM grant_review WHERE workspace = :workspace")
    )
    agents = read_agents(transaction)
    return PolicyState(
        agents, reviewed, read_version(transaction), composed_profiles(agents), transaction.era
    )


def lock(transaction: Transaction) -> None:
    """Let one at a time count and then add, so that two cannot share the last place."""
    transaction.run(
        "INSERT INTO policy_version (workspace, one, version) VALUES (:workspace, 1, 0)"
        " ON CONFLICT (workspace, one) DO UPDATE SET version = policy_version.version"
    )


def moved(transaction: Transaction) -> None:
    """Let every open process know that agents or reviews changed."""
    transaction.run(
        "INSERT INTO policy_version (workspace, one, version) VALUES (:workspace, 1, 1)"
        " ON CONFLICT (workspace, one) DO UPDATE SET version = policy_version.version + 1"
    )
    transaction.announce()


def write_review(transaction: Transaction, review: GrantReview) -> None:
    transaction.run(
        "INSERT INTO grant_review (workspace, digest, name, reviewed_by, reviewed_at, note)"
        " VALUES (:workspace, :digest, :name, :reviewed_by, :reviewed_at, :note)"
        " ON CONFLICT (workspace, digest) DO UPDATE SET reviewed_by = excluded.reviewed_by,"
        " reviewed_at = excluded.reviewed_at, note = excluded.note",
        digest=review.digest, name=review.grant, reviewed_by=review.by, reviewed_at=review.at,
        note=review.note,
    )  # fmt: skip
    moved(transaction)


def reviews(transaction: Transaction) -> tuple[GrantReview, ...]:
    rows = transaction.all(
        "SELECT name, digest, reviewed_by, reviewed_at, note FROM grant_review"
        " WHERE workspace = :workspace ORDER BY reviewed_at"
    )
    return tuple(GrantReview(grant=r[0], digest=r[1], by=r[2], at=r[3], note=r[4]) for r in rows)


def over_limit(
    transaction: Transaction, limits: Mapping[str, int], capability: str, used_by: str, now: datetime
) -> str:
    """Count one use against each agent's limit, or name the agent whose limit is reached."""
    lock(transaction)
    transaction.run(
        "DELETE FROM resource_use WHERE workspace = :workspace AND used_at <= :since",
        since=stamp(now - WINDOW),
    )
    if reached := limit_reached(transaction, limits, now):
        return reached
    _count(transaction, limits, capability, used_by, stamp(now))
    return ""


def limit_reached(transaction: Transaction, limits: Mapping[str, int], now: datetime) -> str:
    """The agent whose limit is reached; none where one more use is within all of them."""
    for agent, most in limits.items():
        row = transaction.one(
            "SELECT COUNT(*) FROM resource_use"
            " WHERE workspace = :workspace AND agent = :agent AND used_at > :since",
            agent=agent,
            since=stamp(now - WINDOW),
        )
        if row and row[0] >= most:
            return agent
    return ""


def forget_uses(transaction: Transaction, agents: Iterable[str]) -> None:
    transaction.many(
        "DELETE FROM resource_use WHERE workspace = :workspace AND agent = :agent",
        ({"agent": agent} for agent in agents),
    )


def _count(transaction: Transaction, agents: Iterable[str], capability: str, used_by: str, at: str) -> None:
    transaction.many(
        "INSERT INTO resource_use (workspace, agent, used_at, capability, used_by)"
        " VALUES (:workspace, :agent, :used_at, :capability, :used_by)",
        ({"agent": agent, "used_at": at, "capability": capability, "used_by": used_by} for agent in agents),
    )
