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

EXAMPLES = "examples"  # the metadata that holds requests which a capability answers, as its author says
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

    id: str  # such as "tool:send_email"
    kind: str  # tool, skill, extension, channel, card, event or a word of your own
    name: str  # such as "send_email"
    display_name: str  # for people, such as "Send email"
    description: str  # what it does, in a sentence or two
    category: str = "general"  # what it is about, such as "mail"
    tags: tuple[str, ...] = ()  # words it is also found by
    parameters: tuple[str, ...] = ()  # the names of its arguments
    required_secrets: tuple[str, ...] = ()  # environment variables it needs
    required_tools: tuple[str, ...] = ()  # tools it needs, by name
    has_side_effects: bool = False  # whether using it changes anything
    provider: str = ""  # what brings it, and is switched on and off
    source: str = ""  # the source it was read from
    source_ref: SourceRef = SourceRef("", "")  # where exactly
    metadata: JsonObject = field(default_factory=dict)  # whatever else its source says
    digest: str = ""  # of everything it says; another content has another
    unavailable: tuple[str, ...] = ()  # why it cannot be used right now

    @property
    def available(self) -> bool:
        """Computed, never declared: available means that no reason speaks against it."""
        return not self.unavailable


@dataclass(frozen=True, slots=True, kw_only=True)
class Detail:
    """What tier 2 shows and search never reads: loaded when somebody asks for it."""

    input_schema: JsonObject | None = None  # JSON Schema of its arguments
    output_schema: JsonObject | None = None  # JSON Schema of its result
    content: str | None = None  # the whole text of a skill or card


@dataclass(frozen=True, slots=True, kw_only=True)
class Provider:
    """The unit that is switched on or off and brings capabilities."""

    name: str  # such as "github"
    source: str  # the source it was read from
    description: str = ""  # what it is
    faculties: tuple[str, ...] = ()  # what it gives an agent, such as "vision"
    down: str = ""
    """Why it could not be read the last time; empty when it could."""
    off: bool = False
    """Switched off for everybody, or for the agent that was asked about."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong with one place, and what to do about it."""

    source: str  # the source or part it concerns
    place: str  # the file, server or id
    what: str  # what is wrong
    remedy: str  # what to do about it
    severity: Literal["error", "warning"] = "error"  # an error, or only a warning

    def __str__(self) -> str:
        return f"{self.place}: {self.what}; {self.remedy}"


@dataclass(frozen=True, slots=True)
class Draft:
    """A capability as a source read it, before the catalogue holds it."""

    capability: Capability  # what it is
    detail: Detail = Detail()  # its schema and content
    original: "Draft | None" = None  # as its author wrote it, where prowess.toml words it otherwise


@dataclass(frozen=True, slots=True)
class SourceEntry:
    """One readable unit of a source (a file, a folder, a server) and what it offers.

    `stamp` tells whether the unit changed since it was read; empty means "read it every time".
    `drafts` is None when the stamp is the one already known, so nothing was read again.
    """

    place: str  # the file, folder or server
    stamp: str  # such as the time it was written; empty: read it every time
    drafts: tuple[Draft, ...] | None  # what it offers; None: as the last time


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceReading:
    """Everything one source offers now, and everything that was wrong with it."""

    entries: tuple[SourceEntry, ...] = ()  # what it offers, unit by unit
    providers: tuple[Provider, ...] = ()  # what the capabilities belong to
    problems: tuple[Problem, ...] = ()  # what could not be read
    server: str = ""  # what a server says it is: its name and version
    down: str = ""  # why all of it could not be read; what it offered before is then kept as unavailable
    output: str = ""  # the end of what a server wrote to standard error


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
    """What a sync did."""

    changes: Changes  # ids that were added, changed and removed
    problems: tuple[Problem, ...]  # what could not be read, and what to do about it
    version: int  # the number of the catalogue now
    total: int  # how many capabilities there are now


# --- what is allowed -------------------------------------------------------------------------

Verdict: TypeAlias = Literal["allow", "ask", "deny"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """Allow, ask or deny, always with its reason and the rules that led there."""

    verdict: Verdict  # allow, ask or deny
    reason: str  # why, in one sentence
    chain: tuple[str, ...] = ()  # the rules that led there, in order
    revision: str = ""  # of the policy it was decided under
    approval: str = ""
    """What a person was asked, where it rests on that."""
    conditions: tuple[str, ...] = ()  # what arguments have to do with it: "only when amount <= 100"


# --- what is needed now ----------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Message:
    """One thing that was said."""

    role: str  # "user", "assistant" or "system"
    text: str  # what was said


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """What came in."""

    messages: tuple[Message, ...]  # the conversation, the newest last
    agent: str = DEFAULT_AGENT  # whose turn it is
    session_type: str = "main"  # such as "main" or "cron"
    at: datetime | None = None  # when; without it, now
    user_tier: str = ""  # such as "free"; cards may go by it
    environment: str = ""  # such as "production"; cards may go by it
    router_tags: tuple[str, ...] = ()  # what a router found out about the request
    language: str = ""  # such as "en"
    needs: tuple[str, ...] = ()
    """What it takes, where somebody planned it: one sentence for each step, each searched for by itself."""
    budget: int | None = None
    """The most tokens the whole offer may cost; tier and card budgets apply within it."""
    authenticated: bool = True  # whether it is certain who the agent is

    @property
    def text(self) -> str:
        """The request: what the user said last."""
        said = [m.text for m in self.messages if m.role == "user"]
        return said[-1] if said else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """A capability that fits a request, how well (0..1), and why it is here."""

    id: str  # the capability
    score: float  # how well it fits, from 0 to 1
    reasons: tuple[str, ...] = ()  # why it is here
    need: str = ""
    """The part of the request it answers, where a request was split."""
    brought_by: str = ""
    """What brought it along, where the request alone would not have."""


SIMILARITY = "similarity"
"""How the reason begins that says how near two vectors are: for people."""
PINNED = ("pinned",)
"""The reasons of a hit that a profile pins and the request did not find."""

# --- what the model sees ---------------------------------------------------------------------

DISCOVER = "discover_capabilities"
"""The tool that a model searches with."""


@dataclass(frozen=True, slots=True)
class LeftOut:
    """What was not offered: counts by reason and the nearest few. Never shown to a model."""

    counts: Mapping[str, int] = field(default_factory=dict)  # reason -> how many
    nearest: tuple[tuple[str, str], ...] = ()  # (id, reason) of those that came nearest


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenCounts:
    """What an offer costs, part by part, and by which counter."""

    tier0: int = 0  # the map of everything
    tier1: int = 0  # the hits in short
    tier2: int = 0  # the best hits in full
    cards: int = 0  # the cards
    tools: int = 0  # the tools
    counter: str = ""  # what counted: a vocabulary such as "o200k", or an estimate

    @property
    def total(self) -> int:
        return self.tier0 + self.tier1 + self.tier2 + self.cards + self.tools


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """What goes out: text for the prompt, tools for the call, and the reasons for people."""

    id: str  # names it in `record` and `trace`
    agent: str  # who it was made to
    text: str  # for the prompt
    hits: tuple[Hit, ...]  # what is offered, best first
    tools: tuple[JsonObject, ...]  # for the model's tool list
    tool_ids: Mapping[str, str] = field(default_factory=dict)
    """Name of a tool in this offer -> the capability it stands for."""
    cards: tuple[str, ...] = ()  # ids of the cards in the text
    tokens: TokenCounts = TokenCounts()  # what it costs
    left_out: LeftOut = LeftOut()  # what was not offered and why
    catalogue_version: int = 0  # of the catalogue it was made from
    policy_revision: str = ""  # of the policy it was made under
    mode: str = "discovery"
    """How the hits were found; says so when discovery failed and everything allowed is offered."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What was done with an offer, and whether it worked."""

    offer: str  # the id of the offer
    capability: str  # what was used
    ok: bool  # whether it worked
    agent: str = DEFAULT_AGENT  # who used it
    detail: str = ""  # what happened, in a few words
    milliseconds: float | None = None  # how long it took
    key: str = ""
    """Names this outcome, so that one that is reported twice counts once."""


# --- what is called --------------------------------------------------------------------------

Ending: TypeAlias = Literal[
    "ok", "failed", "refused", "misfit", "denied", "asked", "unavailable", "cancelled", "unknown"
]
"""How a call ended: it worked; what was called failed; it was refused; its arguments do not fit; policy says
no, or there is no such thing; a person must be asked; it cannot be used now; it was given up; nobody knows.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """What a model wants called."""

    name: str  # the tool's name, or the id of a capability
    arguments: Json = field(default_factory=dict)  # as an object, or as the text some models send
    id: str = ""  # what the model calls this call, for the answer


@dataclass(frozen=True, slots=True, kw_only=True)
class CallResult:
    """What came of a call: what the model is told, and for the program what happened."""

    capability: str  # the id of what was called, or the name as it was given where there is no such thing
    ending: Ending  # "ok", or why there is no result
    content: tuple[JsonObject, ...] = ()  # content blocks, as MCP writes them; the model may see all of it
    structured: Json = None  # the result as data, where there is any
    approval: str = ""  # the question a person was asked, where the call waits for one
    error: Exception | None = None  # what `raise_for_error` raises; for the program, never for the model
    id: str = ""  # names this call in the journal
    offer: str = ""  # the offer it belongs to
    milliseconds: float = 0.0  # how long it took
    meta: JsonObject = field(default_factory=dict)  # what a server said beside its result

    @property
    def is_error(self) -> bool:
        """Whether there is no result."""
        return self.ending != "ok"

    @property
    def text(self) -> str:
        """Every text of the content, one below the other: what a model reads."""
        return "\n".join(str(block["text"]) for block in self.content if "text" in block)

    @property
    def value(self) -> Json:
        """The result as data; its text, where it is only text."""
        return self.text if self.structured is None else self.structured

    def raise_for_error(self) -> "CallResult":
        """Raise why there is no result; returns itself where there is one."""
        if self.error is not None:
            raise self.error
        return self


# --- what happened ---------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class JournalEntry:
    """One thing that happened, in its chain: an agent's, or the one of no agent (empty)."""

    chain: str  # the agent, or empty
    number: int  # its place in the chain, from 1
    at: str  # when, as ISO 8601 in UTC
    type: str  # such as "offer" or "provider.off"
    data: JsonObject  # what happened
    hash: str  # of this entry and the hash before it


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """One request from question to result: an offer, or a search through the gateway."""

    id: str  # of the offer or search
    entries: tuple[JournalEntry, ...]  # what the journal has of it, in order
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
