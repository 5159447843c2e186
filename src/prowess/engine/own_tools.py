"""The tools of prowess itself, for a model that a program talks to: searching, and reading on.

Above: the engine, which calls them like everything else. Below: a turn's parts. A search is recorded, so that
what is called afterwards refers to the search that showed it.
"""

from typing import TYPE_CHECKING, Any

from prowess.calling.arguments import as_arguments
from prowess.calling.call_end import CallRequest
from prowess.calling.caller import Caller
from prowess.calling.results import REFERENCE, data, said
from prowess.calling.service import OwnTool
from prowess.engine.search import options
from prowess.errors import CallFailed
from prowess.journal import canonical
from prowess.journal.entries import Searched
from prowess.journal.payloads import Payload
from prowess.prompt.render import discovered
from prowess.text.values import redacted_values
from prowess.types import DISCOVER, CallResult, JsonObject

if TYPE_CHECKING:
    from prowess.engine.internals import Internals

MAX_QUERY_CHARACTERS = 1000
READ_REFERENCE = "read_reference"


def discovery(
    inner: "Internals", query: str, kind: str, category: str, agent: str, authenticated: bool = True
) -> JsonObject:
    """What a model that searches is answered: the nearest of what this agent may use."""
    world = inner.world(agent)
    visible = world.visible(agent, authenticated).capabilities
    chosen = inner.settings({"kind": kind.lower(), "category": category, "only_available": False})
    hits = [
        hit
        for hit in inner.search(world).hits(query, visible, options(chosen))
        if not (visible[hit.id].kind == "card" and inner.parts.cards.rejected(visible[hit.id]))
    ]
    found = [discovered(inner.parts.offering.clean(visible[hit.id]), hit) for hit in hits]
    return {"capabilities": found, "total_indexed": len(visible)}


def own_tools(inner: "Internals") -> dict[str, OwnTool]:
    """By name, each of them."""

    def discover(request: CallRequest, caller: Caller) -> CallResult:
        given = as_arguments(request.arguments) or {}
        query = _text(given, "query")
        if not query.strip():
            why = 'query is missing: say in plain words what should be done, {"query": "..."}'
            return _answered(request, why, "misfit")
        found = discovery(
            inner, query, _text(given, "kind") or "any", _text(given, "category"), caller.agent,
            caller.authenticated,
        )  # fmt: skip
        search = _remember(inner, query, found, caller.agent)
        content = tuple(data(found)["content"])
        return CallResult(capability=DISCOVER, ending="ok", content=content, structured=found, offer=search)

    def read_reference(request: CallRequest, caller: Caller) -> CallResult:
        given = as_arguments(request.arguments) or {}
        reference, offset = _text(given, "reference"), given.get("offset")
        start = offset if isinstance(offset, int) else 0
        piece = (
            inner.calling.read(caller.agent, reference, start) if reference.startswith(REFERENCE) else None
        )
        if piece is None:
            return _answered(request, f"There is no reference {reference[:80]!r} to read here.", "failed")
        end = piece.offset + len(piece.text)
        more = f"\n[{end} of {piece.total} characters; go on at offset {end}]" if piece.rest else ""
        return CallResult(
            capability=READ_REFERENCE, ending="ok", content=tuple(said(piece.text + more)["content"])
        )

    return {DISCOVER: discover, READ_REFERENCE: read_reference}


def _remember(inner: "Internals", query: str, found: JsonObject, agent: str) -> str:
    """Record a search; returns its id, which what it showed is called with."""
    search = inner.options.ids()
    hits = [str(one["id"]) for one in found["capabilities"]]
    kept = [_payload(inner, found)] if inner.payloads.on else []
    entry = Searched(
        query=inner.use.hidden(query[:MAX_QUERY_CHARACTERS]),
        hits=hits,
        search=search,
        shown=kept[0].digest if kept else "",
    )
    inner.payloads.record(inner.journal, [entry], agent, kept)
    inner.calling.showed(search, agent, hits)
    return search


def _payload(inner: "Internals", found: JsonObject) -> Payload:
    return Payload.of(canonical(redacted_values(found, inner.use.hiding())))


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
