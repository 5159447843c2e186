"""What an AI agent can do: what exists, what it may use, what it needs now.

    with prowess.open() as engine:
        engine.sync()
        offer = engine.offer("find flights to Oslo and tell the team")

These names are what prowess promises; docs/reference.md describes each. A name is loaded when it is first
used, so that importing prowess costs nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from prowess.engine import Engine
    from prowess.errors import (
        AlertNotSent,
        ApprovalNeeded,
        BackupError,
        CallFailed,
        ConfigError,
        Denied,
        EncoderUnavailable,
        EvolutionError,
        FindingStands,
        InvalidArguments,
        JournalBroken,
        LearningError,
        LoginNeeded,
        MissingExtra,
        NotFound,
        Outdated,
        PolicyError,
        ProwessError,
        Refused,
        RemoteError,
        SecretError,
        SourceError,
        StoreAway,
        StoreBusy,
        StoreError,
        StoreFull,
        WorkspaceError,
    )
    from prowess.evolution.scores import Scores
    from prowess.opening import open
    from prowess.options import CallOptions, CardOptions, DiscoveryOptions, SearchOptions
    from prowess.policy.approvals import ApprovalAnswer
    from prowess.prompt.formats.format import ToolFormat
    from prowess.prompt.formats.known import tool_format
    from prowess.sources.python.events import event_handler
    from prowess.sources.python.functions import tool
    from prowess.sources.source import Source
    from prowess.tool_ranker import ToolRanker, rank
    from prowess.types import (
        CallResult,
        Capability,
        Decision,
        Detail,
        Draft,
        Hit,
        JournalEntry,
        LeftOut,
        Message,
        Offer,
        Outcome,
        Problem,
        Provider,
        SourceEntry,
        SourceReading,
        SyncReport,
        TokenCounts,
        ToolCall,
        Trace,
        Turn,
    )

__all__ = [
    "AlertNotSent",
    "ApprovalAnswer",
    "ApprovalNeeded",
    "BackupError",
    "CallFailed",
    "CallOptions",
    "CallResult",
    "Capability",
    "CardOptions",
    "ConfigError",
    "Decision",
    "Denied",
    "Detail",
    "DiscoveryOptions",
    "Draft",
    "EncoderUnavailable",
    "Engine",
    "EvolutionError",
    "FindingStands",
    "Hit",
    "InvalidArguments",
    "JournalBroken",
    "JournalEntry",
    "LearningError",
    "LeftOut",
    "LoginNeeded",
    "Message",
    "MissingExtra",
    "NotFound",
    "Offer",
    "Outcome",
    "Outdated",
    "PolicyError",
    "Problem",
    "Provider",
    "ProwessError",
    "Refused",
    "RemoteError",
    "Scores",
    "SearchOptions",
    "SecretError",
    "Source",
    "SourceEntry",
    "SourceError",
    "SourceReading",
    "StoreAway",
    "StoreBusy",
    "StoreError",
    "StoreFull",
    "SyncReport",
    "TokenCounts",
    "ToolCall",
    "ToolFormat",
    "ToolRanker",
    "Trace",
    "Turn",
    "WorkspaceError",
    "event_handler",
    "open",
    "rank",
    "tool",
    "tool_format",
]

HOMES = {
    "prowess.engine": ("Engine",),
    "prowess.errors": (
        "AlertNotSent", "ApprovalNeeded", "BackupError", "CallFailed", "ConfigError", "Denied",
        "EncoderUnavailable", "EvolutionError", "FindingStands", "InvalidArguments", "JournalBroken",
        "LearningError", "LoginNeeded", "MissingExtra", "NotFound", "Outdated", "PolicyError",
        "ProwessError", "Refused", "RemoteError", "SecretError", "SourceError", "StoreAway", "StoreBusy",
        "StoreError", "StoreFull", "WorkspaceError",
    ),
    "prowess.evolution.scores": ("Scores",),
    "prowess.opening": ("open",),
    "prowess.options": ("CallOptions", "CardOptions", "DiscoveryOptions", "SearchOptions"),
    "prowess.policy.approvals": ("ApprovalAnswer",),
    "prowess.prompt.formats.format": ("ToolFormat",),
    "prowess.prompt.formats.known": ("tool_format",),
    "prowess.sources.python.events": ("event_handler",),
    "prowess.sources.python.functions": ("tool",),
    "prowess.sources.source": ("Source",),
    "prowess.tool_ranker": ("ToolRanker", "rank"),
}  # fmt: skip
"""Module -> the names that live there; every other one lives in `prowess.types`."""


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module 'prowess' has no attribute {name!r}")
    home = next((home for home, names in HOMES.items() if name in names), "prowess.types")
    return getattr(import_module(home), name)


def __dir__() -> list[str]:
    return sorted(__all__)
