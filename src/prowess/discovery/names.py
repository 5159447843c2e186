"""Which capabilities a request calls by name, so that they come first whatever else matches.

A name of one common word ("list", "search") counts only when it is all that was asked, or quoted.
"""

import re
from collections.abc import Iterable

from prowess.discovery.text import folded, joined_name, split_name
from prowess.types import Capability

_QUOTED = re.compile(r"`([^`]+)`|\"([^\"]+)\"|(?<!\w)'([^']+)'(?!\w)|\u201c([^\u201d]+)\u201d")
_WORD = re.compile(r"[^\s`\"'\u201c\u201d,;!?()<>\[\]]+")
_LONGEST_REQUEST = 400


class Names:
    """Finds rows by id or name, also when it is written with other case or separators."""

    def __init__(self) -> None:
        self._exact: dict[str, set[int]] = {}
        self._ids: dict[str, set[int]] = {}
        self._written: dict[str, set[int]] = {}
        self._joined: dict[str, set[int]] = {}
        self._identifiers: dict[str, set[int]] = {}

    def add(self, row: int, capability: Capability) -> None:
        for table, keys in self._keys(capability):
            for key in keys:
                table.setdefault(key, set()).add(row)

    def drop(self, row: int, capability: Capability) -> None:
        for table, keys in self._keys(capability):
            for key in keys:
                table.get(key, set()).discard(row)
                if not table.get(key):
                    table.pop(key, None)

    def called(self, request: str) -> set[int]:
        """Rows whose id or name is the request, else is quoted in it, else stands in it as an identifier."""
        quotes = (next(filter(None, quote.groups())) for quote in _QUOTED.finditer(request))
        words = (_identifier(word.strip(".:")) for word in _WORD.findall(request)[:_LONGEST_REQUEST])
        return (
            self._looked_up(request)
            or {row for quote in quotes for row in self._looked_up(quote)}
            or {row for word in words for row in self._identifiers.get(word, ())}
        )

    def written(self, names: Iterable[str]) -> set[int]:
        """Rows with one of these as id, name or display name, letter case aside."""
        keys = [folded(name).strip() for name in names]
        return {row for key in keys for table in (self._ids, self._written) for row in table.get(key, ())}

    def _looked_up(self, name: str) -> set[int]:
        """The closest way of writing wins: to the letter, then in other case, then without separators."""
        key = folded(name).strip()
        tables = (self._exact, name.strip()), (self._ids, key), (self._written, key)
        closest = (table[written] for table, written in tables if written in table)
        return set(next(closest, self._joined.get(joined_name(name), ())))

    def _keys(self, capability: Capability) -> Iterable[tuple[dict[str, set[int]], set[str]]]:
        names = (capability.name, capability.display_name)
        yield self._exact, {capability.id, capability.name} - {""}
        yield self._ids, {folded(capability.id).strip()} - {""}
        yield self._written, {folded(name).strip() for name in names} - {""}
        yield self._joined, {joined_name(name) for name in names} - {""}
        yield self._identifiers, {_identifier(capability.id), _identifier(capability.name)} - {""}


def _identifier(word: str) -> str:
    """The key of a word nobody writes unless they mean the thing, or nothing: `web_search`, `tool:x`."""
    if ":" in word:
        return folded(word)
    return joined_name(word) if " " in split_name(word) and " " not in word else ""
