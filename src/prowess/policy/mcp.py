"""MCP tool definitions of what an agent may use, under names every client accepts.

A name is made from an id alone, so that it never changes because something else was added, and it
leads back to the id: `message:publish` is `message__publish`. What does not survive that way there
and back (odd characters, too long, ambiguous) keeps what is readable and ends in a hash.
"""

import hashlib
import re
from collections.abc import Callable, Iterable, Mapping

from prowess.policy.grants import Grant
from prowess.policy.patterns import EVENT, KNOWN_PREFIX, shown
from prowess.policy.resolve import mention
from prowess.policy.snapshot import PolicySnapshot
from prowess.types import Capability, Json, JsonObject

MAX_TOOL_NAME_LENGTH = 48
"""Clients take 64 characters and put `mcp__SERVER__` in front."""
MARK = "-x"
DIGITS = 10
SEPARATOR = "__"
PLAIN = re.compile(r"[A-Za-z0-9-]+(?:_[A-Za-z0-9-]+)*(?:__[A-Za-z0-9-]+(?:_[A-Za-z0-9-]+)*)*\Z")
HASHED = re.compile(rf"{MARK}[0-9a-f]{{{DIGITS}}}\Z")
INTERNAL = "system:internal"
CALLABLE = ("event", "tool")
EMPTY_SCHEMA: JsonObject = {"type": "object", "properties": {}}

SchemaOf = Callable[[str], JsonObject | None]


def tool_name(id: str) -> str:
    """The name of an id as a tool, at most 48 of `A-Z a-z 0-9 _ -`."""
    plain = _short(id).replace(":", SEPARATOR)
    if (
        len(plain) <= MAX_TOOL_NAME_LENGTH
        and PLAIN.match(plain)
        and not HASHED.search(plain)
        and tool_id(plain) == id
    ):
        return plain
    digest = hashlib.sha256(id.encode()).hexdigest()[:DIGITS]
    readable = re.sub(r"[^A-Za-z0-9_-]+", "-", plain)[: MAX_TOOL_NAME_LENGTH - DIGITS - len(MARK)].strip("-_")
    return f"{readable}{MARK}{digest}"


def tool_id(name: str, ids: Iterable[str] = ()) -> str | None:
    """The id behind a name; for one that ends in a hash, looked for among these ids."""
    if HASHED.search(name):
        return next((id for id in ids if tool_name(id) == name), None)
    whole = name.replace(SEPARATOR, ":")
    return whole if KNOWN_PREFIX.match(whole) else EVENT + whole


def _short(id: str) -> str:
    """An event goes by its name, unless that reads like the id of something else."""
    name = shown(id)
    return id if KNOWN_PREFIX.match(name) else name


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
        grant = next((one for one in exposed if mention(one, id, capability)), None)
        if grant or any(rule.pattern.matches(id) for rule in holding.profile.additional):
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
