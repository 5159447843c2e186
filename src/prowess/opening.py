"""`prowess.open()`: from a URL and a prowess.toml to an engine."""

import os
from collections import ChainMap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from prowess import config as configuration
from prowess.config import Settings, with_arguments
from prowess.discovery import embedders
from prowess.engine.engine import Engine
from prowess.engine.options import EngineOptions
from prowess.engine.project_file import ProjectFile
from prowess.journal import Clock
from prowess.options import DiscoveryOptions
from prowess.secrets.environment import SecretEnvironment, with_secrets
from prowess.sources.configured import configured_sources, definitions, overrides, owner
from prowess.sources.lock.lock_file import NAME as LOCK
from prowess.sources.source import Source
from prowess.store.database import Database
from prowess.store.opening import StoreAddress, open_database
from prowess.tracing import NoTracer, Tracer
from prowess.types import Message, Trust

if TYPE_CHECKING:
    from prowess.cards.scorers import Scorer
    from prowess.discovery.embedders import Given


def now() -> datetime:
    return datetime.now(UTC)


def open(
    store: str | None = None,
    *,
    config: str | None = None,
    workspace: str | None = None,
    replica: str | None = None,
    sources: Sequence[Source] | None = None,
    environment: Mapping[str, str] | None = None,
    clock: Clock = now,
    embedder: "Given | None" = None,
    tracer: Tracer | None = None,
    scorers: "Mapping[str, Scorer] | None" = None,
    session_type_of: "Callable[[str], str] | None" = None,
    messages_of: "Callable[[str, int], Sequence[Message]] | None" = None,
    **discovery: Unpack[DiscoveryOptions],
) -> Engine:
    """Open the store and everything around it.

    store: a path or `postgresql://...`; without it PROWESS_STORE, then prowess.toml, decide.
    config: the path of prowess.toml; without it PROWESS_CONFIG, then the nearest one here or above.
    workspace: the tenant whose catalogue, policy and journal it is; without it PROWESS_WORKSPACE or the file.
    replica: a copy of a PostgreSQL store that may answer what only reads; without it PROWESS_REPLICA decides.
    sources: what is read at a sync, instead of what prowess.toml configures.
    environment: where secrets and PROWESS_... are looked up; without it, os.environ and what is kept.
    clock: gives the time, with its zone.
    embedder: turns texts into rows of numbers; kept under `embedding_model_id`, or the function's name.
    tracer: opens a span around each offer, search and call; see `prowess.otel.SpanTracer`.
    scorers: name -> a function of card and turn that says how relevant the card is, from 0 to 1.
    session_type_of: the type of a session by its name, such as "main", for the cards of `inject`.
    messages_of: the last messages of a session by its name and how many, where a turn brings none.
    discovery: keys of [discovery], such as tier1_top_k=3; they win over prowess.toml.
    """
    settings, environment = _settings(config, environment)
    address = address_of(settings, environment, store, replica)
    name = workspace_of(workspace, environment, settings)
    own = {"scorers": scorers or {}, "session_type_of": session_type_of, "messages_of": messages_of}
    options = replace(options_of(settings, environment, discovery, embedder, tracer), card_dependencies=own)
    if sources is None:
        sources, options = _configured(settings, options, environment, address.url, name)
    return Engine(_opened(address, settings, name), sources, clock, environment, options)


def _settings(config: str | None, given: Mapping[str, str] | None) -> tuple[Settings, Mapping[str, str]]:
    """The configuration, and the environment with what is kept as a secret, unless one is given."""
    environment = os.environ if given is None else given
    file = Path(config) if config else configuration.find(environment, Path.cwd())
    settings = configuration.load(file, Path.cwd(), environment)
    return settings, with_secrets(settings, os.environ) if given is None else given


def _opened(address: StoreAddress, settings: Settings, workspace: str) -> Database:
    return open_database(address.url, settings.root, workspace=workspace, replica=address.replica)


def _configured(
    settings: Settings, options: EngineOptions, environment: Mapping[str, str], url: str, workspace: str
) -> tuple[Sequence[Source], EngineOptions]:
    """The sources of the configuration, and the options under which what they bring belongs to it."""
    sources = configured_sources(settings, of_workspace(workspace, environment, PROWESS_STORE=url))
    return sources, owned(options, settings, sources)


def address_of(
    settings: Settings, environment: Mapping[str, str], store: str | None = None, replica: str | None = None
) -> StoreAddress:
    """Where the store is: an argument wins over the environment, that over the file; "" is no replica."""
    given = environment.get("PROWESS_REPLICA") if replica is None else replica
    return StoreAddress(
        store or environment.get("PROWESS_STORE") or settings.config.store,
        settings.config.replica if given is None else given,
    )


def workspace_of(given: str | None, environment: Mapping[str, str], settings: Settings) -> str:
    """An argument wins over the environment, that over the file."""
    return given or environment.get("PROWESS_WORKSPACE") or settings.config.workspace


def of_workspace(workspace: str, environment: Mapping[str, str], **more: str) -> Mapping[str, str]:
    """The environment as the sources of a workspace see it."""
    chosen = {"PROWESS_WORKSPACE": workspace, **more}
    if isinstance(environment, SecretEnvironment):  # which says also where secrets are kept
        return replace(environment, process=ChainMap(chosen, environment.process))  # type: ignore[arg-type]
    return ChainMap(chosen, environment)  # type: ignore[arg-type]


def owned(options: EngineOptions, settings: Settings, sources: Sequence[Source]) -> EngineOptions:
    """The same options, for sources that a configuration names: what they bring belongs to it."""
    return replace(
        options, owner=owner(settings), definitions=definitions(settings, sources),
        overrides=overrides(settings, sources), lock_file=settings.root / LOCK if settings.file else None,
    )  # fmt: skip


def options_of(
    settings: Settings, environment: Mapping[str, str], discovery: Mapping[str, Any],
    embedder: "Given | None" = None, tracer: Tracer | None = None,
) -> EngineOptions:  # fmt: skip
    """What configuration and arguments say about how the engine works."""
    chosen = with_arguments(settings.config.discovery, discovery, opening=True)
    model = chosen.embedding_model_id
    return EngineOptions(
        discovery=chosen,
        in_memory=settings.config.in_memory,
        presets={preset.name: preset.capabilities for preset in settings.config.preset},
        trust={source.name: source.trust for source in settings.config.source if source.trust},
        policy_files=tuple(settings.path(file) for file in settings.config.policy.files),
        embedder=embedders.given(embedder, model) if embedder else embedders.chosen(model, environment),
        calls=settings.config.calls,
        cards=settings.config.cards,
        journal=settings.config.journal,
        learning=settings.config.learning,
        evolution=settings.config.evolution,
        alerts=settings.config.alerts,
        root=settings.root,
        stale_for=settings.config.stale_for,
        tracer=tracer or NoTracer(),
    )


def make_writable(engine: Engine, file: Path) -> None:
    """Let the faces of this process change the prowess.toml that an engine was opened by.

    file: its path.
    """
    inner = engine.internals
    chosen = {"PROWESS_STORE": engine.store, "PROWESS_WORKSPACE": inner.database.workspace}
    environment: Mapping[str, str] = ChainMap(chosen, inner.environment)  # type: ignore[arg-type]

    def reload() -> None:
        settings = configuration.load(file, Path.cwd(), environment)
        sources = configured_sources(settings, environment)
        trust: dict[str, Trust] = {one.name: one.trust for one in settings.config.source if one.trust}
        learned = tuple(one for one in inner.sources.current if one.kind == "learnt")
        inner.sources.configure(
            (*sources, *learned), definitions(settings, sources), trust, overrides(settings, sources)
        )

    inner.project = ProjectFile(file, inner.database, inner.journal, inner.options.ids, reload)
