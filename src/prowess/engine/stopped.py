"""Agents that may use nothing: what people are told wherever they look, and how it goes on."""

from prowess.evolution.events import EXHAUSTED
from prowess.policy.agents import lineage
from prowess.types import Problem
from prowess.world import World

IN_WORDS = {EXHAUSTED: f"rollbacks did not help ({EXHAUSTED})"}
RESUME = "run: prowess evolve resume --agent {}"


def in_words(why: str) -> str:
    """Why an agent is stopped, as people read it."""
    return IN_WORDS.get(why, why)


def way_on(world: World, agent: str) -> str:
    """What lets a stopped agent go on; a child may be stopped with somebody above it, whom doctor names."""
    known = world.policy.standing.agents
    is_child = len(lineage(known, agent)) > 1 if agent in known else False
    return "see: prowess doctor" if is_child else RESUME.format(agent)


def stopped_problem(agent: str, why: str) -> Problem:
    """What doctor says of an agent that is stopped."""
    return Problem("evolution", agent, f"it is stopped ({why}) and may use nothing", RESUME.format(agent))
