"""Who calls: an agent, whether it proved its name, and in which conversation."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Caller:
    agent: str
    authenticated: bool = True
    over_mcp: bool = False
    """Whether it comes as an MCP client, from whom a grant may keep what it gives."""
    conversation: str = ""
    """Tells the clients of one agent apart, where a face can: what one was shown, another did not see."""
