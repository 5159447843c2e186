"""`engine.catalogue`: what exists."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from prowess.catalogue.catalogue import Catalogue, Version
from prowess.catalogue.view import View
from prowess.learning.teaching import Teaching
from prowess.learning.usage import UsageLine, usage
from prowess.types import DEFAULT_AGENT, Capability, Detail, JsonObject, Problem
from prowess.world import World, Worlds

if TYPE_CHECKING:
    from prowess.discovery.graph import Edge
    from prowess.discovery.lint import LintFinding
    from prowess.engine.search import CatalogueSearch
    from prowess.prompt.builder import OfferBuilder


@dataclass(frozen=True, slots=True)
class CatalogueLookup:
    """Everything that exists, as the last sync left it, and how its parts are related."""

    _catalogue: Catalogue
    _worlds: Worlds
    _teaching: Teaching
    _search: "Callable[[World], CatalogueSearch]"
    _offering: "Callable[[], OfferBuilder]"

    def view(self) -> View:
        """The catalogue as it is now: one cheap query when nothing changed since the last turn."""
        return self._worlds.now().view

    def visible(self, agent: str, authenticated: bool = True, over_mcp: bool = False) -> View:
        """What exists for an agent: only what it may use.

        agent: who.
        authenticated: whether it is certain who the agent is.
        over_mcp: as an MCP client, from whom a grant may keep what it gives.
        """
        return self._worlds.now(agent).visible(agent, authenticated, over_mcp)

    def list(self, agent: str | None = None, kind: str = "") -> tuple[Capability, ...]:
        """Everything that exists and is on, in order of id.

        agent: only what this agent may use; without it, everything.
        kind: only this kind, such as "tool".
        """
        found = self.view().active("") if agent is None else self.visible(agent).capabilities
        return tuple(c for c in found.values() if not kind or c.kind == kind)

    def get(self, id: str) -> Capability:
        """One capability; raises NotFound, with the nearest name.

        id: such as "tool:send_email".
        """
        return self.view().get(id)

    def detail(self, id: str) -> Detail:
        """The full schema and content of one capability.

        id: such as "tool:send_email".
        """
        return self._catalogue.detail(self.get(id).id)

    def history(self, id: str) -> tuple[Version, ...]:
        """Every content a capability ever had, the oldest first.

        id: such as "tool:send_email".
        """
        return self._catalogue.history(id)

    def related(self, id: str) -> "tuple[Edge, ...]":
        """What a capability is related to, the strongest first.

        id: such as "tool:send_email".
        """
        world = self._worlds.now()
        return self._search(world).graph.neighbours(world.view.get(id).id)

    def dependents(self, id: str) -> tuple[str, ...]:
        """What needs a capability, directly.

        id: such as "tool:send_email".
        """
        world = self._worlds.now()
        return self._search(world).graph.dependents(world.view.get(id).id)

    def relations(self, ids: Iterable[str]) -> "tuple[Edge, ...]":
        """The relations among some capabilities, each once.

        ids: the capabilities.
        """
        return self._search(self._worlds.now()).graph.subgraph(ids)

    def lint(self) -> "tuple[LintFinding, ...]":
        """What keeps capabilities from being found, and what to change."""
        from prowess.discovery.lint_faculties import misspelt_faculties  # loaded only where it is used

        world = self._worlds.now()
        return (*self._search(world).lint(), *misspelt_faculties(world.view.providers.values()))

    def problems(self) -> tuple[Problem, ...]:
        """What the last syncs could not read."""
        return self._catalogue.problems(self.view())

    def stats(self) -> JsonObject:
        """How much there is to search in; relations are not counted where the catalogue is not in memory."""
        world = self._worlds.now()
        graph = self._search(world).graph
        return {
            "capability_count": len(world.view.capabilities),
            "graph_nodes": len(graph),
            "graph_edges": graph.edge_count(),
            "index_version": world.view.version,
        }

    def cost_of(self, id: str) -> int:
        """The tokens it takes to show a model one capability whole.

        id: such as "tool:send_email".
        """
        return self._offering().cost_of_one(self.get(id))

    def cost_of_everything(self, agent: str = DEFAULT_AGENT) -> int:
        """The tokens it would take to show a model all it may use, every turn.

        agent: who.
        """
        return self._offering().cost_of_everything([*self.visible(agent).capabilities.values()])

    def usage(self) -> tuple[UsageLine, ...]:
        """What each provider and skill costs, and what use was made of it."""
        offered, tried = self._teaching.counts()
        return usage(self.view(), offered, tried, self._offering().cost_of_one)
