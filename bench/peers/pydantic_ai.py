"""Pydantic AI: the local strategy `keywords` of ToolSearch. Its function is called directly."""

from collections.abc import Sequence

from pydantic_ai.tools import ToolDefinition
from pydantic_ai.toolsets._tool_search import keywords_search_fn

from bench.peers.shelf import K, Search, Shelf

PACKAGE = "pydantic-ai-slim"


def build(shelf: Shelf) -> Search:
    tools = [
        ToolDefinition(
            name=each.name, description=each.description, parameters_json_schema=dict(shelf.schema(each))
        )
        for each in shelf.capabilities
    ]

    def search(request: str) -> Sequence[str]:
        # The run context is not read by this strategy.
        return [shelf.ids[name] for name in keywords_search_fn(None, [request], tools)[:K]]  # type: ignore

    return search
