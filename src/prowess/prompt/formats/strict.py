"""A tool's schema as strict mode takes it, where the model can send nothing else; or nothing, where strict
mode cannot say it. Wrong is worse than not strict: a schema it does not know fails the whole request.

What is valid there is valid for the tool's own schema, once the nulls are gone that were added for parameters
that may be left out (`prowess.prompt.formats.nulls`).
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from prowess.prompt.formats.alternatives import are_exclusive, are_told_apart
from prowess.prompt.formats.schemas import (
    DEFINITIONS,
    SchemaPart,
    choices_of,
    listed,
    map_of,
    parts_of,
    properties_of,
    refuses_null,
    required_of,
    types_of,
)
from prowess.types import Json, JsonObject

MAX_PARTS = 1000
"""Schemas in one schema."""
MAX_LEVELS = 40
"""Schemas inside schemas; no tool that people made comes near."""
MAX_DEFAULT_LENGTH = 200
"""Characters of a default that is said in words."""
REFERENCE = re.compile(r"#/(?:\$defs|definitions)/([^/~%]+)")
UNKNOWN_PATTERNS = re.compile(r"\(\?[^:]|\\[bB1-9pPkK]")
"""Looking around, back or for the edge of a word, which strict mode does not know."""
NOTES = frozenset(
    {"description", "title", "default", "examples", "$schema", "$comment", "deprecated", "discriminator"}
)
"""What says something about a value and does not constrain it."""
ALWAYS = frozenset({"type", "enum", "const"})
BOUNDS = frozenset({"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"})
SIZES = frozenset({"minLength", "maxLength", "minItems", "maxItems"})


@dataclass(frozen=True, slots=True, kw_only=True)
class StrictRules:
    """What the strict mode of one provider knows."""

    keywords: Mapping[str, frozenset[str]]  # type of a value -> what may be said about it
    formats: frozenset[str]  # formats of text
    all_required: bool  # whether what may be left out must be null instead
    recursive: bool  # whether a schema may contain itself
    max_items: int | None = None  # the most that `minItems` may ask for
    max_objects: int | None = None  # objects inside objects
    max_values: int | None = None  # of all its `enum`s
    max_characters: int | None = None  # of its names and listed values


def strict_schema(schema: JsonObject, rules: StrictRules) -> JsonObject | None:
    """The schema as strict mode takes it; nothing where that cannot say the same.

    schema: the tool's own.
    rules: what the strict mode knows.
    """
    if not isinstance(schema, Mapping) or not _is_sayable(schema, rules):
        return None
    made = _made(schema, schema, rules)
    return {**made, **{name: _all_made(schema, name, rules) for name in DEFINITIONS if name in schema}}


# --- whether it can be said ------------------------------------------------------------------------


def _is_sayable(schema: JsonObject, rules: StrictRules) -> bool:
    parts: list[SchemaPart] = []
    for part in parts_of(schema):
        parts.append(part)
        small = part.levels <= MAX_LEVELS and len(parts) <= MAX_PARTS
        if not small or not _is_known(part.schema, schema, rules):
            return False
    return schema.get("type") == "object" and _is_small(parts, rules) and _refers_well(schema, parts, rules)


def _is_known(part: Json, root: JsonObject, rules: StrictRules) -> bool:
    if not isinstance(part, Mapping):
        return False
    said = set(part) - NOTES - (set(DEFINITIONS) if part is root else set())
    if "$ref" in said:
        return said == {"$ref"}
    if said in ({"anyOf"}, {"oneOf"}):
        # Where nothing may be null that was left out, nothing has to be told apart.
        plain = not rules.all_required or are_told_apart(part, root)
        return bool(choices_of(part)) and plain and ("anyOf" in said or are_exclusive(part, root))
    types = types_of(part)
    if not types or not all(one in rules.keywords for one in types):
        return False
    known = ALWAYS.union(*(rules.keywords[one] for one in types))
    return (
        said <= known and _lists_plain_values(part) and _is_closed(part, types, root) and _fits(part, rules)
    )


def _lists_plain_values(part: JsonObject) -> bool:
    values = listed(part)
    plain = all(one is None or isinstance(one, str | int | float) for one in values)
    return plain and bool(values or not {"enum", "const"} & part.keys())


def _is_closed(part: JsonObject, types: Sequence[str], root: JsonObject) -> bool:
    """Whether it names all it may hold; a list says what is in it."""
    if "array" in types and "items" not in part:
        return False
    if "object" not in types:
        return True
    if (
        not isinstance(part.get("properties"), Mapping)
        or part.get("additionalProperties", False) is not False
    ):
        return False
    named = part["properties"].keys() >= set(required_of(part))
    return named and bool(part["properties"] or "additionalProperties" in part or part is root)


def _fits(part: JsonObject, rules: StrictRules) -> bool:
    """Whether what is said about the value itself is known, and makes sense."""
    if "format" in part and str(part["format"]) not in rules.formats:
        return False
    if not all(type(part[name]) in (int, float) for name in BOUNDS & part.keys()):
        return False
    if not all(type(part[name]) is int for name in SIZES & part.keys()):
        return False
    if rules.max_items is not None and part.get("minItems", 0) > rules.max_items:
        return False
    return not UNKNOWN_PATTERNS.search(str(part.get("pattern", "")))


def _is_small(parts: Sequence[SchemaPart], rules: StrictRules) -> bool:
    values = [value for part in parts for value in listed(part.schema)]
    names = [name for part in parts for name in properties_of(part.schema)]
    defined = [name for part in parts for kind in DEFINITIONS for name in map_of(part.schema, kind)]
    counts = (
        (rules.max_objects, max(part.objects for part in parts)),
        (rules.max_values, len(values)),
        (rules.max_characters, sum(len(str(one)) for one in [*values, *names, *defined])),
    )
    return all(limit is None or count <= limit for limit, count in counts)


def _refers_well(schema: JsonObject, parts: Sequence[SchemaPart], rules: StrictRules) -> bool:
    references = {str(part.schema["$ref"]) for part in parts if "$ref" in part.schema}
    known = {f"#/{kind}/{name}" for kind in DEFINITIONS for name in map_of(schema, kind)} | {"#"}
    if not all(one == "#" or REFERENCE.fullmatch(one) for one in references) or not references <= known:
        return False
    return rules.recursive or not _contains_itself(schema)


def _contains_itself(schema: JsonObject) -> bool:
    uses = {"#": set(_references(schema))}
    for kind in DEFINITIONS:
        uses |= {f"#/{kind}/{name}": set(_references(of)) for name, of in map_of(schema, kind).items()}
    while True:
        ready = {name for name, used in uses.items() if not used & uses.keys()}
        if not ready:
            return bool(uses)
        uses = {name: used for name, used in uses.items() if name not in ready}


def _references(schema: JsonObject) -> Iterator[str]:
    own = {name: of for name, of in schema.items() if name not in DEFINITIONS}
    return (str(part.schema["$ref"]) for part in parts_of(own) if "$ref" in part.schema)


# --- saying it -------------------------------------------------------------------------------------


def _made(part: JsonObject, root: JsonObject, rules: StrictRules) -> dict[str, Json]:
    noted = _noted(part)
    if "$ref" in part:
        # No note may stand beside a reference; an alternative more would count where not all are required.
        named = {"$ref": part["$ref"]}
        return {"anyOf": [named], **noted} if noted and rules.all_required else named
    if choices_of(part):
        return {"anyOf": [_made(one, root, rules) for one in choices_of(part)], **noted}
    said = {name: of for name, of in part.items() if name not in NOTES and name not in DEFINITIONS}
    types = types_of(part)
    made = {"type": types[0] if len(types) == 1 else list(types), **said, **noted}
    if "items" in part:
        made["items"] = _made(part["items"], root, rules)
    if "object" in types:
        made |= _closed(part, root, rules)
    return made


def _closed(part: JsonObject, root: JsonObject, rules: StrictRules) -> dict[str, Json]:
    required = required_of(part)
    properties = {}
    for name, of in properties_of(part).items():
        made = _made(of, root, rules)
        added = rules.all_required and name not in required and refuses_null(of, root)
        properties[name] = _or_null(made) if added else made
    needed = [name for name in properties if rules.all_required or name in required]
    return {"properties": properties, "required": needed, "additionalProperties": False}


def _all_made(schema: JsonObject, kind: str, rules: StrictRules) -> dict[str, Json]:
    return {name: _made(of, schema, rules) for name, of in map_of(schema, kind).items()}


def _or_null(made: Mapping[str, Json]) -> dict[str, Json]:
    if "anyOf" in made:
        return {**made, "anyOf": [*made["anyOf"], {"type": "null"}]}
    types = types_of(made)
    if not types or "const" in made or "object" in types:
        noted = {"description": made["description"]} if "description" in made else {}
        plain = {name: of for name, of in made.items() if name not in noted}
        return {"anyOf": [plain, {"type": "null"}], **noted}
    values = {"enum": [*made["enum"], *([] if None in made["enum"] else [None])]} if "enum" in made else {}
    return {**made, "type": [*types, *([] if "null" in types else ["null"])], **values}


def _noted(part: JsonObject) -> dict[str, Json]:
    """What is said about a value, its default in words: strict mode takes no keyword for it."""
    text = str(part.get("description", ""))
    if part.get("default") is not None:
        default = json.dumps(part["default"], ensure_ascii=False)
        text = f"{text} (default: {default})".strip() if len(default) <= MAX_DEFAULT_LENGTH else text
    return {"description": text} if text else {}
