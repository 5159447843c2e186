"""MCP servers: connections that are kept, calls over them, and what they ask in the middle of one."""
