"""The tools a client sees: six that never change, and those the caller's profile pins, or all it may use.

A few tools are cheaper listed than searched for. The six stay beside them: a client that does not ask again
when its list has changed finds through them what came later.
"""

from collections.abc import Collection, Mapping
from typing import Any, Literal

from mcp_types import Tool, ToolAnnotations

from prowess.calling.caller import Caller
from prowess.calling.wording import EFFECTS, READ, callable_here
from prowess.engine.engine import Engine
from prowess.engine.listing import ListingFilter, listing
from prowess.gateway.definition import definition
from prowess.gateway.descriptions import is_rejected
from prowess.tool_names import tool_name
from prowess.types import Capability, JsonObject, Verdict

Schema = dict[str, Any]
Tools = Literal["auto", "pinned", "all"]
CALLABLE = ("event", "tool")
MAX_TOOLS = 100
"""A client, or the provider behind it, may refuse a longer list: then only what is pinned stands in it."""

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


def tool_list(engine: Engine, caller: Caller, tools: Tools = "auto") -> list[Tool]:
    """The same tools in the same order for the same caller, whatever stands behind."""
    return [*META, *(tool for _, tool in _named(engine, caller, tools))]


def _named(engine: Engine, caller: Caller, tools: Tools) -> list[tuple[str, Tool]]:
    """The ids of what is a tool of its own, with the tools: what is pinned, or all that a small set has."""
    seen = engine.catalogue.visible(caller.agent, caller.authenticated, over_mcp=True)
    visible, pinned = seen.capabilities, engine.policy.pinned(caller.agent)
    if tools == "pinned":
        return _defined(engine, visible, pinned)
    there, every = listing(engine.internals, seen), set[str]()
    for kind in CALLABLE:
        every.update(one.id for one in there.page(ListingFilter(kind=kind), most=MAX_TOOLS + 1))
    if len(every) > MAX_TOOLS:
        return _defined(engine, visible, pinned)
    found, parts = _defined(engine, visible, every.union(pinned)), engine.internals.parts

    def cost() -> int:
        return sum(parts.offering.cost_of_tool(_plain(tool)) for _, tool in found)

    whose = ("gateway", caller.agent, caller.authenticated)
    if tools == "all" or parts.small.has(whose, visible, len(every), cost):
        return found
    return _defined(engine, visible, pinned)


def _defined(
    engine: Engine, visible: Mapping[str, Capability], ids: Collection[str]
) -> list[tuple[str, Tool]]:
    shown = [id for id in sorted(ids) if id in visible and not is_rejected(engine, visible[id])]
    names = {tool_name(id): id for id in shown if callable_here(visible[id])}
    return [(names[name], definition(engine, name, visible[names[name]])) for name in sorted(names)]


def _plain(tool: Tool) -> JsonObject:
    return tool.model_dump(by_alias=True, mode="json", exclude_none=True)


def verdicts(engine: Engine, caller: Caller, tools: Tools = "auto") -> Mapping[str, Verdict]:
    """Each tool of the list, and whether a person is asked when it is used; a way to call, if anything is."""
    visible = engine.catalogue.visible(caller.agent, caller.authenticated, over_mcp=True).capabilities
    asked = engine.policy.allowed(caller.agent, caller.authenticated).ask & visible.keys()
    reading = {id for id in asked if not visible[id].has_side_effects}
    ways: Mapping[str, Collection[str]] = {READ: reading, EFFECTS: asked}
    meta: dict[str, Verdict] = {name: "ask" if ways.get(name) else "allow" for name in META_NAMES}
    named = _named(engine, caller, tools)
    return {**meta, **{tool.name: "ask" if id in asked else "allow" for id, tool in named}}
