"""The tools of prowess itself, for a model that a program talks to: searching, and reading on.

Above: the engine, which calls them like everything else. Below: a turn's parts. A search is recorded, so that
what is called afterwards refers to the search that showed it.
"""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from prowess.calling.arguments import as_arguments
from prowess.calling.call_end import CallRequest
from prowess.calling.caller import Caller
from prowess.calling.results import REFERENCE, data, read_on, said
from prowess.calling.service import OwnTool
from prowess.calling.wording import TEXT_KINDS
from prowess.engine.search import options
from prowess.engine.turn_log import record_search
from prowess.errors import CallFailed
from prowess.prompt.render import discovered
from prowess.types import DISCOVER, CallResult, JsonObject

if TYPE_CHECKING:
    from prowess.engine.internals import Internals

READ_REFERENCE = "read_reference"
TEXTS = tuple(f"{kind}:" for kind in TEXT_KINDS)


@dataclass(frozen=True, slots=True)
class ModelSearch:
    """What a model that searched was answered, and the id under which that is recorded."""

    hits: tuple[JsonObject, ...]
    total: int
    search: str

    @property
    def answer(self) -> JsonObject:
        """As the model reads it."""
        return {"capabilities": list(self.hits), "total_indexed": self.total}


def searched(
    inner: "Internals", query: str, kind: str, category: str, caller: Caller, offer: str = ""
) -> ModelSearch:
    """Search for a model: the nearest of what this agent may use; recorded.

    offer: of the turn in which the model searches further, if there is one.
    """
    with inner.options.tracer.span("search", caller.agent) as span:
        found = _found(inner, query, kind, category, caller)
        ids = [str(hit["id"]) for hit in found.hits]
        search = record_search(inner, query, ids, found.answer, caller, offer)
        span.add(offer=search, hits=ids)
    return replace(found, search=search)


def _found(inner: "Internals", query: str, kind: str, category: str, caller: Caller) -> ModelSearch:
    world = inner.world(caller.agent)
    visible = world.visible(caller.agent, caller.authenticated).capabilities
    chosen = inner.settings({"kind": kind.lower(), "category": category, "only_available": False})
    hits = [
        hit
        for hit in inner.search(world).hits(query, visible, options(chosen))
        if not (visible[hit.id].kind == "card" and inner.parts.cards.rejected(visible[hit.id]))
    ]
    clean = inner.parts.offering.clean
    return ModelSearch(tuple(discovered(clean(visible[hit.id]), hit) for hit in hits), len(visible), "")


def own_tools(inner: "Internals") -> dict[str, OwnTool]:
    """By name, each of them."""

    def discover(request: CallRequest, caller: Caller) -> CallResult:
        given = as_arguments(request.arguments) or {}
        query = _text(given, "query")
        if not query.strip():
            why = 'query is missing: say in plain words what should be done, {"query": "..."}'
            return _answered(request, why, "misfit")
        kind, category = _text(given, "kind") or "any", _text(given, "category")
        found = searched(inner, query, kind, category, caller, request.offer)
        answer = found.answer
        return CallResult(
            capability=DISCOVER, ending="ok", content=tuple(data(answer)["content"]), structured=answer,
            offer=found.search,
        )  # fmt: skip

    def read_reference(request: CallRequest, caller: Caller) -> CallResult:
        given = as_arguments(request.arguments) or {}
        reference, offset = _text(given, "reference"), given.get("offset")
        start = offset if isinstance(offset, int) else 0
        if reference.startswith(TEXTS):
            return inner.calling.call(CallRequest(name=reference, offer=request.offer), caller)
        piece = (
            inner.calling.read(caller.agent, reference, start) if reference.startswith(REFERENCE) else None
        )
        if piece is None:
            return _answered(request, f"There is no reference {reference[:80]!r} to read here.", "failed")
        text = read_on(piece, inner.options.calls.neutralise_results)
        return CallResult(capability=READ_REFERENCE, ending="ok", content=tuple(text["content"]))

    return {DISCOVER: discover, READ_REFERENCE: read_reference}


def _answered(request: CallRequest, why: str, ending: Any) -> CallResult:
    return CallResult(
        capability=request.name,
        ending=ending,
        content=tuple(said(why)["content"]),
        error=CallFailed(request.name, ending, why),
    )


def _text(given: JsonObject, key: str) -> str:
    value = given.get(key)
    return value if isinstance(value, str) else ""
