"""The MCP face: one server in front of all the others."""
