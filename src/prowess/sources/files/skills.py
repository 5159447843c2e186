"""Skills: folders with a SKILL.md, by the Agent Skills specification and its limits.

The body is the content. What prowess reads beyond the specification stands under `metadata`:
`category`, `tags`, `required_tools`, `required_secrets` and `requires.bins`. Fields of other systems
are warnings. A skill that breaks a limit of the specification is skipped.
"""

import os
import re
import time
from collections.abc import Callable
from dataclasses import dataclass

from prowess.sources.files.fields import Fields
from prowess.sources.files.normalise import checked_id, default_category, secret_names, side_effects, title
from prowess.sources.files.reading import read_text
from prowess.sources.files.units import Unit, UnitContents, UnitShape, find_folders, read_units, reading
from prowess.sources.source import Known, Progress, silent
from prowess.text.documents import parse_page
from prowess.text.values import Json, quoted
from prowess.types import Capability, Detail, Draft, Problem, Provider, SourceReading, SourceRef

FIELDS = ("name", "description", "license", "compatibility", "metadata", "allowed_tools")
LONGEST_SKILL_NAME = 64
LONGEST_DESCRIPTION = 1024
LONGEST_COMPATIBILITY = 500
MOST_BODY_LINES = 500
MOST_BODY_CHARACTERS = 20_000
"""About the 5,000 tokens of the specification."""

_SHAPE = UnitShape(("SKILL.md",), depth=6, most=2000)
_NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*\Z")
_ALLOWED_TOOL = re.compile(r"[^\s,(]+(?:\([^)]*\))?")


@dataclass(frozen=True, slots=True, kw_only=True)
class SkillFolders:
    name: str
    paths: tuple[str, ...]
    faculties: tuple[str, ...] = ()
    now: Callable[[], float] = time.time

    @property
    def kind(self) -> str:
        return "skills"

    def read(self, known: Known, progress: Progress = silent) -> SourceReading:
        findings = find_folders(self.name, self.paths, _SHAPE, self.now())
        result = read_units(self.name, findings.units, self._read_unit, known, progress)
        return reading(
            findings, result, [Provider(name=self.name, source=self.name, faculties=self.faculties)]
        )

    def _read_unit(self, unit: Unit) -> UnitContents:
        page = parse_page(read_text(unit.root, unit.path(unit.names[0])), unit.place)
        fields = Fields(unit.place, page.header)
        name = _checked_name(fields, os.path.basename(os.path.realpath(os.path.dirname(unit.place))))
        draft = Draft(self._capability(fields, name), Detail(content=page.body))
        return UnitContents((draft,), (*fields.unknown(self.name, FIELDS), *self._length(unit, page.body)))

    def _capability(self, fields: Fields, name: str) -> Capability:
        extra = fields.inner("metadata")
        return Capability(
            id=checked_id(f"skill:{name}", "skill", fields.place),
            kind="skill",
            name=name,
            display_name=title(name),
            description=fields.required("description", LONGEST_DESCRIPTION),
            category=extra.label("category", 64) or default_category("skill"),
            tags=extra.words("tags"),
            required_secrets=secret_names(extra),
            required_tools=extra.words("required_tools") or _binaries(extra),
            has_side_effects=side_effects("skill", extra.flag("has_side_effects")),
            provider=self.name,
            source=self.name,
            source_ref=SourceRef(self.kind, fields.place),
            metadata=_metadata(fields),
        )

    def _length(self, unit: Unit, body: str) -> tuple[Problem, ...]:
        lines = body.count("\n") + 1
        if lines <= MOST_BODY_LINES and len(body) <= MOST_BODY_CHARACTERS:
            return ()
        what = f"the body has {lines} lines, {len(body)} characters; 500 lines or 5,000 tokens are the most"
        return (Problem(self.name, unit.place, what, "move details to files under references/", "warning"),)


def _checked_name(fields: Fields, folder: str) -> str:
    name = fields.required("name", LONGEST_SKILL_NAME)
    if not _NAME.match(name):
        raise fields.error(
            f"the name {quoted(name)} is not made of a-z, 0-9 and single hyphens",
            "rename it, such as my-skill",
        )
    if name != folder:
        raise fields.error(
            f"the name {name!r} is not the name of its folder, {quoted(folder)}",
            f"rename the folder to {name}",
        )
    return name


def _binaries(extra: Fields) -> tuple[str, ...]:
    return extra.inner("requires").labels("bins") if isinstance(extra.raw("requires"), dict) else ()


def _metadata(fields: Fields) -> dict[str, Json]:
    metadata: dict[str, Json] = dict(fields.mapping("metadata") or {})
    if licence := fields.label("license", 500):
        metadata["license"] = licence
    if compatibility := fields.text("compatibility", LONGEST_COMPATIBILITY):
        metadata["compatibility"] = compatibility
    if allowed := _allowed_tools(fields):
        metadata["allowed_tools"] = list(allowed)
    return metadata


def _allowed_tools(fields: Fields) -> tuple[str, ...]:
    if isinstance(fields.raw("allowed_tools"), list):
        return fields.labels("allowed_tools")
    return tuple(dict.fromkeys(_ALLOWED_TOOL.findall(fields.text("allowed_tools"))))
