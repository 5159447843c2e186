"""Changes to the text of a JSON file, with comments or without, that leave every other character as it was.

Above: `connection`. A text that comes here was read before, so that it is known to be JSON; what JSON allows
and no editor means, a key given twice, is refused.
"""

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

_BLANK = re.compile(r"(?:\s|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_TEXT = re.compile(r'"(?:[^"\\]|\\.)*"')
_PLAIN = re.compile(r"[^\s,\]}/]+")
_MARK = re.compile(r'"(?:[^"\\]|\\.)*"|//[^\n]*|/\*.*?\*/|[\[\]{}]', re.DOTALL)
_REST_OF_LINE = re.compile(r"[ \t]*(?://[^\n]*|/\*[^\n]*?\*/[ \t]*(?=\r?\n))?")

Keys = Sequence[str]


@dataclass(frozen=True, slots=True)
class Member:
    """One key of an object and its value, by their places in the text."""

    key: str
    start: int
    value: int
    end: int


def members(text: str, at: int = 0) -> list[Member]:
    """The members of the object that begins at a place."""
    found: list[Member] = []
    place = _after_blank(text, at + 1)
    while text[place] != "}":
        name = _TEXT.match(text, place)
        if name is None:
            raise ValueError("a key is no text")
        value = _after_blank(text, _after_blank(text, name.end()) + 1)
        end = _end(text, value)
        found.append(Member(json.loads(name[0]), place, value, end))
        place = _after_blank(text, end)
        if text[place] == ",":
            place = _after_blank(text, place + 1)
    if len({member.key for member in found}) < len(found):
        raise ValueError("a key is given twice")
    return found


def check(text: str) -> None:
    """Raise `ValueError` where a key is given twice on the way to any server: which one counts is a guess."""
    for member in members(text, root(text)):
        if text[member.value] == "{":
            members(text, member.value)


def root(text: str) -> int:
    """Where the outermost object begins."""
    return _after_blank(text, 1 if text.startswith("\ufeff") else 0)


def found(text: str, keys: Keys) -> tuple[int, int] | None:
    """Where a value begins and ends, if it is there."""
    start = root(text)
    end = len(text)
    for key in keys:
        if text[start] != "{":
            return None
        member = next((m for m in members(text, start) if m.key == key), None)
        if member is None:
            return None
        start, end = member.value, member.end
    return start, end


def with_value(text: str, keys: Keys, value: Any) -> str:
    """The text with a value at a place, which is made where it is not there."""
    *above, key = keys
    if not text.strip("\ufeff \t\r\n"):
        text = text + "{}\n"
    if above and found(text, above) is None:
        return with_value(text, above, _nested((key,), value))
    return _in_object(text, above, lambda inner, layout: _set(inner, key, value, layout))


def with_member(text: str, keys: Keys, written: str) -> str:
    """The text with a member as it was written elsewhere, in the object at a place."""
    return _in_object(text, keys, lambda inner, layout: _added(inner, written, layout))


def without(text: str, keys: Keys) -> str:
    """The text without a member."""
    *above, key = keys
    return _in_object(text, above, lambda inner, _: _removed(inner, key))


def written(text: str, keys: Keys) -> str:
    """A member as it is written: its key and its value."""
    *above, key = keys
    place = found(text, above)
    assert place is not None
    member = next(m for m in members(text, place[0]) if m.key == key)
    return text[member.start : member.end]


# --- inside one object -----------------------------------------------------------------------


def _in_object(text: str, keys: Keys, change: Callable[[str, "_Layout"], str]) -> str:
    place = found(text, keys)
    assert place is not None
    start = place[0]
    end = _end(text, start)
    layout = _Layout(_indent_at(text, start), _unit(text), "\r\n" if "\r\n" in text else "\n")
    return text[:start] + change(text[start:end], layout) + text[end:]


@dataclass(frozen=True, slots=True)
class _Layout:
    """How a file is laid out around an object; `unit` is empty where all of it is on one line."""

    indent: str
    unit: str
    newline: str

    def rendered(self, inner: str, value: Any) -> str:
        """A value as the members of the object are written: on one line, or on several."""
        there = members(inner)
        on_one_line = "\n" not in inner[: there[-1].start] if there else not self.unit
        if on_one_line:
            return json.dumps(value, ensure_ascii=False)
        own = _indent_at(inner, there[-1].start) if there else self.indent + self.unit
        lines = json.dumps(value, ensure_ascii=False, indent=self.unit).split("\n")
        return f"{self.newline}{own}".join(lines)


def _set(inner: str, key: str, value: Any, layout: _Layout) -> str:
    member = next((m for m in members(inner) if m.key == key), None)
    if member is None:
        return _added(
            inner, f"{json.dumps(key, ensure_ascii=False)}: {layout.rendered(inner, value)}", layout
        )
    return inner[: member.value] + json.dumps(value, ensure_ascii=False) + inner[member.end :]


def _added(inner: str, member: str, layout: _Layout) -> str:
    there = members(inner)
    if not there:
        blank = inner[1:-1].rstrip()
        if not layout.unit and not blank:
            return f"{{{member}}}"
        own = f"{layout.newline}{layout.indent}"
        return f"{{{blank}{own}{layout.unit}{member}{own}}}"
    last = there[-1]
    comma = _after_blank(inner, last.end)
    trailing = inner[comma] == ","
    place = comma + 1 if trailing else last.end
    rest = _REST_OF_LINE.match(inner, place)
    assert rest is not None
    ending = "," if trailing else ""
    if "\n" not in inner[: last.start]:
        return f"{inner[:place]}{'' if trailing else ','} {member}{ending}{inner[place:]}"
    own = f"{layout.newline}{_indent_at(inner, last.start)}{member}{ending}"
    return f"{inner[:place]}{'' if trailing else ','}{rest[0]}{own}{inner[rest.end() :]}"


def _removed(inner: str, key: str) -> str:
    there = members(inner)
    number = next(at for at, m in enumerate(there) if m.key == key)
    member = there[number]
    before = there[number - 1].end if number else 0
    comma = _after_blank(inner, before)
    start = comma + 1 if number else 1
    rest = _REST_OF_LINE.match(inner, start)
    assert rest is not None
    # A comment at the end of a line belongs to what stands before it.
    start = rest.end() if "//" in rest[0] or "/*" in rest[0] else start
    after = _after_blank(inner, member.end)
    if inner[after] == ",":
        own = _REST_OF_LINE.match(inner, after + 1)
        assert own is not None
        comment = "//" in own[0] or "/*" in own[0]
        return inner[:start] + inner[own.end() if comment else after + 1 :]
    kept = inner[:comma] + inner[comma + 1 : start] if number else inner[:start]
    own = _REST_OF_LINE.match(inner, member.end)
    assert own is not None
    return kept + inner[own.end() :]


# --- places and indentation ------------------------------------------------------------------


def _after_blank(text: str, at: int) -> int:
    blank = _BLANK.match(text, at)
    assert blank is not None
    return blank.end()


def _end(text: str, at: int) -> int:
    """Where the value that begins at a place ends."""
    if text[at] not in "{[":
        value = _TEXT.match(text, at) or _PLAIN.match(text, at)
        if value is None:
            raise ValueError("a value is missing")
        return value.end()
    depth = 0
    for mark in _MARK.finditer(text, at):
        depth += {"{": 1, "[": 1, "}": -1, "]": -1}.get(mark[0], 0)
        if depth == 0:
            return mark.end()
    raise ValueError("an object is not closed")


def _indent_at(text: str, at: int) -> str:
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _unit(text: str) -> str:
    """By how much one level is indented: that of the outermost object, or nothing on one line."""
    there = members(text, root(text))
    if "\n" not in text.strip():
        return "" if there else "  "
    return (_indent_at(text, there[0].start) if there else "") or "  "


def _nested(keys: Keys, value: Any) -> Any:
    for key in reversed(keys):
        value = {key: value}
    return value
