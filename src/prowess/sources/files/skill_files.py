"""What lies beside a SKILL.md: its references, scripts and assets, by path, size and content.

Above: the source of skills, which puts them into what a skill says: a changed file is a changed skill. Below:
the disk. Nothing behind a symbolic link, nothing hidden, and no more than a skill needs.
"""

import os
from collections.abc import Iterator
from hashlib import sha256

from prowess.errors import SourceError
from prowess.sources.files.reading import MEBIBYTE, NEVER_ENTERED, is_utf8, read_bytes
from prowess.types import JsonObject

FOLDERS = ("references", "reference", "scripts", "assets", "examples", "templates", "resources")
"""Those of the specification, and those that skills have besides. Anything else beside a SKILL.md may be a
whole repository."""
BESIDE = (".md", ".txt")
MAX_DEPTH = 4
MAX_FILES = 200
MAX_FILE_BYTES = MEBIBYTE

Found = tuple[str, os.stat_result]


def files_beside(folder: str, entry: str) -> tuple[list[Found], list[str]]:
    """The files of a skill in order of path, and what was left out; `entry` is its SKILL.md."""
    found: list[Found] = []
    left: list[str] = []
    for path, status in _walk(folder, entry):
        if len(found) >= MAX_FILES:
            left.append(f"it has more than {MAX_FILES} files; the rest cannot be read")
            break
        if status.st_size > MAX_FILE_BYTES:
            left.append(f"{path} is larger than {MAX_FILE_BYTES // 1024} KiB and cannot be read")
        else:
            found.append((path, status))
    return found, left


def described(folder: str, files: list[Found]) -> list[JsonObject]:
    """Path, size and digest of each, as the metadata of a skill says them."""
    return [one for path, _ in files if (one := _described(folder, path))]


def _described(folder: str, path: str) -> JsonObject | None:
    try:
        content = read_bytes(folder, path, MAX_FILE_BYTES, links=False)
    except SourceError:  # it went away, or turned into something else, since it was found
        return None
    return {"path": path.replace(os.sep, "/"), "bytes": len(content), "sha256": sha256(content).hexdigest()}


def _walk(folder: str, entry: str) -> Iterator[Found]:
    for one in _entries(folder):
        if one.is_dir(follow_symlinks=False):
            if one.name in FOLDERS:
                yield from _below(folder, one.name, 1)
        elif one.name != entry and one.name.lower().endswith(BESIDE) and one.is_file(follow_symlinks=False):
            yield one.name, one.stat(follow_symlinks=False)


def _below(folder: str, path: str, depth: int) -> Iterator[Found]:
    for one in _entries(os.path.join(folder, path)):
        inner = os.path.join(path, one.name)
        if one.is_dir(follow_symlinks=False):
            if depth < MAX_DEPTH and one.name not in NEVER_ENTERED:
                yield from _below(folder, inner, depth + 1)
        elif one.is_file(follow_symlinks=False):
            yield inner, one.stat(follow_symlinks=False)


def _entries(folder: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            named = [one for one in entries if one.name[:1] != "." and is_utf8(one.name)]
    except OSError:
        return []
    return sorted((one for one in named if one.name.isprintable()), key=lambda one: one.name)
