"""The words of prowess as frozen values.

Every stage takes these and returns these; nothing here does any work. A value that crosses a
border between stages is defined in this file, under the word the documentation uses for it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, TypeAlias

Json: TypeAlias = Any
"""Whatever JSON can say. A precise alias would be recursive, which decoders do not follow."""
JsonObject: TypeAlias = Mapping[str, Json]

KINDS = ("tool", "skill", "extension", "channel", "card", "event")
"""The kinds prowess knows by name; the set is open, any lower-case word is a kind."""

DEFAULT_AGENT = "default"


# --- what exists -----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class SourceRef:
    """Where a capability came from, enough to load its full text again."""

    kind: str
    place: str
    entry: str = ""

    def __str__(self) -> str:
        return f"{self.kind}:{self.place}#{self.entry}" if self.entry else f"{self.kind}:{self.place}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Capability:
    """Anything an agent can use. Schema and content are kept apart, in `Detail`."""

    id: str
    kind: str
    name: str
    display_name: str
    description: str
    category: str = "general"
    tags: tuple[str, ...] = ()
    parameters: tuple[str, ...] = ()
    required_secrets: tuple[str, ...] = ()
    required_tools: tuple[str, ...] = ()
    has_side_effects: bool = False
    provider: str = ""
    source: str = ""
    source_ref: SourceRef = SourceRef("", "")
    metadata: JsonObject = field(default_factory=dict)
    digest: str = ""
    unavailable: tuple[str, ...] = ()

    @property
    def available(self) -> bool:
        """Computed, never declared: available means that no reason speaks against it."""
        return not self.unavailable


@dataclass(frozen=True, slots=True, kw_only=True)
class Detail:
    """What tier 2 shows and search never reads: loaded when somebody asks for it."""

    input_schema: JsonObject | None = None
    output_schema: JsonObject | None = None
    content: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Provider:
    """The unit that is switched on or off and brings capabilities."""

    name: str
    source: str
    description: str = ""
    faculties: tuple[str, ...] = ()
    down: str = ""
    """Why it could not be read the last time; empty when it could."""
    off: bool = False
    """Switched off for everybody, or for the agent that was asked about."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong with one place, and what to do about it."""

    source: str
    place: str
    what: str
    remedy: str
    severity: Literal["error", "warning"] = "error"

    def __str__(self) -> str:
        return f"{self.place}: {self.what}; {self.remedy}"


@dataclass(frozen=True, slots=True)
class Draft:
    """A capability as a source read it, before the catalogue holds it."""

    capability: Capability
    detail: Detail = Detail()


@dataclass(frozen=True, slots=True)
class SourceEntry:
    """One readable unit of a source (a file, a folder, a server) and what it offers.

    `stamp` tells whether the unit changed since it was read; empty means "read it every time".
    `drafts` is None when the stamp is the one already known, so nothing was read again.
    """

    place: str
    stamp: str
    drafts: tuple[Draft, ...] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceReading:
    """Everything one source offers now, and everything that was wrong with it."""

    entries: tuple[SourceEntry, ...] = ()
    providers: tuple[Provider, ...] = ()
    problems: tuple[Problem, ...] = ()
    down: str = ""
    """Why the whole source could not be read; what it offered before is then kept as unavailable."""


Trust: TypeAlias = Literal["full", "growing", "pinned", "none"]
"""How far a source is trusted: always; what it offers at first sight and what it adds; what it offers at
first sight; only what a person approved."""


@dataclass(frozen=True, slots=True)
class HeldCapability:
    """A capability that is held back until a person has looked at it, or was rejected by one."""

    id: str
    digest: str
    reason: str
    state: str
    since: str


@dataclass(frozen=True, slots=True)
class Changes:
    """What a sync did to the catalogue, as sorted ids."""

    added: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.added or self.changed or self.removed)


@dataclass(frozen=True, slots=True, kw_only=True)
class SyncReport:
    changes: Changes
    problems: tuple[Problem, ...]
    version: int
    total: int


# --- what is allowed -------------------------------------------------------------------------

Verdict: TypeAlias = Literal["allow", "ask", "deny"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """Allow, ask or deny, always with its reason and the rules that led there."""

    verdict: Verdict
    reason: str
    chain: tuple[str, ...] = ()
    revision: str = ""
    approval: str = ""
    """What a person was asked, where it rests on that."""


# --- what is needed now ----------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Message:
    role: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """What came in."""

    messages: tuple[Message, ...]
    agent: str = DEFAULT_AGENT
    session_type: str = "main"
    at: datetime | None = None
    user_tier: str = ""
    environment: str = ""
    router_tags: tuple[str, ...] = ()
    language: str = ""
    budget: int | None = None
    """The most tokens the whole offer may cost; tier and card budgets apply within it."""
    authenticated: bool = True

    @property
    def text(self) -> str:
        """The request: what the user said last."""
        said = [m.text for m in self.messages if m.role == "user"]
        return said[-1] if said else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """A capability that fits a request, how well (0..1), and why it is here."""

    id: str
    score: float
    reasons: tuple[str, ...] = ()
    need: str = ""
    """The part of the request it answers, where a request was split."""
    brought_by: str = ""
    """What brought it along, where the request alone would not have."""


PINNED = ("pinned",)
"""The reasons of a hit that a profile pins and the request did not find."""

# --- what the model sees ---------------------------------------------------------------------

DISCOVER = "discover_capabilities"
"""The tool that a model searches with."""


@dataclass(frozen=True, slots=True)
class LeftOut:
    """What was not offered: counts by reason and the nearest few. Never shown to a model."""

    counts: Mapping[str, int] = field(default_factory=dict)
    nearest: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenCounts:
    """What an offer costs, part by part, and by which counter."""

    tier0: int = 0
    tier1: int = 0
    tier2: int = 0
    cards: int = 0
    tools: int = 0
    counter: str = ""

    @property
    def total(self) -> int:
        return self.tier0 + self.tier1 + self.tier2 + self.cards + self.tools


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """What goes out: text for the prompt, tools for the call, and the reasons for people."""

    id: str
    agent: str
    text: str
    hits: tuple[Hit, ...]
    tools: tuple[JsonObject, ...]
    tool_ids: Mapping[str, str] = field(default_factory=dict)
    """Name of a tool in this offer -> the capability it stands for."""
    cards: tuple[str, ...] = ()
    tokens: TokenCounts = TokenCounts()
    left_out: LeftOut = LeftOut()
    catalogue_version: int = 0
    policy_revision: str = ""
    mode: str = "discovery"
    """How the hits were found; says so when discovery failed and everything allowed is offered."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What was done with an offer, and whether it worked."""

    offer: str
    capability: str
    ok: bool
    agent: str = DEFAULT_AGENT
    detail: str = ""
    milliseconds: float | None = None
    key: str = ""
    """Names this outcome, so that one that is reported twice counts once."""


# --- what happened ---------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class JournalEntry:
    """One thing that happened, in its chain: an agent's, or the one of no agent (empty)."""

    chain: str
    number: int
    at: str
    type: str
    data: JsonObject
    hash: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """One request from question to result: an offer, or a search through the gateway."""

    id: str
    entries: tuple[JournalEntry, ...]
    offer: Offer | None = None
    """The offer as it was made; nothing, where it is not kept (any more)."""
    payloads: Mapping[str, str] = field(default_factory=dict)
    """By digest, what is kept of the answers, arguments and results that the entries name."""


@dataclass(frozen=True, slots=True)
class Head:
    """The end of a chain: how many entries it has, and the hash of the last."""

    chain: str
    count: int
    hash: str
