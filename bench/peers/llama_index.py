"""LlamaIndex: ObjectIndex over FunctionTools, each with its parameters as a model, as it makes them."""

from collections.abc import Sequence

from llama_index.core import VectorStoreIndex
from llama_index.core.embeddings import BaseEmbedding
from llama_index.core.objects import ObjectIndex
from llama_index.core.tools import FunctionTool
from pydantic import Field, PrivateAttr, create_model

from bench.peers.shelf import K, Search, Shelf, never_called
from prowess.discovery.ranking import Embed
from prowess.types import Capability

PACKAGE = "llama-index-core"


class _Embedding(BaseEmbedding):
    _embed: Embed = PrivateAttr()

    def __init__(self, embed: Embed) -> None:
        super().__init__(model_name="the same encoder")
        self._embed = embed

    def _get_text_embedding(self, text: str) -> list[float]:
        return self._embed([text])[0].tolist()

    def _get_text_embeddings(self, texts: list[str]) -> list[list[float]]:
        return self._embed(texts).tolist()

    def _get_query_embedding(self, query: str) -> list[float]:
        return self._get_text_embedding(query)

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return self._get_text_embedding(query)


def build(shelf: Shelf) -> Search:
    tools = [_tool(shelf, each) for each in shelf.capabilities]
    index = ObjectIndex.from_objects(
        tools, index_cls=VectorStoreIndex, embed_model=_Embedding(shelf.embed), transformations=[]
    )
    retriever = index.as_retriever(similarity_top_k=K)

    def search(request: str) -> Sequence[str]:
        return [shelf.ids[tool.metadata.name] for tool in retriever.retrieve(request)]

    return search


def _tool(shelf: Shelf, capability: Capability) -> FunctionTool:
    fields = {
        f"p{at}": (str, Field(alias=name, description=said))
        for at, (name, said) in enumerate(shelf.parameters(capability).items())
    }
    return FunctionTool.from_defaults(
        never_called,
        name=capability.name,
        description=capability.description,
        fn_schema=create_model(capability.name, **fields),  # type: ignore[call-overload]
    )
