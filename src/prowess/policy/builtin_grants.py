"""The grants that come with prowess, written as a policy file would state them."""

from collections.abc import Mapping

PLACE = "built in"
BASE = "base"

GRANTS: Mapping[str, Mapping[str, object]] = {
    BASE: {
        "description": "Essential system access",
        "event_patterns": ["system:health", "system:help"],
        "always_included": True,
        "level": "read",
    },
    "state_read": {
        "description": "Read shared state",
        "event_patterns": ["state:get", "state:list"],
        "level": "read",
    },
    "state_write": {
        "description": "Modify shared state",
        "event_patterns": ["state:set", "state:delete"],
        "requires": ["state_read"],
        "level": "write",
    },
    "agent_messaging": {
        "description": "Messages between agents",
        "event_patterns": ["message:*", "agent:send_message", "conversation:active"],
        "mcp_tools": True,
        "level": "write",
    },
    "spawn_agents": {
        "description": "Create and manage child agents",
        "event_patterns": ["agent:spawn", "agent:terminate", "agent:list", "agent:status"],
        "requires": ["agent_messaging"],
        "resource_limits": {"max_children": 5, "max_depth": 2},
        "level": "admin",
    },
    "multi_agent_todo": {
        "description": "Shared task management",
        "tools": ["TodoRead", "TodoWrite"],
        "event_patterns": ["todo:*"],
        "level": "write",
    },
    "network_access": {
        "description": "External API and web access",
        "tools": ["WebFetch", "WebSearch"],
        "security_review_required": True,
        "level": "read",
    },
}

OWNER = """\
# What agents may use. `prowess policy check` validates this file; docs/policy.md explains it.
# Grants that come with prowess: base, state_read, state_write, agent_messaging, spawn_agents,
# multi_agent_todo, network_access. `prowess policy what GRANT` shows what one gives.

profiles:
  # Everything, for the agent that is meant when none is named. Narrow it when others get in.
  owner:
    description: Whoever set this up
    agents: [default]
    additional_tools: ["*"]
"""


def owner_policy() -> str:
    """The policy `prowess init` writes: profile `owner` allows everything and holds `default`."""
    return OWNER
