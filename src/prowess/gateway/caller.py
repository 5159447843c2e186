"""Who is at the other end: an agent, and whether it proved its name."""

from dataclasses import dataclass
from datetime import timedelta

from prowess.engine.engine import Engine
from prowess.errors import NotFound
from prowess.policy.agent_tokens import LASTS, IssuedToken, Token


@dataclass(frozen=True, slots=True)
class Caller:
    agent: str
    authenticated: bool = True


def issue_token(engine: Engine, agent: str, lasts: timedelta = LASTS) -> IssuedToken:
    """A new token for an agent that exists."""
    names = [one.name for one in engine.agents.list()]
    if agent not in names:
        raise NotFound("agent", agent, names, "see: prowess agent list")
    return engine.tokens.issue(agent, lasts)


def revoke_token(engine: Engine, id: str) -> Token:
    return engine.tokens.revoke(id)


def token_list(engine: Engine) -> tuple[Token, ...]:
    return engine.tokens.list()


def holder_of(engine: Engine, token: str) -> str:
    """The agent a token proves, or nothing."""
    return engine.tokens.holder(token)
