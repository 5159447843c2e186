"""Whose an offer is, said by its id: an agent reports what came of its own offers alone."""

import hashlib

from prowess.errors import NotFound
from prowess.types import Outcome


def owned(id: str, agent: str) -> str:
    """The id of an offer made to this agent."""
    return f"{id}~{_mark(id, agent)}"


def is_of_another(id: str, agent: str) -> bool:
    """Whether an offer was certainly made to somebody else; an id that does not say is anybody's."""
    first, said, mark = id.rpartition("~")
    return bool(said) and len(mark) == 8 and mark != _mark(first, agent)


def refuse_of_another(outcome: Outcome) -> None:
    if is_of_another(outcome.offer, outcome.agent):
        see = f"an outcome belongs to the agent that was offered it; this one is of {outcome.agent}"
        raise NotFound("offer", outcome.offer, see=see)


def _mark(id: str, agent: str) -> str:
    return hashlib.sha256(f"{id}\n{agent}".encode(errors="replace")).hexdigest()[:8]
