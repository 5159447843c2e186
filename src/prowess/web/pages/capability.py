"""The page of one capability: what it says, what it was, what use is made of it, and who may use it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from prowess.catalogue.catalogue import Version
from prowess.catalogue.difference import difference, readable
from prowess.engine.engine import Engine
from prowess.engine.use_figures import RecordedUse, recorded_uses
from prowess.errors import NotFound
from prowess.operations.agents import list_agents
from prowess.operations.backend import Local
from prowess.operations.catalogue import list_related
from prowess.operations.operation import NO_PARAMS
from prowess.policy.attributes import effects_of
from prowess.types import JsonObject
from prowess.web import page
from prowess.web.pages.catalogue import state
from prowess.web.pages.endings import ENDINGS
from prowess.web.pages.form import backend
from prowess.web.redact import marked, plain

VERDICTS = {"allow": "good", "ask": "warn", "deny": "bad"}
RELATIONS = {
    "DEPENDS_ON": "needs",
    "COMPOSED_WITH": "used together with",
    "TAGGED_WITH": "shares tags with",
    "SAME_CATEGORY": "same category as",
}
MOST_NEIGHBOURS = 40


@dataclass(frozen=True, slots=True)
class Parameter:
    name: str
    type: str
    required: bool
    description: str


@dataclass(frozen=True, slots=True)
class Right:
    """What one agent or profile may do with it, step by step."""

    who: str
    profile: str
    verdict: str
    tone: str
    reason: str
    steps: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class UseSummary:
    """What came of it in the latest entries of the journal."""

    offered: int
    called: int
    worked: int
    milliseconds: float | None


LOOKED_THROUGH = 2000
MOST_USES = 10


def shown(request: Request) -> Response:
    local = backend(request)
    engine, id = local.engine, request.query_params.get("id", "")
    history = engine.catalogue.history(id)
    if id not in engine.catalogue.view().capabilities:
        if not history:
            known = engine.catalogue.view().capabilities
            raise NotFound("capability", id, known, "look for it in the catalogue")
        return page.render(
            request,
            "capability_gone.html",
            title=id,
            under="/catalogue",
            id=id,
            **_versions(request, history),
        )
    view, capability, detail = engine.catalogue.view(), engine.catalogue.get(id), engine.catalogue.detail(id)
    edges = local.call(list_related, NO_PARAMS, id=id)
    return page.render(
        request,
        "capability.html",
        title=capability.display_name,
        under="/catalogue",
        row=state(view, capability),
        capability=capability,
        effects=effects_of(capability),
        detail=detail,
        content=plain(detail.content or ""),
        parameters=list(parameters(detail.input_schema or {})),
        neighbours=[(edge, view.capabilities.get(edge.target)) for edge in edges[:MOST_NEIGHBOURS]],
        more_neighbours=max(0, len(edges) - MOST_NEIGHBOURS),
        relations=RELATIONS,
        rights=_rights(local, id),
        use=_use(engine, id),
        uses=_latest_uses(engine, id),
        endings=ENDINGS,
        cost=engine.catalogue.cost_of(id),
        **_versions(request, history),
    )


def _latest_uses(engine: Engine, id: str) -> list[RecordedUse]:
    found = recorded_uses(engine.internals.history, LOOKED_THROUGH)
    return [one for one in found if one.capability == id][:MOST_USES]


def parameters(schema: JsonObject) -> Iterator[Parameter]:
    """The properties of a schema, as far as they are what a schema should have."""
    properties = schema.get("properties")
    required = schema.get("required")
    named = required if isinstance(required, list) else []
    for name, about in properties.items() if isinstance(properties, Mapping) else ():
        said = about if isinstance(about, Mapping) else {}
        yield Parameter(plain(name), _type(said), name in named, plain(str(said.get("description", ""))))


def _type(about: Mapping[str, Any]) -> str:
    choices = about.get("enum")
    if isinstance(choices, list):
        return plain(" | ".join(map(str, choices)))
    type = about.get("type")
    return " | ".join(map(str, type)) if isinstance(type, list) else str(type or "any")


def _rights(local: Local, id: str) -> list[Right]:
    """Every agent first, then each profile that no agent has."""
    engine = local.engine
    engine.internals.policy.refresh()
    view, agents = engine.catalogue.view(), local.call(list_agents, NO_PARAMS)
    moment = engine.internals.policy.at(view)
    found = [
        Right(
            agent.name, agent.profile, decision.verdict, VERDICTS[decision.verdict], decision.reason,
            engine.explain(agent.name, id),
        )
        for agent in agents
        for decision in [moment.decision(agent.name, id, True)]
    ]  # fmt: skip
    bound = {agent.profile for agent in agents}
    for profile in sorted(engine.policy.rules.profiles):
        if profile not in bound:
            decision = moment.profile_decision(profile, id)
            tone = VERDICTS[decision.verdict]
            found.append(Right("", profile, decision.verdict, tone, decision.reason, decision.chain))
    return found


def _use(engine: Engine, id: str) -> UseSummary:
    offers = engine.journal.latest(LOOKED_THROUGH, type="offer")
    offered = sum(any(hit["id"] == id for hit in entry.data.get("hits", ())) for entry in offers)
    outcomes = [
        entry.data
        for entry in engine.journal.latest(LOOKED_THROUGH, type="outcome")
        if entry.data.get("capability") == id
    ]
    times = sorted(data["milliseconds"] for data in outcomes if data.get("milliseconds") is not None)
    worked = sum(bool(data.get("ok")) for data in outcomes)
    return UseSummary(offered, len(outcomes), worked, times[len(times) // 2] if times else None)


def _versions(request: Request, history: Sequence[Version]) -> dict[str, Any]:
    """Every text it had, and how two of them differ: the last two, unless others are named."""
    by_digest = {version.digest: version for version in history}
    said = request.query_params
    after = by_digest.get(said.get("to", ""), history[-1])
    before = by_digest.get(said.get("from", ""), history[max(0, history.index(after) - 1)])
    lines = difference(
        readable(before.capability, before.detail), readable(after.capability, after.detail), ("", "")
    )
    return {"history": history, "before": before, "after": after, "difference": list(marked(lines))}


ROUTES = (Route("/capability", shown),)
