"""Profiles that a program writes for one child when it spawns it: kept with the child, and gone with it.

Above: `Policy`, which spawns, and the snapshot, whose rules have them. Below: the profiles of the files,
which they may extend. Such a profile is named after its child, as no file can name one.
"""

from collections.abc import Mapping
from typing import Any

import msgspec

from prowess.errors import PolicyError
from prowess.policy.agents import Agent
from prowess.policy.profiles import Profile, profile_of
from prowess.types import JsonObject

PLACE = "program"
OF_FILES = ("agents", "override")
"""What a profile of a file may say of agents and of other files."""


def name_of(agent: str) -> str:
    return f"agent:{agent}"


def definition_of(agent: str, said: Mapping[str, Any]) -> JsonObject:
    """What a program wrote, as it is kept; raises PolicyError where it is no profile."""
    own = {key: value for key, value in said.items() if key != "name"}  # it has the child's
    place = f"{PLACE}: profile {name_of(agent)!r}"
    for key in OF_FILES:
        if key in own:
            raise PolicyError(place, f"{key!r} belongs in a policy file", "take it out: it is for this child")
    profile_of(name_of(agent), own, PLACE)
    try:
        kept: JsonObject = msgspec.json.decode(msgspec.json.encode(own))
    except (TypeError, ValueError, msgspec.MsgspecError) as failure:
        raise PolicyError(place, f"is not plain data: {failure}", "write it as in YAML") from None
    return kept


def composed_profiles(agents: Mapping[str, Agent]) -> dict[str, Profile]:
    """Name -> profile of every agent that has one of its own.

    One that an earlier version wrote and this one cannot read is left out: its agent has only base.
    """
    found = {}
    for agent in agents.values():
        if agent.definition is not None:
            try:
                found[agent.profile] = profile_of(agent.profile, agent.definition, PLACE)
            except PolicyError:
                continue
    return found
