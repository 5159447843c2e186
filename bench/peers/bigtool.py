"""langgraph-bigtool: its default retrieval function over LangGraph's in-memory store."""

from collections.abc import Sequence

from langgraph.store.base import PutOp
from langgraph.store.memory import InMemoryStore
from langgraph_bigtool.tools import get_default_retrieval_tool

from bench.peers.shelf import K, Search, Shelf

PACKAGE = "langgraph-bigtool"
NAMESPACE = ("tools",)


def build(shelf: Shelf) -> Search:
    def embed(texts: Sequence[str]) -> list[list[float]]:
        return shelf.embed(texts).tolist()

    store = InMemoryStore(index={"embed": embed, "dims": 384, "fields": ["description"]})
    store.batch(
        [
            PutOp(NAMESPACE, each.id, {"description": f"{each.name}: {each.description}"})
            for each in shelf.capabilities
        ]
    )
    retrieve, _ = get_default_retrieval_tool(NAMESPACE, limit=K)

    def search(request: str) -> Sequence[str]:
        return retrieve(request, store=store)

    return search
