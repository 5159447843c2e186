"""Values as the journal and the meta-tool write them."""

import hashlib

from prowess.errors import NotFound
from prowess.journal.entries import Offered, OfferedHit, OutcomeRecorded, Synced
from prowess.types import Capability, Changes, Hit, JsonObject, Offer, Outcome, Turn

LONGEST_REQUEST = 4000
PINNED = ("pinned",)
"""Why a hit is there that a profile pins and the request did not find."""


def synced(changes: Changes) -> Synced:
    return Synced(added=changes.added, changed=changes.changed, removed=changes.removed)


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


def shortened(request: str) -> str:
    """A request as the journal keeps it: what a person would still read, and nothing that is no character."""
    kept = request[:LONGEST_REQUEST].encode("utf-8", "replace").decode()
    return kept if len(request) <= LONGEST_REQUEST else f"{kept} [...]"


def discovered(capability: Capability, hit: Hit) -> JsonObject:
    return {
        "id": capability.id,
        "name": capability.display_name,
        "kind": capability.kind,
        "description": capability.description,
        "category": capability.category,
        "relevance": round(hit.score, 2),
        "available": capability.available,
    }


def outcome_entry(outcome: Outcome) -> OutcomeRecorded:
    return OutcomeRecorded(
        offer=outcome.offer,
        capability=outcome.capability,
        ok=outcome.ok,
        detail=outcome.detail,
        milliseconds=outcome.milliseconds,
        key=outcome.key,
    )


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
