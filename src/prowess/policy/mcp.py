"""MCP tool definitions of what an agent may use, under the names that `tool_names` gives."""

from collections.abc import Callable, Mapping

from prowess.policy.grants import Grant
from prowess.policy.matches import mention
from prowess.policy.patterns import shown
from prowess.policy.snapshot import PolicySnapshot
from prowess.tool_names import tool_name
from prowess.types import Capability, Json, JsonObject

INTERNAL = "system:internal"
CALLABLE = ("event", "tool")
EMPTY_SCHEMA: JsonObject = {"type": "object", "properties": {}}

SchemaOf = Callable[[str], JsonObject | None]


def mcp_tools(moment: PolicySnapshot, agent: str, schema_of: SchemaOf) -> tuple[JsonObject, ...]:
    """A definition for each event and tool the agent may use, in order of name."""
    found = moment.reach(agent)
    holding = moment.holding(agent)
    exposed = [grant for grant in holding.grants.values() if grant.mcp_tools is not False]
    tools = []
    for id in sorted(found.allow | found.ask):
        capability = moment.capabilities.get(id)
        if capability is None or capability.kind not in CALLABLE or shown(id).startswith(INTERNAL):
            continue
        thing = moment.thing(id)
        grant = next((one for one in exposed if mention(one, thing)), None)
        if grant or any(moment.names.matches(rule.pattern, id) for rule in holding.profile.additional):
            tools.append(_definition(capability, grant, schema_of(id)))
    return tuple(sorted(tools, key=lambda tool: str(tool["name"])))


def _definition(capability: Capability, grant: Grant | None, schema: JsonObject | None) -> JsonObject:
    described = capability.description or (f"{grant.description} - {shown(capability.id)}" if grant else "")
    definition: dict[str, Json] = {
        "name": tool_name(capability.id),
        "description": described or shown(capability.id),
        "inputSchema": schema or EMPTY_SCHEMA,
    }
    hints = capability.metadata.get("annotations")
    return {**definition, "annotations": hints} if isinstance(hints, Mapping) else definition
