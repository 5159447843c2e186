"""A generation of an agent: what it was, how it differs from another, and the way back to it."""

from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from prowess.engine.engine import Engine
from prowess.errors import Refused
from prowess.evolution.records import MOST_ROLLBACKS, Generation
from prowess.evolution.scores import AXES, Scores
from prowess.operations import evolution as ops
from prowess.operations.backend import Local
from prowess.web import identity, page
from prowess.web.pages.form import Fields, address, backend, form

TONES = {
    "SafetyBreach": "bad",
    "Regression": "warn",
    "CapabilityGain": "info",
    "CapabilityLoss": "warn",
    "ToolAcquisition": "info",
    "AutonomyUpgrade": "good",
    "Rebalance": "",
    "Evolution": "good",
    "Rollback": "bad",
}


@dataclass(frozen=True, slots=True)
class Switches:
    """What rolling back to a generation would switch for its agent, as things are now."""

    off: tuple[str, ...]
    on: tuple[str, ...]
    gone: tuple[str, ...]
    """Providers it had that have left the catalogue since."""


def told(one: Generation) -> str:
    """A generation in a few words."""
    back = f", brings back {one.restored}" if one.restored else ""
    return f"{one.trigger}{back}{f': {one.reason}' if one.reason else ''}"


def levels(scores: Scores) -> dict[str, float]:
    """Every axis as a fraction of one, so that they can stand side by side."""
    return {axis: scores.independence if axis == "autonomy" else getattr(scores, axis) for axis in AXES}


def shown(request: Request) -> Response:
    identity.person(request)
    engine: Engine = request.app.state.engine
    agent = request.query_params.get("agent", "")
    found = engine.evolution.generation(agent, number(request.query_params.get("number", "")))
    before = engine.evolution.generation(agent, found.number - 1) if found.number > 1 else None
    return page.render(
        request,
        "generation.html",
        title=f"Generation {found.number}",
        agent=agent,
        generation=found,
        before=before,
        standing=engine.evolution.status(agent),
        levels=levels(found.scores),
        tones=TONES,
        axes=AXES,
        switches=switches(engine, agent, found),
        exhausted=found.rollbacks >= MOST_ROLLBACKS,
    )


def compared(request: Request) -> Response:
    local = backend(request)
    agent = request.query_params.get("agent", "")
    before, after = (
        local.engine.evolution.generation(agent, number(request.query_params.get(name, "")))
        for name in ("before", "after")
    )
    return page.render(
        request,
        "generations_compared.html",
        title=f"Generations {before.number} and {after.number}",
        agent=agent,
        before=before,
        after=after,
        had=levels(before.scores),
        has=levels(after.scores),
        difference=local.call(
            ops.difference, ops.Between(agent=agent, before=before.number, after=after.number)
        ),
        tones=TONES,
        axes=AXES,
    )


def roll_back(local: Local, fields: Fields) -> str:
    agent, to = fields.get("agent", ""), number(fields.get("number", ""))
    made = local.call(ops.rollback, ops.Back(generation=to), agent=agent)
    if made.restored is None:
        raise Refused(
            409, f"{agent} is stopped ({made.stopped}): no generation is left to restore", "resume it first"
        )
    what = f"Generation {made.generation} brings back generation {made.restored}"
    what += "".join(f"; {name} stays off: a person decided it" for name in made.kept_off)
    return address("/evolution/agent", agent=agent, done="rolled-back", what=what)


def switches(engine: Engine, agent: str, to: Generation) -> Switches:
    known = {one.name: not one.off for one in engine.providers.list(agent)}
    active = {name for name, on in known.items() if on}
    wanted = set(to.snapshot.active_providers)
    return Switches(
        tuple(sorted(active - wanted)),
        tuple(sorted((wanted - active) & known.keys() - engine.evolution.kept_off(agent))),
        tuple(sorted(wanted - known.keys())),
    )


def number(text: str) -> int:
    if not text.isdecimal() or len(text) > 9:
        raise Refused(400, f"{text[:40]!r} is not the number of a generation", "choose one in the list")
    return int(text)


ROUTES = (
    Route("/evolution/generation", shown),
    Route("/evolution/difference", compared),
    form("/evolution/rollback", roll_back, ops.rollback),
)
