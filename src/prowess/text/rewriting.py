"""A file of text and what it becomes: the difference as people read it, what to keep to go back, the writing.

Pure but for `replace_text`. Above: changes of prowess.toml and of policy files, each with its own errors.
"""

import difflib
import hashlib
import os
import tempfile
from pathlib import Path


def text_digest(text: str) -> str:
    """Names a text that was looked at."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def difference(name: str, before: str, after: str) -> tuple[str, ...]:
    """The lines that differ, as a pull request shows them."""
    texts = before.splitlines(), after.splitlines()
    return tuple(difflib.unified_diff(*texts, name, name, lineterm="", n=1))


def cut(before: str, after: str) -> tuple[int, str, str]:
    """Where two texts part, and what stands there in each: all it takes to make one of the other."""
    at = _common(before, after)
    rest = min(len(before), len(after)) - at
    same = min(rest, _common(before[::-1], after[::-1]))
    return at, before[at : len(before) - same], after[at : len(after) - same]


def replace_text(file: Path, text: str, mode: int | None = None) -> None:
    """Put a text in the place of a file's, whole or not at all.

    mode: its permissions; without it, those that the file has.
    """
    with tempfile.NamedTemporaryFile("wb", dir=file.parent, delete=False) as fresh:
        fresh.write(text.encode())
        fresh.flush()
        os.fsync(fresh.fileno())
    os.chmod(fresh.name, file.stat().st_mode & 0o777 if mode is None else mode)
    os.replace(fresh.name, file)


def _common(one: str, other: str) -> int:
    """How many letters both begin with."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (left, right) in pairs if left != right), min(len(one), len(other)))
