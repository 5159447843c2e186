"""Links Notation: records of an id and named values, as text that a reader turns back.

The notation has no escape of its own: a quote inside quotes is doubled. What a line cannot hold is
escaped before that. The original escaping leaves the backslash alone, so that a line break and the two
characters backslash and n read alike; it is here for texts that must match the original byte for byte.
The corrected one doubles the backslash first, and `read` inverts it for any text.
"""

from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple, TypeAlias

from prowess.errors import LearningError

Escaping: TypeAlias = Literal["corrected", "original"]
Pairs: TypeAlias = Sequence[tuple[str, str]]

SPECIAL_IN_KEYS = "()'\":"
ESCAPED = {"r": "\r", "n": "\n", "t": "\t", "\\": "\\"}


class Record(NamedTuple):
    """An id and what is said about it, in order; a key may occur more than once."""

    id: str
    pairs: tuple[tuple[str, str], ...]

    def first(self, key: str) -> str:
        return next((value for name, value in self.pairs if name == key), "")


def written(records: Iterable[Record], escaping: Escaping = "corrected") -> str:
    """Records below each other, without a line break at the end."""
    return "\n".join(_record(record, escaping) for record in records)


def read(text: str, escaping: Escaping = "corrected") -> tuple[Record, ...]:
    """The records of a text; raises `LearningError` with the place where it is no Links Notation."""
    return _Reader(text, escaping).records()


def _record(record: Record, escaping: Escaping) -> str:
    if not record.id or (escaping == "corrected" and ("\n" in record.id or record.id.startswith("  "))):
        raise LearningError("a record", f"the id {record.id!r} cannot stand on a line", "give it a plain id")
    lines = [f"  {_key(key)} {_value(value, escaping)}" for key, value in record.pairs]
    return "\n".join([record.id, *lines])


def _key(key: str) -> str:
    if key and not any(c.isspace() or c in SPECIAL_IN_KEYS for c in key):
        return key
    if "'" in key and (key.count('"') < key.count("'")):
        return '"' + key.replace('"', '""') + '"'
    return "'" + key.replace("'", "''") + "'"


def _value(value: str, escaping: Escaping) -> str:
    plain = value.replace("\\", "\\\\") if escaping == "corrected" else value
    plain = plain.replace("\r", "\\r").replace("\n", "\\n").replace("\t", "\\t")
    return "'" + plain.replace("'", "''") + "'" if '"' in plain else f'"{plain}"'


class _Reader:
    def __init__(self, text: str, escaping: Escaping) -> None:
        self._text = text
        self._at = 0
        self._escaping = escaping

    def records(self) -> tuple[Record, ...]:
        found: list[Record] = []
        while self._at < len(self._text):
            found.append(Record(self._line(), tuple(self._pairs())))
        return tuple(found)

    def _line(self) -> str:
        end = self._text.find("\n", self._at)
        end = len(self._text) if end < 0 else end
        line, self._at = self._text[self._at : end], end + 1
        if not line:
            raise self._wrong("a record has no id")
        return line

    def _pairs(self) -> Iterable[tuple[str, str]]:
        while self._text.startswith("  ", self._at):
            self._at += 2
            key = self._quoted() if self._text[self._at : self._at + 1] in ("'", '"') else self._bare()
            self._expect(" ")
            value = _unescaped(self._quoted(), self._escaping)
            if self._at < len(self._text):
                self._expect("\n")
            yield key, value

    def _bare(self) -> str:
        end = self._text.find(" ", self._at)
        if end <= self._at or "\n" in self._text[self._at : end]:
            raise self._wrong("a key without a value")
        key, self._at = self._text[self._at : end], end
        return key

    def _quoted(self) -> str:
        quote = self._text[self._at : self._at + 1]
        if quote not in ("'", '"'):
            raise self._wrong("a value without quotes")
        parts: list[str] = []
        self._at += 1
        while True:
            end = self._text.find(quote, self._at)
            if end < 0:
                raise self._wrong("a quote that is not closed")
            parts.append(self._text[self._at : end])
            self._at = end + 1
            if not self._text.startswith(quote, self._at):
                return "".join(parts)
            parts.append(quote)
            self._at += 1

    def _expect(self, wanted: str) -> None:
        if not self._text.startswith(wanted, self._at):
            raise self._wrong(f"{wanted!r} is missing")
        self._at += 1

    def _wrong(self, what: str) -> LearningError:
        line = self._text.count("\n", 0, self._at) + 1
        return LearningError(f"links notation, line {line}", what, "write it with prowess")


def _unescaped(value: str, escaping: Escaping) -> str:
    if "\\" not in value:
        return value
    parts: list[str] = []
    at = 0
    while at < len(value):
        if value[at] == "\\" and (meant := _meant(value[at + 1 : at + 2], escaping)):
            parts.append(meant)
            at += 2
        else:
            parts.append(value[at])
            at += 1
    return "".join(parts)


def _meant(letter: str, escaping: Escaping) -> str:
    return "" if escaping == "original" and letter == "\\" else ESCAPED.get(letter, "")
