"""Schemas taken out of an API document, whole in themselves.

Above: `operations`. Below: the document as plain values. A reference becomes a definition beside the
schema, so that cycles stay cycles and nothing is copied twice; one that leaves the document is refused.
"""

from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import unquote

from prowess.errors import SourceError

MOST_DEFINITIONS = 200
MOST_STEPS = 32

_NAMED = ("properties", "patternProperties", "dependentSchemas", "$defs", "definitions")
_NESTED = (
    *("items", "additionalProperties", "unevaluatedProperties", "propertyNames", "contains", "prefixItems"),
    *("not", "if", "then", "else", "oneOf", "anyOf", "allOf"),
)
# Words of OpenAPI that JSON Schema does not have.
_DROPPED = ("nullable", "discriminator", "xml", "externalDocs")


class ApiDocument:
    """An API document, in which references are followed."""

    def __init__(self, place: str, root: Mapping[str, Any]) -> None:
        self.place = place
        self.root = root

    def follow(self, value: Any, what: str) -> Mapping[str, Any]:
        """The mapping itself, or the one at the end of its references."""
        for _ in range(MOST_STEPS):
            if not isinstance(value, Mapping):
                raise self.fault(f"{what} is not a mapping")
            reference = value.get("$ref")
            if not isinstance(reference, str):
                return value
            value = self.at(reference)
        raise self.fault(f"{what} is a reference that leads back to itself")

    def at(self, reference: str) -> Any:
        """What a reference inside the document points to."""
        if not reference.startswith("#"):
            raise self.fault("it refers to another document", "put what it refers to into this document")
        value: Any = self.root
        for part in _parts(reference):
            if isinstance(value, Mapping) and part in value:
                value = value[part]
            elif isinstance(value, list) and part.isdigit() and int(part) < len(value):
                value = value[int(part)]
            else:
                raise self.fault(f"it refers to {reference!r}, which is not there")
        return value

    def fault(self, what: str, remedy: str = "correct it in the document") -> SourceError:
        return SourceError(self.place, what, remedy)


def _parts(reference: str) -> Iterator[str]:
    for part in reference.removeprefix("#").split("/")[1:]:
        yield unquote(part).replace("~1", "/").replace("~0", "~")


class SchemaDefinitions:
    """The schemas of one operation: each is rewritten here, and what they refer to is gathered."""

    def __init__(self, document: ApiDocument) -> None:
        self._document = document
        self._names: dict[str, str] = {}
        self._waiting: list[str] = []

    def rewritten(self, schema: Any) -> Any:
        """A schema whose references point to the definitions."""
        if not isinstance(schema, Mapping):
            return schema
        made = {key: self._value(key, value) for key, value in schema.items() if key not in _DROPPED}
        if isinstance(schema.get("$ref"), str):
            name = self._name(schema["$ref"])
            # What lies beyond the limit may be anything.
            made = made | {"$ref": f"#/$defs/{name}"} if name else {}
        if schema.get("nullable") is True and isinstance(made.get("type"), str):
            made["type"] = [made["type"], "null"]
        return made

    def gathered(self) -> dict[str, Any]:
        """Everything that was referred to, directly or by something referred to."""
        found: dict[str, Any] = {}
        while self._waiting:
            reference = self._waiting.pop(0)
            found[self._names[reference]] = self.rewritten(self._document.at(reference))
        return {name: found[name] for name in sorted(found)}

    def _value(self, key: str, value: Any) -> Any:
        if key in _NAMED and isinstance(value, Mapping):
            return {name: self.rewritten(schema) for name, schema in value.items()}
        if key in _NESTED:
            return (
                [self.rewritten(one) for one in value] if isinstance(value, list) else self.rewritten(value)
            )
        return value

    def _name(self, reference: str) -> str:
        known = self._names.get(reference)
        if known is not None:
            return known
        self._document.at(reference)
        if len(self._names) >= MOST_DEFINITIONS:
            return ""
        last = ([*_parts(reference)] or ["root"])[-1]
        name = last if last not in self._names.values() else f"{last}-{len(self._names)}"
        self._names[reference] = name
        self._waiting.append(reference)
        return name
