"""The values that a `Literal` or an enum allows, in the order of their author, with the type they have.

Above: the schemas of signatures. msgspec knows which values there are, sorts them, and leaves out the type.
"""

import dataclasses
import enum
import types
import typing
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from prowess.types import JsonObject

REFERENCE = "#/$defs/{name}"
TYPE_NAMES: Mapping[type, str] = {
    str: "string",
    bool: "boolean",
    int: "integer",
    float: "number",
    type(None): "null",
}

Values = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Choices:
    """Which values stand together somewhere in the types of a signature, and in which order."""

    orders: Mapping[frozenset[tuple[type, Any]], Values]

    @classmethod
    def of(cls, hints: Iterable[Any]) -> "Choices":
        return cls({_key(values): values for values in _listed(hints)})

    def said(self, schema: Any) -> Any:
        """The same schema; where it lists values, in the author's order and with their type."""
        if isinstance(schema, list):
            return [self.said(one) for one in schema]
        if not isinstance(schema, dict):
            return schema
        values = schema.get("enum")
        if not isinstance(values, list):
            return {key: self.said(value) for key, value in schema.items()}
        ordered = self.orders.get(_key(values), tuple(values))
        kinds = list(dict.fromkeys(TYPE_NAMES[type(one)] for one in ordered if type(one) in TYPE_NAMES))
        about = {key: value for key, value in schema.items() if key not in ("enum", "title")}
        return {
            **({"type": kinds[0] if len(kinds) == 1 else kinds} if kinds else {}),
            **about,
            "enum": [*ordered],
        }


def written_out(schema: Any, values: Mapping[str, JsonObject]) -> Any:
    """The same schema, with the values themselves where it only refers to a list of them."""
    if isinstance(schema, list):
        return [written_out(one, values) for one in schema]
    if not isinstance(schema, dict):
        return schema
    named = str(schema.get("$ref", "")).removeprefix(REFERENCE.format(name=""))
    if named in values:
        return {**values[named], **{key: value for key, value in schema.items() if key != "$ref"}}
    return {key: written_out(value, values) for key, value in schema.items()}


def _key(values: Sequence[Any]) -> frozenset[tuple[type, Any]]:
    # True is 1 to a set, and neither is the other to JSON.
    return frozenset((type(one), one) for one in values)


def _listed(hints: Iterable[Any]) -> Iterator[Values]:
    """Every list of values in these types, however deep."""
    waiting, seen = list(hints), set[int]()
    while waiting:
        hint = waiting.pop()
        if id(hint) in seen:
            continue
        seen.add(id(hint))
        if isinstance(hint, type) and issubclass(hint, enum.Enum):
            yield tuple(member.value for member in hint)
        elif typing.get_origin(hint) is Literal:
            yield tuple(v.value if isinstance(v, enum.Enum) else v for v in typing.get_args(hint))
        else:
            waiting.extend(typing.get_args(hint))
            waiting.extend(_fields(hint))


def _fields(hint: Any) -> Iterable[Any]:
    """The types of the fields of a class of the author's."""
    if not isinstance(hint, type) or isinstance(hint, types.GenericAlias):
        return ()
    if not (
        dataclasses.is_dataclass(hint) or typing.is_typeddict(hint) or hasattr(hint, "__struct_fields__")
    ):
        return ()
    try:
        return typing.get_type_hints(hint, include_extras=True).values()
    except Exception:  # resolving a hint runs the author's expressions
        return ()
