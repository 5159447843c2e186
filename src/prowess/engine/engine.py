"""The engine: what a library user holds, and what every face calls.

Above: the faces and user code. Below: the stages, held by `Internals`. Here are the verbs of a turn and of an
engine's life; what people decide between turns is in `namespaces/`, and what happens in a turn in `turn.py`.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cached_property, partial
from threading import Event
from typing import TYPE_CHECKING, Self, Unpack

from prowess.calling.caller import Caller
from prowess.engine import diagnose
from prowess.engine.internals import Internals
from prowess.engine.namespaces.agents import Agents
from prowess.engine.namespaces.approvals import Approvals
from prowess.engine.namespaces.calls import OpenCalls
from prowess.engine.namespaces.catalogue import CatalogueLookup
from prowess.engine.namespaces.findings import GuardFindings
from prowess.engine.namespaces.journal import JournalHistory
from prowess.engine.namespaces.policy import PolicyLookup
from prowess.engine.namespaces.providers import Providers
from prowess.engine.namespaces.quarantine import Quarantine
from prowess.engine.options import EngineOptions, OnFailure
from prowess.engine.turn_log import record_outcome, refuse_of_another
from prowess.journal import Clock
from prowess.learning.learning import Learning, located
from prowess.options import CallOptions, CardOptions, SearchOptions
from prowess.policy.agent_tokens import AgentTokens
from prowess.sources.files.watch import watch
from prowess.sources.read_all import SyncProgress, no_progress
from prowess.sources.source import Source
from prowess.store.database import Database
from prowess.tracing import facts_of
from prowess.types import (
    DEFAULT_AGENT,
    CallResult,
    Decision,
    Hit,
    Json,
    JsonObject,
    Offer,
    Outcome,
    Problem,
    SyncReport,
    ToolCall,
    Trace,
    Turn,
)

if TYPE_CHECKING:
    from prowess.cards.injection import Files, Injection
    from prowess.engine.conversation import Conversation
    from prowess.engine.namespaces.cards import Cards
    from prowess.engine.preview import Preview


class Engine:
    """What an agent can do, turn after turn. Make one with `prowess.open()`, and close it, best by `with`.

    database: the store, opened.
    sources: what a sync reads.
    clock: gives the time.
    environment: where secrets are looked up, such as os.environ.
    options: how the engine works; what prowess.toml decides.
    """

    def __init__(
        self,
        database: Database,
        sources: Sequence[Source],
        clock: Clock,
        environment: Mapping[str, str],
        options: EngineOptions | None = None,
    ) -> None:
        self.internals = inner = Internals(database, sources, clock, environment, options or EngineOptions())
        """What the faces of this package build on; not promised, and may change with every version."""
        journal, catalogue, policy, worlds = inner.journal, inner.catalogue, inner.policy, inner.worlds
        self.store = database.place
        """Where the store is, without any password."""
        self.catalogue = CatalogueLookup(
            catalogue, worlds, inner.teaching, inner.search, lambda: inner.parts.offering
        )
        self.providers = Providers(database, journal, catalogue, inner.generations, worlds)
        self.quarantine = Quarantine(database, journal, catalogue, worlds, inner.now)
        self.findings = GuardFindings(inner)
        self.policy = PolicyLookup(database, journal, policy, worlds, inner.payloads, inner.options.ids)
        self.agents = Agents(database, journal, policy, worlds, inner.use)
        self.tokens = AgentTokens(database, journal, clock, policy)
        self.calls = OpenCalls(database, journal, inner.intents)
        self.approvals = Approvals(database, journal, policy, inner.use)
        self.evolution = inner.evolution
        learns = located(inner.options.learning, inner.options.root)
        self.learning = Learning(
            database, journal, learns, clock, inner.trials(), inner.closing_of, inner.known, inner.jobs
        )
        self.journal = JournalHistory(inner.history)

    @cached_property
    def cards(self) -> "Cards":
        """Just-in-time cards: what people read about them and say."""
        from prowess.engine.namespaces.cards import Cards  # numpy, at the first use

        return Cards(self.internals.parts.cards)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *failure: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the store, and let go of what was loaded when it was first needed: models are large."""
        self.internals.close()
        self.__dict__.pop("cards", None)

    @property
    def sources(self) -> tuple[Source, ...]:
        """What is read at a sync; assign others to read those from the next sync on."""
        return self.internals.sources.current

    @sources.setter
    def sources(self, sources: Sequence[Source]) -> None:
        self.internals.sources.current = tuple(sources)

    def offer(
        self, turn: Turn | str, *, on_failure: OnFailure = "open", **options: Unpack[SearchOptions]
    ) -> Offer:
        """One turn: what exists, what is allowed, what fits, within the budgets; recorded.

        turn: what came in, or just the text of the request.
        on_failure: when search fails, "open" offers everything that is allowed, "closed" only what is pinned.
        options: keys of [discovery] for this turn, such as tier1_top_k=3.
        """
        from prowess.engine import turn as turns  # numpy, at the first turn

        asked, inner = turns.as_turn(turn), self.internals
        chosen = turns.TurnOptions.of(inner.discovery, inner.options.ids, options, on_failure, asked.agent)
        with inner.options.tracer.span("offer", asked.agent) as span:
            world = inner.worlds.now(asked.agent)
            made = turns.offer(asked, world, inner.parts, chosen)
            inner.log.record(asked, world, made, inner.parts.cards)
            span.add(**facts_of(made.offer))
        return made.offer

    def preview(self, agent: str = DEFAULT_AGENT, profile: str = "") -> "Preview":
        """Turns that are recorded nowhere: `engine.preview("ada").offer(turn)`.

        agent: as this agent.
        profile: as an agent that had this profile, instead.
        """
        from prowess.engine.preview import Preview, with_profile  # numpy, at the first turn
        from prowess.engine.turn import TurnOptions

        inner, world = self.internals, self.internals.world(agent)
        if profile:
            world, agent = with_profile(world, profile)
        chosen = partial(TurnOptions.of, inner.discovery, inner.options.ids)
        return Preview(world, agent, inner.parts, chosen, inner.policy.foretell)

    def check(
        self, agent: str, id: str, authenticated: bool = True, arguments: JsonObject | None = None
    ) -> Decision:
        """Policy at use: rules may have changed since the offer. Raises Denied or ApprovalNeeded.

        agent: who wants to use it.
        id: the capability, such as "tool:send_email".
        authenticated: whether it is certain who the agent is.
        arguments: what it is used with; a person who is asked sees them, and a yes is for them alone.
        """
        return self.internals.use.check(self.internals.world(agent), agent, id, authenticated, arguments)

    def decide(self, agent: str, id: str, authenticated: bool = True, arguments: Json = None) -> Decision:
        """What policy would say about a use: allow, ask or deny, with the reason; recorded nowhere.

        agent: who would use it.
        id: the capability, such as "tool:send_email", or its name as a tool.
        authenticated: whether it is certain who the agent is.
        arguments: what it would be used with; without them, `conditions` says what they decide.
        """
        return self.internals.use.foretold(self.internals.world(agent), agent, id, authenticated, arguments)

    def definitions(
        self, agent: str = DEFAULT_AGENT, format: str = "", *, names: Collection[str] | None = None,
        strict: bool = False, defer: Collection[str] = (), authenticated: bool = True,
    ) -> tuple[Json, ...]:  # fmt: skip
        """The tools an agent may call, fit to be shown, always in the same order.

        agent: who calls them.
        format: "openai", "responses", "anthropic", "gemini" or "mcp"; without one, as `Offer.tools` has them.
        names: only these, by their names as tools; without it, everything that is allowed.
        strict: ask the provider for arguments that fit the schema for certain.
        defer: names of tools that the model learns of by searching alone.
        authenticated: whether it is certain who the agent is.
        """
        from prowess.engine.definitions import definitions, in_format  # numpy, at the first turn

        return in_format(definitions(self.internals, agent, names, authenticated), format, strict, defer)

    def conversation(
        self, agent: str = DEFAULT_AGENT, *, format: str = "", budget: int = 20_000, resume: str = "",
        defer: bool | None = None,
    ) -> "Conversation":  # fmt: skip
        """A chat over many turns, whose list of tools only grows.

        agent: whose chat it is.
        format: the provider's: "openai", "responses", "anthropic", "gemini" or "mcp".
        budget: the most tokens of its list of tools; when it is full, a new list begins. 0: no limit.
        resume: what `Conversation.dump` returned, to go on with it; it says the rest, too.
        defer: list all that is allowed, most of it to be searched for; None: where the format can say so.
        """
        from prowess.engine.conversation import Conversation
        from prowess.engine.conversation_state import begun, resumed

        return Conversation(self, resumed(resume) if resume else begun(agent, format, budget, defer))

    def call(
        self, name: str, arguments: Json = None, *, agent: str = DEFAULT_AGENT, offer: Offer | str = "",
        **options: Unpack[CallOptions],
    ) -> CallResult:  # fmt: skip
        """Call a capability: found, fitting, allowed, done and recorded. A refusal is a result, too.

        name: the id of a capability, or its name as a tool, such as "github__create_issue".
        arguments: what it is called with, as an object or as the JSON text some models send.
        agent: who calls.
        offer: the offer it was chosen from, or its id; without one it is recorded as a direct call.
        options: `key`, `fields`, `authenticated`.
        """
        from prowess.engine.call_parts import call_request

        request, caller = call_request(name, arguments, agent, offer, options)
        return self.internals.calling.call(request, caller)

    async def acall(
        self, name: str, arguments: Json = None, *, agent: str = DEFAULT_AGENT, offer: Offer | str = "",
        **options: Unpack[CallOptions],
    ) -> CallResult:  # fmt: skip
        """What `call` does, awaited; an asynchronous function runs in the event loop of whoever awaits.

        name: the id of a capability, or its name as a tool, such as "github__create_issue".
        arguments: what it is called with, as an object or as the JSON text some models send.
        agent: who calls.
        offer: the offer it was chosen from, or its id; without one it is recorded as a direct call.
        options: `key`, `fields`, `authenticated`.
        """
        from prowess.engine.call_parts import call_request

        request, caller = call_request(name, arguments, agent, offer, options)
        return await self.internals.calling.acall(request, caller)

    def call_many(
        self, calls: Sequence[ToolCall], *, agent: str = DEFAULT_AGENT, offer: Offer | str = ""
    ) -> tuple[CallResult, ...]:
        """Several calls that do not depend on one another, at once; the results in their order.

        calls: what a model wants called.
        agent: who calls.
        offer: the offer they were chosen from, or its id.
        """
        from prowess.engine.call_parts import call_request

        requests = [call_request(one.name, one.arguments, agent, offer, {})[0] for one in calls]
        return self.internals.calling.call_many(requests, Caller(agent))

    async def acall_many(
        self, calls: Sequence[ToolCall], *, agent: str = DEFAULT_AGENT, offer: Offer | str = ""
    ) -> tuple[CallResult, ...]:
        """What `call_many` does, awaited.

        calls: what a model wants called.
        agent: who calls.
        offer: the offer they were chosen from, or its id.
        """
        from prowess.engine.call_parts import call_request

        requests = [call_request(one.name, one.arguments, agent, offer, {})[0] for one in calls]
        return await self.internals.calling.acall_many(requests, Caller(agent))

    def record(self, outcome: Outcome) -> None:
        """Remember what was done with an offer, and whether it worked.

        outcome: such as Outcome(offer=offer.id, capability="tool:send_email", ok=True); without an offer it
            is of the agent's latest search that showed the capability.
        """
        refuse_of_another(outcome)
        record_outcome(self.internals, outcome)

    def find(
        self, request: str, agent: str = DEFAULT_AGENT, **options: Unpack[SearchOptions]
    ) -> tuple[Hit, ...]:
        """What fits a request, best first, each with why.

        request: such as "book a flight to Oslo".
        agent: only among what this agent may use.
        options: keys of [discovery] for this search, such as kind="tool".
        """
        from prowess.engine.finding import find  # numpy, at the first search

        return find(self.internals, request, agent, options)

    def discover(
        self, query: str = "", kind: str = "any", category: str = "", agent: str = DEFAULT_AGENT, *,
        needs: Sequence[str] = (),
    ) -> JsonObject:  # fmt: skip
        """Answer a model's call of `discover_capabilities`; recorded, and what is called of it answers it.

        query: what the model looks for.
        kind: only this kind, such as "tool"; "any" for all.
        category: only this category.
        agent: who calls.
        needs: instead of a query, the steps of the model's plan: each is searched for by itself.
        """
        from prowess.engine.own_tools import answered_query  # numpy, at the first search

        given = {"query": query, "needs": tuple(needs), "kind": kind, "category": category}
        return answered_query(self.internals, given, agent)

    def rank(
        self, request: str, agent: str = DEFAULT_AGENT, depth: int = 100, split: bool = True
    ) -> list[str]:
        """The ids of `find` without threshold and abstention: what benchmarks and gates measure.

        request: such as "book a flight to Oslo".
        agent: only among what this agent may use.
        depth: at most so many.
        split: whether a request with several needs is split into them.
        """
        from prowess.engine.search import ranking  # numpy, at the first search

        world = self.internals.world(agent)
        visible, search = world.visible(agent).capabilities, self.internals.search(world)
        return ranking(search, request, visible, depth, split, self.internals.discovery)

    def inject(
        self, files: "Files", turn: Turn | str, session: str = "", **options: Unpack[CardOptions]
    ) -> "Injection":
        """The files an agent starts with, and one more with the cards this turn needs.

        files: what it would start with, as {name: text} or as a list of files.
        turn: what came in, or just the text of the request.
        session: the name of the session, which an experiment goes by.
        options: keys of [cards] for this turn, such as max_tokens=500.
        """
        from prowess.engine.turn import as_turn  # numpy, at the first turn

        return self.internals.parts.cards.having(**options).inject(files, as_turn(turn), session)

    def explain(self, agent: str, id: str, request: str = "", arguments: Json = None) -> tuple[str, ...]:
        """Why an agent may use something and would be offered it, or not, step by step: for people.

        agent: who.
        id: the capability, such as "tool:send_email".
        request: also say whether this request would be offered it.
        arguments: what it would be used with, where rules look at arguments.
        """
        return self.preview(agent).explain(id, request, arguments)

    def trace(self, id: str) -> Trace:
        """One request from question to result: everything the journal has of it, and what is still kept.

        id: of an offer, or of a search through the gateway.
        """
        return self.internals.log.trace(id)

    def sync(self, *names: str, vectors: bool = True, progress: SyncProgress = no_progress) -> SyncReport:
        """Make the catalogue hold exactly what the sources offer now; rely on what was promoted.

        The change is committed, and found by its words, before vectors are made; interrupting that is safe,
        and whoever searches next goes on.

        names: read only these sources; without them, all.
        vectors: whether vectors are made now, too.
        progress: called with (source, done, total) while it goes on.
        """
        if self.learning.on:
            self.internals.teach()
        report = self.internals.syncing.run(self.internals.sources, names, progress)
        if vectors:
            searching = self.internals.parts.searching
            searching.make_vectors(lambda done, total: progress("vectors", done, total))
        if self.internals.has_cards:
            self.internals.parts.cards.prepare(vectors)
        return report

    def watch(
        self, changed: Callable[[SyncReport], None], stop: Event | None = None, debounce: float = 0.5
    ) -> None:
        """Keep the catalogue current while files change.

        changed: called after each sync.
        stop: ends it when it is set; without it, it goes on for ever.
        debounce: seconds of quiet that are waited for before a sync.
        """
        watch(self.internals.sources.paths, lambda: changed(self.sync()), stop or Event(), debounce)

    def diagnose(self) -> tuple[Problem, ...]:
        """Everything that is wrong with this installation, for `prowess doctor`."""
        return diagnose.everything(self.internals, self.calls.open(), self.evolution.problems())
