"""The tools a client sees: six that never change, and those the caller's profile pins."""

from collections.abc import Mapping
from typing import Any

from mcp_types import Tool, ToolAnnotations

from prowess.calling.caller import Caller
from prowess.calling.wording import callable_here
from prowess.engine.engine import Engine
from prowess.gateway.definition import definition
from prowess.gateway.descriptions import is_rejected
from prowess.tool_names import tool_name

Schema = dict[str, Any]

TEXT: Schema = {"type": "string"}
READING = ToolAnnotations(read_only_hint=True, open_world_hint=False)
ENTRY = {"anthropic/alwaysLoad": True}
"""Some clients show a model only the names of tools until it asks; these three lead to all others."""


def _object(required: tuple[str, ...] = (), **properties: Schema) -> Schema:
    return {"type": "object", "properties": properties, "required": list(required)}


CALL: Schema = {
    "id": {"type": "string", "description": "As discover_capabilities gave it."},
    "arguments": {"type": "object", "description": "Fitting the capability's own schema."},
    "fields": {"type": "array", "items": TEXT, "description": "Only these parts, as in items.title."},
}
ONCE: Schema = {"key": {"type": "string", "description": "Repeated with the same key, it is made once."}}

META = (
    Tool(
        name="discover_capabilities",
        description="Search everything you can use here: tools of many servers, skills, APIs. Ask before"
        " saying that something cannot be done. A task of several steps: plan it, and give each step in"
        " `needs`; one search answers them all. Each result says how to call it.",
        input_schema=_object(
            (),
            query={"type": "string", "description": "What should be done, in plain words."},
            needs={"type": "array", "items": TEXT, "description": "Your plan: one sentence for each step."},
            kind={"type": "string", "description": "Only this kind: tool, skill, event, prompt, resource."},
            limit={"type": "integer", "minimum": 1, "maximum": 20},
        ),
        annotations=READING,
        _meta=ENTRY,
    ),
    Tool(
        name="describe_capability",
        description="Everything about one capability: description, schema, what is missing to use it.",
        input_schema=_object(("id",), id=TEXT),
        annotations=READING,
    ),
    Tool(
        name="call_read_only",
        description="Call a capability that changes nothing, or read a skill. One with effects is refused.",
        input_schema=_object(("id",), **CALL),
        annotations=ToolAnnotations(read_only_hint=True, open_world_hint=True),
        _meta=ENTRY,
    ),
    Tool(
        name="call_with_effects",
        description="Call a capability that may change something, or cost something.",
        input_schema=_object(("id",), **CALL, **ONCE),
        annotations=ToolAnnotations(read_only_hint=False, destructive_hint=True, open_world_hint=True),
        _meta=ENTRY,
    ),
    Tool(
        name="list_capabilities",
        description="What there is, counted by provider; with a kind or provider, the ids.",
        input_schema=_object(
            (),
            kind=TEXT,
            provider=TEXT,
            after={"type": "string", "description": "The `next` of the last page."},
        ),
        annotations=READING,
    ),
    Tool(
        name="read_reference",
        description="Read a skill or card whole, a reference document, or the rest of a long result.",
        input_schema=_object(
            (),
            reference={
                "type": "string",
                "description": "An id, skill:NAME/PATH, a document's path, or result:...",
            },
            offset={"type": "integer", "minimum": 0},
        ),
        annotations=READING,
    ),
)
META_NAMES = frozenset(tool.name for tool in META)


def pinned(engine: Engine, caller: Caller) -> Mapping[str, str]:
    """Name of a tool -> the capability behind it, for what the profile pins."""
    visible = engine.catalogue.visible(caller.agent, caller.authenticated).capabilities
    ids = engine.policy.pinned(caller.agent)
    shown = [id for id in ids if id in visible and not is_rejected(engine, visible[id])]
    names = {tool_name(id): id for id in shown if callable_here(visible[id])}
    return {name: names[name] for name in sorted(names)}


def tool_list(engine: Engine, caller: Caller) -> list[Tool]:
    """The same tools in the same order for the same caller, whatever stands behind."""
    visible = engine.catalogue.visible(caller.agent, caller.authenticated).capabilities
    chosen = pinned(engine, caller).items()
    return [*META, *(definition(engine, name, visible[id]) for name, id in chosen)]
