"""The alternatives of a value: whether it shows which one it is, and whether it can be two of them.

It must show it where the way back from strict mode depends on it. `oneOf`, which strict mode does not know,
is `anyOf` where no value can be two of them.
"""

from itertools import combinations

from prowess.prompt.formats.schemas import (
    MAX_ALTERNATIVES,
    alternatives,
    choices_of,
    listed,
    properties_of,
    required_of,
    types_of,
)
from prowess.types import Json, JsonObject

MAX_COMPARED = 50
"""Alternatives that are compared with each other."""


def are_told_apart(part: JsonObject, root: JsonObject) -> bool:
    """Whether each of its values, with all its properties, shows which of the alternatives it is.

    root: the schema that references point into.
    """
    found = alternatives(part, root)
    if not found or not all(map(types_of, found)) or sum("array" in types_of(one) for one in found) > 1:
        return False
    objects = [one for one in found if "object" in types_of(one)]
    return len(objects) <= MAX_COMPARED and not any(_are_alike(*pair) for pair in combinations(objects, 2))


def _are_alike(one: JsonObject, other: JsonObject) -> bool:
    return properties_of(one).keys() == properties_of(other).keys() and not _say_which(one, other)


def _say_which(one: JsonObject, other: JsonObject) -> bool:
    """Whether both require a property whose values differ; what may be left out may be missing in both."""
    both = set(required_of(one)) & set(required_of(other))
    return any(_differ(properties_of(one).get(name), properties_of(other).get(name)) for name in both)


def are_exclusive(part: JsonObject, root: JsonObject) -> bool:
    """Whether no value can be two of the alternatives."""
    if len(choices_of(part)) > MAX_COMPARED:
        return False
    meant = [alternatives(one, root) for one in choices_of(part)]
    if not all(meant) or sum(map(len, meant)) > MAX_ALTERNATIVES:
        return False
    pairs = ((one, other) for mine, theirs in combinations(meant, 2) for one in mine for other in theirs)
    return all(_exclude(one, other) for one, other in pairs)


def _exclude(one: JsonObject, other: JsonObject) -> bool:
    shared = _kinds(one) & _kinds(other)
    return _say_which(one, other) if shared == {"object"} else not shared or _differ(one, other)


def _kinds(schema: JsonObject) -> set[str]:
    """Its types; every integer is a number."""
    return {"number" if one == "integer" else one for one in types_of(schema)}


def _differ(one: Json, other: Json) -> bool:
    """Whether both list their values, and none of them is the same."""
    mine, theirs = listed(one), listed(other)
    return bool(mine and theirs) and not any(value in theirs for value in mine)
