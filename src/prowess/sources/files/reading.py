"""Files, read within bounds: never outside a root, never more than a limit, never a device or a pipe.

Above: every source that reads files. Below: the operating system. All checks are made on the open
descriptor or by opening each part of the path without following links, so nothing can be swapped
between the check and the reading.
"""

import errno
import os
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from prowess.errors import SourceError
from prowess.types import Problem

KIBIBYTE = 1024
MEBIBYTE = 1024 * KIBIBYTE
RACY_SECONDS = 2.0
"""A file changed this recently may change again without its times telling so."""

NEVER_ENTERED = frozenset({".git", ".venv", "__pycache__", "node_modules"})

_NONBLOCK = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0)
_NO_FOLLOW = getattr(os, "O_NOFOLLOW", 0)
_DIRECTORY = getattr(os, "O_DIRECTORY", 0)
_LINK_MET = (errno.ELOOP, errno.ENOTDIR, errno.EMLINK)


def read_text(root: str, relative: str, limit: int = MEBIBYTE, links: bool = True) -> str:
    """The UTF-8 text of a regular file that really lies inside the root.

    Links are followed only to places inside the root, or not at all when `links` is false.
    """
    return _decode(os.path.join(root, relative), read_bytes(root, relative, limit, links))


def read_bytes(root: str, relative: str, limit: int = MEBIBYTE, links: bool = True) -> bytes:
    """What a regular file holds, found as `read_text` finds it."""
    place = os.path.join(root, relative)
    try:
        descriptor = _open_inside(root, relative, links)
    except OSError as error:
        raise _refusal(place, error, links) from error
    except ValueError as error:
        raise SourceError(place, "the path holds a null character", "correct the path") from error
    try:
        return _read_bounded(place, descriptor, limit)
    finally:
        os.close(descriptor)


def _open_inside(root: str, relative: str, links: bool) -> int:
    inner = os.path.normpath(relative)
    if os.path.isabs(inner) or inner.split(os.sep, 1)[0] == os.pardir:
        raise _escape(os.path.join(root, relative), root)
    if os.open not in os.supports_dir_fd:
        return _open_resolved(root, inner, links)
    try:
        return _open_without_links(root, inner)
    except OSError as error:
        if not links or error.errno not in _LINK_MET:
            raise
    return _open_without_links(os.path.realpath(root), _resolve_inside(root, inner))


def _open_without_links(root: str, relative: str) -> int:
    """Open part by part, each relative to the folder already open: a link on the way fails."""
    *folders, name = relative.split(os.sep)
    descriptor = os.open(root, os.O_RDONLY | _DIRECTORY)
    for part in folders:
        descriptor = _step(descriptor, part, _DIRECTORY)
    return _step(descriptor, name, _NONBLOCK)


def _step(folder: int, part: str, flags: int) -> int:
    try:
        return os.open(part, os.O_RDONLY | _NO_FOLLOW | flags, dir_fd=folder)
    finally:
        os.close(folder)


def _open_resolved(root: str, relative: str, links: bool) -> int:
    """For systems that cannot open relative to a folder: resolve first, then open."""
    inner = _resolve_inside(root, relative)
    if not links and inner != relative:
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
    return os.open(os.path.join(os.path.realpath(root), inner), os.O_RDONLY | getattr(os, "O_BINARY", 0))


def _resolve_inside(root: str, relative: str) -> str:
    real_root = os.path.realpath(root)
    real = os.path.realpath(os.path.join(real_root, relative), strict=True)
    inner = os.path.relpath(real, real_root)
    if inner.split(os.sep, 1)[0] == os.pardir:
        raise _escape(os.path.join(root, relative), root)
    return inner


def _escape(place: str, root: str) -> SourceError:
    return SourceError(
        place, f"the path leaves its folder {root}", "copy the file into the folder and name it from there"
    )


def _refusal(place: str, error: OSError, links: bool) -> SourceError:
    if error.errno == errno.ELOOP and links:
        return SourceError(
            place, "is a symbolic link that leads back to itself", "replace it with the file itself"
        )
    if error.errno in _LINK_MET:
        return SourceError(place, "is or lies behind a symbolic link", "replace it with the file itself")
    if error.errno == errno.ENXIO:
        return _not_regular(place)
    return unreadable(place, error)


def unreadable(place: str, error: OSError) -> SourceError:
    """Say in words why the system would not open this place, and what to do about it."""
    if isinstance(error, FileNotFoundError):
        return SourceError(place, "does not exist", "create it, or take it out of the sources")
    if isinstance(error, PermissionError):
        return SourceError(place, "may not be read", "give this user permission to read it")
    if isinstance(error, NotADirectoryError):
        return SourceError(place, "is not a folder", "name a folder")
    reason = (error.strerror or type(error).__name__).lower()
    return SourceError(place, f"cannot be read: {reason}", "check the path and the disk")


def _not_regular(place: str) -> SourceError:
    return SourceError(place, "is not a regular file", "replace it with a plain file")


def _read_bounded(place: str, descriptor: int, limit: int) -> bytes:
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode):
        raise _not_regular(place)
    if status.st_size > limit:
        raise _too_large(place, limit)
    # A file may grow while it is read; one byte more than the limit is enough to know.
    chunks: list[bytes] = []
    left = limit + 1
    while left and (chunk := _read_chunk(place, descriptor, left)):
        chunks.append(chunk)
        left -= len(chunk)
    if not left:
        raise _too_large(place, limit)
    return b"".join(chunks)


def _read_chunk(place: str, descriptor: int, size: int) -> bytes:
    try:
        return os.read(descriptor, min(size, 256 * KIBIBYTE))
    except OSError as error:
        raise unreadable(place, error) from error


def _too_large(place: str, limit: int) -> SourceError:
    return SourceError(place, f"is larger than {limit // KIBIBYTE} KiB", "shorten it or split it")


def _decode(place: str, content: bytes) -> str:
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise SourceError(place, f"line {line} is not UTF-8", "save the file as UTF-8") from error
    if "\0" in text:
        raise SourceError(place, "holds a null character, so it is not text", "save the file as UTF-8 text")
    return text


# --- finding -----------------------------------------------------------------------------------


class FoundFolder(NamedTuple):
    """A folder (relative to the root) and the wanted files in it; None where one cannot be reached."""

    folder: str
    files: dict[str, os.stat_result | None]


@dataclass(slots=True)
class FolderSearch:
    """A bounded walk for folders that hold certain files.

    What it finds is entered further only where `nested` says which folders in it are its own.

    Folders behind symbolic links are reported and not followed, so a loop cannot trap the walk.
    """

    source: str
    root: str
    wanted: frozenset[str]
    depth: int
    most: int
    problems: list[Problem] = field(default_factory=list)
    nested: frozenset[str] | None = None

    def folders(self) -> Iterator[FoundFolder]:
        """Raises `SourceError` when the root itself cannot be listed."""
        try:
            found, below = self._list("")
        except OSError as error:
            raise unreadable(self.root, error) from error
        if found.files:
            yield found
            below = [name for name in below if name not in (self.nested or ())]
        yield from self._below(below)

    def _below(self, names: list[str]) -> Iterator[FoundFolder]:
        waiting = [(name, 1) for name in reversed(names)]
        visited = 0
        while waiting:
            folder, depth = waiting.pop()
            visited += 1
            if visited > self.most:
                self._report(
                    "", f"holds more than {self.most} folders; the rest is not read", "split the folder"
                )
                return
            found, below = self._list_or_report(folder)
            if found.files:
                yield found
                below = [name for name in below if name not in self.nested] if self.nested else []
            if depth < self.depth:
                waiting.extend((f"{folder}{os.sep}{name}", depth + 1) for name in reversed(below))

    def _list_or_report(self, folder: str) -> tuple[FoundFolder, list[str]]:
        try:
            return self._list(folder)
        except FileNotFoundError:
            # It was removed while the walk went on: it simply is no longer there.
            return FoundFolder(folder, {}), []
        except OSError as error:
            self.problems.append(unreadable(os.path.join(self.root, folder), error).problem(self.source))
            return FoundFolder(folder, {}), []

    def _list(self, folder: str) -> tuple[FoundFolder, list[str]]:
        files: dict[str, os.stat_result | None] = {}
        below: list[str] = []
        with os.scandir(f"{self.root}{os.sep}{folder}" if folder else self.root) as entries:
            for entry in entries:
                if entry.name in self.wanted:
                    files[entry.name] = _status(entry)
                elif self._may_enter(entry, folder):
                    below.append(entry.name)
        below.sort()
        return FoundFolder(folder, files), below

    def _may_enter(self, entry: os.DirEntry[str], folder: str) -> bool:
        if entry.is_dir(follow_symlinks=False):
            return entry.name not in NEVER_ENTERED and self._nameable(entry.name, folder)
        if entry.is_symlink() and _leads_to_folder(entry):
            self._report(
                os.path.join(folder, entry.name),
                "is a symbolic link to a folder and is not followed",
                "add the real folder as a source, or copy it here",
            )
        return False

    def _nameable(self, name: str, folder: str) -> bool:
        if is_utf8(name):
            return True
        self._report(os.path.join(folder, printable(name)), "the folder's name is not UTF-8", "rename it")
        return False

    def _report(self, folder: str, what: str, remedy: str) -> None:
        place = os.path.join(self.root, folder) if folder else self.root
        self.problems.append(Problem(self.source, place, what, remedy, "warning"))


def _leads_to_folder(entry: os.DirEntry[str]) -> bool:
    """A link that leads nowhere or to itself counts: it was meant as something."""
    try:
        return entry.is_dir()
    except OSError:
        return True


def _status(entry: os.DirEntry[str]) -> os.stat_result | None:
    try:
        return entry.stat()
    except OSError:
        return None


def is_utf8(name: str) -> bool:
    return name.isascii() or name == printable(name)


def printable(name: str) -> str:
    """A file name as valid text, whatever bytes the disk holds."""
    return name.encode("utf-8", "backslashreplace").decode("utf-8")


def stamp_of(form: str, files: Iterable[tuple[str, os.stat_result | None]], now: float) -> str:
    """A text that changes whenever one of the files does; empty when that could not be told."""
    parts = [form]
    for name, status in files:
        if status is None or status.st_mtime > now - RACY_SECONDS:
            return ""
        parts.append(f"{name}:{status.st_mtime_ns}:{status.st_ctime_ns}:{status.st_size}:{status.st_ino}")
    return "|".join(parts)
