"""What a model would see if it were asked now: the real turn, on a copy that records nothing.

Above: people who try requests and settings. Below: the engine itself. A rehearsal counts for nothing: no
journal entry, no card that was shown, nothing to learn from.
"""

from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass, replace
from typing import Any

from prowess.config import DiscoveryConfig
from prowess.engine.card_history import CardHistory
from prowess.engine.card_rules import rules_for
from prowess.engine.engine import Engine
from prowess.engine.trial import Forgetful
from prowess.policy.agents import Agent
from prowess.types import JsonObject, Offer, Turn

OF_ONE_POLICY = ("_visible", "_absences", "_with_all_steps")
"""What an engine remembers of who may see what."""


class Unrecorded(CardHistory):
    """Remembers what was, and nothing more."""

    def record(self, data: JsonObject, agent: str, is_counted: bool) -> None:
        pass


@dataclass(frozen=True, slots=True)
class Rehearsed:
    offer: Offer
    settings: DiscoveryConfig
    card_budget: int


@dataclass(frozen=True, slots=True)
class Rehearsal:
    """An engine on which nothing has consequences; where a profile is named, `agent` has it."""

    engine: Engine
    agent: str

    def offer(self, turn: Turn, settings: Mapping[str, Any]) -> Rehearsed:
        asked = replace(turn, agent=self.agent)
        chosen = self.engine._settings(settings)
        card_budget = rules_for(self.engine.cards._config, asked).budget
        return Rehearsed(self.engine.offer(asked, **settings), chosen, card_budget)


def rehearsal(engine: Engine, agent: str = "", profile: str = "") -> Rehearsal:
    """As this agent; or as one that had this profile and no parent."""
    other = copy(engine)
    other.journal = Forgetful(engine._database, engine._clock)
    if profile:
        agent = f"anybody with profile {profile}"
        other.policy = _with(engine, Agent(name=agent, profile=profile))
        for name in OF_ONE_POLICY:
            other.__dict__.pop(name, None)
    cards = copy(engine.cards)
    cards._history = Unrecorded(engine._database, other.journal, engine._clock)
    cards._ways = replace(cards._ways, visible=lambda one, known: other.visible(one, known).capabilities)
    other.cards = cards
    return Rehearsal(other, agent)


def _with(engine: Engine, agent: Agent) -> Any:
    """The policy, with one more agent."""
    policy = copy(engine.policy)
    standing = engine.policy._standing
    policy._standing = replace(standing, agents={**standing.agents, agent.name: agent})
    policy._moment = None
    return policy
