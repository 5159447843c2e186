"""The parts of a turn, put together; numpy comes with them, so it is loaded at the first turn."""

from prowess.catalogue.catalogue import Catalogue
from prowess.discovery.embedders import shipped
from prowess.discovery.index import Index
from prowess.engine.card_history import CardHistory
from prowess.engine.carding import Carding, CardWays
from prowess.engine.offering import Offering
from prowess.engine.searching import Searching
from prowess.engine.turn import Parts
from prowess.engine.ways import Ways
from prowess.engine.world import Worlds
from prowess.journal import Clock, Journal
from prowess.store.database import Database
from prowess.tokens import counter


def parts_of(
    database: Database, journal: Journal, catalogue: Catalogue, worlds: Worlds, ways: Ways, clock: Clock
) -> Parts:
    index = Index(database, ways.embedder or shipped, ways.discovery.collection_name, ways.presets)
    searching = Searching(index, worlds)
    counted = counter(ways.exact_tokens)
    card_ways = CardWays(
        clock=clock,
        counter=counted,
        worlds=worlds,
        detail_of=catalogue.detail,
        embed=searching.embedding,
        ids=ways.ids,
        root=ways.root,
        **ways.card_ways,
    )
    cards = Carding(CardHistory(database, journal, clock), ways.cards, card_ways)
    return Parts(searching, Offering(counted, catalogue.details), cards)


def scratch_parts(
    parts: Parts, database: Database, catalogue: Catalogue, worlds: Worlds, ways: Ways
) -> Parts:
    """The same with an index of its own, which is written nowhere: for turns on other worlds."""
    index = Index(database, ways.embedder or shipped, "", ways.presets)
    return Parts(
        Searching(index, worlds), Offering(counter(ways.exact_tokens), catalogue.details), parts.cards
    )
