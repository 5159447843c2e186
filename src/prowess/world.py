"""Everything one turn depends on, taken once and frozen.

Above: the turn, which reads nothing else, so that what was offered and what is recorded agree whatever
other processes do meanwhile. Below: the stages, each of which reads its own tables in the one transaction
that is opened here. What would happen in another world is the same turn on `replace(world, ...)`.
"""

import shutil
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from prowess.cards.history import NO_RATE, InjectionRate, read_rate
from prowess.catalogue.catalogue import Catalogue
from prowess.catalogue.health import NOTHING_DOWN, Health, health, health_anywhere
from prowess.catalogue.view import View, off_below, with_availability, with_health
from prowess.errors import StoreAway
from prowess.evolution.generations import Generations
from prowess.learning import lessons as skills
from prowess.learning import reading_state, uses
from prowess.learning.procedures import NOTHING, Lessons, lessons_of
from prowess.policy.agents import lineage
from prowess.policy.policy import Policy
from prowess.policy.snapshot import PolicySnapshot
from prowess.policy.state import PolicyState
from prowess.sources.overrides import Overrides
from prowess.sources.source import Source
from prowess.store.database import Database, Transaction
from prowess.types import Trust
from prowess.visible import VisibleTo, visible_of


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """The catalogue, the policy at one revision, what was learnt, who is stopped, how often cards came."""

    view: View
    policy: PolicySnapshot
    """The rules over exactly this view."""
    lessons: Lessons = field(default_factory=dict)
    failing: Mapping[str, str] = field(default_factory=dict)
    """Capability -> how it fails for most of those who use it now."""
    stopped: Mapping[str, str] = field(default_factory=dict)
    """Agent -> why it may use nothing; of the agents that the world was taken for."""
    cards: InjectionRate = NO_RATE

    def visible(self, agent: str, authenticated: bool = True, over_mcp: bool = False) -> View:
        """What exists for this agent and what it may use: everything an answer may speak of."""
        if self.stopped.get(agent):
            return replace(self.view, capabilities={})
        key = ("visible", agent, authenticated, over_mcp)
        asked = VisibleTo(agent, authenticated, over_mcp)
        return self.policy.remembered(key, lambda: visible_of(self.view, self.policy, asked))

    def over(self, view: View, lessons: Lessons) -> "World":
        """The world with another catalogue and other lessons, under the same rules."""
        if view is self.view:
            return replace(self, lessons=lessons)
        policy = PolicySnapshot(self.policy.rules, self.policy.standing, view)
        return replace(self, view=view, policy=policy, lessons=lessons)


REMEMBERED_AGENTS = 1000
SERVED = ("mcp", "openapi")


@dataclass(slots=True)
class SourceSet:
    """The sources an engine reads now; a changed configuration puts others in their place."""

    current: tuple[Source, ...]
    trust: Mapping[str, Trust] = field(default_factory=dict)
    definitions: Mapping[str, str] = field(default_factory=dict)
    """Source -> how it is configured: the same definition elsewhere is the same source."""
    owner: str = ""
    """The configuration that these sources are of."""
    overrides: Mapping[str, Overrides] = field(default_factory=dict)
    """Source -> what prowess.toml says otherwise about its tools."""
    lock_file: Path | None = None
    """Where prowess.lock is, or would be."""
    outputs: dict[str, str] = field(default_factory=dict)
    """Source -> the end of what its server wrote to standard error when it was last read here."""

    def configure(
        self, sources: Sequence[Source], definitions: Mapping[str, str], trust: Mapping[str, Trust],
        overrides: Mapping[str, Overrides],
    ) -> None:  # fmt: skip
        """Other sources, or the same ones defined or trusted otherwise, from the next sync on."""
        self.current, self.definitions, self.trust = tuple(sources), definitions, trust
        self.overrides = overrides

    def trust_of(self, source: Source) -> Trust:
        """What is read from this machine is trusted; what others serve is pinned, unless told otherwise."""
        is_of_others = source.kind in SERVED or getattr(source, "of_others", False)
        usual: Trust = "pinned" if is_of_others else "full"
        return self.trust.get(source.name, usual)

    def trusts(self, name: str) -> bool:
        """Whether what a source says is taken as one's own."""
        return any(self.trust_of(source) == "full" for source in self.current if source.name == name)

    @property
    def paths(self) -> list[Path]:
        """The files and folders that they read, and the files of the modules that they load."""
        return [
            Path(path)
            for source in self.current
            for path in (*getattr(source, "paths", ()), *getattr(source, "watched", ()))
        ]

    @property
    def loaded(self) -> frozenset[str]:
        """Those whose code this process has loaded, whatever another process saw of it."""
        return frozenset(source.name for source in self.current if getattr(source, "is_loaded", False))


@dataclass(frozen=True, slots=True)
class ProcessFacts:
    """What only this process knows, by which the view that all share becomes its own."""

    secrets: frozenset[str]
    loaded: frozenset[str]
    trust: Mapping[str, str]
    health: Health


class _Known(NamedTuple):
    """Why an agent was stopped, if it was, and when that was seen."""

    stopped: str
    at: float


class Worlds:
    """Takes a world: one read transaction, and one small query for each stage when nothing changed."""

    def __init__(
        self, database: Database, catalogue: Catalogue, policy: Policy, sources: SourceSet,
        environment: Mapping[str, str], clock: Callable[[], datetime], node: str,
        *, learns: bool, card_hours: int, elapsed: Callable[[], float] = time.monotonic,
    ) -> None:  # fmt: skip
        self._database = database
        self._catalogue = catalogue
        self._policy = policy
        self._sources = sources
        self._environment = environment
        self._clock = clock
        self._node = node
        self._learns = learns
        self._card_hours = card_hours
        self._elapsed = elapsed
        self._generations = Generations()
        self._memory: OrderedDict[str, _Known] = OrderedDict()
        self._read: View | None = None
        self._seen: tuple[View, PolicyState, ProcessFacts, View] | None = None
        self._policy_seen = 0
        self._learnt_at: tuple[tuple[int, int], Lessons, Mapping[str, str]] = ((0, -1), NOTHING, {})

    def now(self, *agents: str, of_all_nodes: bool = False) -> World:
        """The world as it is; `agents` are those whose turns or uses it is taken for.

        of_all_nodes: what any process that runs can reach counts, whatever this one could read itself.
        """
        self._policy.read_files()
        if self._read is None and self._database.replica:  # all of it is much; what is newer is read below
            self._read = self._database.from_replica(self._catalogue.read)
        with self._database.reading() as transaction:
            read = self._read = self._catalogue.read(transaction, self._read)
            standing = self._policy.read_standing(transaction)
            stopped = {agent: self._stopped(transaction, standing, agent) for agent in agents}
            lessons, failing = self._learnt(transaction)
            rate = self._rate(transaction) if agents and read.has_cards else NO_RATE
        self._remember(stopped, standing.version)
        seen = self._of_all_nodes if of_all_nodes else self._with_availability
        view = seen(read, standing)
        return World(
            view=view,
            policy=self._policy.at(view, standing),
            lessons=lessons,
            failing=failing,
            stopped=stopped,
            cards=rate,
        )

    def remembered(self, agent: str, seconds: float) -> World | None:
        """The newest world that was seen, while the store is away: for an agent that was looked at lately.

        Nothing where it was not, or where it is longer ago: it may have been stopped since.
        """
        self._policy.read_files()
        known, read = self._memory.get(agent), self._read
        if known is None or read is None or self._elapsed() - known.at > seconds:
            return None
        standing = self._policy.standing
        view = self._with_availability(read, standing)
        return World(
            view=view,
            policy=self._policy.at(view, standing),
            lessons=self._learnt_at[1],
            failing=self._learnt_at[2],
            stopped={agent: known.stopped},
        )

    def _remember(self, stopped: Mapping[str, str], version: int) -> None:
        """What was seen of agents; what has seen a newer policy is not answered by an older one."""
        if version < self._policy_seen:
            why = f"it has policy {version}, and {self._policy_seen} was seen before"
            raise StoreAway(self._database.place, why)
        self._policy_seen = version
        for agent, why in stopped.items():
            self._memory[agent] = _Known(why, self._elapsed())
            self._memory.move_to_end(agent)
        while len(self._memory) > REMEMBERED_AGENTS:
            self._memory.popitem(last=False)

    def _stopped(self, transaction: Transaction, standing: PolicyState, agent: str) -> str:
        """Why the agent may use nothing: a child loses at once what its parent loses."""
        line = lineage(standing.agents, agent) if agent in standing.agents else (agent,)
        return next((why for one in line if (why := self._generations.stopped(transaction, one))), "")

    def _rate(self, transaction: Transaction) -> InjectionRate:
        return read_rate(transaction, self._clock(), self._card_hours)

    def _with_availability(self, read: View, standing: PolicyState) -> View:
        """The view as this process sees it: what it could read, secrets that are set, installed programs."""
        facts, seen = self._facts(read), self._seen
        if seen is None or seen[0] is not read or seen[1] is not standing or seen[2] != facts:
            seen = self._seen = (read, standing, facts, self._with(read, standing, facts))
        return seen[3]

    def _of_all_nodes(self, read: View, standing: PolicyState) -> View:
        """The view in which only that is down which no running process can reach."""
        if not any(one.is_wrong for one in read.observations):
            return self._with_availability(read, standing)
        anywhere = health_anywhere(read.observations, self._clock())
        return self._with(read, standing, replace(self._facts(read), health=anywhere))

    def _with(self, read: View, standing: PolicyState, facts: ProcessFacts) -> View:
        healthy = with_health(read, facts.health, facts.loaded)
        view = with_availability(healthy, self._environment, shutil.which)
        above = {name: lineage(standing.agents, name)[1:] for name in standing.agents}
        return replace(off_below(view, above), trust=facts.trust)

    def _facts(self, read: View) -> ProcessFacts:
        disputed = any(one.is_wrong for one in read.observations)
        return ProcessFacts(
            secrets=frozenset(name for name in read.secret_names if self._environment.get(name)),
            loaded=self._sources.loaded,
            trust={source.name: self._sources.trust_of(source) for source in self._sources.current},
            health=health(read.observations, self._node, self._clock()) if disputed else NOTHING_DOWN,
        )

    def _learnt(self, transaction: Transaction) -> tuple[Lessons, Mapping[str, str]]:
        """What is taught, and what fails."""
        if not self._learns:
            return NOTHING, {}
        version = transaction.era, reading_state.taught_version(transaction)
        if self._learnt_at[0] != version:
            stable = skills.every(transaction, "stable")
            taught = lessons_of([skill for skill in stable if skill.taught])
            self._learnt_at = (version, taught, uses.reasons(transaction))
        return self._learnt_at[1:]
