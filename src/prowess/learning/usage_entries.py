"""What the journal says about use: what was asked, what was tried, what was refused. Pure.

Above: memory, which keeps it. Below: entries of the journal, written by the engine. An entry that is not
about use, or that lacks what it should have, says nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from prowess.journal import read
from prowess.journal.entries import Decided, Offered, OfferedHit, OutcomeRecorded, Searched
from prowess.types import JournalEntry

LONGEST_ID = 500
REPLAYED = "replay"
"""The session type of a request that a gate repeats; nobody needed anything."""


@dataclass(frozen=True, slots=True)
class Need:
    """A part of a request, and what was offered for it."""

    span: str
    routes: tuple[str, ...]
    weak: tuple[str, ...] = ()
    """What was shown as the nearest though it did not fit: no answer, unless it works."""


@dataclass(frozen=True, slots=True)
class OfferedRequest:
    """A request that got an offer, or a search of a model, which is one, too."""

    offer: str
    agent: str
    at: str
    request: str
    needs: tuple[Need, ...]


@dataclass(frozen=True, slots=True)
class Tried:
    """A capability that was used for an offer."""

    offer: str
    capability: str
    ok: bool
    detail: str
    at: str


@dataclass(frozen=True, slots=True)
class RefusedUse:
    """A capability that policy did not allow, or not without a person."""

    agent: str
    capability: str
    verdict: str
    reason: str
    at: str


Use: TypeAlias = OfferedRequest | Tried | RefusedUse


def use_of(entry: JournalEntry) -> Use | None:
    """What an entry says about use; nothing when it is about something else."""
    match read(entry):
        case Offered(offer=offer, session_type=session) as said if offer and session != REPLAYED:
            request = _text(said.request)
            needs = needs_of(request, said.hits) if request.strip() else ()
            return OfferedRequest(_id(offer), entry.chain, entry.at, request, needs)
        case Searched(search=search, query=query, needs=searched) if search and query.strip() and searched:
            needs = tuple(Need(_text(one.need), _ids(one.hits), _ids(one.weak)) for one in searched)
            return OfferedRequest(_id(search), entry.chain, entry.at, _text(query), needs)
        case Searched(search=search, query=query, hits=found) if search and query.strip():
            need = Need(_text(query), _ids(found))
            return OfferedRequest(_id(search), entry.chain, entry.at, need.span, (need,))
        case OutcomeRecorded(offer=offer, capability=capability) as said if offer and capability:
            return Tried(_id(offer), _id(capability), said.ok, _text(said.detail), entry.at)
        case Decided(verdict="deny" | "ask") as said:
            capability, reason = _id(said.capability), _text(said.reason)
            return RefusedUse(entry.chain, capability, said.verdict, reason, entry.at)
    return None


def needs_of(request: str, hits: Sequence[OfferedHit]) -> tuple[Need, ...]:
    """The parts discovery split a request into; without parts, the request."""
    parts: dict[str, list[str]] = {}
    for hit in hits:
        if hit.id:
            parts.setdefault(_text(hit.need), []).append(_id(hit.id))
    named = [part for part in parts if part]
    if not named:
        return (Need(request, tuple(parts.get("", ()))),)
    # What answers the whole request may serve any of its parts.
    return tuple(Need(part, (*parts[part], *parts.get("", ()))) for part in named)


def _ids(found: Sequence[str]) -> tuple[str, ...]:
    return tuple(map(_id, filter(None, found)))


def _text(value: str) -> str:
    return value.replace("\0", "")


def _id(value: str) -> str:
    return _text(value)[:LONGEST_ID]
