"""The tools of prowess itself, for a model that a program talks to: searching, and reading on.

Above: the engine, which calls them like everything else. Below: a turn's parts. A search is recorded, so that
what is called afterwards refers to the search that showed it.
"""

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from prowess.calling.arguments import as_arguments
from prowess.calling.call_end import CallRequest
from prowess.calling.caller import Caller
from prowess.calling.results import REFERENCE, data, read_on, said
from prowess.calling.service import OwnTool
from prowess.calling.wording import TEXT_KINDS
from prowess.engine.candidates import Candidates, candidates
from prowess.engine.model_query import QUERY_MISSING, ModelQuery
from prowess.engine.turn_log import record_search
from prowess.errors import CallFailed
from prowess.prompt.render import discovered, gist
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
    needs: tuple[JsonObject, ...] = ()
    nearby: JsonObject = field(default_factory=dict)
    """What is only named: by id, what it does."""
    note: str = ""

    @property
    def answer(self) -> JsonObject:
        """As the model reads it."""
        said = {"needs": list(self.needs), "also_near": self.nearby, "note": self.note}
        found: JsonObject = {"capabilities": list(self.hits), "total_indexed": self.total}
        return {**found, **{key: value for key, value in said.items() if value}}


def searched(inner: "Internals", asked: ModelQuery, caller: Caller, offer: str = "") -> ModelSearch:
    """Search for a model: what fits each of its needs, and the nearest, of what this agent may use; recorded.

    offer: of the turn in which the model searches further, if there is one.
    """
    with inner.options.tracer.span("search", caller.agent) as span:
        found = candidates(inner, asked, caller)
        shown = _shown(inner, found)
        search = record_search(inner, asked, found, shown.answer, caller, offer)
        span.add(offer=search, hits=[hit.id for hit in found.hits])
    return replace(shown, search=search)


def answered_query(inner: "Internals", given: JsonObject, agent: str) -> JsonObject:
    """What a model is answered to these arguments of a search."""
    return searched(inner, ModelQuery.read(given), Caller(agent)).answer


def _shown(inner: "Internals", found: Candidates) -> ModelSearch:
    clean, known, weak = inner.parts.offering.clean, found.visible.capabilities, found.weak
    hits = tuple(discovered(clean(known[hit.id]), hit, is_weak=hit.id in weak) for hit in found.hits)
    nearby = {hit.id: gist(clean(known[hit.id])) for hit in found.nearby}
    return ModelSearch(hits, found.total, "", tuple(found.by_need), nearby, found.note)


def own_tools(inner: "Internals") -> dict[str, OwnTool]:
    """By name, each of them."""

    def discover(request: CallRequest, caller: Caller) -> CallResult:
        asked = ModelQuery.read(as_arguments(request.arguments) or {})
        if not asked.each:
            return _answered(request, QUERY_MISSING, "misfit")
        found = searched(inner, asked, caller, request.offer)
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
