"""Why an agent may use something and would be offered it, or not, step by step: for people."""

from prowess.calling.use import why_off
from prowess.engine.search import nearest
from prowess.engine.stopped import way_on
from prowess.engine.turn import MadeOffer, TurnOptions, TurnParts
from prowess.engine.turn import offer as run_turn
from prowess.prompt.exclusions import BELOW, DENIED, FILTERED, HELD, LATER, NO_ROOM, OFF, UNAVAILABLE, Absence
from prowess.types import Message, Turn
from prowess.world import World

DEEPEST = 200
"""How far down a ranking to look for something."""


def explain(world: World, agent: str, id: str) -> tuple[str, ...]:
    """How policy, providers, quarantine and availability come together for one capability."""
    view = world.view
    explained = world.policy.explain(agent, id, authenticated=True)
    id, steps = explained.id, list(explained.steps)
    if stopped := world.stopped.get(agent):
        *others, verdict = steps
        return (
            f"the agent is stopped: {stopped}",
            *others,
            f"if it ran, {verdict}",
            f"deny: the agent is stopped; {way_on(world, agent)}",
        )
    capability = view.capabilities.get(id)
    if capability is None:
        return (*steps, "nothing in the catalogue has this id")
    if view.off(capability.provider, agent):
        steps.append(why_off(view, capability.provider, agent))
    if id in view.quarantined:
        steps.append(f"quarantined: {view.quarantined[id].reason}")
    return (*steps, *(f"unavailable: {reason}" for reason in capability.unavailable))


def explain_request(
    world: World, agent: str, id: str, request: str, parts: TurnParts, options: TurnOptions
) -> tuple[str, ...]:
    """The same for one request: how relevant it is, and in the end whether it would be offered."""
    steps = explain(world, agent, id)
    if id not in world.view.capabilities:
        return (*steps, f"not offered, because nothing in the catalogue is called {id}")
    made = run_turn(Turn(messages=(Message("user", request),), agent=agent), world, parts, options)
    return (*steps, _relevance(world, id, request, parts, options, made), _conclusion(world, agent, id, made))


def _relevance(
    world: World, id: str, request: str, parts: TurnParts, options: TurnOptions, made: MadeOffer
) -> str:
    known, line = world.view.capabilities, options.settings.tier1_min_relevance
    found = {hit.id: hit for hit in nearest(parts.searching.at(world), request, known, DEEPEST)}
    hit = found.get(id)
    if hit is None:
        return "relevance: nothing in it answers the request"
    side = f"above the line of {line:g}" if hit.score >= line else f"below the line of {line:g}"
    if hit.score < line and id in {each.id for each in made.offer.hits}:
        side += " but close to the best"
    rank = list(found).index(id) + 1
    return f"relevance {hit.score:.2f}, {side}, rank {rank} ({'; '.join(hit.reasons)})"


SENTENCES = {
    OFF: "its provider is switched off",
    DENIED: "policy denies it",
    HELD: "it is quarantined",
    UNAVAILABLE: "it is unavailable",
    FILTERED: "a filter leaves it out",
    NO_ROOM: "there is no room for it in the budget",
    LATER: "others fit better",
    BELOW: "it fits the request too little",
}


def _conclusion(world: World, agent: str, id: str, made: MadeOffer) -> str:
    """One plain sentence: offered, or not offered because."""
    offered = [hit.id for hit in made.offer.hits]
    if id in offered:
        return f"offered: it is number {offered.index(id) + 1} of {len(offered)}"
    if id in made.offer.cards:
        return "offered: it is injected as a card"
    if world.stopped.get(agent):
        return "not offered, because the agent is stopped"
    absence = Absence.of(world.view, world.visible(agent), agent)
    why = absence.hidden.get(id) or dict(made.offer.left_out.nearest).get(id)
    if why is None:
        why = UNAVAILABLE if id in absence.unavailable else BELOW
    if id in absence.cards:
        return "not offered, because nothing in the request triggers this card"
    return f"not offered, because {SENTENCES[why]}"
