"""What the journal says about use: what was asked, what was tried, what was refused. Pure.

Above: memory, which keeps it. Below: entries of the journal, written by the engine. An entry that is not
about use, or that lacks what it should have, says nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from prowess.types import JournalEntry, Json

LONGEST_ID = 500
REPLAYED = "replay"
"""The session type of a request that a gate repeats; nobody needed anything."""


@dataclass(frozen=True, slots=True)
class Need:
    """A part of a request, and what was offered for it."""

    span: str
    routes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Asked:
    """A request that got an offer."""

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
class Refused:
    """A capability that policy did not allow, or not without a person."""

    agent: str
    capability: str
    verdict: str
    reason: str
    at: str


Use: TypeAlias = Asked | Tried | Refused


def use_of(entry: JournalEntry) -> Use | None:
    """What an entry says about use; nothing when it is about something else."""
    data = entry.data
    if entry.type == "offer" and data.get("offer") and data.get("session_type") != REPLAYED:
        request = _text(data.get("request"))
        needs = needs_of(request, data.get("hits") or ()) if request.strip() else ()
        return Asked(_id(data["offer"]), entry.chain, entry.at, request, needs)
    if entry.type == "outcome" and data.get("offer") and data.get("capability"):
        ok, detail = data.get("ok") is True, _text(data.get("detail"))
        return Tried(_id(data["offer"]), _id(data["capability"]), ok, detail, entry.at)
    if entry.type == "decision" and data.get("verdict") in ("deny", "ask"):
        capability, reason = _id(data.get("capability")), _text(data.get("reason"))
        return Refused(entry.chain, capability, _text(data["verdict"]), reason, entry.at)
    return None


def needs_of(request: str, hits: Sequence[Json]) -> tuple[Need, ...]:
    """The parts discovery split a request into; without parts, the request."""
    parts: dict[str, list[str]] = {}
    for hit in hits:
        if isinstance(hit, dict) and hit.get("id"):
            parts.setdefault(_text(hit.get("need")), []).append(_id(hit["id"]))
    named = [part for part in parts if part]
    if not named:
        return (Need(request, tuple(parts.get("", ()))),)
    # What answers the whole request may serve any of its parts.
    return tuple(Need(part, (*parts[part], *parts.get("", ()))) for part in named)


def _text(value: Json) -> str:
    return value.replace("\0", "") if isinstance(value, str) else ""


def _id(value: Json) -> str:
    return _text(value)[:LONGEST_ID]
