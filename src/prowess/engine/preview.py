"""What a model would see if it were asked now: the real turn, recorded nowhere.

Above: people who try requests and settings. Below: the turn, on the world as it is or on one in which an
agent has another profile.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Unpack

from prowess.cards.rules import rules_for
from prowess.config import DiscoveryConfig
from prowess.engine.explain import Foretell, explain, explain_request
from prowess.engine.turn import TurnOptions, TurnParts
from prowess.engine.turn import offer as run_turn
from prowess.options import SearchOptions
from prowess.policy.agents import Agent
from prowess.types import JsonObject, Offer, Turn
from prowess.world import World


@dataclass(frozen=True, slots=True)
class Previewed:
    offer: Offer
    settings: DiscoveryConfig
    card_budget: int


@dataclass(frozen=True, slots=True)
class Preview:
    """A world in which requests are tried as one agent, without consequences."""

    world: World
    agent: str
    parts: TurnParts
    options: Callable[[Mapping[str, Any]], TurnOptions]
    foretell: Foretell

    def offer(self, turn: Turn, **options: Unpack[SearchOptions]) -> Previewed:
        """What this turn would be offered, and within which budgets; `options` are keys of [discovery]."""
        chosen = self.options(options)
        asked = replace(turn, agent=self.agent)
        made = run_turn(asked, self.world, self.parts, chosen)
        card_budget = rules_for(self.parts.cards.config, asked).budget
        return Previewed(made.offer, chosen.settings, card_budget)

    def explain(self, id: str, request: str = "", arguments: JsonObject | None = None) -> tuple[str, ...]:
        """Why something may be used and, for a request, would be offered, or not."""
        if not request:
            return explain(self.world, self.agent, id, self.foretell, arguments)
        options = self.options({})
        return explain_request(self.world, self.agent, id, request, self.parts, options, self.foretell)


def with_profile(world: World, profile: str) -> tuple[World, str]:
    """A world with one more agent, which has this profile and no parent; and that agent's name."""
    name = f"anybody with profile {profile}"
    standing = world.policy.standing
    agents = {**standing.agents, name: Agent(name=name, profile=profile)}
    return replace(world, policy=world.policy.with_standing(replace(standing, agents=agents))), name
