"""One turn, top to bottom: what exists, what is allowed, what is needed, what is seen, what is recorded.

Above: the engine, which takes the world and records what was made; previews, gates and explanations, which
run the same turn on another world and record nothing. Below: the stages. Everything a turn depends on is in
its world, so that an offer, the policy revision it names and its journal entry agree by construction.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeAlias

from prowess.catalogue.stored import several
from prowess.catalogue.view import View
from prowess.config import DiscoveryConfig, with_arguments
from prowess.discovery.ranking import ParsedRequest
from prowess.discovery.sharing import in_turn, merged
from prowess.discovery.stored.search import StoredSearch
from prowess.engine.cards import CardService, Selected
from prowess.engine.options import OnFailure
from prowess.engine.search import CatalogueSearch, Searching, filtered, fitting, narrows, nearest
from prowess.engine.turn_log import owned
from prowess.errors import ConfigError
from prowess.prompt.builder import Areas, OfferBuilder, RenderedOffer
from prowess.prompt.exclusions import NEAREST, Absence, left_out_of_many, why_hidden
from prowess.prompt.render import CALLABLE
from prowess.prompt.small_sets import MOST_TOKENS, SmallSets
from prowess.types import DEFAULT_AGENT, PINNED, Capability, Hit, LeftOut, Message, Offer, Turn
from prowess.world import World

Searched: TypeAlias = tuple[CatalogueSearch, ParsedRequest]
"""What a request was searched in, and how it was read."""
DISCOVERY = "discovery"
WHOLE = "discovery; all tools are offered, because they are few"
MOST_LOOKED_THROUGH = 200
"""Of more than that, no tools are few where they have to be looked up first."""
ROOM = 2
"""How many times what few tools may cost a turn's budget must be, for all of them to be offered."""


@dataclass(frozen=True, slots=True)
class TurnParts:
    """What a turn works with; none of it knows the turn."""

    searching: Searching
    offering: OfferBuilder
    cards: CardService
    small: SmallSets


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnOptions:
    """How one offer is made: what `[discovery]` and the caller say, and what to do when search fails."""

    settings: DiscoveryConfig
    id: str
    on_failure: OnFailure = "open"

    @classmethod
    def of(
        cls, usual: DiscoveryConfig, new_id: Callable[[], str], given: Mapping[str, Any],
        on_failure: OnFailure = "open", agent: str = DEFAULT_AGENT,
    ) -> "TurnOptions":  # fmt: skip
        """What `[discovery]` says, with what a caller says instead, for a new offer to this agent."""
        settings = with_arguments(usual, given) if given else usual
        return cls(settings=settings, id=owned(new_id(), agent), on_failure=on_failure)

    def __post_init__(self) -> None:
        if self.on_failure not in ("open", "closed"):
            raise ConfigError("on_failure", f"is {self.on_failure!r}", "say open or closed")


@dataclass(frozen=True, slots=True)
class MadeOffer:
    """An offer, and what belongs into the journal with it."""

    turn: Turn
    offer: Offer
    cards: Selected


@dataclass(frozen=True, slots=True)
class SearchResult:
    """What answers a request, and how it was found: with `search`, unless that failed."""

    hits: tuple[Hit, ...]
    mode: str
    search: Searched | None = None


def as_turn(turn: Turn | str) -> Turn:
    return Turn(messages=(Message("user", turn),)) if isinstance(turn, str) else turn


def offer(turn: Turn, world: World, parts: TurnParts, options: TurnOptions) -> MadeOffer:
    """What the model is offered in this world; nothing is recorded."""
    visible = world.visible(turn.agent, turn.authenticated)
    found = needed(turn, world, visible, parts.searching, options)
    hits = with_pinned(found.hits, turn, world, visible, options.settings)
    scope = (turn.agent, turn.authenticated, world.policy.state, world.stopped.get(turn.agent))
    rest = few(turn, visible, found, hits, parts, options.settings)
    shown = parts.offering.show(
        hits, visible, scope, turn.budget, options.settings, every_tool=found.search is None, rest=rest,
        areas=areas_of(visible, found.search[0]) if found.search else None,
    )  # fmt: skip
    left = None if turn.budget is None else max(0, turn.budget - shown.tokens.total)
    cards = parts.cards.select(replace(turn, budget=left), world, id=options.id)
    made = Offer(
        id=options.id,
        agent=turn.agent,
        text=parts.offering.joined(shown.text, cards.injection.text),
        cards=tuple(card.id for card in cards.injection.injected),
        hits=tuple(hit for hit in hits if hit.id in shown.shown),
        tools=shown.tools,
        tool_ids=shown.tool_ids,
        tokens=replace(shown.tokens, cards=cards.injection.file_tokens),
        left_out=left_out(turn, world, visible, found.search, shown, options.settings),
        catalogue_version=world.view.version,
        policy_revision=world.policy.revision,
        mode=WHOLE if rest else found.mode,
    )
    return MadeOffer(turn, made, cards)


def needed(
    turn: Turn, world: World, visible: View, searching: Searching, options: TurnOptions
) -> SearchResult:
    """What fits the request, best first, among what the agent may use."""
    try:
        search = searching.at(world)
        read = search.read(turn.text or "\n".join(turn.needs))
        found = _by_needs(turn, search, visible, options.settings) if turn.needs else None
        hits = fitting(search, read, visible.capabilities, options.settings) if found is None else found
        return SearchResult(hits, DISCOVERY, (search, read))
    except Exception as failure:
        # Awareness fails open unless the caller wants it closed; permission was decided before.
        failed = f"discovery failed ({type(failure).__name__})"
        if options.on_failure == "closed" or visible.is_stored:
            return SearchResult((), f"{failed}; nothing but what is pinned is offered")
        reason = f"{failed}; everything allowed is offered"
        return SearchResult(_everything(visible, options.settings, reason), reason)


def areas_of(visible: View, search: CatalogueSearch) -> Areas | None:
    """How many there are of each category, counted by the search where they are not held."""
    return partial(search.areas, visible.capabilities) if isinstance(search, StoredSearch) else None


def _by_needs(
    turn: Turn, search: CatalogueSearch, visible: View, settings: DiscoveryConfig
) -> tuple[Hit, ...]:
    """What fits each need, when all of them share the places of one offer."""
    found = [
        tuple(
            replace(hit, need=need)
            for hit in fitting(search, search.read(need), visible.capabilities, settings)
        )
        for need in turn.needs
    ]
    return merged(in_turn(found, settings.tier1_top_k))


def few(
    turn: Turn, visible: View, found: SearchResult, hits: Sequence[Hit], parts: TurnParts,
    settings: DiscoveryConfig,
) -> tuple[str, ...]:  # fmt: skip
    """Where an agent has few tools: those that were not found, the nearest first."""
    is_tight = turn.budget is not None and turn.budget < ROOM * MOST_TOKENS
    if not settings.few_tools_whole or found.search is None or narrows(settings) or is_tight:
        return ()
    search, read = found.search
    there: Mapping[str, Capability] | None = visible.capabilities
    if isinstance(search, StoredSearch):
        there = search.few(visible.capabilities, MOST_LOOKED_THROUGH)
    tools = [each for each in (there or {}).values() if each.kind in CALLABLE and each.available]
    cost = partial(parts.offering.cost_of_everything, tools)
    if not parts.small.has((turn.agent, turn.authenticated), visible, len(tools), cost):
        return ()
    known = {hit.id for hit in hits}
    others = {each.id: each for each in tools if each.id not in known}
    order = [hit.id for hit in nearest(search, read, others, len(others), with_reasons=False)]
    return tuple(dict.fromkeys((*order, *others)))


def with_pinned(
    found: tuple[Hit, ...], turn: Turn, world: World, visible: View, settings: DiscoveryConfig
) -> tuple[Hit, ...]:
    """What a profile pins comes first, found or not, unless a filter leaves it out."""
    known, passes = visible.capabilities, filtered(settings)
    pinned = [id for id in world.policy.pinned(turn.agent) if id in known and passes(known[id])]
    hits = {hit.id: hit for hit in found}
    first = [hits.pop(id, Hit(id=id, score=0.0)) for id in pinned]
    return (*(replace(hit, reasons=(*hit.reasons, *PINNED)) for hit in first), *hits.values())


def left_out(
    turn: Turn, world: World, visible: View, searched: Searched | None, shown: RenderedOffer,
    settings: DiscoveryConfig,
) -> LeftOut:  # fmt: skip
    """What was not offered and why: for people, never for the model."""
    if searched is None:
        return LeftOut()
    search, read = searched
    count = NEAREST + len(shown.shown)
    close = nearest(search, read, world.view.capabilities, count, with_reasons=False)
    if isinstance(search, StoredSearch):
        existing = several(world.view.capabilities, [hit.id for hit in close])
        usable = several(visible.capabilities, existing)
        hidden = {
            id: why_hidden(each, world.view, turn.agent) for id, each in existing.items() if id not in usable
        }
        total = search.held.population
        reach = search.count(visible.capabilities)
        least = settings.tier1_min_relevance
        return left_out_of_many(total, reach, close, hidden, shown.shown, shown.no_room, least)
    key = ("absence", turn.agent, turn.authenticated, world.stopped.get(turn.agent))
    absence = world.policy.remembered(key, lambda: Absence.of(world.view, visible, turn.agent))
    passes = filtered(settings) if narrows(settings) else None
    unfit = absence.unfit(settings.only_available, passes)
    return absence.left_out(close, shown.shown, shown.no_room, settings.tier1_min_relevance, unfit)


def _everything(visible: View, settings: DiscoveryConfig, reason: str) -> tuple[Hit, ...]:
    passes, known = filtered(settings), visible.capabilities.values()
    allowed = (each.id for each in known if each.kind != "card" and passes(each))
    return tuple(Hit(id=id, score=0.0, reasons=(reason,)) for id in allowed)
