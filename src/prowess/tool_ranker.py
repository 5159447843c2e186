"""Which of these tools fit a request: no store, no policy, no catalogue.

    best = prowess.rank(tools, "book a flight to Oslo")

Above: user code and integrations. Below: discovery, in memory. A tool may be a function, a definition in any
provider's shape, an MCP tool, or a framework's own tool: whatever has a name and a description.
"""

from collections.abc import Callable, Iterable, Mapping
from time import monotonic
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from prowess.discovery.corpus import Corpus
from prowess.discovery.embedders import shipped
from prowess.discovery.embedding import Embedding
from prowess.discovery.fusion import Calibration
from prowess.discovery.ranking import Options
from prowess.discovery.search import RequestVectors, Search
from prowess.discovery.text import embedding_text
from prowess.errors import ConfigError, EncoderUnavailable
from prowess.sources.files.normalise import Origin
from prowess.sources.python.functions import describe
from prowess.types import Capability, SourceRef

if TYPE_CHECKING:
    from prowess.discovery.ranking import Embed

Tool = TypeVar("Tool")

SCHEMAS = ("input_schema", "inputSchema", "parameters", "params_json_schema", "parameters_json_schema")
"""Where a definition or a tool keeps the schema of its arguments."""


class ToolRanker(Generic[Tool]):
    """Tools made ready to be ranked for one request after another.

    tools: functions, definitions, MCP tools or a framework's tools.
    open_embedder: opens what turns texts into vectors, with its name; without it, the encoder in the package.
    """

    def __init__(
        self, tools: Iterable[Tool], open_embedder: "Callable[[], tuple[str, Embed]]" = shipped
    ) -> None:
        self._tools = {f"tool:{number}": tool for number, tool in enumerate(tools)}
        known = {id: _capability(id, tool) for id, tool in self._tools.items()}
        embedding = Embedding(open_embedder, monotonic)
        corpus = Corpus()
        corpus.put(known.values())
        self._give_vectors(corpus, embedding)
        corpus.lexical.measured()
        self._known = known
        self._search = Search(corpus, known, Calibration.read(), RequestVectors(embedding))

    def rank(self, request: str, top: int = 5, *, min_relevance: float = 0.0) -> list[Tool]:
        """The tools that fit a request best, best first.

        request: such as "book a flight to Oslo".
        top: at most so many.
        min_relevance: leave out what fits less, from 0 to 1; with 0 the nearest are always there.
        """
        chosen = Options(top_k=top, min_relevance=min_relevance, abstain=min_relevance > 0)
        return [self._tools[hit.id] for hit in self._search.hits(request, self._known, chosen)][:top]

    def _give_vectors(self, corpus: Corpus, embedding: Embedding) -> None:
        """Without an encoder words alone serve."""
        waiting = corpus.without_vectors()
        try:
            vectors = embedding([embedding_text(one) for one in waiting]) if waiting else ()
        except EncoderUnavailable:
            return
        corpus.give_vectors({one.id: vector for one, vector in zip(waiting, vectors, strict=True)})


def rank(tools: Iterable[Tool], request: str, top: int = 5) -> list[Tool]:
    """The tools that fit a request best, best first; to ask more than once, keep a `ToolRanker`.

    tools: functions, definitions, MCP tools or a framework's tools.
    request: such as "book a flight to Oslo".
    top: at most so many.
    """
    return ToolRanker(tools).rank(request, top)


def _capability(id: str, tool: object) -> Capability:
    name, description, parameters = _described(tool)
    words = name.replace("_", " ").replace("-", " ")
    return Capability(
        id=id, kind="tool", name=name, display_name=words, description=description, parameters=parameters
    )


def _described(tool: object) -> tuple[str, str, tuple[str, ...]]:
    """Its name, what it does, and the names of its arguments."""
    said = _unwrapped(tool)
    name, description = _said(said, "name"), _said(said, "description")
    if isinstance(name, str) and name and not isinstance(said, type):
        schema = next((found for key in SCHEMAS if isinstance(found := _said(said, key), Mapping)), {})
        return name, description if isinstance(description, str) else "", _parameters(schema)
    if callable(said):
        draft = describe(said, Origin("tools", "tools", SourceRef("functions", "tools"))).draft
        return draft.capability.name, draft.capability.description, draft.capability.parameters
    what = f"{type(tool).__name__} has no name"
    raise ConfigError("tools", what, "give functions, definitions, or objects with a name and a description")


def _unwrapped(tool: object) -> object:
    """A definition of OpenAI stands in `function`, a tool of LlamaIndex is described by its `metadata`."""
    inner = tool.get("function") if isinstance(tool, Mapping) else getattr(tool, "metadata", None)
    return inner if inner is not None and _said(inner, "name") else tool


def _said(tool: object, key: str) -> Any:
    return tool.get(key) if isinstance(tool, Mapping) else getattr(tool, key, None)


def _parameters(schema: Mapping[str, Any]) -> tuple[str, ...]:
    properties = schema.get("properties")
    return tuple(map(str, properties)) if isinstance(properties, Mapping) else ()
