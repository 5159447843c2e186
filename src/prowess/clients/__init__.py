"""MCP clients: where each keeps its servers, and one entry of prowess in their place, and back again."""
