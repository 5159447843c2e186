"""The engine: what a library user holds, and what every face calls.

Above: the faces and user code. Below: the parts, held by name; each is given what it needs and knows no
engine. What happens in a turn is in `turn.py`; here a world is taken, handed on, and what came of it is
recorded. A change that spans two owners is one transaction, and every change is journalled in it.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from threading import Event
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, Self

from prowess.catalogue.catalogue import Catalogue
from prowess.catalogue.view import View
from prowess.config import DiscoveryConfig, with_arguments
from prowess.engine import diagnose
from prowess.engine.administration import Administration
from prowess.engine.evolution import EvolutionService
from prowess.engine.options import EngineOptions
from prowess.engine.replay import WorldReplays
from prowess.engine.sync import OpenedGuard, Sync
from prowess.engine.turn_log import TurnLog, outcome_entry, owned, refuse_of_another
from prowess.engine.use import UseCheck
from prowess.engine.world import SourceSet, World, Worlds
from prowess.evolution.records import Evaluation
from prowess.journal import Clock, Journal, stamp
from prowess.journal.payloads import Payloads
from prowess.learning.gaps import Gap
from prowess.learning.learning import Learning, located
from prowess.learning.procedures import procedures_of
from prowess.learning.usage import Closing, UsageLine, closing, usage
from prowess.policy.agent_tokens import AgentTokens
from prowess.policy.agents import Agent
from prowess.policy.policy import Policy
from prowess.policy.spawning import SPAWN
from prowess.prompt.render import discovered
from prowess.sources.files.watch import watch
from prowess.sources.learned import LearnedProcedures
from prowess.sources.read_all import SyncProgress, no_progress
from prowess.sources.source import Source
from prowess.store.database import Database
from prowess.types import (
    DEFAULT_AGENT,
    Capability,
    Decision,
    Detail,
    Hit,
    JsonObject,
    Offer,
    Outcome,
    Problem,
    Provider,
    SyncReport,
    Turn,
)

if TYPE_CHECKING:
    from prowess.cards.injection import Files, Injection
    from prowess.discovery.graph import Edge
    from prowess.discovery.lint import LintFinding
    from prowess.discovery.search import Search
    from prowess.engine.cards import CardService
    from prowess.engine.preview import Preview
    from prowess.engine.turn import TurnOptions, TurnParts

TRIGGER = "event:evolution:trigger"
OnFailure = Literal["open", "closed"]


class Engine:
    """What an agent can do, turn after turn. Make one with `prowess.open()`."""

    def __init__(
        self,
        database: Database,
        sources: Sequence[Source],
        clock: Clock,
        environment: Mapping[str, str],
        ways: EngineOptions | None = None,
    ) -> None:
        self.database = database
        """Where faces keep tables of their own, such as the one of people."""
        self.ways = ways or EngineOptions()
        self.store = database.place  # without any password
        self._sources = SourceSet(tuple(sources), self.ways.trust, self.ways.definitions, self.ways.owner)
        self.configure, self.trusts = self._sources.configure, self._sources.trusts
        self.discovery = self.ways.discovery
        """What [discovery] says, where nobody says otherwise."""
        self.journal = Journal(database, clock)
        self.catalogue = Catalogue(database)
        self.policy = Policy(database, clock, self.ways.policy_files)
        self.tokens = AgentTokens(database, self.journal, clock, self.policy)
        """What proves over HTTP that somebody is an agent."""
        self._clock, self._guard = clock, OpenedGuard()
        self.speaks_to_the_model = self._guard.speaks_to_the_model
        self._worlds = Worlds(
            database, self.catalogue, self.policy, self._sources, environment, clock,
            learns=self.ways.learning.mode == "accumulate",
            card_hours=self.ways.cards.auto_disable_window_hours,
        )  # fmt: skip
        self.evolution = EvolutionService(database, self.journal, self.catalogue, self._now, self._worlds)
        learns = located(self.ways.learning, self.ways.root)
        self.learning = Learning(database, self.journal, learns, clock, self._trials())
        self._use = UseCheck(database, self.journal, self.policy, self._worlds, environment)
        self.not_used, self.hidden, self.hiding = self._use.not_used, self._use.hidden, self._use.hiding
        self.payloads = Payloads(database, clock, self.ways.journal.keep_days)
        self._log = TurnLog(database, self.journal, self.payloads, self._use)
        self.trace = self._log.trace
        parts = (database, self.journal, self.catalogue, self.policy, self._worlds, self._guard)
        self._sync = Sync(*parts, clock)
        self._take_verbs()

    def _take_verbs(self) -> None:
        """What people decide, by the verbs they use; each is said in full where it is done."""
        people = Administration(
            self.database, self.journal, self.catalogue, self.policy, self.evolution, self._worlds,
            self._guard, self._now,
        )  # fmt: skip
        self.activate, self.deactivate = people.activate, people.deactivate
        self.quarantined, self.approve, self.reject = people.quarantined, people.approve, people.reject
        self.approved_version, self.difference = people.approved_version, people.difference
        self.flagged, self.accept_finding, self.findings = people.flagged, people.accept, people.findings
        self.agents, self.bind, self.retire = people.agents, people.bind, people.retire
        self.approvals, self.answer, self.review = people.approvals, people.answer, people.review
        self._spawn = people.spawn
        self.problems, self.history = self.catalogue.problems, self.catalogue.history
        self.evaluate, self.learn = self.evolution.evaluate, self.learning.learn

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, type: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the store, and let go of what was loaded when it was first needed: models are large."""
        self.database.close()
        self._guard.close()
        self.__dict__.pop("_parts", None)
        self.__dict__.pop("cards", None)

    @property
    def sources(self) -> tuple[Source, ...]:
        """What is read at a sync."""
        return self._sources.current

    @sources.setter
    def sources(self, sources: Sequence[Source]) -> None:
        self._sources.current = tuple(sources)

    # --- a turn ------------------------------------------------------------------------------

    def world(self, *agents: str) -> World:
        """Everything a turn of these agents depends on, as it is now."""
        return self._worlds.now(*agents)

    def offer(self, turn: Turn | str, on_failure: OnFailure = "open", **settings: Any) -> Offer:
        """One turn: what exists, what is allowed, what fits, within the budgets; recorded."""
        from prowess.engine import turn as turns  # numpy, at the first turn

        asked = turns.as_turn(turn)
        options = self._turn_options(settings, on_failure, asked.agent)
        world = self.world(asked.agent)
        made = turns.offer(asked, world, self._parts, options)
        self._log.record(asked, world, made, self.cards)
        return made.offer

    def preview(self, agent: str = DEFAULT_AGENT, profile: str = "") -> "Preview":
        """Turns of an agent, or of one that had this profile, that are recorded nowhere."""
        from prowess.engine.preview import Preview, with_profile  # numpy, at the first turn

        world = self.world(agent)
        if profile:
            world, agent = with_profile(world, profile)
        return Preview(world, agent, self._parts, self._turn_options)

    def check(
        self, agent: str, id: str, authenticated: bool = True, arguments: JsonObject | None = None
    ) -> Decision:
        """Policy at use: rules may have changed since the offer. Raises unless it is allowed.

        A person who is asked sees the arguments, and a yes holds for them alone unless the person says more.
        """
        return self._use.check(self.world(agent), agent, id, authenticated, arguments)

    def record(self, outcome: Outcome) -> None:
        """Remember what was done with an offer, and whether it worked."""
        refuse_of_another(outcome)
        self.journal.record(outcome_entry(outcome), outcome.agent)

    def find(self, request: str, agent: str = DEFAULT_AGENT, **settings: Any) -> tuple[Hit, ...]:
        """What fits a request, best first, each with why; `settings` are keys of [discovery]."""
        from prowess.engine.search import options  # numpy, at the first search

        world = self.world(agent)
        visible, chosen = world.visible(agent), options(self.settings(settings))
        return self.search(world).hits(request, visible.capabilities, chosen)

    def discover(
        self, query: str, kind: str = "any", category: str = "", agent: str = DEFAULT_AGENT
    ) -> JsonObject:
        """Answer a call of `discover_capabilities`."""
        from prowess.engine.search import options  # numpy, at the first search

        world = self.world(agent)
        visible = world.visible(agent).capabilities
        chosen = self.settings({"kind": kind.lower(), "category": category, "only_available": False})
        hits = [
            hit
            for hit in self.search(world).hits(query, visible, options(chosen))
            if not (visible[hit.id].kind == "card" and self.cards.rejected(visible[hit.id]))
        ]
        found = [discovered(self._parts.offering.clean(visible[hit.id]), hit) for hit in hits]
        return {"capabilities": found, "total_indexed": len(visible)}

    def rank(
        self, request: str, agent: str = DEFAULT_AGENT, depth: int = 100, split: bool = True
    ) -> list[str]:
        """The ids of `find` without threshold and abstention: what benchmarks and gates measure."""
        from prowess.engine.search import ranking  # numpy, at the first search

        world = self.world(agent)
        visible = world.visible(agent).capabilities
        return ranking(self.search(world), request, visible, depth, split, self.discovery)

    def tools(self, offer: Offer) -> tuple[JsonObject, ...]:
        """The tools of an offer as a model's interface takes them."""
        return offer.tools

    def inject(self, files: "Files", turn: Turn | str, session: str = "", **settings: Any) -> "Injection":
        """The files an agent starts with, and the cards this turn needs; `settings` are keys of [cards]."""
        from prowess.engine.turn import as_turn  # numpy, at the first turn

        return self.cards.having(**settings).inject(files, as_turn(turn), session)

    def explain(self, agent: str, id: str, request: str = "") -> tuple[str, ...]:
        """Why an agent may use something and would be offered it, or not, step by step: for people."""
        return self.preview(agent).explain(id, request)

    # --- what exists -------------------------------------------------------------------------

    def sync(self, *names: str, vectors: bool = True, progress: SyncProgress = no_progress) -> SyncReport:
        """Make the catalogue hold exactly what the sources offer now; name some to read only those.

        What was promoted is relied on from here on. The change is committed, and found by its words, before
        vectors are made; interrupting that is safe, and whoever searches next goes on.
        """
        if self.learning.on:
            self.learning.teach()
            if all(source.kind != "learnt" for source in self.sources):
                self.sources = (
                    *self.sources,
                    LearnedProcedures(lambda: procedures_of(self.learning.taught())),
                )
        report = self._sync.run(self._sources, names, progress)
        if vectors:
            self._parts.searching.make_vectors(lambda done, total: progress("vectors", done, total))
        return report

    def watch(
        self, changed: Callable[[SyncReport], None], stop: Event | None = None, debounce: float = 0.5
    ) -> None:
        """Keep the catalogue current while files change, until `stop` is set."""
        paths = [path for source in self.sources for path in getattr(source, "paths", ())]
        watch(paths, lambda: changed(self.sync()), stop or Event(), debounce)

    def view(self) -> View:
        """The catalogue as it is now: one cheap query when nothing changed since the last turn."""
        return self.world().view

    def visible(self, agent: str, authenticated: bool = True) -> View:
        """What exists for this agent and what it may use."""
        return self.world(agent).visible(agent, authenticated)

    def capabilities(self, agent: str | None = None, kind: str = "") -> tuple[Capability, ...]:
        """Everything that exists and is on, in order of id; for one agent, only what it may use."""
        found = self.view().active("") if agent is None else self.visible(agent).capabilities
        return tuple(c for c in found.values() if not kind or c.kind == kind)

    def capability(self, id: str) -> Capability:
        return self.view().get(id)

    def detail(self, id: str) -> Detail:
        """The full schema and content of one capability."""
        return self.catalogue.detail(self.capability(id).id)

    def providers(self, agent: str | None = None) -> tuple[Provider, ...]:
        return self.view().providers_for(agent or "")

    def related(self, id: str) -> "tuple[Edge, ...]":
        """What a capability is related to, the strongest first."""
        world = self.world()
        return self.search(world).graph.neighbours(world.view.get(id).id)

    def relations(self, ids: Iterable[str]) -> "tuple[Edge, ...]":
        """The relations among these, each once."""
        return self.search(self.world()).graph.subgraph(ids)

    def lint(self) -> "tuple[LintFinding, ...]":
        """What keeps the catalogue from being found in, and what to change."""
        return self.search(self.world()).lint()

    def stats(self) -> JsonObject:
        """How much there is to search in."""
        world = self.world()
        graph = self.search(world).graph
        return {
            "capability_count": len(world.view.capabilities),
            "graph_nodes": len(graph),
            "graph_edges": graph.edge_count(),
            "index_version": world.view.version,
        }

    def cost_of_everything(self, agent: str = DEFAULT_AGENT) -> int:
        """The tokens it would take to show a model all it may use, every turn."""
        return self._parts.offering.cost_of_everything(list(self.visible(agent).capabilities.values()))

    def cost_of(self, id: str) -> int:
        """The tokens it takes to show a model one capability whole."""
        return self._parts.offering.cost_of_one(self.capability(id))

    def diagnose(self) -> tuple[Problem, ...]:
        """Everything that is wrong with this installation, for `prowess doctor`."""
        world = self.world()
        found = diagnose.stored(self.catalogue, self.journal, world, self.database)
        if world.view.capabilities:
            found += diagnose.searchable(self.search(world), self._parts.searching.index)
        return (*found, *diagnose.ruled(self.policy, world), *self.evolution.problems())

    # --- between turns -----------------------------------------------------------------------

    def spawn(self, parent: str, name: str, profile: str) -> Agent:
        """Make a child of an agent, which never exceeds its parent."""
        approval = self.check(parent, SPAWN, arguments={"name": name, "profile": profile}).approval
        return self._spawn(parent, name, profile, approval)

    def trigger(self, agent: str, trigger: str, reason: str, by: str) -> Evaluation:
        """A transition that a system outside asks for, if policy lets `by` use `evolution:trigger`."""
        self.check(by, TRIGGER, arguments={"agent": agent, "trigger": trigger, "reason": reason})
        return self.evolution.trigger(agent, trigger, reason, by)

    def usage(self) -> tuple[UsageLine, ...]:
        """What each provider and skill costs, and what use was made of it."""
        offered, tried = self.learning.counts()
        return usage(self.view(), offered, tried, self._parts.offering.cost_of_one)

    def what_would_close(self, span: str, agent: str, failed: str = "") -> Closing:
        """Why nothing answered a need, as things are now; `failed` is what was tried for it."""
        from prowess.engine.search import nearest  # numpy, at the first search

        world = self.world(agent)
        near = nearest(self.search(world), span, world.view.capabilities, 1)
        return closing(near, world.view, world.visible(agent).capabilities, agent, failed)

    def closing(self, gap: Gap) -> Closing:
        """What would close a gap, for the first of those who met it."""
        return self.what_would_close(gap.span, (gap.agents or (DEFAULT_AGENT,))[0], gap.failed)

    # --- the parts ---------------------------------------------------------------------------

    def settings(self, given: Mapping[str, Any]) -> DiscoveryConfig:
        """What [discovery] says, with what a caller says instead."""
        return with_arguments(self.discovery, given) if given else self.discovery

    def search(self, world: World) -> "Search":
        """What can be searched in a world; vectors that are missing are made beside."""
        return self._parts.searching.at(world)

    @cached_property
    def cards(self) -> "CardService":
        """Just-in-time cards: what is injected, how that went, and what people say about it."""
        return self._parts.cards

    @cached_property
    def _parts(self) -> "TurnParts":
        from prowess.engine.assembly import parts_of  # numpy, at the first turn

        return parts_of(self.database, self.journal, self.catalogue, self._worlds, self.ways, self._clock)

    def _trials(self) -> WorldReplays:
        def own_parts() -> "TurnParts":
            from prowess.engine.assembly import scratch_parts  # numpy, at the first gate

            return scratch_parts(self._parts, self.database, self.catalogue, self._worlds, self.ways)

        return WorldReplays(self._worlds, self.discovery, own_parts)

    def _turn_options(
        self, settings: Mapping[str, Any], on_failure: OnFailure = "open", agent: str = DEFAULT_AGENT
    ) -> "TurnOptions":
        from prowess.engine.turn import TurnOptions  # numpy, at the first turn

        id = owned(self.ways.ids(), agent)
        return TurnOptions(settings=self.settings(settings), id=id, on_failure=on_failure)

    def _now(self) -> str:
        return stamp(self._clock())
