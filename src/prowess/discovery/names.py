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
        """Rows whose id or name is the request, is quoted in it, or stands in it as an identifier."""
        found = self._looked_up(request)
        for quote in _QUOTED.finditer(request):
            found |= self._looked_up(next(filter(None, quote.groups())))
        for word in _WORD.findall(request)[:_LONGEST_REQUEST]:
            found |= self._identifiers.get(_identifier(word.strip(".:")), set())
        return found

    def written(self, names: Iterable[str]) -> set[int]:
        """Rows with one of these as id, name or display name, letter case aside."""
        return {row for name in names for row in self._written.get(folded(name).strip(), ())}

    def _looked_up(self, name: str) -> set[int]:
        written = self._written.get(folded(name).strip(), set())
        return set(written or self._joined.get(joined_name(name), set()))

    def _keys(self, capability: Capability) -> Iterable[tuple[dict[str, set[int]], set[str]]]:
        names = (capability.name, capability.display_name)
        yield self._written, {folded(name).strip() for name in (capability.id, *names)} - {""}
        yield self._joined, {joined_name(name) for name in names} - {""}
        yield self._identifiers, {_identifier(capability.id), _identifier(capability.name)} - {""}


def _identifier(word: str) -> str:
    """The key of a word nobody writes unless they mean the thing, or nothing: `web_search`, `tool:x`."""
    if ":" in word:
        return folded(word)
    return joined_name(word) if " " in split_name(word) and " " not in word else ""
