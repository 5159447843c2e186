"""What is allowed: agents, profiles, grants, the questions that wait for a person, and why."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Annotated

import msgspec

from prowess.engine.engine import Engine
from prowess.policy.agents import Agent
from prowess.policy.approvals import Approval, ApprovalAnswer, Scope
from prowess.policy.grants import Grant
from prowess.policy.profiles import Profile, Rule
from prowess.policy.resolve import Resolved
from prowess.policy.ruleset import RuleSet
from prowess.web.operations import Call, Done, Name, Note, Operation, RequestParams

AgentName = Annotated[str, msgspec.Meta(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.@-]{0,99}$")]
Minutes = Annotated[int, msgspec.Meta(ge=1, le=525_600)]


class BindAgent(RequestParams, frozen=True, kw_only=True):
    name: AgentName
    profile: Name
    parent: Annotated[str, msgspec.Meta(max_length=200)] = ""
    """The agent it descends from and never exceeds."""


class Why(RequestParams, frozen=True, kw_only=True):
    agent: Name
    id: Name
    request: Annotated[str, msgspec.Meta(max_length=10_000)] = ""


class Steps(msgspec.Struct, frozen=True):
    agent: str
    id: str
    steps: tuple[str, ...]


class Every(RequestParams, frozen=True, kw_only=True):
    every: bool = False
    """Also those that are answered or expired."""


class AnswerApproval(RequestParams, frozen=True, kw_only=True):
    yes: bool
    note: Note = ""
    minutes: Minutes = 60
    """How long the answer holds."""
    scope: Scope = "once"
    """One use with the arguments shown, any number of uses with them (repeat), or any arguments."""


class ReviewGrant(RequestParams, frozen=True, kw_only=True):
    note: Note = ""


class Gone(msgspec.Struct, frozen=True):
    removed: tuple[str, ...]


class ProfileShown(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    description: str
    extends: tuple[str, ...]
    agents: tuple[str, ...]
    """Those a policy file binds to it."""
    grants: Mapping[str, bool]
    """The grants it switches on or off itself."""
    additional: tuple[str, ...]
    disallowed: tuple[str, ...]
    ask: tuple[str, ...]
    pinned: tuple[str, ...]
    limits: Mapping[str, int]
    level: str | None


class GrantShown(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    description: str
    events: tuple[str, ...]
    tools: tuple[str, ...]
    requires: tuple[str, ...]
    extends: tuple[str, ...]
    always_included: bool
    limits: Mapping[str, int]
    review: bool
    level: str | None


def agents(call: Call) -> tuple[Agent, ...]:
    return call.engine.agents.list()


def bind(call: Call) -> Agent:
    said: BindAgent = call.body
    if said.parent:
        return call.engine.agents.spawn(said.parent, said.name, said.profile)
    return call.engine.agents.bind(said.name, said.profile)


def retire(call: Call) -> Gone:
    return Gone(call.engine.agents.retire(call.path["agent"]))


def why(call: Call) -> Steps:
    q: Why = call.query
    return Steps(q.agent, q.id, call.engine.explain(q.agent, q.id, q.request))


def profiles(call: Call) -> tuple[ProfileShown, ...]:
    rules = _rules(call.engine)
    return tuple(_profile(rules.profiles[name]) for name in sorted(rules.profiles))


def resolve(call: Call) -> Resolved:
    _rules(call.engine)
    return call.engine.policy.resolve(call.path["name"])


def grants(call: Call) -> tuple[GrantShown, ...]:
    rules = _rules(call.engine)
    return tuple(_grant(rules.grant(name)) for name in rules.sound())


def grant(call: Call) -> GrantShown:
    return _grant(_rules(call.engine).grant(call.path["name"]))


def review(call: Call) -> Done:
    call.engine.policy.review(call.path["name"], call.by, call.body.note)
    return Done()


def approvals(call: Call) -> tuple[Approval, ...]:
    return call.engine.approvals.list(call.query.every)


def answer(call: Call) -> Approval:
    said: AnswerApproval = call.body
    holds = timedelta(minutes=said.minutes)
    answer = ApprovalAnswer(yes=said.yes, by=call.by, note=said.note, holds=holds, scope=said.scope)
    return call.engine.approvals.answer(call.path["id"], answer)


def _rules(engine: Engine) -> RuleSet:
    engine.internals.policy.refresh()
    return engine.policy.rules


def _profile(profile: Profile) -> ProfileShown:
    return ProfileShown(
        name=profile.name,
        description=profile.description,
        extends=profile.extends,
        agents=profile.agents,
        grants={name: flag.on for name, flag in profile.flags.items()},
        additional=_texts(profile.additional),
        disallowed=_texts(profile.disallowed),
        ask=_texts(profile.ask),
        pinned=_texts(profile.pinned),
        limits=profile.limits,
        level=profile.level,
    )


def _texts(rules: tuple[Rule, ...]) -> tuple[str, ...]:
    return tuple(rule.pattern.text for rule in rules)


def _grant(grant: Grant) -> GrantShown:
    return GrantShown(
        name=grant.name,
        description=grant.description,
        events=tuple(pattern.text for pattern in grant.events),
        tools=tuple(pattern.text for pattern in grant.tools),
        requires=grant.requires,
        extends=grant.extends,
        always_included=grant.always_included,
        limits=grant.limits,
        review=bool(grant.review),
        level=grant.level,
    )


OPERATIONS = (
    Operation(id="agents.list", method="GET", path="/agents", run=agents, answer=tuple[Agent, ...],
              does="Names bound to profiles"),
    Operation(id="agents.add", method="POST", path="/agents", run=bind, body=BindAgent, answer=Agent,
              status=201, role="admin", does="Bind a name to a profile, perhaps below a parent"),
    Operation(id="agents.remove", method="DELETE", path="/agents/{agent}", run=retire, answer=Gone,
              role="admin", does="Retire an agent and every agent below it"),
    Operation(id="why", quotes=True, method="GET", path="/why", run=why, query=Why, answer=Steps,
              does="Why an agent may use something and would be offered it, or not"),
    Operation(id="profiles.list", method="GET", path="/policy/profiles", run=profiles,
              answer=tuple[ProfileShown, ...], does="Every profile as it is stated"),
    Operation(id="profiles.resolve", method="GET", path="/policy/profiles/{name}", run=resolve,
              answer=Resolved, does="What a profile comes to, given what exists"),
    Operation(id="grants.list", method="GET", path="/policy/grants", run=grants,
              answer=tuple[GrantShown, ...], does="Every grant that can be used"),
    Operation(id="grants.show", method="GET", path="/policy/grants/{name}", run=grant, answer=GrantShown,
              does="One grant with everything it extends"),
    Operation(id="grants.review", method="POST", path="/policy/grants/{name}/review", run=review,
              body=ReviewGrant, answer=Done, role="admin", signed=True,
              does="An admin has looked at a grant as it is defined now"),
    Operation(id="approvals.list", quotes=True,
              method="GET", path="/approvals", run=approvals, query=Every,
              answer=tuple[Approval, ...], does="The questions that wait for a person"),
    Operation(id="approvals.answer", method="POST", path="/approvals/{id}/answer", run=answer,
              body=AnswerApproval,
              answer=Approval, role="operator", signed=True, does="Answer a question"),
)  # fmt: skip
