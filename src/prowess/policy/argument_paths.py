"""Whether a path that somebody gave lies under a folder, told from its text alone.

The file may be on another machine, so no link is followed and nothing is looked up. What another reader could
take for a path elsewhere is neither under the folder nor outside it: it cannot be decided.
"""

import re

from prowess.policy.spelling import composed

_DRIVE = re.compile(r"[A-Za-z]:/")
_CODED = re.compile(r"%(?:2e|2f|5c|25|00)", re.IGNORECASE)


def is_under(path: str, folder: str) -> bool | None:
    """Whether `path` is `folder` or in it; None where its text does not tell.

    path: as it was given.
    folder: as the rule names it.
    """
    parts, within = _parts(path), _parts(folder)
    # Elsewhere than on Windows a backslash is a letter of a name.
    if "\\" in path and not _DRIVE.match(folder):
        return None
    if parts is None or within is None or _is_absolute(path) != _is_absolute(folder):
        return None
    if parts[: len(within)] == within:
        return True
    folded = [one.casefold() for one in parts[: len(within)]]
    # A file system that does not tell capitals apart would find it there.
    return None if folded == [one.casefold() for one in within] else False


def _parts(path: str) -> list[str] | None:
    text = composed(path).replace("\\", "/")
    if not text or text.startswith("~") or "://" in text or not text.isprintable() or _CODED.search(text):
        return None
    parts = [part for part in text.split("/") if part not in ("", ".")]
    # A step up may leave by a link; names that end in blanks or dots are others on Windows.
    odd = any(part == ".." or part != part.rstrip(" .") for part in parts)
    return None if odd else parts


def _is_absolute(path: str) -> bool:
    text = path.replace("\\", "/")
    return text.startswith("/") or _DRIVE.match(text) is not None
