"""How much work it is to check arguments against a stranger's schema, counted before any of it is done.

Above: the sources, which say so at sync; the gateway, which checks only what it can afford. Below: text. A
schema can ask for more steps than there is time in a few lines: references that double, a reference to
itself, a pattern that backtracks. Every count here costs little, whatever the schema says: what was counted
once for one value is not counted again.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import unquote

from prowess.types import JsonObject

MAX_STEPS = 10_000
"""Steps that a check may take; a step is a part of a schema held against a value, or a character matched."""
MOST_PATTERNS = 100
DEEPEST = 100
"""Parts of a schema inside one another, references followed."""

LISTS = ("allOf", "anyOf", "oneOf")
SINGLE = ("not", "if", "then", "else")
BY_NAME = ("dependentSchemas", "dependencies")
NOT_FOLLOWED = ("$dynamicRef", "$recursiveRef")
UNEVALUATED = ("unevaluatedProperties", "unevaluatedItems")
ANY_MEMBER = ("additionalProperties", "unevaluatedProperties")
ANY_ITEM = ("items", "additionalItems", "unevaluatedItems", "contains")

WEIGHED = frozenset(
    (
        *LISTS,
        *SINGLE,
        *BY_NAME,
        *NOT_FOLLOWED,
        *ANY_MEMBER,
        *ANY_ITEM,
        "$ref",
        "$id",
        "properties",
        "prefixItems",
    )
) | {"patternProperties", "propertyNames", "pattern", "enum", "required", "uniqueItems"}
"""Keywords that may take more than one step."""

BACKTRACKS = re.compile(r"\(\?<?[=!]|\\[1-9k]")
NESTED = re.compile(r"\((?:\?:)?(?:\[(?:[^\]\\]|\\.)+\]|\\?[^()\[\]|\\])[+*][?+]?\)(?:[+*]|\{\d+,\})")
"""A repeated group of nothing but one repeated part: most matchers try every way to share the text out."""


class TooCostly(Exception):
    """Why a check would take too long, or how long nobody can say."""


def fault_of_effort(schema: JsonObject | None) -> str:
    """What is wrong with a schema as far as the cost of checking goes; most have no fault."""
    if not isinstance(schema, dict):
        return ""
    try:
        patterns = patterns_of(schema)
    except TooCostly as reason:
        return f"arguments are not checked against its schema: {reason}"
    bad = next((pattern for pattern in patterns if NESTED.search(pattern)), "")
    return f"the pattern {bad[:80]!r} in its schema can keep a matcher busy without end" if bad else ""


def patterns_of(schema: JsonObject) -> list[str]:
    """Every pattern in a schema. Raises `TooCostly` where even making it ready would take too long."""
    try:
        parts = _Alone(schema).parts()
    except RecursionError:
        raise TooCostly("it is nested too deeply") from None
    found = [part["pattern"] for part in parts if isinstance(part.get("pattern"), str)]
    for part in parts:
        if isinstance(part.get("patternProperties"), dict):
            found += part["patternProperties"]
    if len(found) > MOST_PATTERNS:
        raise TooCostly(f"it has more than {MOST_PATTERNS} patterns")
    return found


def effort(schema: JsonObject, value: object) -> int:
    """The most steps that checking a value takes. Raises `TooCostly` where that is too much."""
    steps = _Check(schema).steps(schema, value, 0)
    if steps > MAX_STEPS:
        raise TooCostly(f"it would take {steps} steps")
    return steps


class _References:
    """Where the references inside one document lead."""

    def __init__(self, root: Mapping[str, Any]) -> None:
        self._root = root

    def follow(self, reference: object) -> object:
        if not isinstance(reference, str) or not reference.startswith("#"):
            raise TooCostly("it refers to something outside")
        found: Any = self._root
        for part in unquote(reference[1:]).split("/")[1:]:
            name = part.replace("~1", "/").replace("~0", "~")
            if isinstance(found, Mapping) and name in found:
                found = found[name]
            elif isinstance(found, Sequence) and not isinstance(found, str) and name.isdecimal():
                found = found[int(name)] if int(name) < len(found) else None
            else:
                raise TooCostly(f"{reference[:80]!r} leads nowhere")
        if reference != "#" and found is self._root:
            raise TooCostly("it refers to a part by an anchor")
        return found

    def in_place(self, schema: Mapping[str, Any]) -> Iterator[object]:
        """The parts that are held against the same value as the whole."""
        if any(key in schema for key in NOT_FOLLOWED):
            raise TooCostly("where it refers to is known only while checking")
        if isinstance(schema.get("$id"), str) and schema is not self._root:
            raise TooCostly("it holds another document")
        if "$ref" in schema:
            yield self.follow(schema["$ref"])
        for key in LISTS:
            if isinstance(schema.get(key), list):
                yield from schema[key]
        yield from (schema[key] for key in SINGLE if key in schema)
        for key in BY_NAME:
            if isinstance(schema.get(key), dict):
                yield from schema[key].values()


class _Alone:
    """A schema by itself: how often it takes one value into its hands, whatever that value is."""

    def __init__(self, root: JsonObject) -> None:
        self._references = _References(root)
        self._root = root
        self._counted: dict[int, int] = {}
        self._within: set[int] = set()

    def parts(self) -> list[Mapping[str, Any]]:
        """Every part that can be reached. Raises `TooCostly` where one value would be looked at too often."""
        found: dict[int, Mapping[str, Any]] = {}
        waiting: list[object] = [self._root]
        while waiting:
            part = waiting.pop()
            if not isinstance(part, dict) or id(part) in found:
                continue
            found[id(part)] = part
            if len(found) > MAX_STEPS:
                raise TooCostly(f"it has more than {MAX_STEPS} parts")
            if self._looks(part, 0) > MAX_STEPS:
                raise TooCostly("references in it multiply without end")
            waiting += [*self._references.in_place(part), *_inner(part)]
        return list(found.values())

    def _looks(self, part: object, depth: int) -> int:
        if not isinstance(part, dict):
            return 1
        if id(part) in self._within:
            raise TooCostly("a part of it refers to itself")
        if depth > DEEPEST:
            raise TooCostly("it is nested too deeply")
        if id(part) not in self._counted:
            self._within.add(id(part))
            looks = 1 + sum(self._looks(one, depth + 1) for one in self._references.in_place(part))
            self._counted[id(part)] = 2 * looks if any(key in part for key in UNEVALUATED) else looks
            self._within.discard(id(part))
        return self._counted[id(part)]


def _inner(part: Mapping[str, Any]) -> Iterator[object]:
    """The parts that are held against what is inside a value."""
    for key in ("properties", "patternProperties"):
        if isinstance(part.get(key), dict):
            yield from part[key].values()
    for key in (*ANY_MEMBER, *ANY_ITEM, "prefixItems", "propertyNames"):
        if isinstance(part.get(key), list):
            yield from part[key]
        elif key in part:
            yield part[key]


class _Check:
    """One schema against one value: the most steps that can take."""

    def __init__(self, root: JsonObject) -> None:
        self._references = _References(root)
        self._counted: dict[tuple[int, int], int] = {}
        self._within: set[tuple[int, int]] = set()
        self._visits = 0

    def steps(self, schema: object, value: object, depth: int) -> int:
        self._visits += 1
        if self._visits > MAX_STEPS or depth > DEEPEST:
            raise TooCostly("there is no end to it")
        if not isinstance(schema, dict) or not schema.keys() & WEIGHED:
            return 1
        key = (id(schema), id(value))
        if key in self._counted:
            return self._counted[key]
        if key in self._within:
            raise TooCostly("a part of it refers to itself")
        self._within.add(key)
        again = 2 + len(value) if _asks_what_is_left(schema) and isinstance(value, dict | list) else 1
        total = _own(schema, value)
        total += again * self._sum(((one, value) for one in self._references.in_place(schema)), depth)
        total += self._sum(_members(schema, value), depth)
        self._within.discard(key)
        self._counted[key] = total
        return total

    def _sum(self, pairs: Iterable[tuple[object, object]], depth: int) -> int:
        return sum(self.steps(schema, value, depth + 1) for schema, value in pairs)


def _asks_what_is_left(schema: Mapping[str, Any]) -> bool:
    """Then each member is asked for in every other part, again."""
    return any(key in schema for key in UNEVALUATED)


def _own(schema: Mapping[str, Any], value: object) -> int:
    """What the keywords of one schema cost that hold no schema."""
    steps = 1 + sum(len(part) for key in ("enum", "required") if isinstance(part := schema.get(key), list))
    if isinstance(value, str) and isinstance(schema.get("pattern"), str):
        steps += _matching(schema["pattern"], value)
    if isinstance(value, list) and "uniqueItems" in schema:
        steps += 4 * len(value)
    if isinstance(value, dict) and isinstance(schema.get("patternProperties"), dict):
        steps += sum(_matching(pattern, key) for pattern in schema["patternProperties"] for key in value)
    return steps


def _matching(pattern: str, text: str) -> int:
    # What looks ahead or back may read the whole text again at each of its characters.
    return len(text) + (len(text) ** 2 // 100 if BACKTRACKS.search(pattern) else 0)


def _members(schema: Mapping[str, Any], value: object) -> Iterator[tuple[object, object]]:
    if isinstance(value, dict):
        yield from _of_object(schema, value)
    elif isinstance(value, list):
        yield from _of_list(schema, value)


def _of_object(schema: Mapping[str, Any], value: Mapping[str, Any]) -> Iterator[tuple[object, object]]:
    known = schema.get("properties")
    if isinstance(known, dict):
        yield from ((known[name], one) for name, one in value.items() if name in known)
    patterns = schema.get("patternProperties")
    every = [*patterns.values()] if isinstance(patterns, dict) else []
    every += [schema[key] for key in ANY_MEMBER if isinstance(schema.get(key), dict)]
    yield from ((part, one) for part in every for one in value.values())
    if isinstance(schema.get("propertyNames"), dict):
        yield from ((schema["propertyNames"], name) for name in value)


def _of_list(schema: Mapping[str, Any], value: Sequence[object]) -> Iterator[tuple[object, object]]:
    for key in ("prefixItems", "items"):
        if isinstance(schema.get(key), list):
            yield from zip(schema[key], value, strict=False)
    every = [schema[key] for key in ANY_ITEM if isinstance(schema.get(key), dict)]
    yield from ((part, one) for part in every for one in value)
