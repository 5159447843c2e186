"""prowess in a server of FastMCP: a search transform that ranks any server's tools.

    app = FastMCP("office", transforms=[ProwessSearchTransform(max_results=3)])

Clients see a search and a call, as with FastMCP's own transforms; what fits is found by meaning and by words.
FastMCP calls the tools: policy, approvals and the journal are those of prowess's own gateway.
"""

import asyncio
from collections.abc import Sequence
from typing import Any

from prowess.errors import MissingExtra
from prowess.tool_ranker import ToolRanker

try:
    from fastmcp.server.transforms.search import BM25SearchTransform
    from fastmcp.tools.base import Tool
except ImportError as missing:
    raise MissingExtra("the search transform for FastMCP", "fastmcp") from missing

MIN_RELEVANCE = 0.3
"""What fits less is left out, as in offers: a search for what is not there finds nothing."""


class ProwessSearchTransform(BM25SearchTransform):
    """A search transform of FastMCP, with prowess for its ranking.

    options: what a search transform takes, such as max_results or always_visible.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._shown: tuple[tuple[str, str], ...] = ()
        self._ranker: ToolRanker[Tool] = ToolRanker(())

    async def _search(self, tools: Sequence[Tool], query: str) -> Sequence[Tool]:
        return await asyncio.to_thread(self._found, tools, query)

    def _found(self, tools: Sequence[Tool], query: str) -> Sequence[Tool]:
        shown = tuple((tool.name, tool.description or "") for tool in tools)
        if shown != self._shown:  # making tools ready costs far more than ranking them
            self._ranker, self._shown = ToolRanker(tools), shown
        return self._ranker.rank(query, self._max_results, min_relevance=MIN_RELEVANCE)
