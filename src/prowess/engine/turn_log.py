"""What is recorded of a turn, in one transaction; and one request, read back from question to result.

Above: the engine. Below: the journal, and the payloads beside it. An offer is kept in parts that many offers
share, so that what is shown every turn is stored once: long paragraphs and tools are contents of their own,
to which an offer refers by digest; whatever is short stands in it. Put together again it is the offer, to
the letter, but for credentials, which are taken out before anything is kept.
"""

import hashlib
import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import msgspec

from prowess.calling.caller import Caller
from prowess.calling.use import UseCheck
from prowess.catalogue.catalogue import Catalogue
from prowess.engine.empty_catalogue import why_empty
from prowess.engine.model_query import ModelQuery
from prowess.errors import NotFound
from prowess.journal import Journal, canonical
from prowess.journal.entries import Offered, OfferedHit, OutcomeRecorded, Searched, SearchedNeed
from prowess.journal.payloads import Payload, Payloads
from prowess.store.database import Database
from prowess.text.values import redacted_values
from prowess.types import PINNED, JournalEntry, JsonObject, Offer, Outcome, Trace, Turn
from prowess.world import World

if TYPE_CHECKING:
    from prowess.engine.candidates import Candidates
    from prowess.engine.cards import CardService
    from prowess.engine.internals import Internals
    from prowess.engine.turn import MadeOffer

logger = logging.getLogger("prowess")
LONGEST_REQUEST = 4000
MAX_QUERY_CHARACTERS = 1000
LOOKED_THROUGH = 10_000
"""How many of the latest offers are searched for one that was recorded before requests could be traced."""
DIGESTS = ("shown", "arguments", "result")


class TurnLog:
    def __init__(
        self, database: Database, journal: Journal, payloads: Payloads, use: UseCheck, catalogue: Catalogue
    ) -> None:
        self._database = database
        self._journal = journal
        self._payloads = payloads
        self._use = use
        self._catalogue = catalogue
        self._told_empty = False
        self._packing = Packing()

    def record(self, turn: Turn, world: World, made: "MadeOffer", cards: "CardService") -> None:
        """The offer, its cards and what was shown: all of it is there, or nothing."""
        if not world.view.capabilities and not self._told_empty:
            self._told_empty = True
            logger.warning("%s", why_empty(self._catalogue.problems(world.view)))
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
        named = [digest for entry in entries for digest in _named(entry.data)]
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


def _named(data: JsonObject) -> list[str]:
    return [str(data[key]) for key in DIGESTS if data.get(key)]


# --- entries ---------------------------------------------------------------------------------


def offer_entry(turn: Turn, offer: Offer, shown: str = "") -> Offered:
    """`shown` is the digest under which the offer is kept."""
    found = [hit for hit in offer.hits if hit.reasons != PINNED]
    return Offered(
        offer=offer.id,
        request=shortened(turn.text),
        session_type=turn.session_type,
        hits=[OfferedHit(hit.id, round(hit.score, 4), hit.need) for hit in found],
        tokens=offer.tokens.total,
        counter=offer.tokens.counter,
        left_out=offer.left_out.counts,
        catalogue_version=offer.catalogue_version,
        policy_revision=offer.policy_revision,
        mode=offer.mode,
        shown=shown,
    )


def record_search(
    inner: "Internals", asked: ModelQuery, found: "Candidates", answer: object, caller: Caller,
    offer: str = "",
) -> str:  # fmt: skip
    """Record what a model searched for and was shown; returns the id that a call of it refers to.

    offer: of the turn in which the model searched further, if there is one.
    """
    hidden = inner.use.hidden
    needs = [
        SearchedNeed(
            hidden(one.need[:MAX_QUERY_CHARACTERS]),
            [hit.id for hit in one.fits],
            [hit.id for hit in (*one.weak, *one.nearby)],
        )
        for one in found.needs
    ]
    fits = [hit.id for hit in found.hits if hit.id not in found.weak]
    return _record_search(inner, asked.text, fits, answer, caller, offer, needs)


def record_find(inner: "Internals", query: str, hits: Sequence[str], answer: object, caller: Caller) -> str:
    """Record what an agent searched for over the API and found; returns the id that a call refers to."""
    return _record_search(inner, query, hits, answer, caller, "", [])


def _record_search(
    inner: "Internals", query: str, hits: Sequence[str], answer: object, caller: Caller, offer: str,
    needs: Sequence[SearchedNeed],
) -> str:  # fmt: skip
    search = inner.options.ids()
    body = canonical(redacted_values(answer, inner.use.hiding())) if inner.payloads.on else ""
    kept = [Payload.of(body)] if body else []
    asked = inner.use.hidden(query[:MAX_QUERY_CHARACTERS])
    shown = kept[0].digest if kept else ""
    follows = inner.searches.unanswered(caller)
    entry = Searched(
        query=asked, hits=hits, search=search, shown=shown, follows=follows, offer=offer, needs=needs
    )
    inner.payloads.record(inner.journal, [entry], caller.agent, kept)
    inner.searches.showed(search, caller, {*hits, *(id for need in needs for id in need.weak)})
    return search


def shortened(request: str) -> str:
    """A request as the journal keeps it: what a person would still read, and nothing that is no character."""
    kept = request[:LONGEST_REQUEST].encode("utf-8", "replace").decode()
    return kept if len(request) <= LONGEST_REQUEST else f"{kept} [...]"


def record_outcome(inner: "Internals", outcome: Outcome) -> None:
    """Record what came of a use, for what it answers: the offer that is named, or the latest search."""
    caller = Caller(outcome.agent)
    offer = outcome.offer or inner.searches.of(caller, outcome.capability)
    if outcome.ok:
        inner.searches.answered(caller, offer)
    inner.journal.record(_outcome_entry(outcome, offer), outcome.agent)
    inner.evolution.note_outcome(outcome.agent)


def _outcome_entry(outcome: Outcome, offer: str) -> OutcomeRecorded:
    return OutcomeRecorded(
        offer=offer,
        capability=outcome.capability,
        ok=outcome.ok,
        detail=outcome.detail,
        milliseconds=outcome.milliseconds,
        key=outcome.key,
    )


# --- an offer as it is kept ------------------------------------------------------------------

BETWEEN = "\n\n"
SHORT = 200
"""Characters up to which a part stands in the offer itself."""
REMEMBERED = 4096

Redact = Callable[[str], str]
Part = str | Mapping[str, str]
"""A text, or `{"payload": DIGEST}` where it is kept."""


class Packing:
    """Turns offers into payloads; a part that was there before is neither redacted nor hashed again."""

    def __init__(self) -> None:
        self._parts: dict[str, Payload] = {}

    def pack(self, offer: Offer, redact: Redact) -> tuple[Payload, ...]:
        """The offer, then the contents that it refers to."""
        texts = [self._text(part, redact) for part in offer.text.split(BETWEEN)]
        tools = [self._tool(tool, redact) for tool in offer.tools]
        body = msgspec.to_builtins(replace(offer, id="", text="", tools=()))
        body |= {"text": [_part(one) for one in texts], "tools": [_part(one) for one in tools]}
        long = {one.digest: one for one in (*texts, *tools) if len(one.body) > SHORT}
        return (Payload.of(canonical(body)), *long.values())

    def _text(self, text: str, redact: Redact) -> Payload:
        return self._parts.get(text) or self._remember(text, redact(text))

    def _tool(self, tool: JsonObject, redact: Redact) -> Payload:
        text = msgspec.json.encode(tool).decode()
        known = self._parts.get(text)
        return known or self._remember(text, msgspec.json.encode(redacted_values(tool, redact)).decode())

    def _remember(self, text: str, redacted: str) -> Payload:
        if len(self._parts) >= REMEMBERED:
            self._parts = {}
        self._parts[text] = Payload.of(redacted)
        return self._parts[text]


def unpack(id: str, body: str, read: Callable[[set[str]], Mapping[str, str]]) -> Offer | None:
    """The offer that was packed; nothing, if one of its parts is not kept any more."""
    packed = msgspec.json.decode(body)
    wanted = set(_digests(packed))
    kept = read(wanted)
    if wanted - kept.keys():
        return None
    text = BETWEEN.join(_text(part, kept) for part in packed["text"])
    tools: list[JsonObject] = [msgspec.json.decode(_text(part, kept)) for part in packed["tools"]]
    return msgspec.convert(packed | {"id": id, "text": text, "tools": tools}, Offer)


def _part(payload: Payload) -> Part:
    return {"payload": payload.digest} if len(payload.body) > SHORT else payload.body


def _digests(packed: Mapping[str, Any]) -> Iterator[str]:
    return (part["payload"] for part in (*packed["text"], *packed["tools"]) if not isinstance(part, str))


def _text(part: Part, kept: Mapping[str, str]) -> str:
    return part if isinstance(part, str) else kept[part["payload"]]


# --- whose an offer is, said by its id -------------------------------------------------------


def owned(id: str, agent: str) -> str:
    """The id of an offer made to this agent."""
    return f"{id}~{_mark(id, agent)}"


def is_of_another(id: str, agent: str) -> bool:
    """Whether an offer was certainly made to somebody else; an id that does not say is anybody's."""
    first, said, mark = id.rpartition("~")
    return bool(said) and len(mark) == 8 and mark != _mark(first, agent)


def refuse_of_another(outcome: Outcome) -> None:
    if is_of_another(outcome.offer, outcome.agent):
        see = f"an outcome belongs to the agent that was offered it; this one is of {outcome.agent}"
        raise NotFound("offer", outcome.offer, see=see)


def _mark(id: str, agent: str) -> str:
    return hashlib.sha256(f"{id}\n{agent}".encode(errors="replace")).hexdigest()[:8]
