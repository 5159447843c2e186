"""Agents: names bound to profiles, each perhaps with a parent it never exceeds. Owns the table `agent`."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

import msgspec

from prowess.errors import NotFound, PolicyError
from prowess.journal import canonical
from prowess.store.database import Transaction
from prowess.types import JsonObject

NAME = re.compile(r"[A-Za-z0-9][\w.@-]{0,99}\Z", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class Agent:
    name: str
    profile: str
    parent: str = ""
    since: str = ""
    """When the store bound it; empty where a policy file does."""
    definition: JsonObject | None = None
    """What its profile says, where that was written for it alone when it was spawned."""


def read_agents(transaction: Transaction) -> dict[str, Agent]:
    rows = transaction.all(
        "SELECT name, profile, parent, since, definition FROM agent"
        " WHERE workspace = :workspace ORDER BY name"
    )
    return {row[0]: _agent(*row) for row in rows}


def _agent(name: str, profile: str, parent: str, since: str, definition: str) -> Agent:
    said = msgspec.json.decode(definition) if definition else None
    return Agent(name=name, profile=profile, parent=parent, since=since, definition=said)


def insert(transaction: Transaction, agent: Agent) -> None:
    if not NAME.match(agent.name):
        what = f"{agent.name[:40]!r} is not a name for an agent"
        raise PolicyError("agent", what, "use letters, digits, '_', '.', '@' and '-'")
    added = transaction.run(
        "INSERT INTO agent (workspace, name, profile, parent, since, definition)"
        " VALUES (:workspace, :name, :profile, :parent, :since, :definition)"
        " ON CONFLICT DO NOTHING",
        name=agent.name, profile=agent.profile, parent=agent.parent, since=agent.since,
        definition=canonical(agent.definition) if agent.definition is not None else "",
    )  # fmt: skip
    if not added:
        remedy = f"choose another name, or run: prowess agent remove {agent.name}"
        raise PolicyError("agent", f"{agent.name!r} exists already", remedy)


def remove(transaction: Transaction, name: str) -> tuple[str, ...]:
    """Take an agent out, and with it every agent that had its authority from it."""
    agents = read_agents(transaction)
    if name not in agents:
        raise NotFound("agent", name, agents, "see: prowess agent list")
    gone = [name, *descendants(agents, name)]
    transaction.many(
        "DELETE FROM agent WHERE workspace = :workspace AND name = :name", ({"name": one} for one in gone)
    )
    return tuple(gone)


def descendants(agents: Mapping[str, Agent], name: str) -> list[str]:
    found: list[str] = []
    for agent in sorted(agents.values(), key=lambda a: a.name):
        if agent.parent == name and agent.name != name:
            found += [agent.name, *descendants(agents, agent.name)]
    return found


def lineage(agents: Mapping[str, Agent], name: str) -> tuple[str, ...]:
    """An agent, its parent, its parent's parent and so on."""
    line: list[str] = []
    while name and name not in line:
        line.append(name)
        name = agents[name].parent if name in agents else ""
    return tuple(line)
