"""FastMCP: BM25SearchTransform. Its search method is called directly, without a server around it."""

import asyncio
from collections.abc import Sequence

from fastmcp.server.transforms.search import BM25SearchTransform
from fastmcp.tools import Tool

from bench.peers.shelf import K, Search, Shelf

PACKAGE = "fastmcp"


def build(shelf: Shelf) -> Search:
    tools = [
        Tool(name=each.name, description=each.description, parameters=dict(shelf.schema(each)))
        for each in shelf.capabilities
    ]
    transform = BM25SearchTransform(max_results=K)
    loop = asyncio.new_event_loop()

    def search(request: str) -> Sequence[str]:
        found = loop.run_until_complete(transform._search(tools, request))
        return [shelf.ids[tool.name] for tool in found]

    return search
