"""What is allowed, and why: profiles and grants."""

from collections.abc import Mapping
from typing import Annotated

import msgspec

from prowess.engine.engine import Engine
from prowess.errors import ConfigError, NotFound, PolicyError
from prowess.operations.operation import Call, Done, Name, NoParams, Note, RequestParams, operation
from prowess.policy.grants import Grant
from prowess.policy.profiles import Profile, Rule
from prowess.policy.resolve import Resolved
from prowess.policy.ruleset import RuleSet
from prowess.types import JsonObject


class Why(RequestParams, frozen=True, kw_only=True):
    agent: Name
    id: Name
    request: Annotated[str, msgspec.Meta(max_length=10_000)] = ""
    arguments: Annotated[str, msgspec.Meta(max_length=10_000)] = ""
    """What it would be used with, as JSON."""


class Steps(msgspec.Struct, frozen=True):
    agent: str
    id: str
    steps: tuple[str, ...]


class ReviewGrant(RequestParams, frozen=True, kw_only=True):
    note: Note = ""


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


@operation("why", "GET /why", quotes=True, errors=(NotFound, ConfigError))
def why(call: Call[Why]) -> Steps:
    """Why an agent may use something and would be offered it, or not."""
    q = call.params
    _refuse_unknown(call.engine, q.agent, q.id)
    return Steps(q.agent, q.id, call.engine.explain(q.agent, q.id, q.request, _arguments(q.arguments)))


def _refuse_unknown(engine: Engine, agent: str, name: str) -> None:
    """What neither exists nor is named by a rule is a slip of the pen; where nothing exists, rules count."""
    world = engine.internals.world(agent)
    if not world.view.capabilities:
        return
    ids = world.policy.meanings(name)
    if not any(id in world.view.capabilities or world.policy.is_stated(agent, id) for id in ids):
        raise NotFound("capability", name, world.view.capabilities, "see: prowess find")


def _arguments(text: str) -> JsonObject | None:
    if not text:
        return None
    try:
        return msgspec.json.decode(text, type=dict)
    except msgspec.DecodeError as failure:
        remedy = "write them as one JSON object"
        raise ConfigError("arguments", f"cannot be read ({failure})", remedy) from None


@operation("profiles.list", "GET /policy/profiles")
def list_profiles(call: Call[NoParams]) -> tuple[ProfileShown, ...]:
    """Every profile as it is stated."""
    rules = _rules(call.engine)
    return tuple(_profile(rules.profiles[name]) for name in sorted(rules.profiles))


@operation("profiles.resolve", "GET /policy/profiles/{name}", errors=(NotFound, PolicyError))
def resolve_profile(call: Call[NoParams]) -> Resolved:
    """What a profile comes to, given what exists."""
    _rules(call.engine)
    return call.engine.policy.resolve(call.path["name"])


@operation("grants.list", "GET /policy/grants")
def list_grants(call: Call[NoParams]) -> tuple[GrantShown, ...]:
    """Every grant that can be used."""
    rules = _rules(call.engine)
    return tuple(_grant(rules.grant(name)) for name in rules.sound())


@operation("grants.show", "GET /policy/grants/{name}", errors=(NotFound, PolicyError))
def show_grant(call: Call[NoParams]) -> GrantShown:
    """One grant with everything it extends."""
    return _grant(_rules(call.engine).grant(call.path["name"]))


@operation("grants.review", "POST /policy/grants/{name}/review", role="admin", signed=True,
           errors=(NotFound, PolicyError))  # fmt: skip
def review_grant(call: Call[ReviewGrant]) -> Done:
    """An admin has looked at a grant as it is defined now."""
    call.engine.policy.review(call.path["name"], call.by, call.params.note)
    return Done()


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
