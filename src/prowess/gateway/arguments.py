"""Whether arguments fit a schema, said so that a model can mend them.

A schema that is itself wrong, or refers to something outside, judges nothing: whoever is called decides.
"""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from jsonschema import (  # type: ignore[import-untyped]
    Draft202012Validator,
    SchemaError,
    ValidationError,
    validators,
)
from referencing import Registry
from referencing.exceptions import Unresolvable

from prowess.errors import nearest
from prowess.gateway.showing import clean
from prowess.types import JsonObject

MOST_FAULTS = 8
LONGEST_FAULT = 240
LONGEST_SCHEMA = 2000
REMEMBERED = 1024


class Schemas:
    """Schemas made ready to validate; making one ready costs far more than using it."""

    def __init__(self) -> None:
        self._ready: dict[tuple[str, str], Any] = {}

    def faults(self, key: tuple[str, str], schema: JsonObject | None, arguments: JsonObject) -> list[str]:
        """What is wrong with the arguments; `key` names the schema and its content."""
        if schema is None:
            return []
        if key not in self._ready:
            if len(self._ready) >= REMEMBERED:
                self._ready.clear()
            self._ready[key] = _validator(schema)
        validator = self._ready[key]
        return _faults(validator, arguments) if validator else []


def as_arguments(given: object) -> dict[str, Any] | None:
    """Arguments as an object; some models send one as text."""
    if given is None:
        return {}
    if isinstance(given, str):
        try:
            given = json.loads(given)
        except (ValueError, RecursionError):
            return None
    return dict(given) if isinstance(given, Mapping) else None


def misfit(id: str, faults: Iterable[str], schema: JsonObject | None) -> str:
    """What to tell a model whose arguments do not fit."""
    lines = [f"{id} was not called, its arguments do not fit:", *(f"- {fault}" for fault in faults)]
    text = json.dumps(schema, separators=(",", ":"), ensure_ascii=False)
    if len(text) <= LONGEST_SCHEMA:
        lines.append(f"It takes: {text}")
    else:
        lines.append("Its schema: describe_capability")
    return "\n".join(lines)


def _validator(schema: JsonObject) -> Any:
    kind = validators.validator_for(schema, default=Draft202012Validator)
    try:
        kind.check_schema(schema)
    except (SchemaError, RecursionError):
        return None
    # The empty registry keeps references inside the document: nothing is fetched.
    return kind(schema, registry=Registry())


def _faults(validator: Any, arguments: JsonObject) -> list[str]:
    try:
        errors = sorted(validator.iter_errors(arguments), key=lambda error: list(map(str, error.path)))
    except (Unresolvable, RecursionError):
        return []
    return [_line(_said(error))[:LONGEST_FAULT] for error in errors[:MOST_FAULTS]]


def _line(fault: str) -> str:
    """Values of the schema stand in it as Python writes them, where the end of a line is two letters."""
    unfolded = fault.replace("\\n", "\n")
    shown = clean(unfolded)
    return fault if shown == unfolded else " ".join(shown.split())


def _said(error: ValidationError) -> str:
    place = ".".join(str(part) for part in error.absolute_path)
    where = f"{place}: " if place else ""
    if error.validator == "additionalProperties" and isinstance(error.instance, Mapping):
        known = list((error.schema or {}).get("properties", {})) if isinstance(error.schema, Mapping) else []
        unknown = [name for name in error.instance if name not in known]
        close = nearest(unknown[0], known) if unknown else ""
        hint = f"; did you mean {close!r}?" if close else f"; known: {', '.join(known) or 'none'}"
        return f"{where}unknown {', '.join(map(repr, unknown))}{hint}"
    return f"{where}{error.message}"
