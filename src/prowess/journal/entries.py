"""What the journal says of turns, of what exists, and of agents and people."""

from collections.abc import Mapping, Sequence

import msgspec

from prowess.journal.entry import Entry
from prowess.types import JsonObject

# --- a turn ----------------------------------------------------------------------------------


class OfferedHit(msgspec.Struct, frozen=True):
    id: str
    score: float = 0.0
    need: str = ""


class Offered(Entry, frozen=True, kw_only=True):
    """A request, and what was offered for it."""

    type = "offer"
    traced_by = "offer"
    offer: str
    request: str = ""
    session_type: str = "main"
    hits: Sequence[OfferedHit] = ()
    tokens: int = 0
    counter: str = ""
    left_out: Mapping[str, int] = {}
    catalogue_version: int = 0
    policy_revision: str = ""
    mode: str = "discovery"
    shown: str = ""
    """The digest of what the model was shown, under which it is kept until it expires."""


class CostNoted(Entry, frozen=True, kw_only=True):
    """What it would have cost to show an agent everything it may use."""

    type = "cost.noted"
    agent: str
    tokens: int = 0
    catalogue_version: int = 0
    policy_revision: str = ""


class CardsSelected(Entry, frozen=True, kw_only=True):
    """Which cards a turn got, and which it nearly got."""

    type = "cards.selected"
    traced_by = "selection"
    selection: str
    request: str = ""
    session_type: str = "main"
    injected: Sequence[JsonObject] = ()
    held: Sequence[JsonObject] = ()
    held_back: str = ""
    tokens: int = 0
    truncated: bool = False
    skipped: Sequence[JsonObject] = ()
    errors: Sequence[str] = ()
    warnings: Sequence[str] = ()
    mode: str = "full"
    variant: str = ""
    milliseconds: float = 0.0
    features: Mapping[str, Sequence[float]] = {}


class CardsFailed(Entry, frozen=True, kw_only=True):
    type = "cards.failed"
    request: str = ""
    error: str = ""


class Decided(Entry, frozen=True, kw_only=True):
    """What policy said at use."""

    type = "decision"
    capability: str = ""
    verdict: str = ""
    reason: str = ""
    revision: str = ""
    approval: str = ""
    rules: str = ""
    """What the rules said, before a person's answer and limits; "unasked" where they were not asked."""
    shadow: str = ""
    """What they would have said if what is only watched decided, where that differs."""
    shadow_reason: str = ""
    call: str = ""
    """Names the call it was for."""


class OutcomeRecorded(Entry, frozen=True, kw_only=True):
    """What came of using something, for an offer or for none."""

    type = "outcome"
    traced_by = "offer"
    offer: str = ""
    capability: str = ""
    ok: bool = False
    detail: str = ""
    milliseconds: float | None = None
    key: str = ""


class SearchedNeed(msgspec.Struct, frozen=True):
    """One of the needs of a search: what fitted it, and what was shown as the nearest."""

    need: str
    hits: Sequence[str] = ()
    weak: Sequence[str] = ()


class Searched(Entry, frozen=True, kw_only=True):
    """What a model or a client searched for, and what it was shown."""

    type = "search"
    traced_by = "search"
    query: str = ""
    hits: Sequence[str] = ()
    search: str = ""
    """Names this search, so that calls of what it showed can refer to it."""
    shown: str = ""
    """The digest of the answer, under which it is kept until it expires."""
    follows: str = ""
    """The search before it in the conversation, if nothing that one showed had worked."""
    offer: str = ""
    """The offer of the turn in which the model searched further."""
    needs: Sequence[SearchedNeed] = ()
    """What a model asked for, need by need."""


class CallBegun(Entry, frozen=True, kw_only=True):
    """A call is about to be made: without an end after it, nobody knows whether it took effect."""

    type = "call.begun"
    call: str
    capability: str
    key: str = ""


class CallSettled(Entry, frozen=True, kw_only=True):
    """A person has found out what came of a call whose end is not recorded."""

    type = "call.settled"
    call: str
    capability: str
    by: str = ""
    note: str = ""


class Called(Entry, frozen=True, kw_only=True):
    """A call, and how it ended."""

    type = "call"
    capability: str
    way: str = ""
    outcome: str = ""
    detail: str = ""
    decision: str = ""
    revision: str = ""
    milliseconds: float = 0.0
    characters: int = 0
    uri: str = ""
    """What was read, where it is a resource."""
    search: str = ""
    """The latest search of this client that showed it; empty where none did."""
    arguments: str = ""
    result: str = ""
    """The digests of what was given and answered, where that is kept."""
    call: str = ""
    """Names this call."""
    offer: str = ""
    """The offer that it was made with; empty where it was made without one."""

    @property
    def trace(self) -> str:
        return self.offer or self.search


# --- what exists -----------------------------------------------------------------------------


class Synced(Entry, frozen=True, kw_only=True):
    type = "catalogue.synced"
    added: Sequence[str] = ()
    changed: Sequence[str] = ()
    removed: Sequence[str] = ()


class PolicyShifted(Entry, frozen=True, kw_only=True):
    """What a sync changed for everybody with a profile."""

    type = "policy.shifted"
    profile: str
    gained: Sequence[str] = ()
    lost: Sequence[str] = ()


class Quarantined(Entry, frozen=True, kw_only=True):
    type = "quarantine.held"
    capability: str
    reason: str = ""


class QuarantineApproved(Entry, frozen=True, kw_only=True):
    type = "quarantine.approved"
    capability: str
    digest: str = ""
    by: str = ""
    was: str = ""


class QuarantineRejected(Entry, frozen=True, kw_only=True):
    type = "quarantine.rejected"
    capability: str
    digest: str = ""
    by: str = ""
    was: str = ""


class ProviderOn(Entry, frozen=True, kw_only=True):
    type = "provider.on"
    provider: str
    reason: str = ""


class ProviderOff(Entry, frozen=True, kw_only=True):
    type = "provider.off"
    provider: str
    reason: str = ""


class GuardFound(Entry, frozen=True, kw_only=True):
    """What speaks against a text of this machine."""

    type = "guard.found"
    capability: str
    digest: str = ""
    reason: str = ""


class GuardAccepted(Entry, frozen=True, kw_only=True):
    type = "guard.accepted"
    capability: str
    digest: str = ""
    by: str = ""
    was: str = ""


# --- agents and people -----------------------------------------------------------------------


class AgentBound(Entry, frozen=True, kw_only=True):
    type = "agent.bound"
    profile: str


class AgentSpawned(Entry, frozen=True, kw_only=True, omit_defaults=True):
    type = "agent.spawned"
    parent: str
    profile: str
    definition: JsonObject | None = None
    """What its profile says, where that was written for it alone."""


class AgentRetired(Entry, frozen=True, kw_only=True):
    type = "agent.retired"
    together_with: str = msgspec.field(name="with", default="")


class TokenIssued(Entry, frozen=True, kw_only=True):
    type = "token.issued"
    token: str
    expires_at: str = ""


class TokenRevoked(Entry, frozen=True, kw_only=True, omit_defaults=True):
    type = "token.revoked"
    token: str
    why: str = ""


class ApprovalAnswered(Entry, frozen=True, kw_only=True):
    type = "approval.answered"
    approval: str = ""
    capability: str = ""
    state: str = ""
    by: str = ""
    scope: str = ""


class ApprovalUnused(Entry, frozen=True, kw_only=True):
    """A yes for one use, given back because the use did not come about."""

    type = "approval.unused"
    approval: str


class ApprovalExpired(Entry, frozen=True, kw_only=True):
    type = "approval.expired"
    approval: str
    capability: str = ""


class GrantReviewed(Entry, frozen=True, kw_only=True):
    type = "grant.reviewed"
    grant: str
    digest: str = ""
    by: str = ""
    note: str = ""


class PolicyChanged(Entry, frozen=True, kw_only=True):
    """A policy file was changed by a command, and all it takes to take that back."""

    type = "policy.changed"
    id: str
    profile: str = ""
    changes: Sequence[str] = ()
    file: str = ""
    at: int = 0
    taken: str = ""
    """What stood at that place of the file, and what stands there now."""
    put: str = ""
    digest: str = ""
    """Of the whole text afterwards."""
    by: str = ""
    undoes: str = ""


class ConfigurationChanged(Entry, frozen=True, kw_only=True):
    """prowess.toml was changed over a face, and all it takes to take that back."""

    type = "configuration.changed"
    id: str
    does: str = ""
    """What it is for, such as "adds crm"."""
    file: str = ""
    at: int = 0
    taken: str = ""
    """What stood at that place of the file, and what stands there now."""
    put: str = ""
    digest: str = ""
    """Of the whole text afterwards."""
    by: str = ""
    undoes: str = ""


class PersonAdmitted(Entry, frozen=True, kw_only=True):
    type = "person.admitted"
    id: str = msgspec.field(name="pass", default="")
    kind: str = ""
    name: str = ""
    role: str = ""
    expires_at: str = ""
    by: str = ""


class PersonEnded(Entry, frozen=True, kw_only=True):
    type = "person.ended"
    id: str = msgspec.field(name="pass", default="")
    kind: str = ""
    name: str = ""
    by: str = ""


class WebAsked(Entry, frozen=True, kw_only=True):
    """A change that somebody asked for over HTTP."""

    type = "web.asked"
    by: str = ""
    role: str = ""
    operation: str = ""
    of: JsonObject = msgspec.field(default_factory=dict)


def switched(provider: str, why_off: str | None, reason: str) -> Entry:
    """A provider that was switched on, or off where there is a reason to."""
    kind = ProviderOn if why_off is None else ProviderOff
    return kind(provider=provider, reason=reason)
