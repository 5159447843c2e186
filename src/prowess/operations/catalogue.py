"""What exists: capabilities, providers, sources, and what is wrong with them."""

from collections.abc import Mapping
from typing import Annotated

import msgspec

from prowess.catalogue.catalogue import Version
from prowess.discovery.graph import Edge
from prowess.engine.listing import ListingFilter, each, listing
from prowess.errors import NotFound
from prowess.operations.operation import Call, Limit, Name, NoParams, Note, RequestParams, operation
from prowess.operations.paging import Page, key_of, page
from prowess.operations.values import CapabilityShown, CapabilityWhole, shown, whole
from prowess.types import Capability, Problem, Provider, SyncReport


class CapabilitiesQuery(RequestParams, frozen=True, kw_only=True):
    kind: str = ""
    provider: str = ""
    category: str = ""
    text: str = ""
    """Only what has this in its id or description."""
    available: bool = False
    """Only what can be used right now."""
    agent: str = ""
    """As this agent sees it."""
    cursor: str = ""
    limit: Limit = 50


class ProvidersQuery(RequestParams, frozen=True, kw_only=True):
    agent: str = ""


class Switch(RequestParams, frozen=True, kw_only=True):
    on: bool
    agent: Annotated[str, msgspec.Meta(max_length=200)] = ""
    """Only for this agent; for everybody otherwise."""
    reason: Note = ""


class SyncRequest(RequestParams, frozen=True, kw_only=True):
    sources: Annotated[tuple[Name, ...], msgspec.Meta(max_length=200)] = ()
    """Read only these; all of them otherwise."""


class SourceShown(msgspec.Struct, frozen=True):
    name: str
    kind: str


class Stats(msgspec.Struct, frozen=True, kw_only=True):
    capability_count: int
    graph_nodes: int
    graph_edges: int | None
    """None where the catalogue is too large to be held in memory: nobody counts them then."""
    index_version: int
    kinds: Mapping[str, int]
    providers: int
    quarantined: int


class Doctor(msgspec.Struct, frozen=True, kw_only=True):
    store: str
    capabilities: int
    problems: tuple[Problem, ...]


@operation("capabilities.list", "GET /capabilities", quotes=True, errors=(NotFound,))
def list_capabilities(call: Call[CapabilitiesQuery]) -> Page[CapabilityShown]:
    """What exists, in order of id."""
    q, catalogue = call.params, call.engine.catalogue
    view = catalogue.visible(q.agent) if q.agent else catalogue.view()
    there = listing(call.engine.internals, view, active=not q.agent)
    words = (q.text.lower(),) if q.text.strip() else ()
    wanted = ListingFilter(kind=q.kind, provider=q.provider, category=q.category, words=words)
    after = key_of(q.cursor, str) if q.cursor else ""
    found = (c for c in each(there, wanted, after, q.limit + 1) if _is_wanted(c, q))
    chosen = page(found, lambda c: c.id, q.cursor, q.limit)
    return Page(tuple(shown(c) for c in chosen.items), chosen.next)


def _is_wanted(capability: Capability, q: CapabilitiesQuery) -> bool:
    said = q.text.lower()
    return (capability.available or not q.available) and (
        said in capability.id.lower() or said in capability.description.lower()
    )


@operation("capabilities.show", "GET /capabilities/{id}", quotes=True, errors=(NotFound,))
def show_capability(call: Call[NoParams]) -> CapabilityWhole:
    """One capability, whole."""
    id = call.path["id"]
    return whole(call.engine.catalogue.get(id), call.engine.catalogue.detail(id))


@operation("capabilities.versions", "GET /capabilities/{id}/versions", quotes=True, errors=(NotFound,))
def list_versions(call: Call[NoParams]) -> tuple[Version, ...]:
    """Every text a capability had, oldest first."""
    found = call.engine.catalogue.history(call.path["id"])
    if not found:
        raise NotFound("capability", call.path["id"], call.engine.catalogue.view().capabilities)
    return found


@operation("capabilities.related", "GET /capabilities/{id}/related", errors=(NotFound,))
def list_related(call: Call[NoParams]) -> tuple[Edge, ...]:
    """What a capability is related to, the strongest first."""
    return call.engine.catalogue.related(call.path["id"])


@operation("providers.list", "GET /providers", quotes=True)
def list_providers(call: Call[ProvidersQuery]) -> tuple[Provider, ...]:
    """Who brings capabilities, and whether they are on."""
    return call.engine.providers.list(call.params.agent or None)


@operation("providers.switch", "PUT /providers/{name}", role="operator", quotes=True, errors=(NotFound,))
def switch_provider(call: Call[Switch]) -> Provider:
    """Switch a provider on or off."""
    name, said = call.path["name"], call.params
    if said.on:
        call.engine.providers.activate(name, said.agent)
    else:
        call.engine.providers.deactivate(name, said.agent, said.reason or f"switched off by {call.by}")
    return next(p for p in call.engine.providers.list(said.agent or None) if p.name == name)


@operation("sync", "POST /sync", role="operator", slow=True, quotes=True,
           errors=(NotFound,))  # fmt: skip
def sync(call: Call[SyncRequest]) -> SyncReport:
    """Make the catalogue hold what the sources offer now."""
    return call.engine.sync(*call.params.sources, progress=call.progress)


@operation("sources.list", "GET /sources")
def list_sources(call: Call[NoParams]) -> tuple[SourceShown, ...]:
    """Where capabilities are read from."""
    return tuple(SourceShown(source.name, source.kind) for source in call.engine.sources)


@operation("stats", "GET /stats")
def stats(call: Call[NoParams]) -> Stats:
    """How much there is."""
    view = call.engine.catalogue.view()
    kinds = listing(call.engine.internals, view).counts("kind")
    return Stats(
        **call.engine.catalogue.stats(),
        kinds={kind: count for (kind,), count in kinds.items()},
        providers=len(view.providers),
        quarantined=len(view.quarantined),
    )


@operation("doctor", "GET /doctor", slow=True, quotes=True)
def doctor(call: Call[NoParams]) -> Doctor:
    """Everything that is wrong, and what to do about it."""
    engine = call.engine
    there = listing(engine.internals, engine.catalogue.view(), active=True)
    return Doctor(store=engine.store, capabilities=there.count(), problems=engine.diagnose())
