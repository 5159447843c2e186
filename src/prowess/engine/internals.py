"""What an engine is made of: the stages, and what the faces of this package need beside the promised names.

Above: the engine and its namespaces, which hand on what each needs; the gateway, the dashboard and the
command line. Below: every stage. Nothing here is promised to anybody else.
"""

from collections.abc import Collection, Mapping, Sequence
from datetime import timedelta
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from prowess.calling.intents import Intents
from prowess.calling.search_history import SearchHistory
from prowess.calling.use import UseCheck
from prowess.catalogue.catalogue import Catalogue
from prowess.config import DiscoveryConfig, with_arguments
from prowess.engine.evolution import EvolutionService
from prowess.engine.listing import listing
from prowess.engine.options import EngineOptions
from prowess.engine.replay import WorldReplays
from prowess.engine.surroundings import EvaluationSurroundings
from prowess.engine.sync import OpenedGuard, Sync
from prowess.engine.turn_log import TurnLog
from prowess.errors import StoreAway
from prowess.evolution.generations import Generations
from prowess.evolution.schedule import Schedule
from prowess.jobs import Jobs
from prowess.journal import Clock, Journal, stamp
from prowess.journal.payloads import Payloads
from prowess.learning.procedures import procedures_of
from prowess.learning.teaching import Teaching
from prowess.learning.usage import Closing, closing
from prowess.policy.policy import Policy
from prowess.sources.learned import LearnedProcedures
from prowess.sources.source import Source
from prowess.store.database import Database
from prowess.world import SourceSet, World, Worlds

if TYPE_CHECKING:
    from prowess.calling.calls import CallParts
    from prowess.calling.mcp.upstreams import Upstreams
    from prowess.calling.service import CallService
    from prowess.engine.finding import AnsweredLately
    from prowess.engine.project_file import ProjectFile
    from prowess.engine.search import CatalogueSearch
    from prowess.engine.turn import TurnParts


class Internals:
    project: "ProjectFile | None" = None
    """prowess.toml, where this process may write it."""
    upstreams: "Upstreams | None" = None
    """The MCP servers that a gateway of this process keeps."""

    def __init__(
        self,
        database: Database,
        sources: Sequence[Source],
        clock: Clock,
        environment: Mapping[str, str],
        options: EngineOptions,
    ) -> None:
        self.database = database
        """Where faces keep tables of their own, such as the one of people."""
        self.options = options
        self.discovery = options.discovery
        """What [discovery] says, where nobody says otherwise."""
        self.clock = clock
        self.sources = _source_set(sources, options)
        self.journal = Journal(database, clock)
        self.jobs = Jobs(database, clock, options.node.id)
        """Work that one of all processes does."""
        self.catalogue = Catalogue(database, options.in_memory)
        self.policy = Policy(database, clock, options.policy_files)
        self.guard = options.guard or OpenedGuard()
        self.worlds = Worlds(
            database, self.catalogue, self.policy, self.sources, environment, clock, options.node.id,
            learns=options.learning.mode == "accumulate",
            card_hours=options.cards.auto_disable_window_hours,
        )  # fmt: skip
        self.use = UseCheck(database, self.journal, self.policy, self.worlds, environment)
        self.payloads = Payloads(database, clock, options.journal.keep_days)
        self.log = TurnLog(database, self.journal, self.payloads, self.use, self.catalogue)
        self.syncing = Sync(
            database, self.journal, self.catalogue, self.policy, self.worlds, self.guard, clock, options.node
        )
        self.environment = environment
        calls = options.calls
        kept, longest = timedelta(hours=calls.keep_keys_hours), timedelta(seconds=calls.max_timeout)
        self.intents = Intents(clock, kept, longest)
        self.searches = SearchHistory()
        """What searches showed, whichever face they came through: a call names the one it answers."""
        self.generations = Generations()
        self.teaching = Teaching(database)

    @cached_property
    def evolution(self) -> EvolutionService:
        """What changed in each agent, and when it is looked at."""
        config = self.options.evolution
        surroundings = EvaluationSurroundings(
            self.database, self.journal, self.catalogue, self.worlds, self.now, self.generations,
            config.on_regression, partial(listing, self),
        )  # fmt: skip
        return EvolutionService(
            self.database, self.journal, self.catalogue, self.now, self.worlds, self.use,
            Schedule(config, self.clock), self.jobs, surroundings,
        )  # fmt: skip

    @cached_property
    def history(self) -> Journal:
        """The journal for pages, reports and exports, which a replica may answer."""
        return Journal(self.database, self.clock, from_replica=True)

    def close(self) -> None:
        if calling := self.__dict__.pop("calling", None):
            calling.close()
        self.database.close()
        if self.options.guard is None:
            self.guard.close()
        self.__dict__.pop("parts", None)

    @property
    def kept_servers(self) -> "Upstreams | None":
        """The MCP servers that this process keeps: those of its gateway, or those that calls started."""
        calling: CallService | None = self.__dict__.get("calling")
        return self.upstreams or (calling.upstreams if calling else None)

    def output_of(self, source: str) -> str:
        """The end of what a server wrote to standard error, as far as this process has seen it."""
        kept = self.kept_servers
        return (kept.output(source) if kept else "") or self.sources.outputs.get(source, "")

    def now(self) -> str:
        return stamp(self.clock())

    def world(self, *agents: str) -> World:
        """Everything a turn of these agents depends on, as it is now."""
        return self.worlds.now(*agents)

    def world_or_memory(self, agent: str) -> tuple[World, str]:
        """The world; while the store is away, for a while the one that was last seen, and why."""
        try:
            return self.world(agent), ""
        except StoreAway as away:
            known = self.worlds.remembered(agent, self.options.stale_for)
            if known is None:
                raise
            return known, away.message

    def settings(self, given: Mapping[str, Any]) -> DiscoveryConfig:
        """What [discovery] says, with what a caller says instead."""
        return with_arguments(self.discovery, given) if given else self.discovery

    def search(self, world: World) -> "CatalogueSearch":
        """What can be searched in a world; vectors that are missing are made beside."""
        return self.parts.searching.at(world)

    @cached_property
    def parts(self) -> "TurnParts":
        """What a turn works with."""
        from prowess.engine.assembly import parts_of  # numpy, at the first turn

        return parts_of(
            self.database, self.journal, self.catalogue, self.worlds, self.options, self.clock, self.guard,
            self.jobs, self.environment,
        )  # fmt: skip

    @cached_property
    def answered(self) -> "AnsweredLately":
        """What `find` answered of a catalogue that is looked up."""
        from prowess.engine.finding import AnsweredLately  # numpy, at the first search

        return AnsweredLately()

    @cached_property
    def calling(self) -> "CallService":
        """What carries out the calls of a program."""
        from prowess.calling.service import CallService  # the validation of arguments, at the first call
        from prowess.engine.own_tools import own_tools

        return CallService(self.call_parts(), self.environment, own_tools(self))

    def call_parts(self) -> "CallParts":
        """What a call works with."""
        from prowess.engine.call_parts import call_parts  # the validation of arguments, at the first call

        return call_parts(self)

    @property
    def has_cards(self) -> bool:
        return self.worlds.now().view.has_cards

    def trials(self) -> WorldReplays:
        """What gates are measured in."""

        def own_parts() -> "TurnParts":
            from prowess.engine.assembly import scratch_parts  # numpy, at the first gate

            return scratch_parts(self.parts, self.database, self.catalogue, self.worlds, self.options)

        return WorldReplays(self.worlds, self.discovery, own_parts)

    def teach(self) -> None:
        """Rely on what was promoted from here on, and read it as one more source."""
        self.teaching.teach()
        if all(source.kind != "learnt" for source in self.sources.current):
            learned = LearnedProcedures(lambda: procedures_of(self.teaching.taught()))
            self.sources.current = (*self.sources.current, learned)

    def known(self) -> Collection[str]:
        """The id of everything that exists."""
        return self.worlds.now().view.capabilities

    def closing_of(self, span: str, agent: str, failed: str) -> Closing:
        """What stands between a need and its answer, as things are now."""
        from prowess.engine.search import nearest  # numpy, at the first search

        world = self.world(agent)
        near = nearest(self.search(world), span, world.view.capabilities, 1)
        return closing(near, world.view, world.visible(agent).capabilities, agent, failed)


def _source_set(sources: Sequence[Source], options: EngineOptions) -> SourceSet:
    return SourceSet(
        tuple(sources),
        options.trust,
        options.definitions,
        options.owner,
        options.overrides,
        options.lock_file,
    )
