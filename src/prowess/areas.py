"""What a capability is about, in a word: its category, or the server that brings it where it has none."""

from prowess.types import Capability

NO_CATEGORY = "general"
SERVERS = ("mcp", "openapi")
"""Kinds of sources whose name says what they are about, such as github."""


def area_of(capability: Capability) -> str:
    """Such as "mail": a category that somebody gave, or the name of a server."""
    has_none = capability.category == NO_CATEGORY and capability.source_ref.kind in SERVERS
    return capability.provider or capability.category if has_none else capability.category
