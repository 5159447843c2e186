"""How capabilities hang together: what one needs, what is used together, what is alike.

Edges are read from the capabilities when somebody asks, through tables by tag, category and name, so
that a change touches one capability and no pair is ever compared. Whoever changes a graph that others
read changes a copy, which shares every set that stays as it is.
"""

from collections import Counter, deque
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from copy import copy
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

from prowess.types import Capability, Problem

EdgeType = Literal["DEPENDS_ON", "COMPOSED_WITH", "TAGGED_WITH", "SAME_CATEGORY"]

DEPENDS_ON = 1.0
COMPOSED_WITH = 0.5
PER_SHARED_TAG = 0.3
# However many tags are shared, being alike is less than being needed.
MOST_FOR_TAGS = 0.9
SAME_CATEGORY = 0.1
FEWEST_SHARED_TAGS = 2
CATEGORY_SIZES = range(2, 9)
# A tag this widely shared tells nothing, and would connect everything with everything.
COMMON_TAG = 64
DEEPEST = 8
EMPTY: frozenset[str] = frozenset()
Key = tuple[str, str]
"""What capabilities may share: a tag, a category of a kind, the name of a tool, a tool they need."""
Sizes = Callable[[Iterable[Key]], Mapping[Key, int]]
"""How many share each of these; a number above the largest that counts stands for all above it."""


@dataclass(frozen=True, slots=True)
class Edge:
    """A relation; for all types but DEPENDS_ON it holds in both directions."""

    source: str
    target: str
    type: EdgeType
    weight: float


@dataclass(frozen=True, slots=True)
class Dependency:
    """Something needed by what was asked about, directly or through others."""

    id: str
    needed_by: str
    depth: int


class Graph:
    """The relations of the capabilities it was given."""

    def __init__(
        self, presets: Mapping[str, Sequence[str]] | None = None, sizes: Sizes | None = None
    ) -> None:
        """sizes: how many share what, in a catalogue of which these are only some."""
        self._sizes = sizes
        self._nodes: dict[str, Capability] = {}
        self._sharing: dict[Key, set[str]] = {}
        self._presets: Mapping[str, Sequence[str]] = {}
        self._together: Mapping[str, Set[str]] = {}
        self._own: set[Key] = set()
        """Where the set is one that no other copy reads."""
        self.compose(presets or {})

    def copied(self) -> "Graph":
        """The same relations, to be changed without changing these."""
        other = copy(self)
        other._nodes, other._sharing, other._own = self._nodes.copy(), self._sharing.copy(), set()
        self._own = set()
        return other

    def __len__(self) -> int:
        return len(self._nodes)

    def __contains__(self, id: str) -> bool:
        return id in self._nodes

    def compose(self, presets: Mapping[str, Sequence[str]]) -> None:
        """Take these presets in place of those known so far."""
        self._presets, self._together = presets, partners(presets)

    def put(self, capability: Capability) -> None:
        """Add a capability, or replace the one with its id."""
        self.drop(capability.id)
        self._nodes[capability.id] = capability
        for key in _shared(capability):
            self._members(key).add(capability.id)

    def drop(self, id: str) -> None:
        known = self._nodes.pop(id, None)
        for key in _shared(known) if known else ():
            members = self._members(key)
            members.discard(id)
            if not members:
                del self._sharing[key]

    def _members(self, key: Key) -> set[str]:
        """Who shares something, as a set that may be changed."""
        if key not in self._own or key not in self._sharing:
            self._sharing[key] = set(self._sharing.get(key, EMPTY))
            self._own.add(key)
        return self._sharing[key]

    def neighbours(self, id: str, among: Set[str] | None = None) -> tuple[Edge, ...]:
        """Every relation of one capability, or those to some others, the strongest first; one for each."""
        known = self._nodes.get(id)
        if known is None or among == EMPTY:
            return ()
        members = self._nodes.keys() if among is None else among
        # From the weakest kind to the strongest, so that the strongest relation of a pair remains.
        found = {edge.target: edge for edge in self._alike(known, members)}
        for edge in (*self.together(id), *self._needs(id)):
            if edge.target in members:
                found[edge.target] = edge
        if not found:
            return ()
        return tuple(sorted(found.values(), key=lambda edge: (-edge.weight, edge.target)))

    def leads_on(self, id: str) -> bool:
        """Whether this one may bring others along: it names what it needs, or a preset names it."""
        known = self._nodes.get(id)
        return known is not None and bool(known.required_tools or self._partners(id))

    def dependents(self, id: str) -> tuple[str, ...]:
        """What needs this one, directly."""
        users = {user for name in self._names(id) for user in self._who("needs", name)}
        return tuple(sorted(users - {id}))

    def problems(self) -> tuple[Problem, ...]:
        """Names in presets that mean nothing here."""
        remedy = "write an id that prowess list shows, or take it out"
        return tuple(
            Problem("discovery", f"preset {preset}", f"nothing is called {name!r}", remedy, "warning")
            for preset, names in self._presets.items()
            for name in names
            if self._resolved(name) is None
        )

    def dependencies(self, id: str, allowed: Callable[[str], bool] = bool) -> tuple[Dependency, ...]:
        """What one capability needs, transitively, nearest first; only through what is allowed."""
        found: dict[str, Dependency] = {}
        waiting = deque([(id, 1)])
        while waiting:
            needing, depth = waiting.popleft()
            for edge in self._needs(needing):
                new = edge.target != id and edge.target not in found
                if new and allowed(edge.target):
                    found[edge.target] = Dependency(edge.target, needing, depth)
                    if depth < DEEPEST:
                        waiting.append((edge.target, depth + 1))
        return tuple(found.values())

    def subgraph(self, ids: Iterable[str]) -> tuple[Edge, ...]:
        """The edges among these capabilities, each once."""
        members = {id for id in ids if id in self._nodes}
        inner = sorted(members)
        edges = (edge for id in inner for edge in self.neighbours(id, members))
        return tuple(edge for edge in edges if self._counted_here(edge))

    def edge_count(self) -> int:
        return sum(self._counted_here(edge) for id in self._nodes for edge in self.neighbours(id))

    def _counted_here(self, edge: Edge) -> bool:
        """Whether this is the side of a pair at which its one edge is counted."""
        if edge.type == "DEPENDS_ON":
            return True
        back = any(need.target == edge.source for need in self._needs(edge.target))
        return not back and edge.source < edge.target

    def _who(self, what: str, name: str) -> Set[str]:
        return self._sharing.get((what, name), EMPTY)

    def _resolved(self, name: str) -> str | None:
        """The capability a name means: an id, the name of a tool without a server, the name of any tool."""
        for id in (name, f"tool:{name}"):
            if id in self._nodes:
                return id
        # As the catalogue's view decides: of several tools with one name, the last in order of id.
        return max(self._who("tool", name), default=None)

    def _names(self, id: str) -> set[str]:
        """All that means this capability where something is named."""
        known = self._nodes.get(id)
        names = {id, id.removeprefix("tool:"), known.name} if known else EMPTY
        return {name for name in names if self._resolved(name) == id}

    def _partners(self, id: str) -> set[str]:
        """What presets name along with this one, as they write it."""
        if not self._together:
            return set()
        return {other for name in self._names(id) for other in self._together.get(name, EMPTY)}

    def _needs(self, id: str) -> Iterable[Edge]:
        known = self._nodes.get(id)
        for name in known.required_tools if known else ():
            target = self._resolved(name)
            if target is not None and target != id:
                yield Edge(id, target, "DEPENDS_ON", DEPENDS_ON)

    def together(self, id: str) -> Iterable[Edge]:
        """What a preset names along with this one."""
        others = {self._resolved(name) for name in self._partners(id)}
        return [
            Edge(id, other, "COMPOSED_WITH", COMPOSED_WITH)
            for other in sorted(other for other in others if other is not None and other != id)
        ]

    def _alike(self, known: Capability, members: Set[str]) -> list[Edge]:
        groups = {key: self._others(key, known.id, members) for key in alike_by(known)}
        groups = {key: others for key, others in groups.items() if others}
        if groups and self._sizes is not None:
            sizes = self._sizes(groups)
            groups = {key: others for key, others in groups.items() if sizes[key] <= largest(key)}
        edges: list[Edge] = []
        for key, others in groups.items():
            if key[0] == "category":
                edges += [Edge(known.id, other, "SAME_CATEGORY", SAME_CATEGORY) for other in others]
        shared = Counter(id for key, others in groups.items() if key[0] == "tag" for id in others)
        for other, count in shared.items():
            if count >= FEWEST_SHARED_TAGS:
                weight = round(min(PER_SHARED_TAG * count, MOST_FOR_TAGS), 6)
                edges.append(Edge(known.id, other, "TAGGED_WITH", weight))
        return edges

    def _others(self, key: Key, id: str, members: Set[str]) -> Set[str]:
        """Who shares something with this one, where few enough do for that to say something."""
        group = self._who(*key)
        return (group & members) - {id} if len(group) <= largest(key) else EMPTY


def partners(presets: Mapping[str, Sequence[str]]) -> dict[str, set[str]]:
    """Name -> the names that presets use it with."""
    together: dict[str, set[str]] = {}
    for members in presets.values():
        for one, other in combinations(dict.fromkeys(members), 2):
            together.setdefault(one, set()).add(other)
            together.setdefault(other, set()).add(one)
    return together


def largest(key: Key) -> int:
    """How many may share it at most for them to be related."""
    return CATEGORY_SIZES[-1] if key[0] == "category" else COMMON_TAG


def alike_by(capability: Capability) -> Iterable[Key]:
    """What it may be like others by."""
    if capability.category:
        yield "category", f"{capability.kind}:{capability.category}"
    tags = set(capability.tags)
    if len(capability.tags) >= FEWEST_SHARED_TAGS:
        yield from (("tag", tag) for tag in sorted(tags))


def _shared(capability: Capability) -> Iterable[Key]:
    for tag in set(capability.tags):
        yield "tag", tag
    for name in set(capability.required_tools):
        yield "needs", name
    if capability.kind == "tool":
        yield "tool", capability.name
    if capability.category:
        yield "category", f"{capability.kind}:{capability.category}"
