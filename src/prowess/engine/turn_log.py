"""What is recorded of a turn, in one transaction; and one request, read back from question to result.

Above: the engine. Below: the journal, and the payloads beside it.
"""

from functools import partial
from typing import TYPE_CHECKING

from prowess.engine.records import offer_entry
from prowess.engine.shown import Packing, unpack
from prowess.engine.use import Use
from prowess.engine.world import World
from prowess.errors import NotFound
from prowess.journal import Journal
from prowess.journal.payloads import Payload, Payloads
from prowess.store.database import Database
from prowess.types import JournalEntry, JsonObject, Offer, Trace, Turn

if TYPE_CHECKING:
    from prowess.engine.carding import Carding
    from prowess.engine.turn import Made

LOOKED_THROUGH = 10_000
"""How many of the latest offers are searched for one that was recorded before requests could be traced."""
DIGESTS = ("shown", "arguments", "result")


class TurnLog:
    def __init__(self, database: Database, journal: Journal, payloads: Payloads, use: Use) -> None:
        self._database = database
        self._journal = journal
        self._payloads = payloads
        self._use = use
        self._packing = Packing()

    def record(self, turn: Turn, world: World, made: "Made", cards: "Carding") -> None:
        """The offer, its cards and what was shown: all of it is there, or nothing."""
        kept = self._packed(made.offer, world) if self._payloads.on else ()
        shown = kept[0].digest if kept else ""
        with self._database.writing() as transaction:
            cards.record(transaction, made.cards, turn)
            self._payloads.keep(transaction, kept)
            self._journal.append(transaction, offer_entry(turn, made.offer, shown), turn.agent)
        self._payloads.kept(kept)

    def trace(self, id: str) -> Trace:
        """Everything the journal has of an offer or a search, and what is still kept of its contents."""
        entries = self._journal.trace(id) or self._untraced(id)
        named = [digest for entry in entries for digest in _digests(entry.data)]
        kept = self._payloads.read(named)
        offers = [entry.data.get("shown") for entry in entries if entry.type == "offer"]
        body = kept.pop(str(offers[0]), "") if offers else ""
        offer = unpack(id, body, self._payloads.read) if body else None
        return Trace(id=id, entries=entries, offer=offer, payloads=kept)

    def _packed(self, offer: Offer, world: World) -> tuple[Payload, ...]:
        return self._packing.pack(offer, partial(self._use.without_credentials, world.view))

    def _untraced(self, id: str) -> tuple[JournalEntry, ...]:
        offers = self._journal.latest(LOOKED_THROUGH, type="offer")
        found = tuple(entry for entry in offers if entry.data.get("offer") == id)
        if not found:
            known = [str(entry.data.get("offer")) for entry in offers[-100:]]
            raise NotFound("offer", id, known, "see: prowess log --type offer")
        return found


def _digests(data: JsonObject) -> list[str]:
    return [str(data[key]) for key in DIGESTS if data.get(key)]
