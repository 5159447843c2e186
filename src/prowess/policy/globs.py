"""Globs: `*` for any run of characters. Nothing here backtracks, so no pattern can make a decision slow."""

from bisect import bisect_left
from collections.abc import Sequence
from functools import lru_cache

AFTER_ANY = "\U0010ffff"


def glob_matches(glob: str, name: str) -> bool:
    """In time linear in the name: no backtracking, so no pattern can make a decision slow."""
    first, *middle, last = _parts(glob)
    at, end = len(first), len(name) - len(last)
    if end < at or not name.startswith(first) or not name.endswith(last):
        return False
    for part in middle:
        found = name.find(part, at, end)
        if found < 0:
            return False
        at = found + len(part)
    return True


@lru_cache(maxsize=4096)
def _parts(glob: str) -> tuple[str, ...]:
    parts = glob.split("*")
    return (parts[0], *(part for part in parts[1:-1] if part), parts[-1])


class Ordered:
    """Names in order, each with its id, so that a glob looks only where it can match."""

    def __init__(self, names: list[str], ids: list[str]) -> None:
        self._names = names
        self._ids = ids
        self._backwards: tuple[list[str], list[str]] | None = None

    def matching(self, glob: str) -> Sequence[str]:
        first, *middle, last = _parts(glob)
        names, ids = self._names, self._ids
        if first:
            low, high = _range(names, first)
        elif last:
            names, ids = self._reversed()
            low, high = _range(names, last[::-1])
            glob, last = glob[::-1], ""
        else:
            low, high = 0, len(names)
        if not middle and (not first or not last):
            return ids[low:high]
        if low == 0 and high == len(names) and len(middle) == 1 and glob == f"*{middle[0]}*":
            return [id for name, id in zip(names, ids, strict=True) if middle[0] in name]
        within = zip(names[low:high], ids[low:high], strict=True)
        return [id for name, id in within if name.endswith(last) and glob_matches(glob, name)]

    def _reversed(self) -> tuple[list[str], list[str]]:
        """The same names read backwards, for globs of which only the end is known."""
        if self._backwards is None:
            pairs = sorted(zip((name[::-1] for name in self._names), self._ids, strict=True))
            self._backwards = [name for name, _ in pairs], [id for _, id in pairs]
        return self._backwards


def _range(names: list[str], start: str) -> tuple[int, int]:
    low = bisect_left(names, start)
    return low, bisect_left(names, start + AFTER_ANY, low)
