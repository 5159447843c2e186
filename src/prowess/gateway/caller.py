"""Who is at the other end: an agent, and whether it proved its name."""

from dataclasses import dataclass

from prowess.engine.engine import Engine


@dataclass(frozen=True, slots=True)
class Caller:
    agent: str
    authenticated: bool = True


def holder_of(engine: Engine, token: str) -> str:
    """The agent a token proves, or nothing."""
    return engine.tokens.holder(token)
