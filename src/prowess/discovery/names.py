"""Which capabilities a request calls by name, so that they come first whatever else matches.

A name of one common word ("list", "search") counts only when it is all that was asked, or quoted.
"""

import re
from collections.abc import Callable, Iterable

from prowess.discovery.text import folded, joined_name, split_name
from prowess.types import Capability

_QUOTED = re.compile(r"`([^`]+)`|\"([^\"]+)\"|(?<!\w)'([^']+)'(?!\w)|\u201c([^\u201d]+)\u201d")
_WORD = re.compile(r"[^\s`\"'\u201c\u201d,;!?()<>\[\]]+")
_LONGEST_REQUEST = 400


class Names:
    """Finds rows by id or name, also when it is written with other case or separators.

    One table leads from what all ways of writing a name have in common to the rows that may be meant;
    how closely each of them is written is looked at when somebody asks.
    """

    def __init__(self) -> None:
        self._rows: dict[str, tuple[int, ...]] = {}
        self._held: dict[int, Capability] = {}

    def add(self, row: int, capability: Capability) -> None:
        self._held[row] = capability
        for key in _keys(capability):
            self._rows[key] = (*self._rows.get(key, ()), row)

    def drop(self, row: int) -> None:
        for key in _keys(self._held.pop(row)):
            left = tuple(other for other in self._rows[key] if other != row)
            if left:
                self._rows[key] = left
            else:
                del self._rows[key]

    def called(self, request: str) -> set[int]:
        """Rows whose id or name is the request, else is quoted in it, else stands in it as an identifier."""
        quotes = (next(filter(None, quote.groups())) for quote in _QUOTED.finditer(request))
        words = (word.strip(".:") for word in _WORD.findall(request)[:_LONGEST_REQUEST])
        # Most words of a sentence are plain; only the others may be identifiers.
        special = (word for word in words if not (word.isalpha() and word[1:] == word[1:].lower()))
        return (
            self._looked_up(request)
            or {row for quote in quotes for row in self._looked_up(quote)}
            or {row for word in special for row in self._identified(word)}
        )

    def written(self, names: Iterable[str]) -> set[int]:
        """Rows with one of these as id, name or display name, letter case aside."""
        return {row for name in names for row in self._as(name, lambda c: (c.id, c.name, c.display_name))}

    def _looked_up(self, name: str) -> set[int]:
        """The closest way of writing wins: to the letter, then in other case, then without separators."""
        rows = self._rows.get(_key(name))
        if not rows:
            return set()
        letters, joined = name.strip(), joined_name(name)
        return (
            {row for row in rows if letters and letters in (self._held[row].id, self._held[row].name)}
            or self._as(name, lambda c: (c.id,))
            or self._as(name, lambda c: (c.name, c.display_name))
            or {row for row in rows if joined and joined in map(joined_name, _names(self._held[row]))}
        )

    def _as(self, name: str, ways: Callable[[Capability], tuple[str, ...]]) -> set[int]:
        wanted = folded(name).strip()
        rows = self._rows.get(_key(name), ()) if wanted else ()
        return {row for row in rows if any(folded(way).strip() == wanted for way in ways(self._held[row]))}

    def _identified(self, word: str) -> Iterable[int]:
        wanted = _identifier(word)
        rows = self._rows.get(_key(wanted), ()) if wanted else ()
        held = self._held
        return (row for row in rows if wanted in (_identifier(held[row].id), _identifier(held[row].name)))


def _names(capability: Capability) -> tuple[str, str]:
    return capability.name, capability.display_name


def _keys(capability: Capability) -> set[str]:
    return {_key(capability.id), _key(capability.name), _key(capability.display_name)} - {""}


def _key(name: str) -> str:
    """The same for all ways of writing a name; one without letters and digits stands for itself."""
    return joined_name(name) or folded(name).strip()


def _identifier(word: str) -> str:
    """The key of a word nobody writes unless they mean the thing, or nothing: `web_search`, `tool:x`."""
    if ":" in word:
        return folded(word)
    return joined_name(word) if " " in split_name(word) and " " not in word else ""
