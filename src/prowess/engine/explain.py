"""Why an agent may use something and would be offered it, or not, step by step: for people."""

from dataclasses import replace
from typing import Protocol

from prowess.calling.finding import KEPT_FROM_MCP
from prowess.calling.use import shut_out
from prowess.engine.search import nearest
from prowess.engine.stopped import way_on
from prowess.engine.turn import MadeOffer, TurnOptions, TurnParts
from prowess.engine.turn import offer as run_turn
from prowess.errors import nearest as nearest_name
from prowess.policy.arguments import digest_of
from prowess.policy.conditions import Arguments
from prowess.policy.explain import explained
from prowess.policy.snapshot import ABSENT, PolicySnapshot
from prowess.prompt.exclusions import BELOW, DENIED, FILTERED, HELD, LATER, NO_ROOM, OFF, UNAVAILABLE, Absence
from prowess.types import Decision, JsonObject, Message, Turn
from prowess.world import World

DEEPEST = 200
"""How far down a ranking to look for something."""


class Foretell(Protocol):
    """What a use comes to, with a person's answer and its limits; `Policy.foretell` is one."""

    def __call__(
        self, moment: PolicySnapshot, agent: str, id: str, decision: Decision, digest: str = ""
    ) -> Decision: ...


def explain(
    world: World, agent: str, id: str, foretell: Foretell, arguments: JsonObject | None = None
) -> tuple[str, ...]:
    """How policy, providers, quarantine and availability come together; the last line is the conclusion."""
    if stopped := world.stopped.get(agent):
        *others, verdict = explain(replace(world, stopped={}), agent, id, foretell, arguments)
        ends = f"deny: the agent is stopped; {way_on(world, agent)}"
        return (f"the agent is stopped: {stopped}", *others, f"if it ran, {verdict}", ends)
    moment = world.policy
    given: Arguments = "any" if arguments is None else arguments
    id = moment.meant(agent, id, True, given)[0]
    stated = moment.use(agent, id, True, given)
    told = _told(world, agent, id, stated, foretell, digest_of(arguments) if arguments else "")
    if told.reason == ABSENT:
        close = nearest_name(id, world.view.capabilities)
        absent = f"nothing in the catalogue has this id{f'; did you mean {close!r}?' if close else ''}"
        told = replace(told, reason=absent)
    about = moment.about(id)
    steps = explained(about, agent, id, stated, told).steps
    capability = world.view.capabilities.get(id)
    if capability is None or told.verdict == "deny":
        return steps
    if id in about.kept_from_mcp(agent):
        steps = (*steps[:-1], KEPT_FROM_MCP, f"{steps[-1]}; but not to MCP clients")
    if capability.unavailable:
        return (*steps[:-1], f"policy would {steps[-1]}", f"unavailable: {'; '.join(capability.unavailable)}")
    return steps


def _told(world: World, agent: str, id: str, stated: Decision, foretell: Foretell, digest: str) -> Decision:
    """What a use comes to: who is stopped and what is off or held back is refused whatever the rules say."""
    if shut := shut_out(world, agent, id):
        return replace(stated, verdict="deny", reason=shut, chain=(*stated.chain, shut), conditions=())
    return foretell(world.policy, agent, id, stated, digest)


def explain_request(
    world: World, agent: str, id: str, request: str, parts: TurnParts, options: TurnOptions,
    foretell: Foretell,
) -> tuple[str, ...]:  # fmt: skip
    """The same for one request: how relevant it is, and in the end whether it would be offered."""
    steps = explain(world, agent, id, foretell)
    id = world.policy.meant(agent, id)[0]
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
