"""Names of parameters that Anthropic takes. For one that it does not, such as `filter[name]`, it refuses the
whole request; so the parameter is given another name, and the call gets its own name back.
"""

import re
from collections.abc import Iterable, Mapping

from prowess.prompt.formats.schemas import object_schema, properties_of, required_of
from prowess.types import Json, JsonObject

MAX_PARAMETER_NAME_LENGTH = 64
TAKEN = re.compile(rf"[a-zA-Z0-9_.-]{{1,{MAX_PARAMETER_NAME_LENGTH}}}")
ODD = re.compile(r"[^a-zA-Z0-9_.-]+")


def with_taken_names(schema: JsonObject) -> JsonObject:
    """The schema of an object with names that are taken; names deeper inside it are free."""
    taken = _taken(properties_of(schema))
    if not taken:
        return schema
    properties = {taken.get(name, name): of for name, of in properties_of(schema).items()}
    required = [taken.get(name, name) for name in required_of(schema)]
    return {**schema, "properties": properties, **({"required": required} if "required" in schema else {})}


def with_own_names(arguments: Json, input_schema: JsonObject) -> Json:
    """The arguments of a call by the names that the tool knows."""
    taken = _taken(properties_of(object_schema(input_schema)))
    own = {one: name for name, one in taken.items()}
    if not own or not isinstance(arguments, Mapping):
        return arguments
    return {own.get(name, name): value for name, value in arguments.items()}


def _taken(names: Iterable[str]) -> dict[str, str]:
    """A name for each that is not taken as it is."""
    odd = [name for name in names if not TAKEN.fullmatch(name)]
    used = set(names).difference(odd)
    found: dict[str, str] = {}
    for name in odd:
        plain = ODD.sub("_", name).strip("_") or "parameter"
        found[name] = _free(plain, used)
        used.add(found[name])
    return found


def _free(plain: str, used: set[str]) -> str:
    number, name = 1, plain[:MAX_PARAMETER_NAME_LENGTH]
    while name in used:
        number += 1
        name = f"{plain[: MAX_PARAMETER_NAME_LENGTH - 1 - len(str(number))]}_{number}"
    return name
