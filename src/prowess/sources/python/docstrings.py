"""What a docstring says: its first paragraph, and a line for each parameter.

Understands the sections of Google and NumPy and the fields of reStructuredText.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from inspect import cleandoc
from itertools import pairwise, takewhile
from typing import NamedTuple

_SECTION = r"(?:Args|Arguments|Params|Parameters|Other Parameters|Keyword Args|Keyword Arguments)"
_GOOGLE_HEADER = re.compile(rf"\s*{_SECTION}:\s*\Z")
_GOOGLE_ITEM = re.compile(r"\s*\*{0,2}(\w+)\s*(?:\(.*?\))?\s*:(?:\s+(.*))?\Z")
_NUMPY_HEADER = re.compile(r"\s*(?:Other )?Parameters\s*\Z")
_NUMPY_RULE = re.compile(r"\s*-{3,}\s*\Z")
_NUMPY_ITEM = re.compile(r"\s*\*{0,2}(\w+)\s*(?::.*)?()\Z")
_REST_ITEM = re.compile(
    r"\s*:(?:param|parameter|arg|argument|key|keyword)\s+(?:[^:]*\s)?\*{0,2}(\w+)\s*:\s*(.*)\Z"
)
_ANY_SECTION = re.compile(r"\s*(?:[A-Z][A-Za-z ]{2,20}:|:\w+[^:]*:.*)\s*\Z")


class Docstring(NamedTuple):
    summary: str = ""
    parameters: Mapping[str, str] = {}


def parse_docstring(text: str | None) -> Docstring:
    if not text:
        return Docstring()
    lines = cleandoc(text).split("\n")
    return Docstring(_summary(lines), {**_rest(lines), **_numpy(lines), **_google(lines)})


def _summary(lines: Sequence[str]) -> str:
    paragraph = takewhile(lambda line: line.strip() and not _ANY_SECTION.match(line), lines)
    return " ".join(line.strip() for line in paragraph)


def _google(lines: Sequence[str]) -> Mapping[str, str]:
    found: dict[str, str] = {}
    for number, line in enumerate(lines):
        if _GOOGLE_HEADER.match(line):
            found.update(_items(list(_indented(lines[number + 1 :], _indent(line))), _GOOGLE_ITEM))
    return found


def _indented(lines: Sequence[str], indent: int) -> Iterator[str]:
    return takewhile(lambda line: not line.strip() or _indent(line) > indent, lines)


def _numpy(lines: Sequence[str]) -> Mapping[str, str]:
    found: dict[str, str] = {}
    for number, (line, rule) in enumerate(pairwise(lines)):
        if _NUMPY_HEADER.match(line) and _NUMPY_RULE.match(rule):
            found.update(_items(list(_until_next_rule(lines[number + 2 :])), _NUMPY_ITEM))
    return found


def _until_next_rule(lines: Sequence[str]) -> Iterator[str]:
    for line, below in zip(lines, [*lines[1:], ""], strict=True):
        if _NUMPY_RULE.match(below):
            return
        yield line


def _rest(lines: Sequence[str]) -> Mapping[str, str]:
    start = next((number for number, line in enumerate(lines) if _REST_ITEM.match(line)), len(lines))
    return _items(lines[start:], _REST_ITEM)


def _items(lines: Sequence[str], pattern: re.Pattern[str]) -> dict[str, str]:
    """Items stand at the indent of the first line; what is indented further continues one."""
    found: dict[str, list[str]] = {}
    filled = [line for line in lines if line.strip()]
    current: list[str] = []
    for line in filled:
        if _indent(line) > _indent(filled[0]):
            current.append(line.strip())
            continue
        item = pattern.match(line)
        current = [item[2] or ""] if item else []
        if item:
            found[item[1]] = current
    return {name: " ".join(parts).strip() for name, parts in found.items()}


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())
