"""Which capabilities a request calls by name, so that they come first whatever else matches.

A name of one common word ("list", "search") counts only when it is all that was asked, or quoted.
"""

import re
from collections.abc import Callable, Collection, Iterable

from prowess.discovery.text import folded, joined_name, split_name
from prowess.types import Capability

_QUOTED = re.compile(r"`([^`]+)`|\"([^\"]+)\"|(?<!\w)'([^']+)'(?!\w)|\u201c([^\u201d]+)\u201d")
_WORD = re.compile(r"[^\s`\"'\u201c\u201d,;!?()<>\[\]]+")
# What people write after a name: `get_user()`, "web-search?"
_ENDINGS = " \t\n.,;:!?()"
_LONGEST_REQUEST = 400


class NameIndex:
    """Finds rows by id or name, also when it is written with other case or separators.

    One table leads from what all ways of writing a name have in common to the rows that may be meant;
    how closely each of them is written is looked at when somebody asks.
    """

    def __init__(self) -> None:
        self._rows: dict[str, tuple[int, ...]] = {}
        self._held: dict[int, Capability] = {}

    def copied(self) -> "NameIndex":
        """The same names, to be changed without changing these."""
        other = NameIndex()
        other._rows, other._held = self._rows.copy(), self._held.copy()
        return other

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
        quotes, special = _quotes(request), _special(request)
        return (
            self._closest(request, self._alike(request))
            or {row for quote in quotes for row in self._looked_up(quote)}
            or self._looked_up(request)
            or {row for word in special for row in self._identified(word)}
        )

    def written(self, names: Iterable[str]) -> set[int]:
        """Rows with one of these as id, name or display name, letter case aside."""
        return {
            row
            for name in names
            for row in self._alike(name)
            if _is_loosely(name, self._held[row].id, *_names(self._held[row]))
        }

    def _alike(self, name: str) -> tuple[int, ...]:
        return self._rows.get(name_key(name), ())

    def _looked_up(self, name: str) -> set[int]:
        """What is written like this, else what has this name without separators."""
        rows = self._alike(name)
        if not rows:
            return set()
        joined = joined_name(name)
        return (
            self._closest(name, rows)
            or self._closest(name.rstrip(_ENDINGS), rows)
            or {row for row in rows if joined and joined in map(joined_name, _names(self._held[row]))}
        )

    def _identified(self, word: str) -> set[int]:
        wanted, held = _identifier(word), self._held
        rows = self._alike(wanted) if wanted else ()
        meant = {row for row in rows if wanted in (_identifier(held[row].id), _identifier(held[row].name))}
        return self._closest(word, meant) or meant

    def _closest(self, name: str, rows: Collection[int]) -> set[int]:
        """The closest way of writing that there is wins: to the letter, then in other case."""
        if not rows:
            return set()
        letters = name.strip()
        ways: tuple[Callable[[Capability], bool], ...] = (
            lambda c: letters in (c.id, c.name),
            lambda c: letters == c.display_name,
            lambda c: _is_loosely(name, c.id),
            lambda c: _is_loosely(name, *_names(c)),
        )
        found = ({row for row in rows if is_written(self._held[row])} for is_written in ways)
        return next(filter(None, found), set())


def keys_in(request: str) -> set[str]:
    """Everything a request may call a capability by, as `name_key` writes it."""
    return {*map(name_key, (request, *_quotes(request))), *map(_identifier, _special(request))} - {""}


def _quotes(request: str) -> list[str]:
    return [next(filter(None, quote.groups())) for quote in _QUOTED.finditer(request)]


def _special(request: str) -> list[str]:
    """Most words of a sentence are plain; only the others may be identifiers."""
    words = (word.strip(".:") for word in _WORD.findall(request)[:_LONGEST_REQUEST])
    return [word for word in words if not (word.isalpha() and word[1:] == word[1:].lower())]


def _names(capability: Capability) -> tuple[str, str]:
    return capability.name, capability.display_name


def _keys(capability: Capability) -> set[str]:
    return {name_key(capability.id), *map(name_key, _names(capability))} - {""}


def _is_loosely(name: str, *ways: str) -> bool:
    wanted = folded(name).strip()
    return any(folded(way).strip() == wanted for way in ways)


def name_key(name: str) -> str:
    """The same for all ways of writing a name; one without letters and digits stands for itself."""
    return joined_name(name) or folded(name).strip()


def _identifier(word: str) -> str:
    """The key of a word nobody writes unless they mean the thing, or nothing: `web_search`, `tool:x`."""
    if ":" in word:
        return folded(word)
    return joined_name(word) if " " in split_name(word) and " " not in word else ""
