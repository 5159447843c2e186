"""The page `policy`: profile against capability with the reason in each cell, grants, and who is bound."""

from collections.abc import Sequence
from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from prowess.engine.engine import Engine
from prowess.errors import NotFound, Outdated, ProwessError
from prowess.operations.agents import list_agents
from prowess.operations.backend import Local
from prowess.operations.operation import NO_PARAMS
from prowess.operations.policy import ReviewGrant, review_grant
from prowess.policy.explain import way_out
from prowess.policy.grant_report import Given, given
from prowess.policy.grants import UNSTATED
from prowess.policy.matches import awaits_review
from prowess.policy.patterns import HOST
from prowess.policy.ruleset import RuleSet, grant_digest
from prowess.policy.snapshot import PolicySnapshot
from prowess.policy.state import GrantReview
from prowess.types import Decision
from prowess.web import identity, page
from prowess.web.pages.form import Fields, address, backend, form, note, said
from prowess.web.pages.pagination import paged

MOST_COLUMNS = 6
"""How many profiles stand side by side unless more are chosen."""
TONES = {"allow": "good", "ask": "warn", "deny": "bad"}
DONE = {"reviewed": "Grant {} is reviewed as it is defined now. If its definition changes, it waits again."}


@dataclass(frozen=True, slots=True)
class MatrixRow:
    """One capability, and what each profile says about it."""

    id: str
    description: str
    state: str
    cells: tuple[Decision, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class GrantLine:
    name: str
    description: str
    level: str
    gives: int
    profiles: tuple[str, ...]
    review: str
    broken: str = ""


@dataclass(frozen=True, slots=True)
class GrantHolding:
    """How a profile comes to hold a grant, or why it does not although it asks for it."""

    profile: str
    steps: tuple[str, ...]
    dropped: str


def table(request: Request) -> Response:
    identity.person(request)
    engine: Engine = request.app.state.engine
    moment = _moment(engine)
    profiles = sorted(moment.rules.profiles)
    asked = [name for name in request.query_params.getlist("profile") if name in profiles]
    columns = asked or profiles[:MOST_COLUMNS]
    query, kind = request.query_params.get("q", "").strip(), request.query_params.get("kind", "")
    rows = paged(request, _matching(moment, query, kind))
    lines = [_line(engine, moment, id, columns) for id in rows.rows]
    return page.render(
        request,
        "policy_part.html" if page.wants_part(request) else "policy.html",
        title="Policy",
        tab="table",
        profiles=profiles,
        columns=columns,
        chosen=asked,
        agents=_bound(engine),
        rows=rows,
        lines=lines,
        tones=TONES,
        query=query,
        kind=kind,
        kinds=sorted({id.partition(":")[0] for id in _ids(moment)}),
        problems=engine.policy.problems(),
        files=[path.name for path in engine.policy.files],
        revision=engine.policy.revision,
        asks=len(engine.approvals.list()),
    )


def why(request: Request) -> Response:
    """One cell, step by step, and what would change it."""
    identity.person(request)
    moment = _moment(request.app.state.engine)
    profile, id = request.query_params.get("profile", ""), request.query_params.get("id", "")
    if profile not in moment.rules.profiles:
        raise NotFound("profile", profile, moment.rules.profiles, "choose one in the table")
    decision = moment.profile_decision(profile, id)
    out: tuple[str, ...] = ()
    if decision.verdict == "deny":
        out = way_out(moment, (profile,), id)
    return page.render(
        request,
        "policy_why.html",
        title=f"{id} for {profile}",
        profile=profile,
        id=id,
        decision=decision,
        out=out,
        tones=TONES,
        agents=_bound(request.app.state.engine).get(profile, ()),
        known=id in moment.capabilities,
    )


def grants(request: Request) -> Response:
    identity.person(request)
    engine: Engine = request.app.state.engine
    moment = _moment(engine)
    holders = _holders(moment)
    reviews = {review.digest: review for review in engine.policy.reviews()}
    lines = [_grant_line(moment, name, holders, reviews) for name in sorted(moment.rules.grants)]
    rows, notice = paged(request, lines), said(request, DONE)
    return page.render(request, "grants.html", title="Policy", tab="grants", rows=rows, notice=notice)


def grant(request: Request) -> Response:
    identity.person(request)
    engine: Engine = request.app.state.engine
    moment = _moment(engine)
    name = request.query_params.get("name", "")
    definition = moment.rules.grant(name)
    reviews = {review.digest: review for review in engine.policy.reviews()}
    return page.render(
        request,
        "grant.html",
        title=name,
        grant=definition,
        digest=grant_digest(definition),
        given=_given(moment, name),
        held=_held(moment, name),
        review=reviews.get(grant_digest(definition)),
        waits=awaits_review(definition, moment.standing.reviewed),
        known=moment.capabilities,
        quarantined=engine.catalogue.view().quarantined,
    )


def agents(request: Request) -> Response:
    local = backend(request)
    engine, moment = local.engine, _moment(local.engine)
    bound = local.call(list_agents, NO_PARAMS)
    rows = paged(request, bound)
    stopped = {one.name: engine.evolution.stopped(one.name) for one in rows.rows}
    unusable = {one.profile: moment.why_unusable(one.profile) for one in rows.rows}
    return page.render(
        request, "agents.html", title="Policy", tab="agents", rows=rows, stopped=stopped, unusable=unusable
    )


def review(local: Local, fields: Fields) -> str:
    name = fields.get("name", "")
    if fields.get("digest") != grant_digest(_moment(local.engine).rules.grant(name)):
        raise Outdated(name)
    local.call(review_grant, ReviewGrant(note=note(fields)), name=name)
    return address("/policy/grants", done="reviewed", what=name)


# --- what the pages show ---------------------------------------------------------------------


def _moment(engine: Engine) -> PolicySnapshot:
    view = engine.catalogue.view()
    engine.internals.policy.refresh()
    return engine.internals.policy.at(view)


def _ids(moment: PolicySnapshot) -> list[str]:
    """Everything a policy speaks of: what exists, and the tools of hosts that its rules name."""
    return [*moment.capabilities, *sorted(HOST + name for name in moment.rules.host_names)]


def _matching(moment: PolicySnapshot, query: str, kind: str) -> Sequence[str]:
    words = query.lower().split()

    def fits(id: str) -> bool:
        capability = moment.capabilities.get(id)
        text = f"{id} {capability.description if capability else ''}".lower()
        return (not kind or id.startswith(f"{kind}:")) and all(word in text for word in words)

    return [id for id in _ids(moment) if fits(id)]


def _line(engine: Engine, moment: PolicySnapshot, id: str, columns: Sequence[str]) -> MatrixRow:
    capability = moment.capabilities.get(id)
    view = engine.catalogue.view()
    state = "held back" if id in view.quarantined else ""
    if capability and view.off(capability.provider, ""):
        state = "switched off"
    cells = tuple(moment.profile_decision(profile, id) for profile in columns)
    return MatrixRow(
        id, capability.description if capability else "A tool of the host program.", state, cells
    )


def _bound(engine: Engine) -> dict[str, tuple[str, ...]]:
    """Profile -> the agents bound to it."""
    found: dict[str, tuple[str, ...]] = {}
    for agent in engine.agents.list():
        found[agent.profile] = (*found.get(agent.profile, ()), agent.name)
    return found


def _holders(moment: PolicySnapshot) -> dict[str, tuple[str, ...]]:
    """Grant -> the profiles that hold it."""
    found: dict[str, tuple[str, ...]] = {}
    for profile in sorted(moment.rules.profiles):
        for name in _held_grants(moment.rules, profile):
            found[name] = (*found.get(name, ()), profile)
    return found


def _held_grants(rules: RuleSet, profile: str) -> Sequence[str]:
    try:
        return tuple(rules.holding(profile).grants)
    except ProwessError:
        return ()


def _grant_line(
    moment: PolicySnapshot, name: str, holders: dict[str, tuple[str, ...]], reviews: dict[str, GrantReview]
) -> GrantLine:
    own = moment.rules.grants[name]
    try:
        whole, gives = moment.rules.grant(name), given(moment.rules, name, moment.names)
    except ProwessError as error:
        return GrantLine(
            name=name, description=own.description, level=own.level or UNSTATED, gives=0, profiles=(),
            review="", broken=str(error),
        )  # fmt: skip
    done = reviews.get(grant_digest(whole))
    waits = "waits" if awaits_review(whole, moment.standing.reviewed) else ""
    return GrantLine(
        name=name,
        description=whole.description,
        level=gives.level,
        gives=len(gives.events) + len(gives.host_tools),
        profiles=holders.get(name, ()),
        review=waits or (f"reviewed by {done.by}" if done else ""),
    )


def _given(moment: PolicySnapshot, name: str) -> Given:
    return given(moment.rules, name, moment.names)


def _held(moment: PolicySnapshot, name: str) -> tuple[GrantHolding, ...]:
    found = []
    for profile in sorted(moment.rules.profiles):
        if moment.why_unusable(profile):
            continue
        holding = moment.rules.holding(profile)
        if name in holding.why or name in holding.dropped:
            found.append(GrantHolding(profile, holding.why.get(name, ()), holding.dropped.get(name, "")))
    return tuple(found)


ROUTES = (
    Route("/policy", table),
    Route("/policy/why", why),
    Route("/policy/grants", grants),
    Route("/policy/grant", grant),
    Route("/policy/agents", agents),
    form("/policy/review", review, review_grant),
)
