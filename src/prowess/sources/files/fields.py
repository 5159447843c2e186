"""The fields of one entry, read by name and type, with an error a person can act on.

Above: the sources of files. Names may be written in camelCase, snake_case or kebab-case; here they
are always snake_case. What nobody knows is a warning, because such files carry other systems' fields.
"""

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from unicodedata import normalize

from prowess.errors import SourceError, nearest
from prowess.text.values import Json, quoted
from prowess.types import JsonObject, Problem

LONGEST_NAME = 128
LONGEST_LINE = 256
LONGEST_TEXT = 8192
MOST_ITEMS = 256

_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_SWITCHES: Mapping[Json, bool] = {"yes": True, "on": True, "no": False, "off": False}
_TYPE_WORDS = {str: "text", bool: "true or false", int: "a number", float: "a number", list: "a list"}


class Fields:
    """One mapping of a file; `place` says where it stands when something is wrong with it."""

    def __init__(self, place: str, values: Mapping[str, Json], within: str = "") -> None:
        self.place = place
        self.within = within
        self._written: dict[str, str] = {}
        self._values: dict[str, Json] = {}
        for key, value in values.items():
            name = key if key.isalpha() and key.islower() else snake(key)
            if name in self._values:
                both = f"{quoted(self._written[name])} and {quoted(key)}"
                raise self.error(f"{both} are the same field", "keep one of them")
            self._written[name] = key
            self._values[name] = value

    def __contains__(self, name: str) -> bool:
        return self._values.get(name) is not None

    def error(self, what: str, remedy: str) -> SourceError:
        return SourceError(self.place, f"{self.within}: {what}" if self.within else what, remedy)

    def wrong(self, name: str, wanted: str) -> SourceError:
        value = self._values.get(name)
        got = "a mapping" if isinstance(value, Mapping) else _TYPE_WORDS.get(type(value), "nothing")
        written = quoted(self._written.get(name, name))
        return self.error(f"{written} must be {wanted}, not {got}", f"correct {written}")

    def raw(self, name: str) -> Json:
        return self._values.get(name)

    def required(self, name: str, limit: int = LONGEST_TEXT) -> str:
        value = self.text(name, limit)
        if not value:
            raise self.error(f"{name!r} is missing", f"add a line '{name}: ...'")
        return value

    def text(self, name: str, limit: int = LONGEST_TEXT) -> str:
        value = self._values.get(name)
        if value is None:
            return ""
        if not isinstance(value, str):
            raise self.wrong(name, "text (put it in quotes)")
        if len(value) > limit:
            raise self.error(f"{self._written[name]!r} is longer than {limit} characters", "shorten it")
        return value.strip()

    def label(self, name: str, limit: int = LONGEST_LINE) -> str:
        """A text of one line that a list, a command or a prompt can show as it is."""
        value = normalize("NFC", self.text(name, limit))
        if not value.isprintable():
            raise self.error(
                f"{self._written[name]!r} holds a control character", "write it as one plain line"
            )
        return value

    def version(self, name: str) -> str:
        value = self._values.get(name)
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        return str(value) if is_number else self.label(name, 64)

    def labels(self, name: str, limit: int = LONGEST_NAME) -> tuple[str, ...]:
        """A list of short texts, in the order written, each once."""
        value = self._values.get(name)
        if value is None:
            return ()
        if not isinstance(value, list):
            raise self.wrong(name, "a list, such as [one, two]")
        if len(value) > MOST_ITEMS:
            raise self.error(f"{self._written[name]!r} lists more than {MOST_ITEMS} items", "shorten it")
        return tuple(dict.fromkeys(self._item(name, item, limit) for item in value))

    def words(self, name: str) -> tuple[str, ...]:
        """A list of short texts, which may also be written as one text with commas or spaces."""
        value = self._values.get(name)
        if isinstance(value, str):
            self._values[name] = [word for word in re.split(r"[,\s]+", value) if word]
        return self.labels(name)

    def _item(self, name: str, item: Json, limit: int) -> str:
        text = normalize("NFC", item.strip()) if isinstance(item, str) else _number_text(item)
        if not text or len(text) > limit or not text.isprintable():
            written = self._written[name]
            raise self.error(
                f"an item of {written!r} is not a text of 1 to {limit} characters",
                f"list plain words under {written!r}, in quotes where needed",
            )
        return text

    def flag(self, name: str) -> bool | None:
        value = self._values.get(name)
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, str) and value.lower() in _SWITCHES:
            return _SWITCHES[value.lower()]
        raise self.wrong(name, "true or false")

    def number(self, name: str, low: float, high: float) -> float | None:
        value = self._values.get(name)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
            raise self.wrong(name, f"a number from {low:g} to {high:g}")
        if not low <= value <= high:
            written = self._written[name]
            raise self.error(f"{written!r} is {value:g}, outside {low:g} to {high:g}", f"correct {written!r}")
        return value

    def whole(self, name: str, low: int, high: int) -> int | None:
        value = self.number(name, low, high)
        if value is not None and not isinstance(value, int):
            raise self.wrong(name, f"a whole number from {low} to {high}")
        return value

    def mapping(self, name: str) -> JsonObject | None:
        value = self._values.get(name)
        if value is None:
            return None
        if not isinstance(value, Mapping):
            raise self.wrong(name, "a mapping of keys to values")
        return value

    def inner(self, name: str) -> "Fields":
        return Fields(self.place, self.mapping(name) or {}, within=name)

    def overlaid(self, values: Mapping[str, Json]) -> "Fields":
        """The same fields with some of them replaced."""
        return Fields(self.place, {**self._values, **values}, self.within)

    def unknown(self, source: str, known: Iterable[str]) -> tuple[Problem, ...]:
        """A warning for each field that is not among the known ones."""
        strange = self._values.keys() - frozenset(known)
        return tuple(self._stranger(source, name, known) for name in self._written if name in strange)

    def strangers(self, known: Iterable[str]) -> list[str]:
        """The keys that are not among the known ones, as they are written."""
        names = frozenset(known)
        return [written for name, written in self._written.items() if name not in names]

    def _stranger(self, source: str, name: str, known: Iterable[str]) -> Problem:
        written = self._written[name]
        close = _as_written(nearest(name, known), written)
        remedy = f"did you mean {close!r}?" if close else "remove it, or move it under 'metadata'"
        problem = self.error(f"unknown key {quoted(written)} is ignored", remedy).problem(source)
        return replace(problem, severity="warning")


def _number_text(item: Json) -> str:
    return str(item) if isinstance(item, int | float) and not isinstance(item, bool) else ""


def snake(name: str) -> str:
    return _HUMP.sub("_", name).replace("-", "_").lower()


def _as_written(name: str, example: str) -> str:
    if "-" in example:
        return name.replace("_", "-")
    return camel(name) if any(letter.isupper() for letter in example) else name


def camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)
