"""Arguments for a tool from what a person said, by the names and types of its schema; for any tool alike."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from jsonschema import SchemaError, ValidationError, validate  # type: ignore[import-untyped]

from prowess.discovery.text import split_name

Schema = Mapping[str, Any]
SHORTEST = 4
"""Letters of a word that may be short for another."""
UNKNOWN: tuple[Any, ...] = ("unknown", 1, False, {})
"""What stands for a value that nobody said: the first that has the type."""
TYPES: Mapping[str, type | tuple[type, ...]] = {
    "string": str,
    "integer": int,
    "number": (int, float),
    "boolean": bool,
    "array": list,
    "object": dict,
}


@dataclass(frozen=True, slots=True)
class Filled:
    """Arguments that fit a schema, and how well what was said found its place."""

    arguments: dict[str, Any]
    named: int
    """How many of the values were taken under their own names, or such as speak of them."""
    placed: int
    """How many were taken at all."""
    guessed: int
    """How many required parameters got what merely has the right type."""
    unknown: int
    """How many got what nobody said."""


@dataclass(slots=True)
class _Count:
    named: int = 0
    guessed: int = 0
    unknown: int = 0


def filled(schema: Schema, said: Mapping[str, Any], around: Mapping[str, Any]) -> Filled | None:
    """What to call with; nothing where something required cannot even be guessed.

    said: what the person said, by the names they would use.
    around: what a model knows of where it works, such as its folder; taken only where it is required.
    """
    left, count = dict(said), _Count()
    arguments = _object(schema, left, schema, around, count)
    if arguments is None:
        return None
    try:
        validate(arguments, schema)
    except (ValidationError, SchemaError):
        return None
    return Filled(arguments, count.named, len(said) - len(left), count.guessed, count.unknown)


def _object(
    schema: Schema, left: dict[str, Any], root: Schema, around: Mapping[str, Any], count: _Count
) -> dict[str, Any] | None:
    properties = {name: _resolved(each, root) for name, each in (schema.get("properties") or {}).items()}
    required = schema.get("required") or []
    made: dict[str, Any] = {}
    for is_close in (_is_same, _is_part, _is_spoken_of):
        for name, each in properties.items():
            for key in [] if name in made else list(left):
                value = _as(each, left[key])
                if is_close(name, each, key) and value is not None:
                    made[name] = value
                    count.named += 1
                    del left[key]
                    break
    for name in required:
        if name not in made:
            value = _required(name, properties.get(name, {}), left, root, around, count)
            if value is None:
                return None
            made[name] = value
    return made


def _required(
    name: str, schema: Schema, left: dict[str, Any], root: Schema, around: Mapping[str, Any],
    count: _Count,
) -> Any:  # fmt: skip
    """Where nothing bears its name: what lies inside it, what is known anyway, what has its type, a guess."""
    if schema.get("type") == "array" and _resolved(schema.get("items") or {}, root).get("type") == "object":
        inner, within = dict(left), _Count()
        item = _object(_resolved(schema["items"], root), inner, root, around, within)
        if item:
            count.named += within.named
            count.guessed += within.guessed
            count.unknown += within.unknown
            for key in set(left) - set(inner):
                del left[key]
            return [item]
    known = [value for key, value in around.items() if set(_words(key)) & set(_words(name))]
    usual = [schema["default"]] if "default" in schema else list(schema.get("enum") or ())
    fitting = [made for value in (*known, *usual) if (made := _as(schema, value)) is not None]
    if fitting:
        return fitting[0]
    by_type = _by_type(schema, left)
    if by_type is not None:
        count.guessed += 1
        return by_type
    count.unknown += 1
    return next((made for value in UNKNOWN if (made := _as(schema, value)) is not None), None)


def _by_type(schema: Schema, left: dict[str, Any]) -> Any:
    """The first of what is left that has the type."""
    for key in list(left):
        value = _as(schema, left[key])
        if value is not None:
            del left[key]
            return value
    return None


def _resolved(schema: Schema, root: Schema) -> Schema:
    place = str(schema.get("$ref", ""))
    for part in place.removeprefix("#/").split("/") if place.startswith("#/") else ():
        root = root.get(part) or {}
    return root if place else schema


def _words(name: str) -> list[str]:
    return [word.removesuffix("s") for word in split_name(name).lower().split()]


def _is_same(name: str, schema: Schema, key: str) -> bool:
    return _words(name) == _words(key)


def _is_part(name: str, schema: Schema, key: str) -> bool:
    one, other = _words(name), _words(key)
    return _are_in(one, other) or _are_in(other, one)


def _are_in(some: Sequence[str], others: Sequence[str]) -> bool:
    """Whether each is one of the others, or short for it, as `repo` is for `repository`."""
    return all(any(_is_short(one, other) or _is_short(other, one) for other in others) for one in some)


def _is_short(one: str, other: str) -> bool:
    return one == other or (len(one) >= SHORTEST and other.startswith(one))


def _is_spoken_of(name: str, schema: Schema, key: str) -> bool:
    said = set(_words(" ".join(re.findall(r"\w+", str(schema.get("description", ""))))))
    return set(_words(key)) <= said


def _as(schema: Schema, value: Any) -> Any:
    """The value as this type takes it; nothing where it does not."""
    if isinstance(schema.get("anyOf"), list):
        return next((made for one in schema["anyOf"] if (made := _as(one, value)) is not None), None)
    if schema.get("enum") and value not in schema["enum"]:
        return None
    kind = schema.get("type")
    if kind == "array" and not isinstance(value, list):
        return [value] if _as(schema.get("items") or {}, value) is not None else None
    if kind == "array" and any(_as(schema.get("items") or {}, one) is None for one in value):
        return None
    if kind == "string" and isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if kind == "string" and isinstance(value, list) and len(value) == 1:
        return _as(schema, value[0])
    if kind == "null":
        return None
    wanted = TYPES.get(str(kind), object)
    return value if isinstance(value, wanted) and not (kind != "boolean" and value is True) else None
