"""Why a search found nothing: told to the person who searched, never to a model."""

from collections.abc import Mapping
from typing import Any

from prowess.areas import area_of
from prowess.engine.empty_catalogue import why_empty
from prowess.engine.engine import Engine
from prowess.engine.search import options
from prowess.engine.stopped import way_on
from prowess.errors import nearest
from prowess.prompt.exclusions import Absence
from prowess.types import Capability

MOST_NAMED = 3
OF_EVERY_PROFILE = "what comes with every profile"


def why_nothing(engine: Engine, request: str, agent: str, settings: Mapping[str, Any]) -> str:
    """The cause that comes first on the way from the catalogue to a hit, and what to do about it."""
    everything = engine.catalogue.view().capabilities
    if not everything:
        return why_empty(engine.catalogue.problems())
    chosen = engine.internals.settings(settings)
    return (
        _stopped(engine, agent)
        or _unbound(engine, agent)
        or _unknown("kind", "" if chosen.kind == "any" else chosen.kind, everything)
        or _unknown("category", chosen.category, everything)
        or _unknown("provider", chosen.provider, everything)
        or _kept_back(engine, request, agent, settings)
        or "nothing fits; say it in other words, or see: prowess list"
    )


def _stopped(engine: Engine, agent: str) -> str:
    world = engine.internals.world(agent)
    why = world.stopped.get(agent)
    return f"{agent} is stopped: {why}; {way_on(world, agent)}" if why else ""


def _unbound(engine: Engine, agent: str) -> str:
    known = [one.name for one in engine.agents.list()]
    if agent in known:
        return ""
    if not known:
        return f"no agent is bound to a profile, so agents have only {OF_EVERY_PROFILE}; see: prowess doctor"
    close = nearest(agent, known)
    remedy = f"did you mean {close!r}?" if close else "see: prowess agent list"
    return f"no agent named {agent!r} is bound to a profile, so it has only {OF_EVERY_PROFILE}; {remedy}"


def _unknown(what: str, wanted: str, everything: Mapping[str, Capability]) -> str:
    held = {str(getattr(one, what)) for one in everything.values()}
    known = sorted(held | {area_of(one) for one in everything.values()} if what == "category" else held)
    if not wanted or wanted in known:
        return ""
    close = nearest(wanted, known)
    remedy = f"did you mean {close!r}?" if close else f"there are: {', '.join(known)}"
    return f"nothing is of {what} {wanted!r}; {remedy}"


def _kept_back(engine: Engine, request: str, agent: str, settings: Mapping[str, Any]) -> str:
    """What would be found if it were allowed, on, looked at and available."""
    world = engine.internals.world(agent)
    view, visible = world.view, world.visible(agent)
    hidden = Absence.of(view, visible, agent).hidden
    wide = options(engine.internals.settings({**settings, "only_available": False}))
    hits = engine.internals.search(world).hits(request, view.capabilities, wide)
    why = [(hit.id, hidden.get(hit.id) or "; ".join(view.capabilities[hit.id].unavailable)) for hit in hits]
    named = [f"{id} ({reason})" for id, reason in why if reason]
    see = f"see: prowess why {agent} ID"
    missing = sorted({name for hit in hits for name in _missing(engine, view.capabilities[hit.id], hidden)})
    if missing:
        see = f"run: prowess secret set {missing[0]}"
    if named:
        return f"what fits cannot be used by {agent}: {', '.join(named[:MOST_NAMED])}; {see}"
    return "" if visible.capabilities else f"{agent} may use nothing of what exists; {see}"


def _missing(engine: Engine, capability: Capability, hidden: Mapping[str, str]) -> list[str]:
    """The secrets that alone keep something from being used here; a client may have them for its own."""
    if capability.id in hidden:
        return []
    environment = engine.internals.environment
    return [name for name in capability.required_secrets if not environment.get(name)]
