"""Steps 5 to 7 of a turn: from a request and what the agent may see to what the model sees.

Above: the engine, which decides who may see what and records the offer. Below: discovery, which
finds, and context, which fits what was found into budgets.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import msgspec

from prowess.catalogue.view import View
from prowess.config import DiscoveryConfig
from prowess.context.clean import clean_capability, clean_detail
from prowess.context.render import DISCOVER_TOOL, tool_definition, tool_names
from prowess.context.sanitise import Prompt, admit
from prowess.context.tiers import Tier, tier0, tier1, tier2
from prowess.discovery.corpus import alike
from prowess.discovery.index import Index
from prowess.discovery.ranking import Options
from prowess.discovery.text import folded
from prowess.engine.records import PINNED
from prowess.errors import NotFound
from prowess.tokens import Counter
from prowess.types import Capability, Detail, Hit, JsonObject, Tokens

CALLABLE = ("tool", "event")
REMEMBERED = 4096


@dataclass(frozen=True, slots=True)
class Shown:
    """What the model gets, before it is recorded: three tiers of text, and tools."""

    text: Prompt
    tools: tuple[JsonObject, ...]
    tool_ids: Mapping[str, str]
    tokens: Tokens
    shown: frozenset[str]
    no_room: tuple[str, ...]


class Offering:
    def __init__(self, index: Index, counter: Counter, detail_of: Callable[[str], Detail]) -> None:
        self.index = index
        self._counter = counter
        self._detail_of = detail_of
        self._maps: dict[tuple[object, ...], Tier] = {}
        self._cleaned: dict[tuple[object, ...], Capability] = {}
        self._details: dict[tuple[str, str], Detail] = {}

    def find(self, request: str, allowed: Collection[str], settings: DiscoveryConfig) -> tuple[Hit, ...]:
        """What fits a request, best first, among what is allowed."""
        return self.index.search(request, allowed, options(settings))

    def fitting(self, request: str, allowed: Collection[str], settings: DiscoveryConfig) -> tuple[Hit, ...]:
        """What `find` finds for an offer: cards come by another way, and take nobody's place."""
        return self.index.search(request, allowed, replace(options(settings), without_kind="card"))

    def rank(
        self, request: str, allowed: Collection[str], depth: int, split: bool, settings: DiscoveryConfig
    ) -> list[str]:
        # What is available changes from one machine and moment to the next; how well search ranks must not.
        everything = replace(
            options(settings),
            top_k=depth,
            min_relevance=0.0,
            abstain=False,
            split=split,
            only_available=False,
        )
        return [hit.id for hit in self.index.search(request, allowed, everything)][:depth]

    def nearest(self, request: str, among: Collection[str], count: int) -> tuple[Hit, ...]:
        """What comes closest to a request whether it fits or not: for people, never for models."""
        return self.index.search(request, among, Options(top_k=count, min_relevance=0.0, use_graph=False))

    def show(
        self, hits: Sequence[Hit], visible: View, scope: str, budget: int | None, settings: DiscoveryConfig,
        every_tool: bool = False,
    ) -> Shown:  # fmt: skip
        """Fit the hits into the budgets: the map first, then lines, tools, and whole pages."""
        purse = _Purse(budget)
        purse.spend(self.cost_of_tool(DISCOVER_TOOL))  # always there, whatever else fits
        known = {hit.id: self.clean(visible.capabilities[hit.id]) for hit in hits}
        map_of_all = self._map(visible, scope, purse.most(settings.tier0_token_budget), settings)
        purse.spend(map_of_all.tokens)
        lines = tier1(list(known.values()), purse.most(settings.tier1_token_budget), self._counter.count)
        purse.spend(lines.tokens)
        tools, tool_ids = self._tools([known[id] for id in (known if every_tool else lines.shown)], purse)
        best = [known[id] for id in _for_pages(hits) if id in lines.shown][: settings.tier2_top_k]
        whole = [(each, detail) for each in best if (detail := self._detail_if_there(each)) is not None]
        pages = tier2(whole, purse.most(settings.tier2_token_budget), self._counter.count)
        texts = [tier.text for tier in (map_of_all, lines, pages) if tier.text]
        tokens = Tokens(
            tier0=map_of_all.tokens,
            tier1=lines.tokens,
            tier2=pages.tokens,
            tools=sum(self.cost_of_tool(tool) for tool in tools),
            counter=self._counter.name,
        )
        return Shown(
            admit("\n\n".join(texts), "result"),
            tools,
            tool_ids,
            tokens,
            frozenset(lines.shown).union(tool_ids.values()),
            tuple(id for id in lines.no_room if id not in tool_ids.values()),
        )

    def _map(self, visible: View, scope: str, budget: int, settings: DiscoveryConfig) -> Tier:
        """Tier 0, kept while neither the catalogue nor what the agent may see changes."""
        filters = (settings.kind, settings.category, settings.provider, *settings.exclude)
        key = (visible.version, scope, budget, filters)
        if key not in self._maps:
            if len(self._maps) > 1000:
                self._maps.clear()
            # Availability comes and goes with a secret or a server; the map says what there is.
            passes = filtered(msgspec.structs.replace(settings, only_available=False))
            mapped = {id: each for id, each in visible.capabilities.items() if passes(each)}
            self._maps[key] = self._admitted(tier0(mapped, budget, self._counter.count), budget)
        return self._maps[key]

    def _admitted(self, tier: Tier, budget: int) -> Tier:
        """The map holds names that others gave; should the door make it too long, there is none."""
        text = admit(tier.text, "result")
        tokens = self._counter.count(text)
        return Tier(text, tokens) if tokens <= budget else Tier()

    def joined(self, *parts: str) -> Prompt:
        """Parts of a prompt, each of which came through the door, as one."""
        return admit("\n\n".join(part for part in parts if part), "result")

    def clean(self, capability: Capability) -> Capability:
        key = (capability.digest, capability.unavailable, capability.required_tools)
        if key not in self._cleaned:
            if len(self._cleaned) >= REMEMBERED:
                self._cleaned.clear()
            self._cleaned[key] = clean_capability(capability)
        return self._cleaned[key]

    def _clean_detail(self, capability: Capability) -> Detail:
        key = (capability.id, capability.digest)
        if key not in self._details:
            if len(self._details) >= REMEMBERED:
                self._details.clear()
            self._details[key] = clean_detail(capability.kind, self._detail_of(capability.id))
        return self._details[key]

    def _detail_if_there(self, capability: Capability) -> Detail | None:
        """What belongs to a capability, unless a sync has removed it since it was found."""
        try:
            return self._clean_detail(capability)
        except NotFound:
            return None

    def _tools(
        self, capabilities: Sequence[Capability], purse: "_Purse"
    ) -> tuple[tuple[JsonObject, ...], dict[str, str]]:
        """The meta-tool, then every offered tool that can be called and still fits."""
        tools: list[JsonObject] = [DISCOVER_TOOL]
        ids: dict[str, str] = {}
        callable_ones = [c for c in capabilities if c.kind in CALLABLE]
        for capability, name in zip(callable_ones, tool_names(callable_ones), strict=True):
            detail = self._detail_if_there(capability)
            if detail is None:
                continue
            tool = tool_definition(capability, detail, name)
            if purse.affords(self.cost_of_tool(tool)):
                purse.spend(self.cost_of_tool(tool))
                tools.append(tool)
                ids[name] = capability.id
        return tuple(tools), ids

    def cost_of_tool(self, tool: JsonObject) -> int:
        return self._counter.count(msgspec.json.encode(tool).decode())

    def cost_of_everything(self, capabilities: Sequence[Capability]) -> int:
        """What it would cost to show a model every one of them whole, as is usual elsewhere."""
        names = tool_names(capabilities)
        total = 0
        for capability, name in zip(capabilities, names, strict=True):
            detail = self._detail_of(capability.id)
            total += self.cost_of_tool(tool_definition(capability, detail, name))
            total += self._counter.count(detail.content or "")
        return total


class _Purse:
    """What is left of a turn's budget; without one, each tier's own budget is the only limit."""

    def __init__(self, budget: int | None) -> None:
        self._left = budget

    def most(self, wanted: int) -> int:
        return wanted if self._left is None else max(0, min(wanted, self._left))

    def affords(self, cost: int) -> bool:
        return self._left is None or cost <= self._left

    def spend(self, cost: int) -> None:
        if self._left is not None:
            self._left -= cost


def _for_pages(hits: Sequence[Hit]) -> list[str]:
    """What was asked for, then what that brought along; what is only pinned has its line and its tool."""
    found = [hit for hit in hits if hit.reasons != PINNED]
    return [hit.id for hit in sorted(found, key=lambda hit: bool(hit.brought_by))]


def narrows(settings: DiscoveryConfig) -> bool:
    """Whether a search is asked to look at less than everything available."""
    return any((settings.kind != "any", settings.category, settings.provider, settings.exclude))


def filtered(settings: DiscoveryConfig) -> Callable[[Capability], bool]:
    """Whether a capability passes the filters of a search: for what comes by other ways than search."""
    wanted = {name: getattr(settings, name) for name in ("kind", "category", "provider")}
    wanted = {name: value for name, value in wanted.items() if value not in ("", "any")}
    excluded = set(map(folded, settings.exclude))

    def passes(each: Capability) -> bool:
        return (
            (each.available or not settings.only_available)
            and all(alike(getattr(each, name), value) for name, value in wanted.items())
            and excluded.isdisjoint(map(folded, (each.id, each.name, each.display_name)))
        )

    return passes


def options(settings: DiscoveryConfig) -> Options:
    return Options(
        top_k=settings.tier1_top_k,
        min_relevance=settings.tier1_min_relevance,
        kind="" if settings.kind == "any" else settings.kind,
        category=settings.category,
        provider=settings.provider,
        only_available=settings.only_available,
        exclude=tuple(settings.exclude),
        use_graph=settings.use_graph_reranking,
        boost=settings.graph_boost_factor,
    )
