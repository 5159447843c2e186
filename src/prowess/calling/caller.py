"""Who calls: an agent, and whether it proved its name."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Caller:
    agent: str
    authenticated: bool = True
