"""Haystack: SearchableToolset (BM25), called through the search tool it gives to a model."""

from collections.abc import Sequence

from haystack.tools import SearchableToolset, Tool

from bench.peers.shelf import K, Search, Shelf, never_called

PACKAGE = "haystack-ai"


def build(shelf: Shelf) -> Search:
    catalog = [
        Tool(
            name=each.name,
            description=each.description,
            parameters=dict(shelf.schema(each)),
            function=never_called,
        )
        for each in shelf.capabilities
    ]
    toolset = SearchableToolset(catalog=catalog, top_k=K)
    toolset.warm_up()
    (search_tool,) = list(toolset)

    def search(request: str) -> Sequence[str]:
        toolset.clear()
        search_tool.invoke(tool_keywords=request)
        return [shelf.ids[tool.name] for tool in toolset if tool is not search_tool]

    return search
