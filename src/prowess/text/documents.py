"""Text in, plain values out: YAML, JSON, and markdown with frontmatter, all within bounds.

Above: the sources that read files. Below: the YAML parser, used for its events only, so that depth,
aliases and duplicate keys are checked before anything is built and the parser's own recursion,
which deep nesting can crash, never runs.

YAML scalars follow the core schema of YAML 1.2: `true`, `null` and numbers are values; everything
else, `no`, `12:30` and `2026-01-31` included, is the text that was written. Keys are always text.
"""

import json
import math
import re
from collections import Counter
from collections.abc import Callable, Collection, Mapping
from typing import Any, NamedTuple

import yaml

from prowess.errors import SourceError
from prowess.text.values import Json, is_storable, quoted

DEPTH = 64
ALIASED_NODES = 20_000
"""How many nodes aliases may stand for, all together; a bomb asks for billions."""

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_WORDS: dict[str, Json] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_INTEGER = re.compile(r"[-+]?[0-9]+\Z|0o[0-7]+\Z|0x[0-9a-fA-F]+\Z")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?\Z")
_TEXT_TAGS = (None, "!", "tag:yaml.org,2002:str")
_LONGEST_NUMBER = 400
_FENCE = "---"


def parse_yaml(
    text: str, place: str, first_line: int = 1, *, aliases: bool = True, as_text: Collection[str] = ()
) -> Json:
    """The one document in this text; nothing at all is null.

    aliases: whether they are read.
    as_text: keys whose plain values stay the text that was written, such as a version 1.10.
    """
    try:
        return _Builder(place, _LOADER(text).get_event, first_line, aliases, as_text).document()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = f"line {mark.line + first_line}, column {mark.column + 1}: " if mark else ""
        what = f"{where}not valid YAML: {error.problem or error.context}"
        raise SourceError(place, what, "correct the YAML there") from error
    # The loader in pure Python lets some errors of its own conversions through.
    except (yaml.YAMLError, ValueError, OverflowError) as error:
        reason = str(error).split("\n")[0]
        raise SourceError(place, f"not valid YAML: {reason}", "save it as plain text") from error


class _Anchor(NamedTuple):
    value: Json
    nodes: int
    height: int


class _Builder:
    """Builds one value from parser events, counting what aliases stand for."""

    def __init__(
        self, place: str, next_event: Callable[[], Any], first_line: int, aliases: bool,
        as_text: Collection[str],
    ) -> None:  # fmt: skip
        self._place = place
        self._next = next_event
        self._first_line = first_line
        self._aliases = aliases
        self._as_text = as_text
        self._anchors: dict[str, _Anchor] = {}
        self._nodes = 0
        self._aliased = 0
        self._deepest = 0

    def document(self) -> Json:
        self._next()
        if isinstance(self._next(), yaml.StreamEndEvent):
            return None
        value = self._node(self._next(), 0)
        self._next()
        following = self._next()
        if not isinstance(following, yaml.StreamEndEvent):
            raise self._refuse(following, "a second document begins", "keep one document in the file")
        return value

    def _node(self, event: Any, depth: int) -> Json:
        if isinstance(event, yaml.AliasEvent):
            return self._alias(event, depth)
        self._nodes += 1
        if event.anchor is not None:
            return self._anchored(event, depth)
        return self._plain_node(event, depth)

    def _plain_node(self, event: Any, depth: int) -> Json:
        if isinstance(event, yaml.ScalarEvent):
            text = self._text(event)
            return _plain_scalar(text) if event.implicit[0] else text
        if depth >= DEPTH:
            raise self._refuse(event, f"nested more than {DEPTH} deep", "make it flatter")
        if depth >= self._deepest:
            self._deepest = depth + 1
        if isinstance(event, yaml.MappingStartEvent):
            return self._mapping(event, depth + 1)
        return self._sequence(event, depth + 1)

    def _anchored(self, event: Any, depth: int) -> Json:
        before, deepest, self._deepest = self._nodes, self._deepest, depth
        value = self._plain_node(event, depth)
        self._anchors[event.anchor] = _Anchor(value, self._nodes - before + 1, self._deepest - depth)
        self._deepest = max(deepest, self._deepest)
        return value

    def _alias(self, event: Any, depth: int) -> Json:
        if not self._aliases:
            raise self._refuse(event, "aliases are not read here", "write the values out")
        anchor = self._anchors.get(event.anchor)
        if anchor is None:
            raise self._refuse(
                event, f"the alias {quoted(event.anchor)} refers to nothing before it", "write the value out"
            )
        self._nodes += anchor.nodes
        self._aliased += anchor.nodes
        self._deepest = max(self._deepest, depth + anchor.height)
        if self._aliased > ALIASED_NODES or depth + anchor.height > DEPTH:
            raise self._refuse(event, "aliases stand for too much", "write the values out instead")
        return anchor.value

    def _sequence(self, start: Any, depth: int) -> Json:
        self._check_tag(start)
        items: list[Json] = []
        while not isinstance(event := self._next(), yaml.SequenceEndEvent):
            items.append(self._node(event, depth))
        return items

    def _mapping(self, start: Any, depth: int) -> Json:
        self._check_tag(start)
        values: dict[str, Json] = {}
        merged: dict[str, Json] = {}
        while not isinstance(event := self._next(), yaml.MappingEndEvent):
            key = self._key(event)
            following = self._next()
            if key in self._as_text and isinstance(following, yaml.ScalarEvent):
                value: Json = self._text(following)
            else:
                value = self._node(following, depth)
            if key == "<<" and event.implicit[0]:
                merged = self._merge(event, value)
            elif key in values:
                raise self._refuse(event, f"the key {quoted(key)} is given twice", "keep one of them")
            else:
                values[key] = value
        return {**merged, **values} if merged else values

    def _merge(self, event: Any, value: Json) -> dict[str, Json]:
        merged: dict[str, Json] = {}
        for part in reversed(value) if isinstance(value, list) else [value]:
            if not isinstance(part, Mapping):
                raise self._refuse(event, "'<<' merges something that is no mapping", "merge a mapping")
            merged.update(part)
        return merged

    def _key(self, event: Any) -> str:
        if not isinstance(event, yaml.ScalarEvent):
            raise self._refuse(event, "a key is not text", "write the key as plain text")
        key = self._text(event)
        if event.anchor is not None:
            self._anchors[event.anchor] = _Anchor(key, 1, 0)
        return key

    def _text(self, event: Any) -> str:
        if event.tag is not None:
            self._check_tag(event)
        text: str = event.value
        if not text.isascii() or "\0" in text:
            self._check_characters(event, text)
        return text

    def _check_characters(self, event: Any, text: str) -> None:
        if not is_storable(text):
            raise self._refuse(event, "a text holds a character that is not allowed", "remove it")

    def _check_tag(self, event: Any) -> None:
        if event.tag not in _TEXT_TAGS:
            raise self._refuse(event, f"the tag {quoted(event.tag)} is not supported", "remove the tag")

    def _refuse(self, event: Any, what: str, remedy: str) -> SourceError:
        mark = event.start_mark
        where = f"line {mark.line + self._first_line}, column {mark.column + 1}"
        return SourceError(self._place, f"{where}: {what}", remedy)


def _plain_scalar(text: str) -> Json:
    if text in _WORDS:
        return _WORDS[text]
    if text[0] not in "+-.0123456789" or len(text) > _LONGEST_NUMBER:
        return text
    if _INTEGER.match(text):
        return int(text, 0) if text[:2] in ("0x", "0o") else int(text)
    if _FLOAT.match(text) and math.isfinite(number := float(text)):
        return number
    return text


def parse_json(text: str, place: str) -> Json:
    try:
        value: Json = json.loads(text, object_pairs_hook=_unique, parse_constant=_no_constant)
        _check_json(value)
    except json.JSONDecodeError as error:
        what = f"line {error.lineno}, column {error.colno}: not valid JSON: {error.msg}"
        raise SourceError(place, what, "correct the JSON there") from error
    except ValueError as error:
        raise SourceError(place, f"not valid JSON: {error}", "correct the JSON") from error
    except RecursionError as error:
        raise SourceError(place, f"nested more than {DEPTH} deep", "make it flatter") from error
    return value


def _unique(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    values = dict(pairs)
    if len(values) < len(pairs):
        twice = Counter(key for key, _ in pairs).most_common(1)[0][0]
        raise ValueError(f"the key {quoted(twice)} is given twice")
    return values


def _no_constant(name: str) -> Json:
    raise ValueError(f"{name} is not a JSON number")


def _check_json(value: Json) -> None:
    level: list[Json] = [value]
    for _ in range(DEPTH + 1):
        below: list[Json] = []
        for item in level:
            _check_json_item(item, below)
        if not below:
            return
        level = below
    raise ValueError(f"nested more than {DEPTH} deep")


def _check_json_item(item: Json, below: list[Json]) -> None:
    if isinstance(item, str):
        if not is_storable(item):
            raise ValueError("a text holds a character that is not allowed")
    elif isinstance(item, dict):
        below.extend(item)
        below.extend(item.values())
    elif isinstance(item, list):
        below.extend(item)
    elif isinstance(item, float) and not math.isfinite(item):
        raise ValueError("a number is too large")


def require_mapping(value: Json, place: str) -> Mapping[str, Json]:
    if isinstance(value, Mapping):
        return value
    what = "is empty" if value is None else "must be a mapping of keys to values"
    raise SourceError(place, what, "write one 'key: value' on each line")


class MarkdownPage(NamedTuple):
    """A markdown text: the mapping between its fences, and what follows them."""

    header: Mapping[str, Json]
    body: str


def parse_page(text: str, place: str) -> MarkdownPage:
    lines = _lines(text)
    if lines[0].rstrip() != _FENCE:
        remedy = f"begin it with a line {_FENCE!r}, the fields, and another line {_FENCE!r}"
        raise SourceError(place, "does not begin with frontmatter", remedy)
    closing = _closing_fence(lines)
    if not closing:
        raise SourceError(place, "the frontmatter does not end", f"close it with a line {_FENCE!r}")
    header = parse_yaml("\n".join(lines[1:closing]), place, first_line=2)
    return MarkdownPage(require_mapping(header, place), _joined(lines[closing + 1 :]))


def body_of(text: str) -> str:
    """A markdown text without its frontmatter, if it has one; what that says is not looked at."""
    lines = _lines(text)
    return _joined(lines[_closing_fence(lines) + 1 :] if lines[0].rstrip() == _FENCE else lines)


def _lines(text: str) -> list[str]:
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


def _closing_fence(lines: list[str]) -> int:
    return next((i for i, line in enumerate(lines) if i and line.rstrip() == _FENCE), 0)


def _joined(lines: list[str]) -> str:
    return "\n".join(lines).strip()
