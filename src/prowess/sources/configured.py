"""From `[[source]]` in prowess.toml to sources.

Without any, the places where people already keep such things are read: capability manifests
(user, workspace, PROWESS_CAPABILITY_DIRS), skills and cards of the workspace.
"""

import hashlib
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import msgspec

from prowess.config import Settings, SourceConfig
from prowess.errors import ConfigError, nearest
from prowess.sources.files.cards import CardFiles
from prowess.sources.files.catalogues import CatalogueFiles
from prowess.sources.files.manifests import Manifests, default_paths
from prowess.sources.files.plugins import Plugins
from prowess.sources.files.skill_places import SKILL_FOLDERS, usual_folders
from prowess.sources.files.skills import SkillFolders
from prowess.sources.lock.lock import LOCKED_KINDS
from prowess.sources.lock.packages import package_of
from prowess.sources.mcp.isolation import Isolation, Limits
from prowess.sources.mcp.source import McpSource
from prowess.sources.openapi.source import OpenApiSource
from prowess.sources.overrides import Overrides
from prowess.sources.python.events import Events
from prowess.sources.python.functions import Functions
from prowess.sources.remote_cards import RemoteCardSource
from prowess.sources.source import Source
from prowess.sources.stored_cards import StoredCards
from prowess.store.opening import open_database

Environment = Mapping[str, str]
Build = Callable[[SourceConfig, Settings, Environment], Source]

CARD_FOLDER = "docs/capabilities"
WORKSPACE_CARDS = ".prowess/cards"
SERVER_HOMES = ".prowess/servers"
TIMEOUT = 30.0
TIMEOUT_OF_PACKAGE = 120.0
"""Seconds for a server that is started from a package: the first time, that is downloaded."""


def configured_sources(settings: Settings, environment: Environment) -> tuple[Source, ...]:
    """The sources of a configuration, in order: of two that define one id, the first wins."""
    chosen = settings.config.source or default_sources(settings.root)
    names: set[str] = set()
    sources = []
    for source in chosen:
        build = BUILDERS.get(source.type)
        if build is None:
            close = nearest(source.type, BUILDERS)
            remedy = f"did you mean {close!r}?" if close else f"known types: {', '.join(BUILDERS)}"
            raise ConfigError(_place(settings), f"no source reads {source.type!r}", remedy)
        if (source.tools or source.disabled) and source.type not in LOCKED_KINDS:
            what = f"source {source.name or source.type!r} words tools otherwise that are your own"
            raise ConfigError(_place(settings), what, "change them where they are written")
        made = build(source, settings, environment)
        if made.name in names:
            raise ConfigError(
                _place(settings), f"two sources are named {made.name!r}", "give one another name"
            )
        names.add(made.name)
        sources.append(made)
    return (*sources, *workspace_cards(settings))


def definitions(settings: Settings, sources: Sequence[Source]) -> dict[str, str]:
    """How each of these is defined, as a digest: two configurations that define a source alike share it."""
    chosen = settings.config.source or default_sources(settings.root)
    further = [SourceConfig(type=source.kind) for source in sources[len(chosen) :]]
    found = {}
    for config, source in zip([*chosen, *further], sources, strict=True):
        paths = [os.path.normpath(Path(path).absolute()) for path in getattr(source, "paths", ())]
        # What has an address or a path means the same everywhere; anything else is about this folder.
        folder = "" if paths or config.url else str(settings.root.resolve())
        said = [
            config.type, source.name, paths, folder, config.module, config.command, config.args,
            sorted(config.env.items()), config.cwd, config.url, sorted(config.headers.items()),
            *([config.tools, config.disabled] if config.tools or config.disabled else ()),
            *([config.category] if config.category else ()),
        ]  # fmt: skip
        found[source.name] = hashlib.sha256(msgspec.json.encode(said)).hexdigest()[:32]
    return found


def overrides(settings: Settings, sources: Sequence[Source]) -> dict[str, Overrides]:
    """Source -> what prowess.toml says otherwise about what it brings."""
    said = {
        source.name: Overrides(config.tools, tuple(config.disabled), config.category)
        for config, source in zip(settings.config.source, sources, strict=False)  # a workspace's cards follow
    }
    return {name: one for name, one in said.items() if one}


def owner(settings: Settings) -> str:
    """Which configuration this is, among those that share a store: its name, or its place."""
    return settings.config.owner or str((settings.file or settings.root).resolve())


def default_sources(root: Path) -> list[SourceConfig]:
    """What is read when no source is configured: only what is there, manifests always."""
    found = [SourceConfig(type="manifests", name="manifests")]
    for folder in SKILL_FOLDERS:
        if (root / folder).is_dir():
            found.append(
                SourceConfig(type="skills", name=folder.split("/")[0].lstrip(".") + "-skills", path=folder)
            )
    if (root / CARD_FOLDER).is_dir():
        found.append(SourceConfig(type="cards", name="cards", path=CARD_FOLDER))
    return found


def _place(settings: Settings) -> str:
    return settings.file.name if settings.file else "prowess.toml"


def _needed(source: SourceConfig, key: str, settings: Settings) -> str:
    value: str = getattr(source, key)
    if not value:
        what = f"source {source.name or source.type!r} of type {source.type} has no {key}"
        raise ConfigError(_place(settings), what, f"add: {key} = ...")
    return value


def _folder(source: SourceConfig, settings: Settings) -> tuple[str, ...]:
    return (str(settings.path(_needed(source, "path", settings))),)


def _faculties(source: SourceConfig) -> tuple[str, ...]:
    return tuple(source.faculties or ())


def _manifests(source: SourceConfig, settings: Settings, environment: Environment) -> Source:
    usual = default_paths(str(settings.root), environment)
    paths = _folder(source, settings) if source.path else usual
    return Manifests(name=source.name or "manifests", paths=paths, faculties=_faculties(source))


def _skills(source: SourceConfig, settings: Settings, environment: Environment) -> Source:
    usual = usual_folders(source.places, settings.root, Path(environment.get("HOME") or Path.home()))
    return SkillFolders(
        name=source.name or "skills",
        paths=(*(_folder(source, settings) if source.path or not source.places else ()), *usual),
        faculties=_faculties(source),
        optional=bool(source.places),
        of_others="packages" in source.places,
    )


def _cards(source: SourceConfig, settings: Settings, environment: Environment) -> Source:
    if source.url:
        return RemoteCardSource(
            name=source.name or "remote-cards",
            url=source.url,
            digest=source.digest,
            faculties=_faculties(source),
            timeout=source.timeout or TIMEOUT,
        )
    return CardFiles(
        name=source.name or "cards", paths=_folder(source, settings), faculties=_faculties(source)
    )


def card_folders(settings: Settings, folder: str | None = None) -> tuple[CardFiles, ...]:
    """What reads the cards in files that are configured; with a folder, what reads the cards in that one."""
    chosen = settings.config.source or default_sources(settings.root)
    configured = [one for one in chosen if one.type == "cards" and not one.url]
    sources = [source for one in configured if isinstance(source := _cards(one, settings, {}), CardFiles)]
    if folder is None:
        return tuple(sources)
    wanted = Path(folder).resolve()
    named = [one for one in sources if [Path(path).resolve() for path in one.paths] == [wanted]]
    return (replace(named[0] if named else CardFiles(name="cards", paths=()), paths=(folder,)),)


def _stored_cards(source: SourceConfig, settings: Settings, environment: Environment) -> Source:
    url = source.url or environment.get("PROWESS_STORE") or settings.config.store
    workspace = environment.get("PROWESS_WORKSPACE") or settings.config.workspace
    return StoredCards(
        name=source.name or "stored-cards",
        open=lambda: open_database(url, settings.root, workspace=workspace),
        faculties=_faculties(source),
    )


def workspace_cards(settings: Settings) -> tuple[Source, ...]:
    """A workspace's own cards: only when configured, marked as such, and after all others."""
    if not settings.config.cards.workspace:
        return ()
    return (
        CardFiles(name="workspace-cards", paths=(str(settings.path(WORKSPACE_CARDS)),), origin="workspace"),
    )


def _catalogue(source: SourceConfig, settings: Settings, environment: Environment) -> Source:
    paths = _folder(source, settings)
    return CatalogueFiles(
        name=source.name or Path(source.path).stem, paths=paths, faculties=_faculties(source)
    )


def _plugins(source: SourceConfig, settings: Settings, environment: Environment) -> Source:
    return Plugins(
        name=source.name or "plugins", paths=_folder(source, settings), faculties=_faculties(source)
    )


def _beside(settings: Settings) -> str:
    """The folder of prowess.toml: modules that it names lie there, as they would for `python -m`."""
    return str(settings.root.resolve())


def _functions(source: SourceConfig, settings: Settings, environment: Environment) -> Source:
    module = _needed(source, "module", settings)
    return Functions(
        name=source.name or module, module=module, folder=_beside(settings), faculties=_faculties(source)
    )


def _events(source: SourceConfig, settings: Settings, environment: Environment) -> Source:
    module = _needed(source, "module", settings)
    return Events(
        name=source.name or f"{module} events",
        module=module,
        folder=_beside(settings),
        faculties=_faculties(source),
    )


def _mcp(source: SourceConfig, settings: Settings, environment: Environment) -> Source:
    return McpSource(
        name=_needed(source, "name", settings),
        command=source.command,
        args=tuple(source.args),
        env=source.env,
        cwd=str(settings.path(source.cwd)) if source.cwd else "",
        url=source.url,
        headers=source.headers,
        login=source.login,
        isolation=_isolation(source, settings, environment),
        faculties=("Tool",) if source.faculties is None else tuple(source.faculties),
        timeout=source.timeout
        or (TIMEOUT_OF_PACKAGE if package_of(source.command, source.args) else TIMEOUT),
        environment=environment,
    )


def _isolation(source: SourceConfig, settings: Settings, environment: Environment) -> Isolation:
    said, limits = source.isolation, source.limits
    if (said.read or said.write or not said.network) and said.sandbox == "none":
        what = f"source {source.name!r} names what it may reach, and nothing keeps it to that"
        raise ConfigError(_place(settings), what, 'write sandbox = "bubblewrap", or leave them out')
    is_own = said.home == "own" or said.sandbox != "none"
    return Isolation(
        sandbox=said.sandbox,
        home=str(settings.path(SERVER_HOMES).absolute() / source.name) if is_own else "",
        read=tuple(str(settings.path(path)) for path in said.read),
        write=tuple(str(settings.path(path)) for path in said.write),
        network=said.network,
        hidden=_hidden(environment),
        limits=Limits(processes=limits.processes, memory_mb=limits.memory_mb, files=limits.files),
    )


def _hidden(environment: Environment) -> tuple[str, ...]:
    """Where secrets and logins are: nothing that a server needs."""
    state = Path.home() / ".local" / "state" / "prowess"
    kept = [path.parent for path in getattr(environment, "paths", ())[:1]]
    chosen = environment.get("XDG_STATE_HOME", "")
    return tuple(str(path) for path in (state, *([Path(chosen) / "prowess"] if chosen else []), *kept))


def _openapi(source: SourceConfig, settings: Settings, environment: Environment) -> Source:
    location = source.url or str(settings.path(_needed(source, "path", settings)))
    name = _needed(source, "name", settings)
    return OpenApiSource(
        name=name, location=location, faculties=_faculties(source), timeout=source.timeout or TIMEOUT
    )


BUILDERS: Mapping[str, Build] = {
    "manifests": _manifests,
    "skills": _skills,
    "cards": _cards,
    "stored-cards": _stored_cards,
    "catalogue": _catalogue,
    "plugins": _plugins,
    "functions": _functions,
    "events": _events,
    "mcp": _mcp,
    "openapi": _openapi,
}
