"""Ranks tools that are in no catalogue: those of a framework or a server, as they define them.

Above: integrations and user code, which decide for themselves what may be seen. Below: the ranker and the
encoder in the package. There is no store, no policy and nothing to configure; nothing is recorded.
"""

from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from threading import Lock
from time import monotonic

from prowess.discovery.corpus import Corpus
from prowess.discovery.embedders import shipped
from prowess.discovery.embedding import Embedding
from prowess.discovery.fusion import Calibration
from prowess.discovery.ranking import Options
from prowess.discovery.search import RequestVectors, Search
from prowess.discovery.text import embedding_text
from prowess.errors import EncoderUnavailable
from prowess.types import Capability, JsonObject

TOOL = "tool:"


class ToolRanker:
    """Which of some tools fit a request; what was read of them is kept for the next one."""

    def __init__(self) -> None:
        self._embedding = Embedding(shipped, monotonic)
        self._requests = RequestVectors(self._embedding)
        self._calibration = Calibration.read()
        self._corpus = Corpus()
        self._read: Mapping[str, Capability] = {}
        self._reading = Lock()

    def rank(self, tools: Iterable[JsonObject], request: str, limit: int = 5) -> list[str]:
        """The names of those that fit, best first; none where nothing does.

        tools: definitions with `name`, `description` and `input_schema`.
        request: such as "book a flight to Oslo".
        limit: at most so many.
        """
        described = {one.id: one for one in map(_described, tools)}
        search = self._searching(described)
        hits = search.hits(request, described.keys(), Options(top_k=limit))
        return [described[hit.id].name for hit in hits[:limit]]

    def _searching(self, described: Mapping[str, Capability]) -> Search:
        """What to search in for exactly these; nobody changes it, so a search beside this one goes on."""
        with self._reading:
            if described != self._read:
                corpus = self._corpus.copied()
                corpus.drop(self._read.keys() - described.keys())
                corpus.put(one for id, one in described.items() if self._read.get(id) != one)
                self._give_vectors(corpus, corpus.without_vectors())
                corpus.lexical.measured()
                self._corpus, self._read = corpus, described
            return Search(self._corpus, described, self._calibration, self._requests)

    def _give_vectors(self, corpus: Corpus, lacking: Collection[Capability]) -> None:
        if not lacking:
            return
        with suppress(EncoderUnavailable):  # words serve alone
            vectors = self._embedding([embedding_text(one) for one in lacking])
            corpus.give_vectors({one.id: vector for one, vector in zip(lacking, vectors, strict=True)})


def _described(tool: JsonObject) -> Capability:
    name = str(tool["name"])
    parameters = (tool.get("input_schema") or {}).get("properties") or {}
    return Capability(
        id=f"{TOOL}{name}",
        kind="tool",
        name=name,
        display_name=str(tool.get("title") or name),
        description=str(tool.get("description") or ""),
        parameters=tuple(parameters),
    )
