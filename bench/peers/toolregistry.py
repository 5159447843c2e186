"""ToolRegistry: ToolDiscoveryTool (BM25F)."""

import logging
from collections.abc import Sequence

from toolregistry import Tool, ToolRegistry
from toolregistry.llm.discovery import ToolDiscoveryTool

from bench.peers.shelf import K, Search, Shelf, never_called

PACKAGE = "toolregistry"


def build(shelf: Shelf) -> Search:
    logging.disable(logging.WARNING)  # one line for each request that finds nothing
    registry = ToolRegistry()
    ids: dict[str, str] = {}
    for each in shelf.capabilities:
        tool = Tool(
            name=each.name,
            description=each.description,
            parameters=dict(shelf.schema(each)),
            callable=never_called,
        )
        registry.register(tool)
        ids[tool.name] = each.id
    discovery = ToolDiscoveryTool(registry)

    def search(request: str) -> Sequence[str]:
        return [ids[found["name"]] for found in discovery.discover(request, top_k=K)]

    return search
