"""What exists: capabilities, providers, sources, and what is wrong with them."""

from collections.abc import Mapping
from typing import Annotated

import msgspec

from prowess.catalogue.catalogue import Version
from prowess.discovery.graph import Edge
from prowess.discovery.lint import LintFinding
from prowess.errors import NotFound
from prowess.types import Capability, Problem, Provider, SyncReport
from prowess.web.api.values import CapabilityShown, CapabilityWhole, shown, whole
from prowess.web.operations import Call, Limit, Name, Note, Operation, RequestParams
from prowess.web.paging import Page, page


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
    graph_edges: int
    index_version: int
    kinds: Mapping[str, int]
    providers: int
    quarantined: int


class Doctor(msgspec.Struct, frozen=True, kw_only=True):
    store: str
    capabilities: int
    problems: tuple[Problem, ...]


def listed(call: Call) -> Page[CapabilityShown]:
    q: CapabilitiesQuery = call.query
    found = (c for c in call.engine.catalogue.list(q.agent or None, q.kind) if _is_wanted(c, q))
    chosen = page(found, lambda c: c.id, q.cursor, q.limit)
    return Page(tuple(shown(c) for c in chosen.items), chosen.next)


def _is_wanted(capability: Capability, q: CapabilitiesQuery) -> bool:
    said = q.text.lower()
    return (
        (not q.provider or capability.provider == q.provider)
        and (not q.category or capability.category == q.category)
        and (capability.available or not q.available)
        and (said in capability.id.lower() or said in capability.description.lower())
    )


def one(call: Call) -> CapabilityWhole:
    id = call.path["id"]
    return whole(call.engine.catalogue.get(id), call.engine.catalogue.detail(id))


def versions(call: Call) -> tuple[Version, ...]:
    found = call.engine.catalogue.history(call.path["id"])
    if not found:
        raise NotFound("capability", call.path["id"], call.engine.catalogue.view().capabilities)
    return found


def related(call: Call) -> tuple[Edge, ...]:
    return call.engine.catalogue.related(call.path["id"])


def providers(call: Call) -> tuple[Provider, ...]:
    return call.engine.providers.list(call.query.agent or None)


def switch(call: Call) -> Provider:
    name, said = call.path["name"], call.body
    known = {provider.name: provider for provider in call.engine.providers.list()}
    if name not in known:
        raise NotFound("provider", name, known)
    if said.on:
        call.engine.providers.activate(name, said.agent)
    else:
        call.engine.providers.deactivate(name, said.agent, said.reason or f"switched off by {call.by}")
    return next(p for p in call.engine.providers.list(said.agent or None) if p.name == name)


def sync(call: Call) -> SyncReport:
    return call.engine.sync(*call.body.sources)


def sources(call: Call) -> tuple[SourceShown, ...]:
    return tuple(SourceShown(source.name, source.kind) for source in call.engine.sources)


def lint(call: Call) -> tuple[LintFinding, ...]:
    return call.engine.catalogue.lint()


def stats(call: Call) -> Stats:
    view = call.engine.catalogue.view()
    kinds: dict[str, int] = {}
    for capability in view.capabilities.values():
        kinds[capability.kind] = kinds.get(capability.kind, 0) + 1
    return Stats(
        **call.engine.catalogue.stats(),
        kinds=dict(sorted(kinds.items())),
        providers=len(view.providers),
        quarantined=len(view.quarantined),
    )


def doctor(call: Call) -> Doctor:
    engine = call.engine
    return Doctor(store=engine.store, capabilities=len(engine.catalogue.list()), problems=engine.diagnose())


OPERATIONS = (
    Operation(id="capabilities.list", quotes=True,
              method="GET", path="/capabilities", run=listed, query=CapabilitiesQuery,
              answer=Page[CapabilityShown], does="What exists, in order of id"),
    Operation(id="capabilities.show", quotes=True, method="GET", path="/capabilities/{id}", run=one,
              answer=CapabilityWhole, does="One capability, whole"),
    Operation(id="capabilities.versions", quotes=True,
              method="GET", path="/capabilities/{id}/versions", run=versions,
              answer=tuple[Version, ...], does="Every text a capability had, oldest first"),
    Operation(id="capabilities.related", method="GET", path="/capabilities/{id}/related", run=related,
              answer=tuple[Edge, ...], does="What a capability is related to, the strongest first"),
    Operation(id="providers.list", quotes=True,
              method="GET", path="/providers", run=providers, query=ProvidersQuery,
              answer=tuple[Provider, ...], does="Who brings capabilities, and whether they are on"),
    Operation(id="providers.switch", quotes=True,
              method="PUT", path="/providers/{name}", run=switch, body=Switch,
              answer=Provider, role="operator", does="Switch a provider on or off"),
    Operation(id="sources.list", method="GET", path="/sources", run=sources,
              answer=tuple[SourceShown, ...], does="Where capabilities are read from"),
    Operation(id="sync", slow=True, quotes=True,
              method="POST", path="/sync", run=sync, body=SyncRequest, answer=SyncReport, role="operator",
              does="Make the catalogue hold what the sources offer now"),
    Operation(id="lint", slow=True, quotes=True,
              method="GET", path="/lint", run=lint, answer=tuple[LintFinding, ...],
              does="What keeps the catalogue from being found in"),
    Operation(id="stats", method="GET", path="/stats", run=stats, answer=Stats,
              does="How much there is"),
    Operation(id="doctor", slow=True, quotes=True, method="GET", path="/doctor", run=doctor, answer=Doctor,
              does="Everything that is wrong, and what to do about it"),
)  # fmt: skip
