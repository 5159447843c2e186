"""Plugins: a PLUGIN.yaml names a provider, the faculties it brings, and its tools.

A tool is a name alone, or a mapping with the fields of a manifest. Plugin files are few and are read
every time, because what a provider brings is known only from them.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from prowess.sources.files.entries import list_in, read_listed
from prowess.sources.files.fields import LONGEST_NAME, Fields
from prowess.sources.files.normalise import DECLARED, Origin, declared
from prowess.sources.files.reading import read_text
from prowess.sources.files.units import Unit, UnitContents, UnitShape, find_folders, read_units, reading
from prowess.sources.source import Known, Progress, silent
from prowess.text.documents import parse_yaml, require_mapping
from prowess.types import Draft, Provider, SourceReading, SourceRef

FIELDS = ("name", "description", "faculties", "tools", "version", "metadata")

_SHAPE = UnitShape(("PLUGIN.yaml", "PLUGIN.yml"), depth=4, most=2000)


@dataclass(frozen=True, slots=True, kw_only=True)
class Plugins:
    name: str
    paths: tuple[str, ...]
    faculties: tuple[str, ...] = ()
    """What a plugin brings that does not say so itself."""
    now: Callable[[], float] = time.time

    @property
    def kind(self) -> str:
        return "plugins"

    def read(self, known: Known, progress: Progress = silent) -> SourceReading:
        del known  # Every plugin is read, to know its provider.
        findings = find_folders(self.name, self.paths, _SHAPE, self.now())
        plugins = _PluginsRead(self)
        result = read_units(self.name, findings.units, plugins.read_unit, {}, progress)
        return reading(findings, result, list(plugins.providers.values()))


@dataclass(slots=True)
class _PluginsRead:
    """One pass over the plugin files, which gathers the providers on the way."""

    source: Plugins
    providers: dict[str, Provider] = field(default_factory=dict)

    def read_unit(self, unit: Unit) -> UnitContents:
        place = unit.place
        text = read_text(unit.root, unit.path(unit.names[0]))
        fields = Fields(place, require_mapping(parse_yaml(text, place), place))
        provider = self._provider(fields)
        tools = read_listed(self.source.name, list_in(fields, "tools"), _ToolOf(provider, place), DECLARED)
        self.providers[provider.name] = provider
        return UnitContents(tools.drafts, (*fields.unknown(self.source.name, FIELDS), *tools.problems))

    def _provider(self, fields: Fields) -> Provider:
        name = fields.label("name", LONGEST_NAME) or fields.required("name")
        if name in self.providers:
            raise fields.error(f"the plugin {name!r} is already defined", "rename one of the two")
        return Provider(
            name=name,
            source=self.source.name,
            description=fields.text("description"),
            faculties=fields.labels("faculties") or self.source.faculties,
        )


@dataclass(frozen=True, slots=True)
class _ToolOf:
    """Makes the drafts of one plugin's tools."""

    provider: Provider
    place: str

    def __call__(self, fields: Fields) -> Draft:
        provider = self.provider
        origin = Origin(provider.source, provider.name, SourceRef("plugins", self.place, fields.within))
        if "description" not in fields:
            name = fields.required("name", LONGEST_NAME)
            fields = fields.overlaid({"description": f"{name}, a tool of the plugin {provider.name}"})
        return declared(fields, fields.label("kind", 32) or "tool", origin)
