"""The parts of a turn, put together; numpy comes with them, so it is loaded at the first turn."""

from prowess.cards.history import CardHistory
from prowess.catalogue.catalogue import Catalogue
from prowess.discovery.embedders import shipped
from prowess.discovery.index import Index
from prowess.engine.cards import CardDependencies, CardService
from prowess.engine.options import EngineOptions
from prowess.engine.search import Searching, filtered
from prowess.engine.turn import TurnParts
from prowess.engine.world import Worlds
from prowess.journal import Clock, Journal
from prowess.prompt.builder import OfferBuilder
from prowess.store.database import Database
from prowess.token_counts import counter


def parts_of(
    database: Database,
    journal: Journal,
    catalogue: Catalogue,
    worlds: Worlds,
    ways: EngineOptions,
    clock: Clock,
) -> TurnParts:
    index = Index(database, ways.embedder or shipped, ways.discovery.collection_name, ways.presets)
    searching = Searching(index, worlds)
    counted = counter(ways.exact_tokens)
    card_ways = CardDependencies(
        clock=clock,
        counter=counted,
        worlds=worlds,
        detail_of=catalogue.detail,
        embed=searching.embedding,
        ids=ways.ids,
        root=ways.root,
        **ways.card_ways,
    )
    cards = CardService(CardHistory(database, journal, clock), ways.cards, card_ways)
    return TurnParts(searching, OfferBuilder(counted, catalogue.details, filtered), cards)


def scratch_parts(
    parts: TurnParts, database: Database, catalogue: Catalogue, worlds: Worlds, ways: EngineOptions
) -> TurnParts:
    """The same with an index of its own, which is written nowhere: for turns on other worlds."""
    index = Index(database, ways.embedder or shipped, "", ways.presets)
    builder = OfferBuilder(counter(ways.exact_tokens), catalogue.details, filtered)
    return TurnParts(Searching(index, worlds), builder, parts.cards)
