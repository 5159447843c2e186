"""One capability as a line, as a page, and as a tool definition. Pure text, no budgets.

The formats are those of the discovery engine this one follows: a summary names the capability, its
kind, what it does and its first parameters; a page shows the schema or the instructions whole.
"""

from collections.abc import Iterator, Mapping, Sequence

import msgspec

from prowess.areas import area_of
from prowess.tool_names import tool_name
from prowess.types import DISCOVER, KINDS, Capability, Detail, Hit, Json, JsonObject

SUMMARY_LENGTH = 120
GIST_LENGTH = 60
GIST_PARAMETERS = 5
SUMMARY_PARAMETERS = 3
UNAVAILABLE = "[not available — missing secrets or dependencies]"

DEEPEST = 5
"""How many references in a row are followed."""
BRANCHES = ("anyOf", "oneOf")

CALLABLE = ("tool", "event")
"""Kinds that are in a model's tool list, and go by their name there wherever they are shown."""

DISCOVER_TOOL: JsonObject = {
    "name": DISCOVER,
    "description": "Find tools, skills and channels for a task when none shown fits.",
    "input_schema": {
        "type": "object",
        "properties": {
            "query": {"type": "string", "description": "What you want to do"},
            "needs": {"type": "array", "items": {"type": "string"}, "description": "Your plan's steps"},
            "kind": {"type": "string", "enum": [*KINDS, "any"]},
            "category": {"type": "string"},
        },
    },
}


def summary(number: int, capability: Capability, name: str) -> str:
    """A numbered line: `1. web-search (tool). Search the web. Params: query, max_results`."""
    parts = [f"{number}. {name} ({capability.kind})"]
    if capability.description:
        parts.append(shortened(capability.description))
    if capability.parameters:
        parts.append(f"Params: {', '.join(capability.parameters[:SUMMARY_PARAMETERS])}")
    if capability.required_tools:
        parts.append(f"Requires: {', '.join(capability.required_tools)}")
    if not capability.available:
        parts.append(UNAVAILABLE)
    return ". ".join(parts)


def shortened(description: str) -> str:
    """One line of at most 120 characters, without a full stop at its end."""
    text = " ".join(description.split())
    if len(text) > SUMMARY_LENGTH:
        return text[: SUMMARY_LENGTH - 3] + "..."
    return text.removesuffix(".") if not text.endswith("..") else text


def gist(capability: Capability) -> str:
    """The first sentence of what it says, or its beginning, and what it takes."""
    first = capability.description.partition("\n")[0].partition(". ")[0]
    short = first if len(first) <= GIST_LENGTH else f"{first[:GIST_LENGTH]}..."
    names = capability.parameters[:GIST_PARAMETERS]
    return f"{short} ({', '.join(names)})" if names else short


def shown_name(capability: Capability) -> str:
    """What a model knows a capability by: its name as a tool, where it is one."""
    return tool_name(capability.id) if capability.kind in CALLABLE else capability.name


def page(capability: Capability, detail: Detail, is_alone: bool = True) -> str:
    """Everything the model needs to use a capability: its schema, or its instructions.

    is_alone: whether no other page beside it has its title.
    """
    title = capability.display_name if is_alone else f"{capability.display_name} ({capability.id})"
    name = f" | Name: {tool_name(capability.id)}" if capability.kind in CALLABLE else ""
    lines = [
        f"# {title}",
        f"Kind: {capability.kind} | Category: {area_of(capability)}{name}",
        "",
        capability.description,
    ]
    if capability.kind == "tool" or detail.input_schema:
        lines += ["", "## Input Schema", *schema_lines(detail.input_schema or {}, capability.parameters)]
    if detail.content:
        lines += ["", "## Skill Instructions" if capability.kind == "skill" else "## Content", detail.content]
    if capability.required_secrets:
        lines += ["", f"Required secrets: {', '.join(capability.required_secrets)}"]
    if capability.tags:
        lines += ["", f"Tags: {', '.join(capability.tags)}"]
    return "\n".join(lines)


def schema_lines(schema: JsonObject, order: Sequence[str] = ()) -> list[str]:
    """A line for each parameter.

    order: the parameters in the author's order; a store may have kept the schema in another.
    """
    properties = schema.get("properties")
    if not isinstance(properties, Mapping) or not properties:
        return ["  (any object)" if schema.get("additionalProperties") else "  (no parameters)"]
    required = schema.get("required")
    needed = required if isinstance(required, list | tuple) else ()
    known = [name for name in order if name in properties]
    names = known if len(known) == len(properties) else list(properties)
    return [parameter_line(name, properties[name], name in needed, schema) for name in names]


def parameter_line(name: str, of: Json, required: bool, whole: JsonObject | None = None) -> str:
    """`query (string, required): The search query [a|b] (default: "a")`.

    whole: the schema that references lead into.
    """
    branches = list(_branches(of, whole or {}))
    said = [one for one in branches if isinstance(one, Mapping)]
    line = f"  {name} ({'|'.join(_types(said)) or 'any'}{', required' if required else ''})"
    if description := next((one["description"] for one in said if one.get("description")), ""):
        line += f": {description}"
    if values := [value for one in said for value in _allowed(one)]:
        line += f" [{'|'.join(map(_value, values))}]"
    if default := next((one for one in said if "default" in one), None):
        line += f" (default: {msgspec.json.encode(default['default']).decode()})"
    return line


def _branches(of: Json, whole: JsonObject, depth: int = 0) -> Iterator[Json]:
    """The schema itself, then everything that its references and unions allow."""
    yield of
    if not isinstance(of, Mapping) or depth == DEEPEST:
        return
    further = [one for name in BRANCHES if isinstance(of.get(name), list | tuple) for one in of[name]]
    if isinstance(of.get("$ref"), str):
        further.append(_followed(of["$ref"], whole))
    for one in further:
        yield from _branches(one, whole, depth + 1)


def _followed(reference: str, whole: JsonObject) -> Json:
    found: Json = whole
    for step in reference.removeprefix("#/").split("/"):
        found = found.get(step) if isinstance(found, Mapping) else None
    return found


def _types(branches: Sequence[JsonObject]) -> list[str]:
    found: dict[str, None] = {}
    for one in branches:
        stated = one.get("type")
        for type in stated if isinstance(stated, list | tuple) else [stated] if stated else ():
            found[str(type)] = None
        if not stated and "properties" in one:
            found["object"] = None
    return list(found)


def _allowed(schema: JsonObject) -> Sequence[Json]:
    """The values that are listed, of a list those of its items."""
    items = schema.get("items")
    listed = schema.get("enum", items.get("enum") if isinstance(items, Mapping) else None)
    return listed if isinstance(listed, list | tuple) else ()


def _value(value: Json) -> str:
    return str(value) if isinstance(value, str) else msgspec.json.encode(value).decode()


def tool_definition(capability: Capability, detail: Detail) -> JsonObject:
    """A tool as a model's interface takes it."""
    schema = detail.input_schema or {"type": "object", "properties": {}}
    return {"name": tool_name(capability.id), "description": capability.description, "input_schema": schema}


def discovered(capability: Capability, hit: Hit, is_weak: bool = False) -> JsonObject:
    """One thing that the tool for searching found, as it answers a model; what is only near says so."""
    return {
        "id": capability.id,
        "name": shown_name(capability),
        "kind": capability.kind,
        "description": capability.description,
        "category": area_of(capability),
        "relevance": round(hit.score, 2),
        "available": capability.available,
        **({"fit": "weak"} if is_weak else {}),
    }
