"""How an engine works: the values that configuration and arguments decide."""

import os
import socket
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal
from uuid import uuid4

from prowess.catalogue.health import ReadingNode
from prowess.config import (
    CallsConfig,
    CardsConfig,
    DiscoveryConfig,
    EvolutionConfig,
    JournalConfig,
    LearningConfig,
)
from prowess.config_alerts import AlertsConfig
from prowess.sources.overrides import Overrides
from prowess.tracing import NoTracer, Tracer
from prowess.types import Trust

if TYPE_CHECKING:
    from prowess.discovery.ranking import Embed
    from prowess.engine.sync import OpenedGuard

    OpenEmbedder = Callable[[], tuple[str, Embed]]

OnFailure = Literal["open", "closed"]
"""What an offer holds when search fails: everything that is allowed, or only what is pinned."""


def new_id() -> str:
    return uuid4().hex


def node_name() -> str:
    """A name for this process among all that use a store, by which people find it."""
    return f"{socket.gethostname()}:{os.getpid()}:{new_id()[:8]}"


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineOptions:
    discovery: DiscoveryConfig = field(default_factory=DiscoveryConfig)
    in_memory: int = 100_000
    """Capabilities that a process holds; a larger catalogue is looked up in the store."""
    presets: Mapping[str, Sequence[str]] = field(default_factory=dict)
    trust: Mapping[str, Trust] = field(default_factory=dict)
    node: ReadingNode = field(default_factory=lambda: ReadingNode(id=node_name()))
    """Who reads sources here: what it sees of a server's health is its own."""
    owner: str = ""
    """Which configuration the sources are of, where several share a store."""
    definitions: Mapping[str, str] = field(default_factory=dict)
    """How each source is defined there, as a digest; two configurations that define one alike share it."""
    overrides: Mapping[str, Overrides] = field(default_factory=dict)
    """Source -> what its tools are called and said to be here, and which of them are left out."""
    lock_file: Path | None = None
    """Where prowess.lock is, or would be."""
    policy_files: tuple[Path, ...] = ()
    embedder: "OpenEmbedder | None" = None
    guard: "OpenedGuard | None" = None
    """The models of the guard, where they are opened already; whoever opened them closes them."""
    exact_tokens: bool = True
    ids: Callable[[], str] = new_id
    calls: CallsConfig = field(default_factory=CallsConfig)
    cards: CardsConfig = field(default_factory=CardsConfig)
    card_dependencies: Mapping[str, Any] = field(default_factory=dict)
    """Further fields of `CardWays` that user code sets: scorers, session_type_of, messages_of, guard."""
    journal: JournalConfig = field(default_factory=JournalConfig)
    learning: LearningConfig = field(default_factory=LearningConfig)
    evolution: EvolutionConfig = field(default_factory=EvolutionConfig)
    alerts: AlertsConfig = field(default_factory=AlertsConfig)
    root: Path = field(default_factory=Path)
    stale_for: float = 30.0
    """Seconds for which a search goes by what was last seen, while the store does not answer."""
    tracer: Tracer = field(default_factory=NoTracer)
    """Opens a span around each offer, search and call."""
