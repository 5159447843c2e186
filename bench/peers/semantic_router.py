"""semantic-router: IndexedRouter, one route for each tool with its name and description as utterance.

Its hybrid mode wants a sparse encoder whose model is downloaded, so the dense one is measured.
"""

from collections.abc import Sequence
from typing import Any

from semantic_router import Route
from semantic_router.encoders import DenseEncoder
from semantic_router.routers import IndexedRouter

from bench.peers.shelf import K, Search, Shelf

PACKAGE = "semantic-router"


class _Encoder(DenseEncoder):
    embed: Any

    def __call__(self, docs: list[Any]) -> list[list[float]]:
        return self.embed(docs).tolist()


def build(shelf: Shelf) -> Search:
    routes = [
        Route(name=each.id, utterances=[f"{each.name}: {each.description}"]) for each in shelf.capabilities
    ]
    router = IndexedRouter(_Encoder(name="the same encoder", embed=shelf.embed), routes, top_k=K)

    def search(request: str) -> Sequence[str]:
        choices = router(request, limit=K)
        return [choice.name for choice in choices]

    return search
