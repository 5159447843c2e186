"""The engine: what a library user holds, and what every face calls.

Above: the faces and user code. Below: every stage, none of which knows another. A change that
spans two owners is one transaction opened here, and every change is journalled in it.
"""

import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from threading import Event, Thread
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, Self

import msgspec

from prowess.catalogue.catalogue import Catalogue, Version
from prowess.catalogue.view import View, with_availability
from prowess.config import DiscoveryConfig
from prowess.engine.reading import SyncProgress, no_progress, read_all
from prowess.engine.records import discovered, offer_data, sync_data
from prowess.engine.ways import Ways
from prowess.errors import ApprovalNeeded, Denied, JournalBroken, NotFound
from prowess.journal import Clock, Journal, stamp
from prowess.policy.policy import Policy
from prowess.sources.source import Source, silent
from prowess.sources.watch import watch
from prowess.store.database import Database
from prowess.tokens import counter
from prowess.types import (
    DEFAULT_AGENT,
    Capability,
    Decision,
    Detail,
    Hit,
    JsonObject,
    LeftOut,
    Message,
    Offer,
    Outcome,
    Problem,
    Provider,
    SyncReport,
    Turn,
)

if TYPE_CHECKING:
    from prowess.discovery.graph import Edge
    from prowess.discovery.lint import Finding
    from prowess.engine.offering import Offering, Shown


NEVER_FEWER = 200
"""How deep `explain` looks for something in a ranking."""


class Engine:
    """What an agent can do, turn after turn. Make one with `prowess.open()`."""

    def __init__(
        self,
        database: Database,
        sources: Sequence[Source],
        clock: Clock,
        environment: Mapping[str, str],
        ways: Ways | None = None,
    ) -> None:
        ways = ways or Ways()
        self.journal = Journal(database, clock)
        self.sources = tuple(sources)
        self.policy = Policy(database, clock, ways.policy_files)
        self._database = database
        self._catalogue = Catalogue(database)
        self._clock = clock
        self._environment = environment
        self._ways = ways
        self._view: View | None = None
        self._secrets_set: frozenset[str] = frozenset()
        self._visible: dict[tuple[str, bool], tuple[object, View]] = {}
        self._offering: Offering | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, type: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        self._database.close()

    @property
    def store(self) -> str:
        """Where the store is, without any password."""
        return self._database.place

    # --- what exists -------------------------------------------------------------------------

    def sync(self, *names: str, vectors: bool = True, progress: SyncProgress = no_progress) -> SyncReport:
        """Make the catalogue hold exactly what the sources offer now; name some to read only those.

        The change is committed, and found by its words, before vectors are made; interrupting that
        is safe, and whoever searches next goes on.
        """
        chosen = [self._source(name) for name in names] or self.sources
        readings = read_all(chosen, self._catalogue.known(), progress)
        configured = [source.name for source in self.sources]
        with self._database.writing() as transaction:
            changes = self._catalogue.apply(transaction, readings, configured, stamp(self._clock()))
            if changes:
                self.journal.append(transaction, "catalogue.synced", sync_data(changes))
        view = self.view()
        if vectors:
            self._make_vectors(lambda done, total: progress("vectors", done, total))
        return SyncReport(
            changes=changes,
            problems=tuple(p for p in self._catalogue.problems() if not names or p.source in names),
            version=view.version,
            total=len(view.capabilities),
        )

    def watch(
        self, changed: Callable[[SyncReport], None], stop: Event | None = None, debounce: float = 0.5
    ) -> None:
        """Keep the catalogue current while files change, until `stop` is set."""
        paths = [path for source in self.sources for path in getattr(source, "paths", ())]
        watch(paths, lambda: changed(self.sync()), stop or Event(), debounce)

    def view(self) -> View:
        """The catalogue as it is now: one cheap query when nothing changed since the last turn."""
        held = self._view
        if held is None or held.version != self._catalogue.version() or self._secrets_changed(held):
            fresh = self._catalogue.view(held)
            self._secrets_set = self._secrets(fresh)
            held = self._view = with_availability(fresh, self._environment, shutil.which)
        return held

    def capabilities(self, agent: str | None = None, kind: str = "") -> tuple[Capability, ...]:
        """Everything that exists and is on, in order of id; for one agent, only what it may use."""
        found = self.view().active("") if agent is None else self.visible(agent).capabilities
        return tuple(c for c in found.values() if not kind or c.kind == kind)

    def capability(self, id: str) -> Capability:
        return self.view().get(id)

    def detail(self, id: str) -> Detail:
        """The full schema and content of one capability."""
        return self._catalogue.detail(self.view().get(id).id)

    def history(self, id: str) -> tuple[Version, ...]:
        """Every text a capability had, oldest first, also when it is gone."""
        return self._catalogue.history(id)

    def providers(self, agent: str | None = None) -> tuple[Provider, ...]:
        view = self.view()
        return tuple(replace(p, off=view.off(p.name, agent or "")) for p in view.providers.values())

    def problems(self) -> tuple[Problem, ...]:
        """Everything the last syncs could not read, each with what to do about it."""
        return self._catalogue.problems()

    def diagnose(self) -> tuple[Problem, ...]:
        """Everything that is wrong with this installation, for `prowess doctor`."""
        view = self.view()
        self.policy.refresh()
        found = [*self.problems(), *self.policy.problems(view), *self._journal_problems()]
        if view.capabilities:
            self._prepared()
            unavailable = self._search().index.unavailable
            if unavailable:
                what = f"{unavailable.message}; search goes by words alone"
                found.append(Problem("discovery", "encoder", what, unavailable.remedy))
        return tuple(found)

    def _journal_problems(self) -> tuple[Problem, ...]:
        try:
            self.journal.verify()
        except JournalBroken as broken:
            return (Problem("journal", self.store, broken.message, broken.remedy),)
        return ()

    def activate(self, provider: str, agent: str = "") -> None:
        """Switch a provider on again, for everybody or for one agent."""
        self._switch(provider, agent, None)

    def deactivate(self, provider: str, agent: str = "", reason: str = "switched off by a person") -> None:
        """Switch a provider off, for everybody or for one agent: what it brings is in no answer."""
        self._switch(provider, agent, reason)

    def _switch(self, provider: str, agent: str, why_off: str | None) -> None:
        with self._database.writing() as transaction:
            if self._catalogue.switch(transaction, provider, agent, why_off):
                data = {"provider": provider, "reason": why_off or ""}
                self.journal.append(
                    transaction, "provider.off" if why_off is not None else "provider.on", data, agent
                )

    # --- what is allowed ---------------------------------------------------------------------

    def visible(self, agent: str, authenticated: bool = True) -> View:
        """What exists for this agent and what it may use: everything an answer may speak of."""
        view = self.view()
        self.policy.refresh()
        moment = self.policy.at(view)
        held = self._visible.get((agent, authenticated))
        if held is None or held[0] is not moment:
            reach = self.policy.allowed(agent, view, authenticated)
            allowed = {id: c for id, c in view.active(agent).items() if id in reach.allow or id in reach.ask}
            held = self._visible[agent, authenticated] = (moment, replace(view, capabilities=allowed))
        return held[1]

    def check(self, agent: str, id: str, authenticated: bool = True) -> Decision:
        """Policy at use: rules may have changed since the offer. Raises unless it is allowed."""
        view = self.view()
        self.policy.refresh()
        with self._database.writing() as transaction:
            settled = self.policy.settle(transaction, agent, id, view, authenticated)
            decision = self._switched_off(view, agent, id, settled.decision)
            data = {"capability": id, "verdict": decision.verdict, "reason": decision.reason}
            self.journal.append(transaction, "decision", {**data, "revision": decision.revision}, agent)
        if decision.verdict == "deny":
            raise Denied(agent, id, decision)
        if decision.verdict == "ask":
            raise ApprovalNeeded(agent, id, settled.approval.id if settled.approval else "", decision)
        return decision

    def explain(self, agent: str, id: str, request: str = "") -> tuple[str, ...]:
        """Why an agent may use something and would be offered it, or not: for people."""
        view = self.view()
        self.policy.refresh()
        steps = list(self.policy.explain(agent, id, view).steps)
        capability = view.capabilities.get(id)
        if capability is None:
            return (*steps, "nothing in the catalogue has this id")
        if view.off(capability.provider, agent):
            steps.append(f"provider {capability.provider} is switched off: {view.why_off(capability.provider, agent)}")
        steps += [f"unavailable: {reason}" for reason in capability.unavailable]
        return (*steps, *self._relevance(agent, id, request)) if request else tuple(steps)

    def _relevance(self, agent: str, id: str, request: str) -> tuple[str, ...]:
        offering, settings = self._prepared(), self._ways.discovery
        found = {hit.id: hit for hit in offering.nearest(request, self.view().capabilities, NEVER_FEWER)}
        hit = found.get(id)
        if hit is None:
            return ("relevance: nothing in it answers the request",)
        rank = list(found).index(id) + 1
        line = settings.tier1_min_relevance
        side = "above" if hit.score >= line else "below"
        why = "; ".join(hit.reasons)
        return (f"relevance {hit.score:.2f}, {side} the line of {line:g}, rank {rank} ({why})",)

    def _switched_off(self, view: View, agent: str, id: str, decision: Decision) -> Decision:
        capability = view.capabilities.get(id)
        if capability is None or not view.off(capability.provider, agent):
            return decision
        reason = f"provider {capability.provider} is switched off: {view.why_off(capability.provider, agent)}"
        return replace(decision, verdict="deny", reason=reason)

    # --- what is needed, and what the model sees ---------------------------------------------

    def find(self, request: str, agent: str = DEFAULT_AGENT, **settings: Any) -> tuple[Hit, ...]:
        """What fits a request, best first, each with why; `settings` are keys of [discovery]."""
        return self._prepared().find(request, self.visible(agent).capabilities, self._settings(settings))

    def offer(
        self, turn: Turn | str, on_failure: Literal["open", "closed"] = "open", **settings: Any
    ) -> Offer:
        """One turn: what exists, what is allowed, what fits, within the budgets; recorded."""
        asked = Turn(messages=(Message("user", turn),)) if isinstance(turn, str) else turn
        chosen = self._settings(settings)
        visible = self.visible(asked.agent, asked.authenticated)
        offering = self._prepared()
        hits, mode = self._found(asked.text, visible, chosen, on_failure)
        pinned = [id for id in self.policy.pinned(asked.agent, self.view()) if id in visible.capabilities]
        shown = offering.show(hits, pinned, visible, self._scope(asked), asked.budget, chosen)
        offer = Offer(
            id=self._ways.ids(),
            agent=asked.agent,
            text=shown.text,
            hits=tuple(hit for hit in hits if hit.id in shown.shown),
            tools=shown.tools,
            tool_ids=shown.tool_ids,
            tokens=shown.tokens,
            left_out=self._left_out(asked, shown, visible, chosen),
            catalogue_version=visible.version,
            policy_revision=self.policy.revision,
            mode=mode,
        )
        self.journal.record("offer", offer_data(asked, offer), asked.agent)
        return offer

    def tools(self, offer: Offer) -> tuple[JsonObject, ...]:
        """The tools of an offer, and `discover_capabilities`, as a model's interface takes them."""
        return offer.tools

    def discover(
        self, query: str, kind: str = "any", category: str = "", agent: str = DEFAULT_AGENT
    ) -> JsonObject:
        """Answer a call of `discover_capabilities`."""
        visible = self.visible(agent).capabilities
        hits = self.find(query, agent, kind=kind, category=category, only_available=False)
        found = [discovered(visible[hit.id], hit) for hit in hits]
        return {"capabilities": found, "total_indexed": len(visible)}

    def related(self, id: str) -> "tuple[Edge, ...]":
        """What a capability is related to, the strongest first."""
        return self._prepared().index.graph.neighbours(self.view().get(id).id)

    def lint(self) -> "tuple[Finding, ...]":
        """What keeps the catalogue from being found in, and what to change."""
        return self._prepared().index.lint()

    def stats(self) -> JsonObject:
        """How much there is to search in."""
        graph = self._prepared().index.graph
        view = self.view()
        return {
            "capability_count": len(view.capabilities),
            "graph_nodes": len(graph),
            "graph_edges": graph.edge_count(),
            "index_version": view.version,
        }

    def cost_of_everything(self, agent: str = DEFAULT_AGENT) -> int:
        """The tokens it would take to show a model all it may use, every turn."""
        return self._prepared().cost_of_everything(list(self.visible(agent).capabilities.values()))

    def _search(self) -> "Offering":
        if self._offering is None:
            # numpy comes with these: loaded at the first search, not at the first import
            from prowess.discovery.embedders import shipped
            from prowess.discovery.index import Index
            from prowess.engine.offering import Offering

            ways = self._ways
            embedder = ways.embedder or shipped
            index = Index(self._database, embedder, ways.discovery.collection_name, ways.presets)
            self._offering = Offering(index, counter(ways.exact_tokens), self._catalogue.detail)
        return self._offering

    def _prepared(self) -> "Offering":
        """The search over the catalogue as it is now; vectors that are missing are made beside it."""
        search = self._search()
        view = self.view()
        if search.index.follow(view.capabilities) and not search.index.is_encoded(view.version):
            Thread(target=self._make_vectors, daemon=True, name="prowess-vectors").start()
        return search

    def _make_vectors(self, progress: Callable[[int, int], None] = silent) -> None:
        search, view = self._search(), self.view()
        if not search.index.is_encoded(view.version):
            search.index.follow(view.capabilities)
            search.index.encode(view.version, progress)

    def _settings(self, given: Mapping[str, Any]) -> DiscoveryConfig:
        return msgspec.structs.replace(self._ways.discovery, **given) if given else self._ways.discovery

    def _found(
        self, request: str, visible: View, settings: DiscoveryConfig, on_failure: str
    ) -> tuple[tuple[Hit, ...], str]:
        try:
            return self._prepared().find(request, visible.capabilities, settings), "discovery"
        except Exception as failure:
            # Awareness fails open unless the caller wants it closed; permission was decided before.
            if on_failure == "closed":
                raise
            reason = f"discovery failed ({type(failure).__name__}); everything allowed is offered"
            return tuple(Hit(id=id, score=0.0, reasons=(reason,)) for id in visible.capabilities), reason

    def _scope(self, turn: Turn) -> str:
        return f"{turn.agent} {turn.authenticated} {self.policy.revision}"

    def _left_out(self, turn: Turn, shown: "Shown", visible: View, settings: DiscoveryConfig) -> LeftOut:
        from prowess.engine.offering import NEAREST, left_out  # loaded by now

        view = self.view()

        def reason_of(id: str) -> str:
            if id in shown.no_room:
                return "no room in the budget"
            if view.off(view.capabilities[id].provider, turn.agent):
                return "switched off"
            if id not in visible.capabilities:
                return "denied"
            unavailable = settings.only_available and not view.capabilities[id].available
            return "unavailable" if unavailable else "below the threshold"

        close = self._prepared().nearest(turn.text, view.capabilities, NEAREST + len(shown.shown))
        return left_out(close, shown.shown, reason_of, view.capabilities)

    # --- what was done -----------------------------------------------------------------------

    def record(self, outcome: Outcome) -> None:
        """Remember what was done with an offer, and whether it worked."""
        data = {
            "offer": outcome.offer,
            "capability": outcome.capability,
            "ok": outcome.ok,
            "detail": outcome.detail,
            "milliseconds": outcome.milliseconds,
            "key": outcome.key,
        }
        self.journal.record("outcome", data, outcome.agent)

    # --- small parts -------------------------------------------------------------------------

    def _source(self, name: str) -> Source:
        for source in self.sources:
            if source.name == name:
                return source
        raise NotFound("source", name, [s.name for s in self.sources], "see: prowess sources")

    def _secrets(self, view: View) -> frozenset[str]:
        return frozenset(name for name in view.secret_names if self._environment.get(name))

    def _secrets_changed(self, view: View) -> bool:
        return self._secrets(view) != self._secrets_set
