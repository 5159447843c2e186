"""What the model sees: hits fitted into budgets, as text and as tools.

Above: the turn. Below: context, which renders and neutralises. What is made here is remembered by content,
so that nothing is cleaned or rendered twice.
"""

from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass

import msgspec

from prowess.catalogue.view import View
from prowess.config import DiscoveryConfig
from prowess.guard.clean import clean_capability, clean_detail
from prowess.guard.sanitise import Prompt, admit
from prowess.prompt.render import CALLABLE, DISCOVER_TOOL, tool_definition
from prowess.prompt.tiers import Tier, tier0, tier0_of_many, tier1, tier2
from prowess.token_counts import Counter
from prowess.types import PINNED, Capability, Detail, Hit, JsonObject, TokenCounts

Areas = Callable[[], Mapping[str, int]]
"""Counts what there is by category."""

REMEMBERED = 4096


@dataclass(frozen=True, slots=True)
class RenderedOffer:
    """What the model gets, before it is recorded: three tiers of text, and tools."""

    text: Prompt
    tools: tuple[JsonObject, ...]
    tool_ids: Mapping[str, str]
    tokens: TokenCounts
    shown: frozenset[str]
    no_room: tuple[str, ...]


Details = Callable[[Collection[Capability]], Mapping[str, Detail]]
"""Capabilities -> by id, what belongs to exactly their content."""


Filtered = Callable[[DiscoveryConfig], Callable[[Capability], bool]]
"""What `[discovery]` says -> whether a capability passes its filters."""


class OfferBuilder:
    def __init__(self, counter: Counter, details: Details, filtered: Filtered) -> None:
        self._counter = counter
        self._read_details = details
        self._filtered = filtered
        self._maps: dict[tuple[object, ...], Tier] = {}
        self._cleaned: dict[tuple[object, ...], Capability] = {}
        self._details: dict[tuple[str, str], Detail] = {}

    def show(
        self, hits: Sequence[Hit], visible: View, scope: Hashable, budget: int | None,
        settings: DiscoveryConfig, every_tool: bool = False, rest: Sequence[str] = (),
        areas: Areas | None = None,
    ) -> RenderedOffer:  # fmt: skip
        """Fit the hits into the budgets: the map first, then lines, tools, and whole pages.

        every_tool: the tools of all hits, also of those without a line.
        rest: what is no hit, and whose tools come along behind.
        areas: counts what there is by category, where it is not held in memory.
        """
        purse = _Purse(budget)
        purse.spend(self.cost_of_tool(DISCOVER_TOOL))  # always there, whatever else fits
        known = {hit.id: self.clean(visible.capabilities[hit.id]) for hit in hits}
        map_of_all = self._map(visible, scope, purse.most(settings.tier0_token_budget), settings, areas)
        purse.spend(map_of_all.tokens)
        lines = tier1(list(known.values()), purse.most(settings.tier1_token_budget), self._counter.count)
        purse.spend(lines.tokens)
        listed = [known[id] for id in (known if every_tool or rest else lines.shown)]
        listed += [self.clean(visible.capabilities[id]) for id in rest]
        best = [known[id] for id in _for_pages(hits) if id in lines.shown][: settings.tier2_top_k]
        details = self.details_of([*(each for each in listed if each.kind in CALLABLE), *best])
        tools, tool_ids = self._tools(listed, details, purse)
        whole = [(each, details[each.id]) for each in best if each.id in details]
        pages = tier2(whole, purse.most(settings.tier2_token_budget), self._counter.count)
        tokens = TokenCounts(
            tier0=map_of_all.tokens,
            tier1=lines.tokens,
            tier2=pages.tokens,
            tools=sum(self.cost_of_tool(tool) for tool in tools),
            counter=self._counter.name,
        )
        return RenderedOffer(
            self.joined(*(tier.text for tier in (map_of_all, lines, pages) if tier.text)),
            tools,
            tool_ids,
            tokens,
            frozenset(lines.shown).union(tool_ids.values()),
            tuple(id for id in lines.no_room if id not in tool_ids.values()),
        )

    def map_of(
        self, visible: View, scope: Hashable, settings: DiscoveryConfig, areas: Areas | None = None
    ) -> str:
        """What there is at all, as an offer begins with it."""
        return self._map(visible, scope, settings.tier0_token_budget, settings, areas).text

    def _map(
        self, visible: View, scope: Hashable, budget: int, settings: DiscoveryConfig,
        areas: Areas | None = None,
    ) -> Tier:  # fmt: skip
        """Tier 0, kept while neither the catalogue nor what the agent may see changes."""
        filters = (settings.kind, settings.category, settings.provider, *settings.exclude)
        key = (visible.version, scope, budget, filters)
        if key not in self._maps:
            if len(self._maps) > 1000:
                self._maps.clear()
            self._maps[key] = self._admitted(self._drawn(visible, budget, settings, areas), budget)
        return self._maps[key]

    def _drawn(self, visible: View, budget: int, settings: DiscoveryConfig, areas: Areas | None) -> Tier:
        if areas is not None:
            return tier0_of_many(areas(), budget, self._counter.count)
        if visible.is_stored:
            return Tier()
        # Availability comes and goes with a secret or a server; the map says what there is.
        passes = self._filtered(msgspec.structs.replace(settings, only_available=False))
        mapped = {id: each for id, each in visible.capabilities.items() if passes(each)}
        return tier0(mapped, budget, self._counter.count)

    def _admitted(self, tier: Tier, budget: int) -> Tier:
        """The map holds names that others gave; should the sanitiser make it too long, there is none."""
        text = admit(tier.text, "result")
        tokens = self._counter.count(text)
        return Tier(text, tokens) if tokens <= budget else Tier()

    def joined(self, *parts: str) -> Prompt:
        """Parts of a prompt, each of which came through the sanitiser, as one."""
        return admit("\n\n".join(part for part in parts if part), "result")

    def clean(self, capability: Capability) -> Capability:
        key = (capability.digest, capability.unavailable, capability.required_tools)
        if key not in self._cleaned:
            if len(self._cleaned) >= REMEMBERED:
                self._cleaned.clear()
            self._cleaned[key] = clean_capability(capability)
        return self._cleaned[key]

    def details_of(self, capabilities: Sequence[Capability]) -> dict[str, Detail]:
        """What belongs to these, fit to be shown; what is not at hand is read at once."""
        wanted = {(each.id, each.digest): each for each in capabilities}
        missing = {key: each for key, each in wanted.items() if key not in self._details}
        if missing:
            if len(self._details) + len(missing) > REMEMBERED:
                self._details = {}
            read = self._read_details(list(missing.values()))
            made = {key: clean_detail(c.kind, read[c.id]) for key, c in missing.items() if c.id in read}
            self._details = {**self._details, **made}
        held = self._details
        return {key[0]: held[key] for key in wanted if key in held}

    def _tools(
        self, capabilities: Sequence[Capability], details: Mapping[str, Detail], purse: "_Purse"
    ) -> tuple[tuple[JsonObject, ...], dict[str, str]]:
        """The meta-tool, then every offered tool that can be called and still fits."""
        tools: list[JsonObject] = [DISCOVER_TOOL]
        ids: dict[str, str] = {}
        for capability in capabilities:
            if capability.kind not in CALLABLE or capability.id not in details:
                continue
            tool = tool_definition(capability, details[capability.id])
            if purse.affords(self.cost_of_tool(tool)):
                purse.spend(self.cost_of_tool(tool))
                tools.append(tool)
                ids[str(tool["name"])] = capability.id
        return tuple(tools), ids

    def cost_of_tool(self, tool: JsonObject) -> int:
        return self._counter.count(msgspec.json.encode(tool).decode())

    def cost_of_text(self, text: str) -> int:
        return self._counter.count(text)

    def cost_of_one(self, capability: Capability) -> int:
        return self.cost_of_everything([capability])

    def cost_of_everything(self, capabilities: Sequence[Capability]) -> int:
        """What it would cost to show a model every one of them whole, as is usual elsewhere."""
        details = self._read_details(capabilities)
        total = 0
        for capability in capabilities:
            detail = details.get(capability.id, Detail())
            total += self.cost_of_tool(tool_definition(capability, detail))
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
