"""The loop every source of files shares: find the units, read what changed, pass over what did not.

Above: the sources of files, which say what their units are and how one is read. Below: `files`.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from prowess.errors import SourceError
from prowess.sources.files.reading import FolderSearch, is_utf8, printable, stamp_of, unreadable
from prowess.sources.source import Known, Progress
from prowess.types import Draft, Problem, Provider, SourceEntry, SourceReading

FORM = "2"
"""Changes when the way files are read changes, so that every unit is read again."""

_NOTE = "\n"


class Unit(NamedTuple):
    """What is read as one: a folder with certain files, or one file (then `folder` is empty)."""

    place: str
    root: str
    folder: str
    names: tuple[str, ...]
    stamp: str

    def path(self, name: str) -> str:
        """Relative to the root."""
        return os.path.join(self.folder, name)


class UnitShape(NamedTuple):
    """How units that are folders look: the files they may have, the one that names them first."""

    names: tuple[str, ...]
    depth: int
    most: int
    missing_is_fine: bool = False
    nested: frozenset[str] | None = None
    """Of a unit in which others may lie: the folders that are its own; without it, none are looked for."""


@dataclass(slots=True)
class Findings:
    units: list[Unit] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    down: str = ""


class UnitContents(NamedTuple):
    """What one unit holds. The note travels in its stamp, for the times it is not read again."""

    drafts: tuple[Draft, ...] = ()
    problems: tuple[Problem, ...] = ()
    note: str = ""
    settled: bool = True
    """False when the stamp cannot tell whether something the unit rests on has changed."""


class UnitsRead(NamedTuple):
    entries: tuple[SourceEntry, ...]
    problems: tuple[Problem, ...]
    notes: tuple[str, ...]


def find_folders(source: str, paths: Sequence[str], shape: UnitShape, now: float) -> Findings:
    """A unit for each folder that has one of the files, in the order of the paths."""
    findings = Findings()
    for root in _distinct(paths):
        if shape.missing_is_fine and not os.path.lexists(root):
            continue
        search = FolderSearch(
            source, root, frozenset(shape.names), shape.depth, shape.most, findings.problems, shape.nested
        )
        try:
            findings.units.extend(_folder_units(search, shape.names, now))
        except SourceError as error:
            _note_failure(findings, source, error)
    return findings


def _folder_units(search: FolderSearch, order: Sequence[str], now: float) -> Iterator[Unit]:
    root = search.root
    for folder, files in search.folders():
        names = tuple(name for name in order if name in files)
        stamp = stamp_of(FORM, [(name, files[name]) for name in names], now)
        yield Unit(os.path.join(root, folder, names[0]), root, folder, names, stamp)


def find_files(source: str, paths: Sequence[str], endings: tuple[str, ...], now: float) -> Findings:
    """A unit for each file with one of the endings in these folders; a path may be a file itself."""
    findings = Findings()
    for path in _distinct(paths):
        try:
            findings.units.extend(_file_units(source, path, endings, now, findings.problems))
        except OSError as error:
            _note_failure(findings, source, unreadable(path, error))
    return findings


def _file_units(
    source: str, path: str, endings: tuple[str, ...], now: float, problems: list[Problem]
) -> Iterator[Unit]:
    if not os.path.isdir(path):
        os.lstat(path)
        yield _file_unit(os.path.dirname(path), os.path.basename(path), now)
        return
    for name in _file_names(path, endings):
        if is_utf8(name):
            yield _file_unit(path, name, now)
        else:
            place = os.path.join(path, printable(name))
            problems.append(Problem(source, place, "the file's name is not UTF-8", "rename it"))


def _file_names(folder: str, endings: tuple[str, ...]) -> list[str]:
    with os.scandir(folder) as entries:
        return sorted(
            entry.name
            for entry in entries
            if entry.name.lower().endswith(endings) and not entry.is_dir(follow_symlinks=False)
        )


def _file_unit(root: str, name: str, now: float) -> Unit:
    place = os.path.join(root, name)
    try:
        status = os.stat(place)
    except OSError:
        return Unit(place, root or os.curdir, "", (name,), "")
    return Unit(place, root or os.curdir, "", (name,), stamp_of(FORM, [(name, status)], now))


def _distinct(paths: Sequence[str]) -> list[str]:
    first: dict[str, str] = {}
    for path in paths:
        first.setdefault(os.path.realpath(path), path)
    return list(first.values())


def _note_failure(findings: Findings, source: str, error: SourceError) -> None:
    """A folder that is not there offers nothing; one that cannot be listed may offer what it did."""
    findings.problems.append(error.problem(source))
    if not isinstance(error.__cause__, FileNotFoundError):
        findings.down = error.message


def read_units(
    source: str, units: Sequence[Unit], read: Callable[[Unit], UnitContents], known: Known, progress: Progress
) -> UnitsRead:
    entries: list[SourceEntry] = []
    problems: list[Problem] = []
    notes: list[str] = []
    total = len(units)
    for done, unit in enumerate(units, 1):
        before = known.get(unit.place, "")
        stamp, _, note = before.partition(_NOTE)
        if unit.stamp and unit.stamp == stamp:
            entries.append(SourceEntry(unit.place, before, None))
        else:
            contents = _read_one(source, unit, read)
            entries.append(SourceEntry(unit.place, _new_stamp(unit, contents), contents.drafts))
            problems.extend(contents.problems)
            note = contents.note
        if note:
            notes.append(note)
        progress(done, total)
    return UnitsRead(tuple(entries), tuple(problems), tuple(notes))


def _read_one(source: str, unit: Unit, read: Callable[[Unit], UnitContents]) -> UnitContents:
    try:
        return read(unit)
    except SourceError as error:
        return UnitContents(problems=(error.problem(source),))


def _new_stamp(unit: Unit, contents: UnitContents) -> str:
    # A problem must be reported every time, so what has one is read every time.
    if not unit.stamp or contents.problems or not contents.settled:
        return ""
    return f"{unit.stamp}{_NOTE}{contents.note}" if contents.note else unit.stamp


def reading(findings: Findings, result: UnitsRead, providers: Sequence[Provider]) -> SourceReading:
    return SourceReading(
        entries=result.entries,
        providers=tuple(providers),
        problems=(*findings.problems, *result.problems),
        down="" if result.entries else findings.down,
    )
