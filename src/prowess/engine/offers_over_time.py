"""What offers saved, and how good they were, over time.

How good: of the tools that were called for a request and worked, how many were among what was found for it,
and how many came first. Measured in use, it costs nothing, but says nothing of requests after which no tool
worked, and models call what they are shown; a benchmark asks again.

Above: the operations on use. Below: the journal.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache, partial
from typing import TYPE_CHECKING, TypeAlias, TypeGuard

from prowess.engine.cost_notes import cost_at, cost_now, costs_noted
from prowess.engine.use_figures import recorded_uses
from prowess.engine.use_over_time import Window, steps
from prowess.journal import JournalSearch, read, stamp
from prowess.journal.entries import Offered, Searched
from prowess.journal.entry import Entry, Raw
from prowess.learning.usage_entries import REPLAYED
from prowess.types import JournalEntry

if TYPE_CHECKING:
    from prowess.engine.internals import Internals

MAX_REQUESTS = 5_000
_Stored: TypeAlias = tuple[JournalEntry, Offered | Searched]


@dataclass(frozen=True, slots=True, kw_only=True)
class OffersOverTime:
    """Each tuple has one number for each step; a request counts where it was made."""

    times: tuple[int, ...]
    """The beginning of each step, in seconds; the last one is not over."""
    offers: tuple[int, ...]
    tokens: tuple[int, ...]
    """What the offers took."""
    everything: tuple[int, ...]
    """What it would have taken to show everything with each."""
    requests: tuple[int, ...]
    """Offers and searches."""
    worked: tuple[int, ...]
    """Tools that were called for a request, and worked."""
    found: tuple[int, ...]
    """Those of them that were among its hits."""
    first: tuple[int, ...]
    """Those that were its first hit, or the first for one of its needs."""
    are_costs_of_then: bool
    """Whether the cost of everything was noted when the offers were made; else today's stands in for some."""
    is_whole: bool
    """Whether every request of that time is counted; of very many, only the latest are."""


@dataclass(slots=True)
class _OfferStep:
    offers: int = 0
    tokens: int = 0
    everything: int = 0
    requests: int = 0
    worked: int = 0
    found: int = 0
    first: int = 0


@dataclass(frozen=True, slots=True)
class _AskedAndFound:
    """What was found for a request, need by need."""

    step: _OfferStep
    ranked: Sequence[Sequence[str]]
    worked: set[str] = field(default_factory=set)

    def count(self, capability: str) -> None:
        """It worked for this request; however often, once."""
        if capability in self.worked:
            return
        self.worked.add(capability)
        self.step.worked += 1
        self.step.found += any(capability in ids for ids in self.ranked)
        self.step.first += any(capability == ids[0] for ids in self.ranked if ids)


def offers_over_time(inner: "Internals", window: Window, agent: str | None = None) -> OffersOverTime:
    """What the journal says of offers and searches since then.

    agent: only those of this agent; None for all.
    """
    times, seconds = steps(window, inner.clock())
    since = stamp(datetime.fromtimestamp(times[0], UTC))
    counted = {at: _OfferStep() for at in times}
    offered = _entries(inner, Offered.type, agent, since)
    searched = _entries(inner, Searched.type, agent, since)
    requests: dict[str, _AskedAndFound] = {}
    for stored, said in (*offered, *searched):
        step = counted.get(int(datetime.fromisoformat(stored.at).timestamp()) // seconds * seconds)
        if step is not None and said.trace:
            requests[said.trace] = _AskedAndFound(step, _ranked(said))
            step.requests += 1
    for use in recorded_uses(inner.history, MAX_REQUESTS, agent, since):
        if use.ending == "ok" and use.trace in requests:
            requests[use.trace].count(use.capability)
    are_costs_of_then = _count_tokens(inner, offered, requests)
    every = list(counted.values())
    return OffersOverTime(
        times=times,
        offers=tuple(one.offers for one in every),
        tokens=tuple(one.tokens for one in every),
        everything=tuple(one.everything for one in every),
        requests=tuple(one.requests for one in every),
        worked=tuple(one.worked for one in every),
        found=tuple(one.found for one in every),
        first=tuple(one.first for one in every),
        are_costs_of_then=are_costs_of_then,
        is_whole=max(len(offered), len(searched)) < MAX_REQUESTS,
    )


def _entries(inner: "Internals", type: str, agent: str | None, since: str) -> list[_Stored]:
    found = inner.history.latest(MAX_REQUESTS, agent, type, None, JournalSearch(since=since))
    read_ones = ((stored, read(stored)) for stored in found)
    return [(stored, said) for stored, said in read_ones if _is_asked(said)]


def _is_asked(said: Entry | Raw) -> TypeGuard[Offered | Searched]:
    """Whether somebody asked: a gate repeats requests, too."""
    return isinstance(said, Searched) or (isinstance(said, Offered) and said.session_type != REPLAYED)


def _ranked(said: Offered | Searched) -> list[list[str]]:
    if isinstance(said, Searched):
        return [list(need.hits) for need in said.needs] or [list(said.hits)]
    by_need: dict[str, list[str]] = {}
    for hit in said.hits:
        by_need.setdefault(hit.need, []).append(hit.id)
    return list(by_need.values())


def _count_tokens(
    inner: "Internals", offered: Iterable[_Stored], requests: dict[str, _AskedAndFound]
) -> bool:
    """Count what offers took; whether it is known what everything cost then."""
    noted = costs_noted(inner)
    cost_today = cache(partial(cost_now, inner))
    are_of_then = True
    for stored, said in offered:
        if not isinstance(said, Offered) or said.trace not in requests:
            continue
        then = cost_at(stored, said, noted.get(stored.chain, ()))
        are_of_then = are_of_then and then is not None
        step = requests[said.trace].step
        step.offers += 1
        step.tokens += said.tokens
        step.everything += cost_today(stored.chain) if then is None else then
    return are_of_then
