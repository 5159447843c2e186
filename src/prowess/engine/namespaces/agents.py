"""`engine.agents`: who is bound to which profile."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from prowess.calling.use import UseCheck
from prowess.journal import Journal
from prowess.journal.entries import AgentBound, AgentRetired, AgentSpawned
from prowess.policy.agents import Agent
from prowess.policy.policy import Policy
from prowess.policy.spawning import SPAWN
from prowess.store.database import Database
from prowess.world import Worlds


@dataclass(frozen=True, slots=True)
class Agents:
    """The agents of this store, each bound to a profile of the policy."""

    _database: Database
    _journal: Journal
    _policy: Policy
    _worlds: Worlds
    _use: UseCheck

    def list(self) -> tuple[Agent, ...]:
        """Everyone who is bound to a profile, in order of name."""
        self._policy.refresh()
        return self._policy.agents()

    def bind(self, name: str, profile: str) -> Agent:
        """Bind a name to a profile.

        name: the agent, such as "ada".
        profile: a profile of the policy files, such as "researcher".
        """
        self._policy.refresh()
        with self._database.writing() as transaction:
            agent = self._policy.bind(transaction, name, profile)
            self._journal.append(transaction, AgentBound(profile=profile), name)
        return agent

    def spawn(self, parent: str, name: str, profile: str | Mapping[str, Any]) -> Agent:
        """Make a child of an agent, which never exceeds its parent; raises Denied unless the parent may.

        parent: the agent that has it.
        name: the child.
        profile: a profile of the policy files, or one for this child alone, such as {"capabilities":
            {"state_read": True}}; refused where it allows more than the parent's.
        """
        given = {"name": name, "profile": profile}
        approval = self._use.check(self._worlds.now(parent), parent, SPAWN, True, given).approval
        view = self._worlds.now(parent).view
        with self._database.writing() as transaction:
            agent = self._policy.spawn(transaction, parent, name, profile, view, approval)
            entry = AgentSpawned(parent=parent, profile=agent.profile, definition=agent.definition)
            self._journal.append(transaction, entry, name)
        return agent

    def retire(self, name: str) -> tuple[str, ...]:
        """Take an agent out, and every one below it; returns their names.

        name: the agent.
        """
        self._policy.refresh()
        with self._database.writing() as transaction:
            gone = self._policy.retire(transaction, name)
            for one in sorted(gone):
                self._journal.append(transaction, AgentRetired(together_with=name), one)
        return gone
