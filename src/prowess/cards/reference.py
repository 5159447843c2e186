"""The deep reference: read when somebody asks, from the places that are allowed and nowhere else."""

import os
from collections.abc import Sequence
from pathlib import Path

from prowess.cards.card import Guard
from prowess.errors import NotFound, SourceError
from prowess.sources.files.reading import KIBIBYTE, read_text

MAX_REFERENCE_BYTES = 50 * KIBIBYTE


def read_reference(root: Path, allowed: Sequence[str], path: str, guard: Guard) -> str:
    """The text at a path that lies in one of the allowed files or folders, past the guard."""
    folder, name = _located(root, allowed, path)
    text = read_text(folder, name, limit=MAX_REFERENCE_BYTES, links=False)
    guarded = guard(text)
    if guarded.reasons:
        what = f"is rejected by the guard: {'; '.join(guarded.reasons)}"
        raise SourceError(os.path.join(folder, name), what, "have a person look at the file")
    return guarded.text


def _located(root: Path, allowed: Sequence[str], path: str) -> tuple[str, str]:
    """The allowed folder and the name in it; everything else about the path is checked at opening."""
    wanted = os.path.normpath(path) if path else ""
    for place in map(os.path.normpath, allowed):
        full = root / place
        if full.is_dir():
            within = wanted.removeprefix(place + os.sep)
            if within != wanted or (within and os.path.lexists(full / within)):
                return str(full), within
        elif wanted in ("", place, os.path.basename(place)):
            return str(full.parent), full.name
    raise NotFound("reference", path, allowed, f"there are: {', '.join(allowed) or 'none'}")
