"""Manifests: a CAPABILITY.yaml in a folder of its own, with SKILL.md and schema.json beside it.

`name`, `kind` and `description` are required; the id is `kind:name` unless one is given. The text of
the capability is the file `skillContent` names, else SKILL.md; its schema is `inputSchema`, else
schema.json. Folders come in the order of the paths, and the first definition of an id wins.
"""

import json
import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from prowess.errors import SourceError
from prowess.sources.files.fields import LONGEST_NAME, Fields
from prowess.sources.files.normalise import DECLARED, Origin, Texts, declared
from prowess.sources.files.reading import read_text
from prowess.sources.files.units import Unit, UnitContents, UnitShape, find_folders, read_units, reading
from prowess.sources.source import Known, Progress, silent
from prowess.text.documents import body_of, parse_json, parse_yaml, require_mapping
from prowess.types import JsonObject, Problem, Provider, SourceReading, SourceRef

SKILL = "SKILL.md"
SCHEMA = "schema.json"
FIELDS = (*DECLARED, "skill_content", "provider", "faculties", "version")

_SHAPE = UnitShape(
    ("CAPABILITY.yaml", "CAPABILITY.yml", SCHEMA, SKILL), depth=4, most=500_000, missing_is_fine=True
)


def default_paths(workspace: str, environment: Mapping[str, str]) -> tuple[str, ...]:
    """Where manifests are looked for, the strongest first: user, workspace, PROWESS_CAPABILITY_DIRS."""
    listed = environment.get("PROWESS_CAPABILITY_DIRS", "").split(os.pathsep)
    return (
        *_user_paths(environment),
        os.path.join(workspace, ".prowess", "capabilities"),
        *(os.path.join(workspace, path) for path in listed if path),
    )


def _user_paths(environment: Mapping[str, str]) -> tuple[str, ...]:
    configured = environment.get("XDG_CONFIG_HOME", "")
    # A relative XDG path is invalid by its specification and counts as not set.
    if os.path.isabs(configured):
        return (os.path.join(configured, "prowess", "capabilities"),)
    home = environment.get("HOME") or environment.get("USERPROFILE")
    return (os.path.join(home, ".config", "prowess", "capabilities"),) if home else ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifests:
    name: str
    paths: tuple[str, ...]
    faculties: tuple[str, ...] = ()
    now: Callable[[], float] = time.time

    @property
    def kind(self) -> str:
        return "manifests"

    def read(self, known: Known, progress: Progress = silent) -> SourceReading:
        findings = find_folders(self.name, self.paths, _SHAPE, self.now())
        findings.units = [unit for unit in findings.units if _is_manifest(unit.names[0])]
        result = read_units(self.name, findings.units, self._read_unit, known, progress)
        return reading(findings, result, self._providers(result.notes))

    def _read_unit(self, unit: Unit) -> UnitContents:
        place = unit.place
        text = read_text(unit.root, unit.path(unit.names[0]))
        fields = Fields(place, require_mapping(parse_yaml(text, place), place))
        provider = fields.label("provider", LONGEST_NAME)
        origin = Origin(self.name, provider or self.name, SourceRef(self.kind, place))
        named = fields.text("skill_content")
        texts = Texts(_schema(unit, fields), _content(unit, named))
        draft = declared(fields, fields.required("kind", 32), origin, texts)
        return UnitContents(
            drafts=(draft,),
            problems=(*fields.unknown(self.name, FIELDS), *self._second_manifest(unit)),
            note=_note(provider, fields.labels("faculties")),
            settled=not named or os.path.normpath(named) == SKILL,
        )

    def _second_manifest(self, unit: Unit) -> tuple[Problem, ...]:
        if len(unit.names) < 2 or not _is_manifest(unit.names[1]):
            return ()
        what = f"{unit.names[1]} beside it is ignored"
        return (Problem(self.name, unit.place, what, "keep one of the two", "warning"),)

    def _providers(self, notes: Iterable[str]) -> Sequence[Provider]:
        faculties = {self.name: dict.fromkeys(self.faculties)}
        for note in sorted(set(notes)):
            provider, brought = json.loads(note)
            faculties.setdefault(provider or self.name, {}).update(dict.fromkeys(brought))
        return [
            Provider(name=name, source=self.name, faculties=tuple(brought))
            for name, brought in faculties.items()
        ]


def _is_manifest(name: str) -> bool:
    return name in _SHAPE.names[:2]


def _note(provider: str, faculties: Sequence[str]) -> str:
    return json.dumps([provider, faculties]) if provider or faculties else ""


def _schema(unit: Unit, fields: Fields) -> JsonObject | None:
    if "input_schema" in fields or SCHEMA not in unit.names:
        return None
    path = unit.path(SCHEMA)
    place = os.path.join(unit.root, path)
    return require_mapping(parse_json(read_text(unit.root, path), place), place)


def _content(unit: Unit, named: str) -> str | None:
    if named:
        return body_of(_read_named(unit, named))
    return body_of(read_text(unit.root, unit.path(SKILL))) if SKILL in unit.names else None


def _read_named(unit: Unit, named: str) -> str:
    """The file a manifest names, which may not leave the manifest's folder, by links or otherwise."""
    inner = os.path.normpath(named)
    if os.path.isabs(inner) or inner.split(os.sep, 1)[0] == os.pardir:
        remedy = "name a file inside the folder, such as ./SKILL.md"
        raise SourceError(unit.place, "'skillContent' leaves the folder of the manifest", remedy)
    return read_text(unit.root, unit.path(inner), links=False)
