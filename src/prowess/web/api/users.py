"""Who may come in: people's tokens, and agents' own."""

from datetime import timedelta
from typing import Annotated, Literal

import msgspec

from prowess.errors import NotFound
from prowess.policy.agent_tokens import Token
from prowess.web.operations import Call, Operation, RequestParams
from prowess.web.users import Pass

Days = Annotated[int, msgspec.Meta(ge=1, le=3650)]


class Me(msgspec.Struct, frozen=True):
    name: str
    role: str


class NewToken(RequestParams, frozen=True, kw_only=True):
    name: Annotated[str, msgspec.Meta(pattern=r"^[\w.@-][\w.@ -]{0,99}$")]
    role: Literal["viewer", "operator", "admin"] = "viewer"
    days: Days = 90


class Lasting(RequestParams, frozen=True, kw_only=True):
    days: Days = 90


class IssuedTokenAnswer(msgspec.Struct, frozen=True):
    id: str
    token: str
    """Shown this once, kept nowhere."""
    expires_at: str


def me(call: Call) -> Me:
    return Me(call.person.name, call.person.role)


def tokens(call: Call) -> tuple[Pass, ...]:
    return call.people.tokens()


def add(call: Call) -> IssuedTokenAnswer:
    said: NewToken = call.body
    issued = call.people.issue(said.name, said.role, "token", timedelta(days=said.days), call.by)
    return IssuedTokenAnswer(issued.person_pass.id, issued.text, issued.person_pass.expires_at)


def end(call: Call) -> Pass:
    return call.people.end(call.path["id"], call.by)


def agent_tokens(call: Call) -> tuple[Token, ...]:
    return tuple(token for token in call.engine.tokens.list() if token.agent == call.path["agent"])


def add_agent_token(call: Call) -> IssuedTokenAnswer:
    agent = call.path["agent"]
    names = [one.name for one in call.engine.agents.list()]
    if agent not in names:
        raise NotFound("agent", agent, names)
    issued = call.engine.tokens.issue(agent, timedelta(days=call.body.days))
    return IssuedTokenAnswer(issued.token.id, issued.text, issued.token.expires_at)


def end_agent_token(call: Call) -> Token:
    found = next((token for token in agent_tokens(call) if token.id == call.path["id"]), None)
    if found is None:
        raise NotFound("token", call.path["id"])
    return call.engine.tokens.revoke(found.id)


OPERATIONS = (
    Operation(id="me", method="GET", path="/me", run=me, answer=Me, does="Who is asking, and as what"),
    Operation(id="tokens.list", method="GET", path="/tokens", run=tokens, answer=tuple[Pass, ...],
              role="admin", does="The tokens of people, without the tokens themselves"),
    Operation(id="tokens.add", method="POST", path="/tokens", run=add, body=NewToken,
              answer=IssuedTokenAnswer,
              status=201, role="admin", signed=True, shown_once=True, does="A new token for a person"),
    Operation(id="tokens.end", method="DELETE", path="/tokens/{id}", run=end, answer=Pass, role="admin",
              signed=True, does="Make a token worthless, and what was opened with it"),
    Operation(id="agent_tokens.list", method="GET", path="/agents/{agent}/tokens", run=agent_tokens,
              answer=tuple[Token, ...], role="admin", does="The tokens of an agent"),
    Operation(id="agent_tokens.add", method="POST", path="/agents/{agent}/tokens", run=add_agent_token,
              body=Lasting, answer=IssuedTokenAnswer, status=201, role="admin", shown_once=True,
              does="A new token for an agent"),
    Operation(id="agent_tokens.end", method="DELETE", path="/agents/{agent}/tokens/{id}",
              run=end_agent_token, answer=Token, role="admin", does="Make an agent's token worthless"),
)  # fmt: skip
