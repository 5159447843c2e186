"""The stand-in servers' tools as capabilities, for whoever measures search alone."""

import yaml

from bench.tasks.stand_in import FILE, listing
from prowess.testing import capability
from prowess.types import Capability, SourceRef


def own_catalogue() -> list[Capability]:
    """Every tool of every stand-in, as the gateway would read it."""
    servers = yaml.safe_load(FILE.read_text(encoding="utf-8"))
    return [
        capability(
            f"tool:{server}/{tool['name']}",
            tool["description"],
            name=tool["name"],
            display_name=tool["name"].replace("_", " ").title(),
            parameters=tuple(tool["inputSchema"]["properties"]),
            provider=server,
            source_ref=SourceRef("mcp", server, tool["name"]),
        )
        for server, tools in servers.items()
        for tool in listing(tools)
    ]
