"""What a tool's schema says: its parts, what a value may be, and the form that every provider takes.

Schemas come from others: nothing here follows one for ever, however it refers to itself.
"""

from collections import deque
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from prowess.types import Json, JsonObject

MAX_ALTERNATIVES = 200
"""Parts of a schema that are looked through for what one value may be; where there are more, anything."""
DEFINITIONS = ("$defs", "definitions")
COMBINED = ("anyOf", "oneOf", "allOf")
REFUSED_AT_THE_TOP = (*COMBINED, "not", "enum", "const", "$ref")
"""What OpenAI or Anthropic refuse at the top of a tool's schema, and with it the whole request."""
TYPE_NAMES: Mapping[type, str] = {
    str: "string",
    bool: "boolean",
    int: "integer",
    float: "number",
    type(None): "null",
}


class SchemaPart(NamedTuple):
    """One schema inside another, and how deep it is in there."""

    schema: Json
    levels: int  # how many schemas it is inside
    objects: int  # how many of them are objects


def parts_of(schema: Json) -> Iterator[SchemaPart]:
    """A schema and all the schemas in it; definitions begin anew, as nobody knows where they are used."""
    waiting = [SchemaPart(schema, 0, 0)]
    while waiting:
        part = waiting.pop()
        yield part
        if not isinstance(part.schema, Mapping):
            continue
        objects = part.objects + ("properties" in part.schema)
        inner = [*properties_of(part.schema).values(), *choices_of(part.schema)]
        inner += [part.schema["items"]] if "items" in part.schema else []
        waiting += [SchemaPart(one, part.levels + 1, objects) for one in inner]
        for name in DEFINITIONS:
            waiting += [SchemaPart(one, part.levels + 1, 0) for one in map_of(part.schema, name).values()]


def list_of(schema: JsonObject, keyword: str) -> list[Json]:
    """What a keyword lists; nothing where it is no list."""
    found = schema.get(keyword)
    return list(found) if isinstance(found, list | tuple) else []


def choices_of(schema: JsonObject) -> list[Json]:
    """The alternatives a schema names itself, whether one or several of them may fit."""
    return [*list_of(schema, "anyOf"), *list_of(schema, "oneOf")]


def map_of(schema: JsonObject, keyword: str) -> JsonObject:
    """What a keyword maps names to; nothing where it is no object."""
    found = schema.get(keyword)
    return found if isinstance(found, Mapping) else {}


def properties_of(schema: JsonObject) -> JsonObject:
    """Its properties by name."""
    return map_of(schema, "properties")


def required_of(schema: JsonObject) -> tuple[str, ...]:
    """The names of the properties it requires."""
    return tuple(name for name in list_of(schema, "required") if isinstance(name, str))


def listed(schema: Json) -> list[Json]:
    """The values a schema lists, where it lists them."""
    if not isinstance(schema, Mapping):
        return []
    return [schema["const"]] if "const" in schema else list_of(schema, "enum")


def types_of(schema: JsonObject) -> tuple[str, ...]:
    """The types of its values as it says them, or as the values do that it lists; none where nobody says."""
    said = schema.get("type")
    if isinstance(said, str):
        return (said,)
    if isinstance(said, list | tuple):
        return tuple(str(one) for one in said)
    return tuple(dict.fromkeys(TYPE_NAMES.get(type(value), "") for value in listed(schema)))


def alternatives(schema: Json, root: JsonObject) -> list[JsonObject]:
    """What a value may be: the schema behind every reference and every choice, each once."""
    found: list[JsonObject] = []
    waiting, seen = deque([schema]), set[str]()
    while waiting and len(found) + len(seen) < MAX_ALTERNATIVES:
        one = waiting.popleft()
        if not isinstance(one, Mapping):
            found.append({})  # `true` allows everything; nobody asks what `false` does
        elif "$ref" in one:
            if str(one["$ref"]) not in seen:
                seen.add(str(one["$ref"]))
                waiting.append(referred(str(one["$ref"]), root))
        elif "properties" not in one and ("anyOf" in one or "oneOf" in one):
            waiting += choices_of(one)
        else:
            found.append(one)
    return [{}] if waiting else found


def referred(reference: str, root: JsonObject) -> Json:
    """The schema that `#` or `#/$defs/NAME` names; for another place one that allows everything."""
    if reference == "#":
        return root
    place, _, name = reference.removeprefix("#/").partition("/")
    return map_of(root, place).get(name, {}) if place in DEFINITIONS else {}


def refuses_null(schema: Json, root: JsonObject) -> bool:
    """Whether null is certainly no value of it."""
    found = alternatives(schema, root)
    return bool(found) and all(_refuses_null(one) for one in found)


def _refuses_null(schema: JsonObject) -> bool:
    if listed(schema) and None not in listed(schema):
        return True
    return bool(types_of(schema)) and "null" not in types_of(schema)


def object_schema(schema: JsonObject) -> JsonObject:
    """The same arguments in a form that every provider takes: an object, with no alternatives at the top.

    Parameters that only an alternative names are kept, and that some of them go together is not said: who
    calls the tool checks its arguments against the schema itself.
    """
    if _is_plain_object(schema):
        return schema
    properties = dict(properties_of(schema))
    for part in (*_always(schema), *_sometimes(schema)):
        properties |= {name: of for name, of in properties_of(part).items() if name not in properties}
    required = [name for part in (schema, *_always(schema)) for name in required_of(part)]
    kept = {name: of for name, of in schema.items() if name not in REFUSED_AT_THE_TOP}
    made = {**kept, "type": "object", "properties": properties}
    return {**made, "required": list(dict.fromkeys(required))} if required else made


def _is_plain_object(schema: JsonObject) -> bool:
    has_properties = isinstance(schema.get("properties"), Mapping)
    return schema.get("type") == "object" and has_properties and not schema.keys() & set(REFUSED_AT_THE_TOP)


def _always(schema: JsonObject) -> list[JsonObject]:
    """What holds beside the schema itself: what it refers to, and all of `allOf`."""
    named = [referred(str(schema["$ref"]), schema)] if "$ref" in schema else []
    return [one for one in [*named, *list_of(schema, "allOf")] if isinstance(one, Mapping)]


def _sometimes(schema: JsonObject) -> list[JsonObject]:
    return [one for each in choices_of(schema) for one in alternatives(each, schema)]
