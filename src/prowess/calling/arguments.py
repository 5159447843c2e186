"""Whether arguments fit a schema, said so that a model can mend them.

A schema that is itself wrong, refers to something outside or would take long to check judges nothing: whoever
is called decides. What a check costs is counted before it is made, since nothing could interrupt it.
"""

import json
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any, cast

import jsonschema_rs
from jsonschema_rs import ValidationError, ValidationErrorKind

from prowess.calling.wording import clean
from prowess.errors import nearest
from prowess.sources.effort import TooCostly, effort, patterns_of
from prowess.types import Capability, Detail, JsonObject

MOST_FAULTS = 8
LONGEST_FAULT = 240
LONGEST_SCHEMA = 2000
REMEMBERED = 1024
MOST_BACKTRACKS = 10_000
LARGEST_PATTERN = 256 * 1024
"""Bytes of one pattern made ready to match."""
LARGEST_ARGUMENTS = 1024 * 1024
"""Characters up to which arguments are looked into."""
MOST_LISTED = 4_000_000
"""Steps of a check times characters: all faults are found before one is said, each with its own copy."""
MOST_KNOWN = 1000
LONGEST_NAME = 100


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
        return _faults(validator, schema, arguments) if validator else []


class DetailCache:
    """Schemas and contents by what they belong to exactly, so that a call reads one only once."""

    def __init__(self, read: Callable[[Collection[Capability]], Mapping[str, Detail]]) -> None:
        self._read = read
        self._known: dict[tuple[str, str], Detail] = {}

    def of(self, capability: Capability) -> Detail:
        """The detail of exactly this content of a capability; an empty one where it is gone."""
        key = (capability.id, capability.digest)
        if key not in self._known:
            if len(self._known) >= REMEMBERED:
                self._known.clear()
            self._known[key] = self._read([capability]).get(capability.id, Detail())
        return self._known[key]


def as_arguments(given: object) -> dict[str, Any] | None:
    """Arguments as an object; some models send one as text."""
    if given is None:
        return {}
    if isinstance(given, str):
        try:
            given = _whole(json.loads(given))
        except (ValueError, RecursionError):
            return None
    return dict(given) if isinstance(given, Mapping) else None


def _whole(value: object) -> object:
    """The same with U+FFFD for half a character, which no server could be sent."""
    text = json.dumps(value, ensure_ascii=False)
    try:
        text.encode()
        return value
    except UnicodeEncodeError:
        whole = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        return cast(object, json.loads(whole))


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
    try:
        patterns_of(schema)
        return jsonschema_rs.validator_for(
            dict(schema) if _names_a_draft(schema) else {k: v for k, v in schema.items() if k != "$schema"},
            validate_formats=False,
            # Nothing is fetched: references stay inside the document.
            offline=True,
            pattern_options=jsonschema_rs.FancyRegexOptions(
                backtrack_limit=MOST_BACKTRACKS, size_limit=LARGEST_PATTERN, dfa_size_limit=LARGEST_PATTERN
            ),
        )
    except (TooCostly, ValidationError, jsonschema_rs.ReferencingError, ValueError, TypeError):
        return None


def _names_a_draft(schema: JsonObject) -> bool:
    return "json-schema.org/" in str(schema.get("$schema", ""))


def _faults(validator: Any, schema: JsonObject, arguments: JsonObject) -> list[str]:
    characters = _characters(arguments)
    if characters > LARGEST_ARGUMENTS:
        return []
    try:
        steps = effort(schema, arguments)
        if validator.is_valid(arguments):
            return []
        if steps * (1000 + characters) > MOST_LISTED:
            return ["they do not fit the schema"]
        errors = [error for error in validator.iter_errors(arguments) if not _is_unsure(error)]
    except (TooCostly, RecursionError, ValueError, TypeError):
        return []
    errors.sort(key=lambda error: list(map(str, error.instance_path)))
    return [
        _line(_said(schema, error)[: 4 * LONGEST_FAULT])[:LONGEST_FAULT] for error in errors[:MOST_FAULTS]
    ]


def _characters(value: object) -> int:
    """How much there is to look at, counted up to the limit."""
    total, waiting = 0, [value]
    while waiting and total <= LARGEST_ARGUMENTS:
        one = waiting.pop()
        total += len(one) if isinstance(one, str) else 8
        if isinstance(one, Mapping):
            waiting += (*one, *one.values())
        elif isinstance(one, list):
            waiting += one
    return total


def _is_unsure(error: ValidationError) -> bool:
    """Whether a pattern was given up in it: then nobody knows whether the text fits."""
    match error.kind:
        case ValidationErrorKind.BacktrackLimitExceeded() | ValidationErrorKind.RegexEngineFailure():
            return True
        case ValidationErrorKind.AnyOf(context) | ValidationErrorKind.OneOfNotValid(context):
            return any(_is_unsure(one) for branch in context for one in branch)
    return False


def _line(fault: str) -> str:
    """Values of the schema stand in it as they are quoted, where the end of a line is two letters."""
    unfolded = fault.replace("\\n", "\n")
    shown = clean(unfolded)
    return fault if shown == unfolded else " ".join(shown.split())


def _said(schema: JsonObject, error: ValidationError) -> str:
    place = ".".join(str(part) for part in error.instance_path)
    where = f"{place}: " if place else ""
    match error.kind:
        case ValidationErrorKind.AdditionalProperties(unexpected):
            return f"{where}unknown {', '.join(map(repr, unexpected))}{_hint(schema, error, unexpected)}"
        case ValidationErrorKind.Type(types):
            return f"{where}{error.instance!r} is not of type {', '.join(map(repr, sorted(types)))}"
        case ValidationErrorKind.Enum(options):
            return f"{where}{error.instance!r} is not one of {options!r}"
        case ValidationErrorKind.Required(property):
            return f"{where}{property!r} is a required property"
    return f"{where}{error.message}"


def _hint(schema: JsonObject, error: ValidationError, unexpected: list[str]) -> str:
    """Which names are known where one was not."""
    part: Any = schema
    for step in error.schema_path[:-1]:
        try:
            part = part[step]
        except (KeyError, IndexError, TypeError):
            part = {}
    known = list(part.get("properties") or ()) if isinstance(part, Mapping) else []
    close = ""
    if len(known) <= MOST_KNOWN and len(unexpected[0]) <= LONGEST_NAME:
        close = nearest(unexpected[0], known)
    return f"; did you mean {close!r}?" if close else f"; known: {', '.join(known) or 'none'}"
