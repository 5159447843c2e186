"""What a model that searches is shown: what fits each of its needs, then the nearest that fit less.

Leaving a request empty is right for an offer that nobody asked for, and wrong for a model that asks: it can
read what a tool does, and judge. So the nearest are shown, too, marked as weak, as far as anything is meant.
Above: the tools of prowess itself, on every face. Below: search.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from prowess.calling.caller import Caller
from prowess.catalogue.view import View
from prowess.discovery.ranking import Options
from prowess.discovery.sharing import in_turn, merged
from prowess.engine.model_query import ModelQuery
from prowess.engine.search import CatalogueSearch, options
from prowess.types import Capability, Hit, JsonObject

if TYPE_CHECKING:
    from prowess.engine.internals import Internals

FITS_FROM = 0.4
"""The least relevance of what fits: a model that asked is told how sure it is, and sees the rest as well."""
WEAK_FROM = 0.1
"""The least relevance of what is shown as weak beside what fits."""
NEAREST_FROM = 0.02
"""The same where nothing fits; how the three were found stands in bench/results/candidates.md."""
NEARBY = 6
"""How many more are named for each need."""
MOST_NEARBY = 20
"""The same for all needs together."""
LONGEST_NEED_TOLD = 80
SECONDS_TO_WAIT = 1.5
"""How long a search waits for vectors that are being made."""


@dataclass(frozen=True, slots=True)
class NeedCandidates:
    """What is shown for one need, best first."""

    need: str
    fits: tuple[Hit, ...]
    weak: tuple[Hit, ...]
    nearby: tuple[Hit, ...] = ()
    """What comes behind those and has no place of its own."""

    @property
    def all(self) -> tuple[Hit, ...]:
        return (*self.fits, *self.weak)

    def without(self, ids: Collection[str]) -> "NeedCandidates":
        """The same less some of them."""
        if not ids:
            return self
        fits = tuple(hit for hit in self.fits if hit.id not in ids)
        weak = tuple(hit for hit in self.weak if hit.id not in ids)
        return replace(self, fits=fits, weak=weak)


@dataclass(frozen=True, slots=True)
class Candidates:
    """Everything that one search of a model shows."""

    needs: tuple[NeedCandidates, ...]
    visible: View
    total: int = 0
    """How many the caller may use."""
    unencoded: int = 0
    """How many capabilities are found by their words alone, because their vectors are still being made."""

    @property
    def hits(self) -> tuple[Hit, ...]:
        """Each once: what fits, of all needs in turn, then the nearest."""
        fits = merged([one.fits for one in self.needs])
        ids = {hit.id for hit in fits}
        return (*fits, *(hit for hit in merged([one.weak for one in self.needs]) if hit.id not in ids))

    @property
    def nearby(self) -> tuple[Hit, ...]:
        """What is only named, best first: cheap to read, and often the one that was meant."""
        shown = {hit.id for hit in self.hits}
        near = [hit for hit in merged([one.nearby for one in self.needs]) if hit.id not in shown]
        return tuple(near[:MOST_NEARBY])

    @property
    def weak(self) -> Collection[str]:
        """What fits none of the needs well."""
        fits = {hit.id for one in self.needs for hit in one.fits}
        return {hit.id for hit in self.hits} - fits

    @property
    def unmet(self) -> tuple[str, ...]:
        """The needs that nothing fits well."""
        return tuple(one.need for one in self.needs if not one.fits)

    @property
    def by_need(self) -> list[JsonObject]:
        """Which capability serves which need, where there are several."""
        if len(self.needs) < 2:
            return []
        return [{"need": one.need, "capabilities": [hit.id for hit in one.all]} for one in self.needs]

    @property
    def note(self) -> str:
        """What is missing, in a sentence or two; nothing where nothing is."""
        notes = []
        if self.unmet and len(self.needs) > 1:
            names = "; ".join(need[:LONGEST_NEED_TOLD] for need in self.unmet)
            notes.append(f"Nothing fits well for: {names}. What is weak is only the nearest.")
        elif self.unmet and self.hits:
            notes.append(
                "Nothing fits well; these are only the nearest. If none does it, search in other words."
            )
        elif self.unmet:
            notes.append(f"Nothing here fits that, of {self.total}. Search in other words.")
        if self.unencoded:
            notes.append(
                f"{self.unencoded} of {self.total} are still being read and found by their own words alone;"
                " ask again in a minute if something is missing."
            )
        return " ".join(notes)


def candidates(inner: "Internals", asked: ModelQuery, caller: Caller) -> Candidates:
    """What is near each need, of what the caller may use."""
    world = inner.world(caller.agent)
    visible = world.visible(caller.agent, caller.authenticated, caller.over_mcp)
    search = inner.parts.searching.settled(world, SECONDS_TO_WAIT)
    settings = inner.settings({
        "kind": asked.kind.lower(), "category": asked.category, "only_available": False,
    })  # fmt: skip
    chosen = options(settings)
    chosen = replace(
        chosen, by_known=True, read_closely=settings.read_closely,
        top_k=max(asked.places, chosen.top_k if asked.limit is None else 0),
    )  # fmt: skip
    rejected = {id for id, each in visible.of_kind("card").items() if _is_rejected(inner, each)}
    allowed: Collection[str] = visible.capabilities
    if rejected and not visible.is_stored:
        allowed = {id: each for id, each in visible.capabilities.items() if id not in rejected}
    found = [_of_need(search, need, allowed, chosen).without(rejected) for need in asked.each]
    return Candidates(
        _shared(found, asked.places), visible, search.count(visible.capabilities), search.unencoded
    )


def _of_need(search: CatalogueSearch, need: str, allowed: Collection[str], chosen: Options) -> NeedCandidates:
    """What fits, and what is nearest of the rest."""
    read = search.read(need)
    sure = max(FITS_FROM, chosen.min_relevance)
    fits = search.hits(read, allowed, replace(chosen, min_relevance=sure))
    # A prompt is for people to choose: where a tool does it, too, the tool comes first.
    fits = tuple(sorted(fits, key=lambda hit: hit.id.startswith("prompt:")))
    ids = {hit.id for hit in fits}
    least = min(WEAK_FROM if fits else NEAREST_FROM, chosen.min_relevance)
    wide = replace(chosen, min_relevance=least, use_graph=False, top_k=chosen.top_k + NEARBY)
    near = search.hits(read, allowed, wide)
    return NeedCandidates(need, fits, tuple(hit for hit in near if hit.id not in ids))


def _shared(found: Sequence[NeedCandidates], places: int) -> tuple[NeedCandidates, ...]:
    """The places of one answer, in turn: what fits one need takes none from another that nothing fits."""
    shared = []
    for one, kept in zip(found, in_turn([one.all for one in found], places), strict=True):
        ids, fits = {hit.id for hit in kept}, {hit.id for hit in one.fits}
        shared.append(
            NeedCandidates(
                one.need,
                tuple(hit for hit in kept if hit.id in fits),
                tuple(hit for hit in kept if hit.id not in fits),
                tuple(hit for hit in one.all if hit.id not in ids)[:NEARBY],
            )
        )
    return tuple(shared)


def _is_rejected(inner: "Internals", capability: Capability) -> bool:
    return capability.kind == "card" and bool(inner.parts.cards.rejected(capability))
