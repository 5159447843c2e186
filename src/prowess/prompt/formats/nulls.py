"""The way back from strict mode: nulls that stand for parameters which may be left out are left out."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace

from prowess.prompt.formats.schemas import (
    alternatives,
    listed,
    properties_of,
    refuses_null,
    required_of,
    types_of,
)
from prowess.types import Json, JsonObject, ToolCall

MAX_DEPTH = 60
"""Values inside values that are looked into."""


def without_added_nulls(arguments: Json, input_schema: JsonObject) -> Json:
    """The arguments without the nulls that the schema does not allow and that stand for what may be left out.

    arguments: as the model sent them.
    input_schema: the tool's own schema, not the strict one.
    """
    return _meant(arguments, input_schema, input_schema, MAX_DEPTH) if _has_null(arguments) else arguments


def meant_calls(calls: Iterable[ToolCall], definitions: Iterable[JsonObject]) -> tuple[ToolCall, ...]:
    """The calls without added nulls, where the tool is among these; arguments that are text stay text."""
    schemas = {one["name"]: one["input_schema"] for one in definitions}
    return tuple(
        replace(call, arguments=_meant_arguments(call.arguments, schemas[call.name]))
        if call.name in schemas
        else call
        for call in calls
    )


def _meant_arguments(arguments: Json, input_schema: JsonObject) -> Json:
    if not isinstance(arguments, str):
        return without_added_nulls(arguments, input_schema)
    try:
        read = json.loads(arguments)
    except (ValueError, RecursionError):
        return arguments  # who calls the tool says what is wrong with it
    meant = without_added_nulls(read, input_schema)
    return arguments if meant == read else json.dumps(meant)


def _has_null(value: Json) -> bool:
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if one is None:
            return True
        waiting += one.values() if isinstance(one, Mapping) else one if isinstance(one, list) else ()
    return False


def _meant(value: Json, schema: Json, root: JsonObject, depth: int) -> Json:
    if not depth or not isinstance(value, Mapping | list):
        return value
    if isinstance(value, list):
        lists = [one for one in alternatives(schema, root) if "array" in types_of(one)]
        of = lists[0].get("items", True) if len(lists) == 1 else True
        return [_meant(one, of, root, depth - 1) for one in value]
    properties, required = _shape(value, schema, root)
    return {
        name: _meant(one, properties.get(name, True), root, depth - 1)
        for name, one in value.items()
        if not (one is None and _was_added(name, properties, required, root))
    }


def _was_added(name: str, properties: JsonObject, required: frozenset[str], root: JsonObject) -> bool:
    return name in properties and name not in required and refuses_null(properties[name], root)


def _shape(value: JsonObject, schema: Json, root: JsonObject) -> tuple[JsonObject, frozenset[str]]:
    """What the value may and must hold, by the one alternative that it can be; nothing where several fit."""
    shapes = [one for one in alternatives(schema, root) if properties_of(one)]
    possible = shapes if len(shapes) == 1 else [one for one in shapes if _can_be(value, properties_of(one))]
    exact = [one for one in possible if value.keys() == properties_of(one).keys()]
    found = exact if len(exact) == 1 else possible
    if len(found) != 1:
        return {}, frozenset()
    return properties_of(found[0]), frozenset(required_of(found[0]))


def _can_be(value: JsonObject, properties: JsonObject) -> bool:
    if not value.keys() <= properties.keys():
        return False
    pairs = [(one, listed(properties[name])) for name, one in value.items()]
    return all(one is None or not values or one in values for one, values in pairs)
