"""A capability as a tool in a client's list: everything its server said of it, under our name for it."""

from collections.abc import Mapping
from typing import Any

from mcp_types import Tool, ToolAnnotations, ToolExecution

from prowess.calling.wording import clean, clean_schema
from prowess.engine.engine import Engine
from prowess.types import Capability, JsonObject

EMPTY_SCHEMA: JsonObject = {"type": "object", "properties": {}}
LISTED = {"icons": "icons", "meta": "_meta", "hints": "annotations", "size": "size"}
"""What a capability keeps of how it is to be shown -> where the protocol has it."""


def definition(engine: Engine, name: str, capability: Capability) -> Tool:
    detail = engine.catalogue.detail(capability.id)
    schema = clean_schema(detail.input_schema or EMPTY_SCHEMA)
    return Tool(
        name=name,
        title=clean(capability.display_name),
        description=clean(capability.description),
        input_schema={**schema, "type": "object"},
        output_schema=_output_schema(capability, detail.output_schema),
        execution=ToolExecution(task_support="optional") if may_be_task(capability) else None,
        annotations=_annotations(capability),
        **shown_with(capability),
    )


def may_be_task(capability: Capability) -> bool:
    """Whether its server takes calls as tasks; where it takes no others, they are made so for everybody."""
    execution = capability.metadata.get("execution")
    return isinstance(execution, Mapping) and execution.get("taskSupport") in ("optional", "required")


def shown_with(capability: Capability) -> dict[str, Any]:
    """Its icons, `_meta` and the like, as keywords of the protocol's types."""
    return {name: capability.metadata[key] for key, name in LISTED.items() if capability.metadata.get(key)}


def _output_schema(capability: Capability, schema: JsonObject | None) -> dict[str, Any] | None:
    """Only what comes from a server has it on the wire in every answer, as this promises."""
    if schema is None or capability.source_ref.kind != "mcp" or schema.get("type") != "object":
        return None
    return clean_schema(schema)


def _annotations(capability: Capability) -> ToolAnnotations:
    hints = capability.metadata.get("annotations")
    said = dict(hints) if isinstance(hints, Mapping) else {}
    return ToolAnnotations(
        read_only_hint=not capability.has_side_effects,
        destructive_hint=said.get("destructive"),
        idempotent_hint=said.get("idempotent"),
        open_world_hint=said.get("open_world"),
    )
