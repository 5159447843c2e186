"""The page `graph`: how capabilities hang together, as a picture and as a list."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from prowess.catalogue.stored import several
from prowess.engine.engine import Engine
from prowess.engine.listing import ListingFilter, each, listing
from prowess.types import Capability
from prowess.web import identity, page
from prowess.web.pages.capability import RELATIONS
from prowess.web.pages.catalogue import choices, wanted_by
from prowess.web.pages.pagination import paged
from prowess.web.plot import plot
from prowess.web.redact import plain

if TYPE_CHECKING:
    from prowess.discovery.graph import Edge

MOST_NODES = 2000
MOST_RANKED = 10_000
"""Of more than that, the first are drawn, not those with the most relations."""
MOST_EDGES = 8000
"""What a browser still draws fluently."""
MOST_GROUPS, OTHERS = 60, "others"
MOST_AROUND = 150
MOST_LISTED, ROWS = 8, 25
HOPS = {"1": 1, "2": 2, "3": 3}
GROUPS = {"": "relations", "provider": "provider", "category": "category", "kind": "kind"}
OTHERWISE = "provider"
"""What many are arranged by where nobody says it."""
COLOURS = {"DEPENDS_ON": "c4", "COMPOSED_WITH": "c3", "TAGGED_WITH": "c1", "SAME_CATEGORY": "c5"}


@dataclass(frozen=True, slots=True)
class GraphFocus:
    """What somebody wants to look at, and what of it there is."""

    wanted: ListingFilter
    around: str
    hops: int
    types: tuple[str, ...]
    group: str
    """What it is arranged by; empty for the relations, which only few capabilities can be."""
    fitting: int
    nodes: tuple[Capability, ...]


class Node(msgspec.Struct, frozen=True):
    id: str
    name: str
    kind: str
    about: str
    x: float
    y: float


class Link(msgspec.Struct, frozen=True):
    source: str
    target: str
    type: str


class Label(msgspec.Struct, frozen=True):
    name: str
    x: float
    y: float
    radius: float


class Picture(msgspec.Struct, frozen=True):
    nodes: list[Node]
    links: list[Link]
    groups: list[Label]
    all_links: int
    around: str
    grouped: str


def shown(request: Request) -> Response:
    identity.person(request)
    engine: Engine = request.app.state.engine
    looked = _looked(request, engine)
    there = listing(engine.internals, engine.catalogue.view())
    rows = paged(request, looked.nodes, ROWS)
    members = {one.id for one in looked.nodes}
    return page.render(
        request,
        "graph.html",
        title="Graph",
        looked=looked,
        q=request.query_params.get("q", ""),
        rows=rows,
        listed=[(one, _related(engine, one.id, looked.types, members)) for one in rows.rows],
        total=there.count(),
        choices=choices(there),
        relations=RELATIONS,
        colours=COLOURS,
        groups=GROUPS,
        hops=HOPS,
        most=MOST_NODES,
        ranked=MOST_RANKED,
        data=f"/graph/data?{request.url.query}",
    )


def data(request: Request) -> Response:
    """The picture as numbers, for the script that draws it."""
    identity.person(request)
    engine: Engine = request.app.state.engine
    picture = _picture(engine, _looked(request, engine))
    return Response(msgspec.json.encode(picture), media_type="application/json")


def _looked(request: Request, engine: Engine) -> GraphFocus:
    said, view, wanted = request.query_params, engine.catalogue.view(), wanted_by(request)
    types = tuple(one for one in RELATIONS if one in said.getlist("type")) or tuple(RELATIONS)
    around, hops = said.get("around", ""), HOPS.get(said.get("hops", ""), 1)
    group = said.get("group", "")
    if around:
        ids = _neighbourhood(engine, view.get(around).id, hops, types)
        near = several(view.capabilities, ids)
        nodes = [near[id] for id in ids if id in near]
        count = len(nodes)
    else:
        there = listing(engine.internals, view)
        count = there.count(wanted)
        is_much = count > MOST_RANKED
        nodes = list(islice(each(there, wanted), MOST_NODES if is_much else MOST_RANKED))
        nodes = nodes if is_much else _best_connected(engine, nodes)
    return GraphFocus(
        wanted=wanted, around=around, hops=hops, types=types, group=group if group in GROUPS else "",
        fitting=count, nodes=tuple(nodes[:MOST_NODES]),
    )  # fmt: skip


def _neighbourhood(engine: Engine, start: str, hops: int, types: Sequence[str]) -> list[str]:
    """What can be reached in so many steps, the nearest first."""
    found, edge_of_known = dict.fromkeys([start]), [start]
    for _ in range(hops):
        reached = dict.fromkeys(
            edge.target for id in edge_of_known for edge in engine.catalogue.related(id) if edge.type in types
        )
        edge_of_known = [id for id in reached if id not in found][: MOST_AROUND - len(found)]
        found |= dict.fromkeys(edge_of_known)
    return list(found)


def _best_connected(engine: Engine, fitting: list[Capability]) -> list[Capability]:
    """All of them in order; where they are too many to draw, those with the most relations first."""
    if len(fitting) <= MOST_NODES:
        return fitting
    degrees: Counter[str] = Counter()
    for edge in engine.catalogue.relations([one.id for one in fitting]):
        degrees.update((edge.source, edge.target))
    return sorted(fitting, key=lambda one: (-degrees[one.id], one.id))


def _related(engine: Engine, id: str, types: Iterable[str], members: set[str]) -> "list[Edge]":
    edges = (edge for edge in engine.catalogue.related(id) if edge.type in types and edge.target in members)
    return list(islice(edges, MOST_LISTED))


def _picture(engine: Engine, looked: GraphFocus) -> Picture:
    relations = engine.catalogue.relations([one.id for one in looked.nodes])
    edges = [e for e in relations if e.type in looked.types]
    strongest = sorted(edges, key=lambda edge: -edge.weight)[:MOST_EDGES]
    members: dict[str, list[str]] = {}
    for one in looked.nodes:
        members.setdefault(str(getattr(one, looked.group or OTHERWISE)) or "none", []).append(one.id)
    places, groups = plot(_few(members))
    return Picture(
        nodes=[
            Node(c.id, plain(c.display_name), c.kind, plain(c.description[:160]), *places[c.id])
            for c in looked.nodes
        ],
        links=[Link(edge.source, edge.target, edge.type) for edge in strongest],
        groups=[Label(plain(name), *disc) for name, disc in groups.items()],
        all_links=len(edges),
        around=looked.around,
        grouped=looked.group,
    )


def _few(members: Mapping[str, list[str]]) -> Mapping[str, list[str]]:
    """The largest groups, and all smaller ones as one: thousands of discs find no place beside each other."""
    if len(members) <= MOST_GROUPS:
        return members
    by_size = sorted(members, key=lambda name: (-len(members[name]), name))
    found = {name: members[name] for name in by_size[:MOST_GROUPS]}
    return found | {OTHERS: [id for name in by_size[MOST_GROUPS:] for id in members[name]]}


ROUTES = (Route("/graph", shown), Route("/graph/data", data))
