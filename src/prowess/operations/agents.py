"""Who there is: agents, bound to profiles, and the tokens that prove their names."""

from datetime import timedelta
from typing import Annotated, Any

import msgspec

from prowess.engine.agent_reports import AgentReport, agent_report
from prowess.errors import Denied, NotFound, PolicyError
from prowess.operations.operation import Call, Name, NoParams, RequestParams, operation
from prowess.policy.agent_tokens import Token
from prowess.policy.agents import Agent
from prowess.types import DEFAULT_AGENT

AgentName = Annotated[str, msgspec.Meta(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.@-]{0,99}$")]
Days = Annotated[int, msgspec.Meta(ge=1, le=3650)]


class IssuedTokenAnswer(msgspec.Struct, frozen=True):
    id: str
    token: str
    """Shown this once, kept nowhere."""
    expires_at: str


class BindAgent(RequestParams, frozen=True, kw_only=True):
    name: AgentName
    profile: Name | dict[str, Any]
    """A profile of the policy; or, below a parent, what one for this agent alone says."""
    parent: Annotated[str, msgspec.Meta(max_length=200)] = ""
    """The agent it descends from and never exceeds."""


class Lasting(RequestParams, frozen=True, kw_only=True):
    days: Days = 90


class Gone(msgspec.Struct, frozen=True):
    removed: tuple[str, ...]


@operation("agents.list", "GET /agents")
def list_agents(call: Call[NoParams]) -> tuple[Agent, ...]:
    """Names bound to profiles."""
    return call.engine.agents.list()


@operation("agents.report", "GET /agents/{agent}/report", quotes=True, errors=(NotFound,))
def report_agent(call: Call[NoParams]) -> AgentReport:
    """What an agent may use, its calls, errors and denials, what it uses most and never, what it lacked."""
    agent = call.path["agent"]
    known = {DEFAULT_AGENT, *(one.name for one in call.engine.agents.list())}
    known |= {head.chain for head in call.engine.journal.heads() if head.chain}
    if agent not in known:
        raise NotFound("agent", agent, known, "see: prowess agent list")
    return agent_report(call.engine.internals, agent)


@operation("agents.add", "POST /agents", role="admin", status=201, errors=(NotFound, PolicyError, Denied))
def add_agent(call: Call[BindAgent]) -> Agent:
    """Bind a name to a profile, perhaps below a parent."""
    said = call.params
    if said.parent:
        return call.engine.agents.spawn(said.parent, said.name, said.profile)
    if not isinstance(said.profile, str):
        raise PolicyError("agent", f"{said.name!r} has no parent", "write its profile in a policy file")
    return call.engine.agents.bind(said.name, said.profile)


@operation("agents.remove", "DELETE /agents/{agent}", role="admin", errors=(NotFound, PolicyError))
def remove_agent(call: Call[NoParams]) -> Gone:
    """Retire an agent and every agent below it."""
    return Gone(call.engine.agents.retire(call.path["agent"]))


@operation("agent_tokens.list", "GET /agents/{agent}/tokens", role="admin")
def list_agent_tokens(call: Call[NoParams]) -> tuple[Token, ...]:
    """The tokens of an agent."""
    return tuple(token for token in call.engine.tokens.list() if token.agent == call.path["agent"])


@operation("agent_tokens.add", "POST /agents/{agent}/tokens", role="admin", status=201, shown_once=True,
           errors=(NotFound,))  # fmt: skip
def add_agent_token(call: Call[Lasting]) -> IssuedTokenAnswer:
    """A new token for an agent."""
    agent = call.path["agent"]
    names = [one.name for one in call.engine.agents.list()]
    if agent not in names:
        raise NotFound("agent", agent, names, "see: prowess agent list")
    issued = call.engine.tokens.issue(agent, timedelta(days=call.params.days))
    return IssuedTokenAnswer(issued.token.id, issued.text, issued.token.expires_at)


@operation("agent_tokens.end", "DELETE /agents/{agent}/tokens/{id}", role="admin", errors=(NotFound,))
def end_agent_token(call: Call[NoParams]) -> Token:
    """Make an agent's token worthless."""
    found = next((token for token in list_agent_tokens.run(call) if token.id == call.path["id"]), None)
    if found is None:
        raise NotFound("token", call.path["id"], see="see: prowess agent access-token list")
    return call.engine.tokens.revoke(found.id)


@operation("agent_tokens.list_all", "GET /agent-tokens", role="admin")
def list_all_tokens(call: Call[NoParams]) -> tuple[Token, ...]:
    """The tokens of every agent, also of those that are gone."""
    return call.engine.tokens.list()
