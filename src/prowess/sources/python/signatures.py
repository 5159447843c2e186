"""The JSON schema of a call: what a Python signature accepts, by name.

Above: the sources that read Python. Below: msgspec, which knows the schema of a type.
"""

import functools
import inspect
import json
import typing
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import PurePath
from typing import Any, NamedTuple

import msgspec

from prowess.sources.python.choices import REFERENCE, Choices, written_out
from prowess.types import JsonObject


class Schema(NamedTuple):
    """A schema, and the parameters whose type has none (they accept anything)."""

    schema: JsonObject
    untyped: tuple[str, ...] = ()


def schema_of(function: Callable[..., object], descriptions: Mapping[str, str]) -> Schema:
    """Raises `ValueError` or `TypeError` when the callable does not tell its signature."""
    parameters = inspect.signature(function).parameters.values()
    hints = _hints(function)
    named = [p for p in parameters if p.kind is not p.VAR_POSITIONAL]
    types = {p.name: _hint(p, hints) for p in named}
    schemas, definitions, untyped = _schemas(types)
    properties: dict[str, JsonObject] = {}
    open_ended: Any = False
    for parameter in named:
        schema = schemas[parameter.name]
        if parameter.kind is parameter.VAR_KEYWORD:
            open_ended = schema or True
        else:
            properties[parameter.name] = _property(
                parameter, schema, _described(types, parameter, descriptions)
            )
    result: dict[str, Any] = {"type": "object", "properties": properties}
    if required := [p.name for p in named if p.default is p.empty and p.kind is not p.VAR_KEYWORD]:
        result["required"] = required
    result["additionalProperties"] = open_ended
    return Schema(result | ({"$defs": definitions} if definitions else {}), untyped)


def takes_payload(handler: Callable[..., object]) -> bool:
    """Whether a handler takes what came with its event as one object: by its only parameter, unless the type
    says that it is no object. What takes several parameters, or none, takes them by name."""
    try:
        parameters = list(inspect.signature(handler).parameters.values())
    except (TypeError, ValueError):
        return True
    if len(parameters) != 1 or parameters[0].kind in (
        inspect.Parameter.VAR_KEYWORD,
        inspect.Parameter.VAR_POSITIONAL,
    ):
        return False
    if parameters[0].annotation is inspect.Parameter.empty:
        return True
    schemas, definitions, untyped = _schemas({"payload": _hint(parameters[0], _hints(handler))})
    schema, _ = _inlined(schemas["payload"], definitions)
    return bool(untyped) or any(
        branch.get("type", "object") == "object" for branch in schema.get("anyOf", [schema])
    )


def payload_schema(function: Callable[..., object]) -> JsonObject | None:
    """The schema of the one thing a handler takes, when its type says that it is an object."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return None
    if len(parameters) != 1 or parameters[0].annotation is inspect.Parameter.empty:
        return None
    schemas, definitions, untyped = _schemas({"payload": _hint(parameters[0], _hints(function))})
    schema, rest = _inlined(schemas["payload"], definitions)
    if untyped or schema.get("type") != "object":
        return None
    open_ended = (
        {} if "properties" in schema or "additionalProperties" in schema else {"additionalProperties": True}
    )
    return {**schema, **open_ended, **({"$defs": rest} if rest else {})}


def _inlined(schema: JsonObject, definitions: JsonObject) -> tuple[JsonObject, JsonObject]:
    """A schema that only refers to a definition becomes that definition."""
    name = str(schema.get("$ref", "")).removeprefix(REFERENCE.format(name=""))
    if name not in definitions:
        return schema, definitions
    others = {other: text for other, text in definitions.items() if other != name}
    refers_to_itself = REFERENCE.format(name=name) in json.dumps(definitions)
    return definitions[name], definitions if refers_to_itself else others


def _hints(function: Callable[..., object]) -> Mapping[str, Any]:
    try:
        return typing.get_type_hints(_annotated(function), include_extras=True)
    # Resolving a hint runs the author's expressions; whatever they raise, the rest still holds.
    except Exception:
        return {}


def _annotated(function: Callable[..., object]) -> object:
    """The function that carries the annotations: behind a wrapper, a partial, a class or an object."""
    if isinstance(function, functools.partial):
        return _annotated(function.func)
    if isinstance(function, type):
        return vars(function).get("__init__", function)
    return inspect.unwrap(function) if inspect.isroutine(function) else type(function).__call__


def _hint(parameter: inspect.Parameter, hints: Mapping[str, Any]) -> Any:
    hint = hints.get(parameter.name, parameter.annotation)
    return Any if hint in (inspect.Parameter.empty, object) else hint


def _schemas(types: Mapping[str, Any]) -> tuple[dict[str, JsonObject], JsonObject, tuple[str, ...]]:
    untyped = (
        () if _components(types.values()) else tuple(n for n, t in types.items() if not _components([t]))
    )
    known = {name: Any if name in untyped else hint for name, hint in types.items()}
    schemas, definitions = _components(known.values()) or ([{}] * len(known), {})
    choices = Choices.of(known.values())
    plain = {name: choices.said(schema) for name, schema in definitions.items()}
    values = {name: schema for name, schema in plain.items() if "enum" in schema}
    kept = {name: written_out(schema, values) for name, schema in plain.items() if name not in values}
    said = [written_out(choices.said(schema), values) for schema in schemas]
    return dict(zip(known, said, strict=True)), kept, untyped


def _components(types: Iterable[Any]) -> tuple[Sequence[JsonObject], JsonObject] | None:
    try:
        found = msgspec.json.schema_components(types, schema_hook=_other_types, ref_template=REFERENCE)
    # A type may be any object at all, with any code behind it.
    except Exception:
        return None
    return found


def _other_types(hint: Any) -> dict[str, Any]:
    if isinstance(hint, type) and issubclass(hint, PurePath):
        return {"type": "string", "format": "path"}
    raise NotImplementedError


def _property(parameter: inspect.Parameter, schema: JsonObject, description: str) -> JsonObject:
    result = dict(schema)
    if description:
        result["description"] = description
    if parameter.default is not parameter.empty:
        result.update(_default(parameter.default))
    return result


def _default(value: object) -> JsonObject:
    """As JSON, if it can be said in JSON; the parameter is optional either way."""
    try:
        plain = msgspec.to_builtins(value, order="deterministic")
        json.dumps(plain, allow_nan=False).encode()
    except (TypeError, ValueError, msgspec.MsgspecError, RecursionError):
        return {}
    return {"default": plain}


def _described(
    types: Mapping[str, Any], parameter: inspect.Parameter, descriptions: Mapping[str, str]
) -> str:
    noted = [text for text in getattr(types[parameter.name], "__metadata__", ()) if isinstance(text, str)]
    return noted[0] if noted else descriptions.get(parameter.name, "")
