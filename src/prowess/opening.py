"""`prowess.open()`: from a URL and a prowess.toml to an engine."""

import os
from collections import ChainMap
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from prowess import config as configuration
from prowess.config import Settings, with_arguments
from prowess.discovery import embedders
from prowess.engine.engine import Engine
from prowess.engine.options import EngineOptions
from prowess.journal import Clock
from prowess.options import DiscoveryOptions
from prowess.secrets.environment import with_secrets
from prowess.sources.configured import configured_sources, definitions, overrides, owner
from prowess.sources.lock.lock_file import NAME as LOCK
from prowess.sources.source import Source
from prowess.store.opening import open_database
from prowess.tracing import Tracer

if TYPE_CHECKING:
    from prowess.discovery.embedders import Given


def now() -> datetime:
    return datetime.now(UTC)


def open(
    store: str | None = None,
    *,
    config: str | None = None,
    workspace: str | None = None,
    sources: Sequence[Source] | None = None,
    environment: Mapping[str, str] | None = None,
    clock: Clock = now,
    embedder: "Given | None" = None,
    tracer: Tracer | None = None,
    **discovery: Unpack[DiscoveryOptions],
) -> Engine:
    """Open the store and everything around it.

    store: a path or `postgresql://...`; without it PROWESS_STORE, then prowess.toml, decide.
    config: the path of prowess.toml; without it PROWESS_CONFIG, then the nearest one here or above.
    workspace: the tenant whose catalogue, policy and journal this is about; without it PROWESS_WORKSPACE,
        then prowess.toml, decide. Each has its own, and sees nothing of the others.
    sources: what is read at a sync, instead of what prowess.toml configures.
    environment: where secrets and PROWESS_... are looked up; without it, os.environ, the `.env` that
        prowess.toml names, and what `prowess secret set` keeps.
    clock: gives the time, with its zone.
    embedder: turns texts into rows of numbers; kept under `embedding_model_id`, or the function's name.
    tracer: opens a span around each offer, search and call; see `prowess.otel.SpanTracer`.
    discovery: keys of [discovery], such as tier1_top_k=3; they win over prowess.toml.
    """
    process = os.environ if environment is None else environment
    file = Path(config) if config else configuration.find(process, Path.cwd())
    settings = configuration.load(file, Path.cwd())
    environment = with_secrets(settings, process) if environment is None else environment
    url = store or environment.get("PROWESS_STORE") or settings.config.store
    name = workspace_of(workspace, environment, settings)
    options = options_of(settings, environment, discovery, embedder)
    options = replace(options, tracer=tracer) if tracer else options
    if sources is None:
        chosen = {"PROWESS_STORE": url, "PROWESS_WORKSPACE": name}
        sources = configured_sources(settings, ChainMap(chosen, environment))  # type: ignore[arg-type]
        options = owned(options, settings, sources)
    database = open_database(url, settings.root, workspace=name)
    return Engine(database, sources, clock, environment, options)


def workspace_of(given: str | None, environment: Mapping[str, str], settings: Settings) -> str:
    """An argument wins over the environment, that over the file."""
    return given or environment.get("PROWESS_WORKSPACE") or settings.config.workspace


def owned(options: EngineOptions, settings: Settings, sources: Sequence[Source]) -> EngineOptions:
    """The same options, for sources that a configuration names: what they bring belongs to it."""
    return replace(
        options, owner=owner(settings), definitions=definitions(settings, sources),
        overrides=overrides(settings), lock_file=settings.root / LOCK if settings.file else None,
    )  # fmt: skip


def options_of(
    settings: Settings, environment: Mapping[str, str], discovery: Mapping[str, Any],
    embedder: "Given | None" = None,
) -> EngineOptions:  # fmt: skip
    """What configuration and arguments say about how the engine works."""
    chosen = with_arguments(settings.config.discovery, discovery, opening=True)
    model = chosen.embedding_model_id
    return EngineOptions(
        discovery=chosen,
        presets={preset.name: preset.capabilities for preset in settings.config.preset},
        trust={source.name: source.trust for source in settings.config.source if source.trust},
        policy_files=tuple(settings.path(file) for file in settings.config.policy.files),
        embedder=embedders.given(embedder, model) if embedder else embedders.chosen(model, environment),
        calls=settings.config.calls,
        cards=settings.config.cards,
        journal=settings.config.journal,
        learning=settings.config.learning,
        evolution=settings.config.evolution,
        root=settings.root,
    )
