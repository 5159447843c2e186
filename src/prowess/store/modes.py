"""Who may read what prowess keeps: nobody but the user whose it is.

A store holds requests of people and hashes of tokens. Files of it are made 0600, in a folder that is 0700
where prowess makes it. The folder `.prowess` and the store's own files are closed again, with a word, where
they are open to others; a folder that somebody else made is never changed, only reported by `prowess doctor`.
"""

import logging
import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from prowess.types import Problem

logger = logging.getLogger("prowess")

FOLDER, FILE = 0o700, 0o600
OTHERS = 0o077
OURS = ".prowess"
PARTS = ("", "-wal", "-shm")


def make_folder(folder: Path) -> None:
    """Make a folder that only its user may enter; one of ours that others may enter is closed."""
    if not folder.is_dir():
        folder.mkdir(parents=True, exist_ok=True, mode=FOLDER)
    elif folder.name == OURS:
        _close(folder, FOLDER)


def make_file(path: Path) -> None:
    """Make the file of a store before the database does, which would let others read it."""
    with suppress(OSError):  # where nothing can be written, the database says so, and better
        try:
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, FILE))
        except FileExistsError:
            for part in _parts(path):
                _close(part, FILE)


def problems(path: Path) -> tuple[Problem, ...]:
    """What others may read of a store, for `prowess doctor`."""
    found = [path.parent, *_parts(path)]
    return tuple(
        Problem(
            "store",
            str(place),
            "others on this machine may read it",
            f"run: chmod go-rwx {place}",
            "warning",
        )
        for place in found
        if _is_open(place)
    )


def _parts(path: Path) -> Iterator[Path]:
    yield from (path.with_name(path.name + part) for part in PARTS)


def _is_open(place: Path) -> bool:
    try:
        return bool(place.stat().st_mode & OTHERS)
    except OSError:
        return False


def _close(place: Path, mode: int) -> None:
    with suppress(OSError):
        found = place.stat()
        if found.st_uid == os.getuid() and found.st_mode & OTHERS:
            place.chmod(mode)
            logger.warning("%s could be read by others on this machine; it is closed to them now", place)
