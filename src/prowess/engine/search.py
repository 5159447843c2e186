"""Search as the engine uses it: one index that follows the worlds, and what `[discovery]` says of a search.

Above: the turn. Below: discovery. Vectors that are missing are made beside the turn that noticed; until
they are there, words serve.
"""

import sys
from collections.abc import Callable, Collection
from contextlib import suppress
from dataclasses import replace
from threading import Lock, Thread, main_thread
from typing import TypeAlias

from prowess.areas import area_of
from prowess.catalogue.stored import PagedCapabilities
from prowess.config import DiscoveryConfig
from prowess.discovery.corpus import same_name
from prowess.discovery.embedding import Embedding
from prowess.discovery.index import Index
from prowess.discovery.ranking import Options, ParsedRequest
from prowess.discovery.search import Search
from prowess.discovery.stored.index import StoredIndex
from prowess.discovery.stored.search import StoredSearch
from prowess.discovery.text import folded
from prowess.errors import StoreAway, StoreError
from prowess.learning.procedures import Lessons
from prowess.sources.source import silent
from prowess.types import Capability, Hit
from prowess.world import World, Worlds

CatalogueSearch: TypeAlias = Search | StoredSearch
"""Of a catalogue that is held in memory, or of one that is not."""
STALE = "from memory"
"""How the first reason of a hit begins that was found while the store did not answer."""


class Searching:
    def __init__(self, index: Index, worlds: Worlds, stored: StoredIndex) -> None:
        """index: of a catalogue that is held in memory; stored: of one that is too large for that."""
        self.index = index
        self.stored = stored
        self._worlds = worlds
        self._lock = Lock()
        self._encoding: Thread | None = None

    def at(self, world: World) -> CatalogueSearch:
        """What to search in this world."""
        if isinstance(world.view.capabilities, PagedCapabilities):
            found = self.stored.at(world.view.capabilities, world.lessons)
            embedding = self.index.embedding
            lags = self.stored.lags(found, world.view.version)
            if lags and (embedding.failure is None or embedding.is_due()):
                self._encode_beside()
            return found.lowering(world.failing)
        followed = self.index.follow(world.view.capabilities, examples(world))
        with suppress(StoreAway):  # what is known is searched without it
            if followed.may_lack_vectors and not self.index.is_encoded(world.view.version):
                self._encode_beside()
        return followed.search.lowering(world.failing)

    def settled(self, world: World, seconds: float) -> CatalogueSearch:
        """The same, but where vectors are being made, it waits so long for them."""
        search, encoding = self.at(world), self._encoding
        if encoding is None or not search.unencoded:
            return search
        encoding.join(seconds)
        return self.at(world)

    def _encode_beside(self) -> None:
        """One thread at a time: what several encoded at once would be encoded several times."""
        with self._lock:
            if self._encoding is None or not self._encoding.is_alive():
                # Not a daemon: one that is ended inside the encoder's native code takes the process down.
                encoding = Thread(target=self._make_vectors_beside, name="prowess-vectors")
                encoding.start()
                self._encoding = encoding  # others look at it without the lock, and wait for it

    def embedding(self) -> Embedding:
        """The one that search uses, so that no model is loaded twice."""
        failure = self.index.embedding.tried()
        if failure is not None:
            raise failure
        return self.index.embedding

    def make_vectors(self, progress: Callable[[int, int], None] = silent) -> None:
        """Make what the newest world lacks; nothing is opened where it lacks nothing."""
        world = self._worlds.now()
        existing = world.view.capabilities
        if isinstance(existing, PagedCapabilities):
            self.stored.update(world.view.version, existing, world.lessons, progress)
        else:
            make_vectors(self.index, world, progress)

    def _make_vectors_beside(self) -> None:
        with suppress(StoreError):  # closed meanwhile; whoever searches next goes on
            self.make_vectors(_while_the_program_runs)


def make_vectors(index: Index, world: World, progress: Callable[[int, int], None] = silent) -> None:
    shown = examples(world)
    if shown:  # what is taught by vectors that may have been made for other lessons
        index.follow(world.view.capabilities, shown)
    if not index.is_encoded(world.view.version):
        index.follow(world.view.capabilities, shown)
        index.encode(world.view.version, progress)


def examples(world: World) -> Lessons:
    """Requests by what they are examples of: those that its author gives, then those that were learnt."""
    given = world.view.examples
    if not given or not world.lessons:
        return given or world.lessons
    both = {id: (*given.get(id, ()), *world.lessons.get(id, ())) for id in {**given, **world.lessons}}
    return {id: tuple(dict.fromkeys(requests)) for id, requests in both.items()}


def fitting(
    search: CatalogueSearch, read: ParsedRequest, allowed: Collection[str], settings: DiscoveryConfig
) -> tuple[Hit, ...]:
    """What fits a request for an offer: cards come by another way, and take nobody's place."""
    return search.hits(read, allowed, replace(options(settings), without_kind="card"))


def ranking(
    search: CatalogueSearch,
    request: str,
    allowed: Collection[str],
    depth: int,
    split: bool,
    settings: DiscoveryConfig,
) -> list[str]:
    """The ids that fit best, without threshold and abstention."""
    # What is available changes from one machine and moment to the next; how well search ranks must not.
    everything = replace(
        options(settings), top_k=depth, min_relevance=0.0, abstain=False, split=split, only_available=False
    )
    return [hit.id for hit in search.hits(request, allowed, everything)][:depth]


def nearest(
    search: CatalogueSearch,
    request: str | ParsedRequest,
    among: Collection[str],
    count: int,
    with_reasons: bool = True,
) -> tuple[Hit, ...]:
    """What comes closest to a request whether it fits or not: for people, never for models."""
    chosen = Options(top_k=count, min_relevance=0.0, use_graph=False, with_reasons=with_reasons)
    return search.hits(request, among, chosen)


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


def marked(hits: tuple[Hit, ...], stale: str) -> tuple[Hit, ...]:
    """Hits that say so where they are of a world that was seen earlier."""
    why = f"{STALE}: {stale}"
    return tuple(replace(hit, reasons=(why, *hit.reasons)) for hit in hits) if stale else hits


def narrows(settings: DiscoveryConfig) -> bool:
    """Whether a search is asked to look at less than everything available."""
    return any((settings.kind != "any", settings.category, settings.provider, settings.exclude))


def filtered(settings: DiscoveryConfig) -> Callable[[Capability], bool]:
    """Whether a capability passes the filters of a search: for what comes by other ways than search."""
    wanted = {name: getattr(settings, name) for name in ("kind", "provider")}
    wanted = {name: value for name, value in wanted.items() if value not in ("", "any")}
    category = settings.category
    excluded = set(map(folded, settings.exclude))

    def passes(each: Capability) -> bool:
        return (
            (each.available or not settings.only_available)
            and all(same_name(getattr(each, name), value) for name, value in wanted.items())
            and (not category or any(same_name(one, category) for one in (each.category, area_of(each))))
            and excluded.isdisjoint(map(folded, (each.id, each.name, each.display_name)))
        )

    return passes


def _while_the_program_runs(done: int, total: int) -> None:
    """What was made is kept; the rest is made when somebody searches again."""
    if not main_thread().is_alive():
        sys.exit()  # ends this thread alone
