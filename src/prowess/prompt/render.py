"""One capability as a line, as a page, and as a tool definition. Pure text, no budgets.

The formats are those of the discovery engine this one follows: a summary names the capability, its
kind, what it does and its first parameters; a page shows the schema or the instructions whole.
"""

from collections.abc import Mapping

import msgspec

from prowess.tool_names import tool_name
from prowess.types import DISCOVER, Capability, Detail, Hit, JsonObject

SUMMARY_LENGTH = 120
SUMMARY_PARAMETERS = 3
UNAVAILABLE = "[not available — missing secrets or dependencies]"

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
            "kind": {"type": "string", "enum": ["tool", "skill", "extension", "channel", "any"]},
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


def shown_name(capability: Capability) -> str:
    """What a model knows a capability by: its name as a tool, where it is one."""
    return tool_name(capability.id) if capability.kind in CALLABLE else capability.name


def page(capability: Capability, detail: Detail) -> str:
    """Everything the model needs to use a capability: its schema, or its instructions."""
    name = f" | Name: {tool_name(capability.id)}" if capability.kind in CALLABLE else ""
    lines = [
        f"# {capability.display_name}",
        f"Kind: {capability.kind} | Category: {capability.category}{name}",
        "",
        capability.description,
    ]
    if capability.kind == "tool" or detail.input_schema:
        lines += ["", "## Input Schema", *schema_lines(detail.input_schema or {})]
    if detail.content:
        lines += ["", "## Skill Instructions" if capability.kind == "skill" else "## Content", detail.content]
    if capability.required_secrets:
        lines += ["", f"Required secrets: {', '.join(capability.required_secrets)}"]
    if capability.tags:
        lines += ["", f"Tags: {', '.join(capability.tags)}"]
    return "\n".join(lines)


def schema_lines(schema: JsonObject) -> list[str]:
    """A JSON schema as one line for each parameter."""
    properties = schema.get("properties")
    if not isinstance(properties, Mapping) or not properties:
        return ["  (no parameters)"]
    required = schema.get("required")
    needed = required if isinstance(required, list | tuple) else ()
    return [parameter_line(name, of, name in needed) for name, of in properties.items()]


def parameter_line(name: str, of: object, required: bool) -> str:
    """`query (string, required): The search query [a|b] (default: "a")`."""
    schema = of if isinstance(of, Mapping) else {}
    type = schema.get("type", "any")
    kind = "|".join(map(str, type)) if isinstance(type, list | tuple) else str(type)
    line = f"  {name} ({kind}{', required' if required else ''})"
    if schema.get("description"):
        line += f": {schema['description']}"
    if isinstance(schema.get("enum"), list | tuple):
        line += f" [{'|'.join(str(value) for value in schema['enum'])}]"
    if "default" in schema:
        line += f" (default: {msgspec.json.encode(schema['default']).decode()})"
    return line


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
        "category": capability.category,
        "relevance": round(hit.score, 2),
        "available": capability.available,
        **({"fit": "weak"} if is_weak else {}),
    }
