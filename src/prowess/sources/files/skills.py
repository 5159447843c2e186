"""Skills: folders with a SKILL.md, by the Agent Skills specification, read as they are found in the world.

The body is the content, and what lies beside it belongs to it. What breaks a rule of the specification is a
warning wherever the skill can be understood without it.
"""

import os
import time
from collections.abc import Callable
from dataclasses import dataclass

from prowess.sources.files.fields import Fields
from prowess.sources.files.normalise import checked_id
from prowess.sources.files.reading import read_text, stamp_of
from prowess.sources.files.skill_files import FOLDERS, described, files_beside
from prowess.sources.files.skill_page import SkillPage
from prowess.sources.files.units import (
    FORM,
    Unit,
    UnitContents,
    UnitShape,
    find_folders,
    read_units,
    reading,
)
from prowess.sources.source import Known, Progress, silent
from prowess.text.documents import parse_page
from prowess.types import Capability, Detail, Draft, Provider, SourceReading, SourceRef

MOST_BODY_LINES = 500
MOST_BODY_CHARACTERS = 20_000
"""About the 5,000 tokens of the specification."""
FILES = "files"
"""Where the metadata of a skill names what lies beside it."""

_NAMES = ("SKILL.md", "skill.md")


@dataclass(frozen=True, slots=True, kw_only=True)
class SkillFolders:
    """Folders in which skills are looked for.

    paths: the folders.
    optional: whether a folder that is not there is fine.
    of_others: whether they come with what others wrote, such as installed packages, and are pinned.
    """

    name: str
    paths: tuple[str, ...]
    faculties: tuple[str, ...] = ()
    optional: bool = False
    of_others: bool = False
    now: Callable[[], float] = time.time

    @property
    def kind(self) -> str:
        return "skills"

    def read(self, known: Known, progress: Progress = silent) -> SourceReading:
        shape = UnitShape(
            _NAMES, depth=6, most=2000, missing_is_fine=self.optional, nested=frozenset(FOLDERS)
        )
        findings = find_folders(self.name, self.paths, shape, self.now())
        units = [self._with_files(unit) for unit in findings.units]
        result = read_units(self.name, units, self._read_unit, known, progress)
        return reading(
            findings, result, [Provider(name=self.name, source=self.name, faculties=self.faculties)]
        )

    def _with_files(self, unit: Unit) -> Unit:
        """The same unit, which changes also when something beside its page does."""
        found, _ = files_beside(os.path.dirname(unit.place), unit.names[0])
        if not found or not unit.stamp:
            return unit
        beside = stamp_of(FORM, found, self.now())
        return unit._replace(stamp=f"{unit.stamp}|{beside}" if beside else "")

    def _read_unit(self, unit: Unit) -> UnitContents:
        page = parse_page(read_text(unit.root, unit.path(unit.names[0])), unit.place)
        folder = os.path.basename(os.path.realpath(os.path.dirname(unit.place)))
        read = SkillPage(Fields(unit.place, page.header), folder)
        draft = Draft(self._capability(read, unit), Detail(content=page.body))
        read.note_unknown()
        read.doubts.extend(_length(page.body))
        return UnitContents((draft,), read.problem(self.name))

    def _capability(self, page: SkillPage, unit: Unit) -> Capability:
        name = page.name()
        folder = os.path.dirname(unit.place)
        found, left = files_beside(folder, unit.names[0])
        page.doubts.extend(left)
        files = described(folder, found)
        return Capability(
            id=checked_id(f"skill:{name}", "skill", unit.place),
            kind="skill",
            name=name,
            display_name=page.display_name(name),
            description=page.description(),
            category=page.category(),
            tags=page.tags(),
            required_secrets=page.required_secrets(),
            required_tools=page.required_tools(),
            has_side_effects=page.side_effects(),
            provider=self.name,
            source=self.name,
            source_ref=SourceRef(self.kind, unit.place),
            metadata={**page.metadata(), **({FILES: files} if files else {})},
        )


def _length(body: str) -> list[str]:
    lines = body.count("\n") + 1
    if lines <= MOST_BODY_LINES and len(body) <= MOST_BODY_CHARACTERS:
        return []
    return [f"its body has {lines} lines, {len(body)} characters; 500 lines or 5,000 tokens are the most"]
