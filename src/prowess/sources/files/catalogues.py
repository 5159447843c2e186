"""Catalogue files: YAML or JSON lists of the extensions and channels that somebody offers.

An extension is available only when its entry says so; a channel unless it says no. A channel is
named by its platform, belongs to communication, and its tags are what the platform can do.
"""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from prowess.sources.files.entries import list_in, read_listed
from prowess.sources.files.fields import LONGEST_NAME, Fields
from prowess.sources.files.normalise import DECLARED, Origin, declared, title
from prowess.sources.files.reading import read_text
from prowess.sources.files.units import Unit, UnitContents, find_files, read_units, reading
from prowess.sources.source import Known, Progress, silent
from prowess.text.documents import parse_json, parse_yaml, require_mapping
from prowess.text.values import Json
from prowess.types import Draft, Provider, SourceReading, SourceRef

ENDINGS = (".yaml", ".yml", ".json")
LISTS = ("extensions", "channels")
CHANNEL_FIELDS = (*DECLARED, "platform", "capabilities")


@dataclass(frozen=True, slots=True, kw_only=True)
class CatalogueFiles:
    name: str
    paths: tuple[str, ...]
    faculties: tuple[str, ...] = ()
    now: Callable[[], float] = time.time

    @property
    def kind(self) -> str:
        return "catalogue"

    def read(self, known: Known, progress: Progress = silent) -> SourceReading:
        findings = find_files(self.name, self.paths, ENDINGS, self.now())
        result = read_units(self.name, findings.units, self._read_unit, known, progress)
        return reading(
            findings, result, [Provider(name=self.name, source=self.name, faculties=self.faculties)]
        )

    def _read_unit(self, unit: Unit) -> UnitContents:
        text = read_text(unit.root, unit.names[0])
        parse = parse_json if unit.place.lower().endswith(".json") else parse_yaml
        fields = Fields(unit.place, require_mapping(parse(text, unit.place), unit.place))
        extensions = self._read_list(fields, "extensions", _extension, DECLARED)
        channels = self._read_list(fields, "channels", _channel, CHANNEL_FIELDS)
        return UnitContents(
            drafts=(*extensions.drafts, *channels.drafts),
            problems=(*fields.unknown(self.name, LISTS), *extensions.problems, *channels.problems),
        )

    def _read_list(
        self, fields: Fields, name: str, make: Callable[[Fields, Origin], Draft], known: tuple[str, ...]
    ) -> UnitContents:
        def make_here(entry: Fields) -> Draft:
            return make(entry, Origin(self.name, self.name, SourceRef(self.kind, entry.place, entry.within)))

        return read_listed(self.name, list_in(fields, name), make_here, known)


def _extension(fields: Fields, origin: Origin) -> Draft:
    draft = declared(fields, "extension", origin)
    if fields.flag("available"):
        return draft
    return _with_metadata(draft, {"declared_available": False})


def _channel(fields: Fields, origin: Origin) -> Draft:
    platform = fields.label("platform", LONGEST_NAME) or fields.required("name", LONGEST_NAME)
    display = fields.label("display_name") or title(platform)
    given: dict[str, Json] = {
        "name": platform,
        "display_name": display,
        "description": fields.text("description") or f"Send and receive messages on {display}",
        "category": "communication",
        "tags": list(fields.labels("capabilities", 64) or fields.labels("tags", 64)),
    }
    return declared(fields.overlaid(given), "channel", origin)


def _with_metadata(draft: Draft, more: Mapping[str, Json]) -> Draft:
    capability = draft.capability
    return replace(draft, capability=replace(capability, metadata={**capability.metadata, **more}))
