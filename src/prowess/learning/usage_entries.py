"""What the journal says about use: what was asked, what was tried, what was refused. Pure.

Above: memory, which keeps it. Below: entries of the journal, written by the engine. An entry that is not
about use, or that lacks what it should have, says nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from prowess.journal import read
from prowess.journal.entries import Decided, Offered, OfferedHit, OutcomeRecorded, Searched
from prowess.learning.small_talk import says_nothing
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
    """None where it asks for nothing, such as "thanks"."""
    asked_in: str = ""
    """The offer of the turn in which the model searched."""
    follows: str = ""
    """The search before it, of which nothing had worked."""


@dataclass(frozen=True, slots=True)
class Tried:
    """A capability that was used: for an offer, or for nothing that is known."""

    offer: str
    agent: str
    capability: str
    ok: bool
    detail: str
    at: str
    use: str
    """Names the use, which counts once however often it was tried or reported."""
    chosen: bool = False
    """Whether it was chosen for a request, and what came of it is reported: it may be the wrong one."""


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
            needs = () if says_nothing(request) else needs_of(request, said.hits)
            return OfferedRequest(_id(offer), entry.chain, entry.at, request, needs)
        case Searched(search=search) as said if search:
            return _searched(said, entry)
        case OutcomeRecorded(capability=capability) as said if capability:
            return _tried(said, entry)
        case Decided(verdict="deny" | "ask") as said:
            capability, reason = _id(said.capability), _text(said.reason)
            return RefusedUse(entry.chain, capability, said.verdict, reason, entry.at)
    return None


def _searched(said: Searched, entry: JournalEntry) -> OfferedRequest:
    query = _text(said.query)
    whole = Need(query, _ids(said.hits))
    planned = tuple(Need(_text(one.need), _ids(one.hits), _ids(one.weak)) for one in said.needs)
    needs = () if says_nothing(query) else planned or (whole,)
    asked_in, follows = _id(said.offer), _id(said.follows)
    return OfferedRequest(_id(said.search), entry.chain, entry.at, query, needs, asked_in, follows)


def _tried(said: OutcomeRecorded, entry: JournalEntry) -> Tried:
    use = said.offer or said.key or f"{entry.chain}/{entry.number}"
    chosen = bool(said.offer) and said.milliseconds is None  # a call of ours took its time, and failed itself
    return Tried(
        _id(said.offer), entry.chain, _id(said.capability), said.ok, _text(said.detail), entry.at, _id(use),
        chosen,
    )  # fmt: skip


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
