"""The parts of a turn, put together; numpy comes with them, so it is loaded at the first turn."""

from collections.abc import Mapping
from functools import partial

from prowess.cards.history import CardHistory
from prowess.catalogue.catalogue import Catalogue
from prowess.discovery.embedders import named, shipped
from prowess.discovery.index import Index
from prowess.discovery.stored.index import StoredIndex
from prowess.engine.cards import CardDependencies, CardService
from prowess.engine.options import EngineOptions
from prowess.engine.prompt_details import PromptDetails
from prowess.engine.search import Searching, filtered
from prowess.engine.stored_reach import allowed_rows
from prowess.engine.sync import OpenedGuard
from prowess.engine.turn import TurnParts
from prowess.jobs import Jobs
from prowess.journal import Clock, Journal
from prowess.policy.selection import columns_of
from prowess.prompt.builder import OfferBuilder
from prowess.prompt.small_sets import SmallSets
from prowess.store.database import Database
from prowess.token_counts import counter
from prowess.world import Worlds


def parts_of(
    database: Database,
    journal: Journal,
    catalogue: Catalogue,
    worlds: Worlds,
    options: EngineOptions,
    clock: Clock,
    guard: OpenedGuard,
    jobs: Jobs,
    environment: Mapping[str, str],
) -> TurnParts:
    name = options.discovery.collection_name
    index = Index(database, options.embedder or shipped, name, options.presets, jobs)
    stored = StoredIndex(
        database, index.embedding, index.requests, columns_of, allowed_rows, options.presets, jobs,
        partial(named, environment=environment),
    )  # fmt: skip
    searching = Searching(index, worlds, stored)
    counted = counter(options.exact_tokens)
    details = PromptDetails(catalogue, worlds)
    card_dependencies = CardDependencies(
        clock=clock,
        counter=counted,
        worlds=worlds,
        detail_of=details.of,
        embed=searching.embedding,
        remembered=index.remembered,
        remember=index.remember,
        classifier=lambda: guard.classifier,
        ids=options.ids,
        root=options.root,
        **options.card_dependencies,
    )
    cards = CardService(CardHistory(database, journal, clock), options.cards, card_dependencies)
    return TurnParts(searching, OfferBuilder(counted, details.of_all, filtered), cards, SmallSets())


def scratch_parts(
    parts: TurnParts, database: Database, catalogue: Catalogue, worlds: Worlds, options: EngineOptions
) -> TurnParts:
    """The same with an index of its own, which is written nowhere: for turns on other worlds."""
    index = Index(database, options.embedder or shipped, "", options.presets, None)
    details = PromptDetails(catalogue, worlds)
    builder = OfferBuilder(counter(options.exact_tokens), details.of_all, filtered)
    searching = Searching(index, worlds, parts.searching.stored)
    return TurnParts(searching, builder, parts.cards, SmallSets())
