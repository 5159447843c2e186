"""A server of the newest revision that grows a tool when it is told to; stdio, or HTTP on a port."""

import sys

from mcp.server import MCPServer
from mcp.server.mcpserver import Context

server = MCPServer("garden")


def solder(text: str = "") -> str:
    """Solder two wires together with tin."""
    return "solder"


@server.tool()
async def grow(context: Context) -> str:
    """Offer one more tool from now on."""
    server.add_tool(solder)
    await context.notify_tools_changed()
    return "grown"


if __name__ == "__main__":
    if len(sys.argv) > 1:
        server.run("streamable-http", port=int(sys.argv[1]))
    else:
        server.run("stdio")
