"""What does an agent need now, and what does the model see? The part of the engine that offers."""

import sys
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from threading import Event, Thread, main_thread
from typing import TYPE_CHECKING, Any, Literal

from prowess.catalogue.view import View
from prowess.config import DiscoveryConfig, with_arguments
from prowess.engine.absence import NEAREST, Absence
from prowess.engine.allowed import WhatIsAllowed
from prowess.engine.ownership import is_of_another, owned
from prowess.engine.reading import SyncProgress, no_progress
from prowess.engine.records import PINNED, discovered, offer_data, outcome_data
from prowess.errors import ConfigError, NotFound, StoreError
from prowess.sources.source import silent
from prowess.sources.watch import watch
from prowess.tokens import counter
from prowess.types import (
    DEFAULT_AGENT,
    Hit,
    JsonObject,
    LeftOut,
    Message,
    Offer,
    Outcome,
    Problem,
    SyncReport,
    Turn,
)

if TYPE_CHECKING:
    from prowess.context.injection import Files, Injection
    from prowess.discovery.embedding import Embedding
    from prowess.discovery.graph import Edge
    from prowess.discovery.lint import Finding
    from prowess.engine.carding import Carding
    from prowess.engine.offering import Offering, Shown

DISCOVERY = "discovery"
DEEPEST = 200
"""How far down a ranking `explain` looks for something."""


class WhatIsNeeded(WhatIsAllowed):
    def sync(self, *names: str, vectors: bool = True, progress: SyncProgress = no_progress) -> SyncReport:
        """Make the catalogue hold exactly what the sources offer now; name some to read only those.

        The change is committed, and found by its words, before vectors are made; interrupting that
        is safe, and whoever searches next goes on.
        """
        report = self._take_in(names, progress)
        if vectors:
            self._make_vectors(lambda done, total: progress("vectors", done, total))
        return report

    def watch(
        self, changed: Callable[[SyncReport], None], stop: Event | None = None, debounce: float = 0.5
    ) -> None:
        """Keep the catalogue current while files change, until `stop` is set."""
        paths = [path for source in self.sources for path in getattr(source, "paths", ())]
        watch(paths, lambda: changed(self.sync()), stop or Event(), debounce)

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
        found, mode = self._found(asked.text, visible, chosen, on_failure)
        hits = self._with_pinned(found, asked, visible, chosen)
        offering, failed = self._search, mode != DISCOVERY
        shown = offering.show(hits, visible, self._scope(asked), asked.budget, chosen, every_tool=failed)
        id = owned(self._ways.ids(), asked.agent)
        left = None if asked.budget is None else max(0, asked.budget - shown.tokens.total)
        cards = self.cards.select(replace(asked, budget=left), id=id)
        offer = Offer(
            id=id,
            agent=asked.agent,
            text=offering.joined(shown.text, cards.text),
            cards=tuple(card.id for card in cards.injected),
            hits=tuple(hit for hit in hits if hit.id in shown.shown),
            tools=shown.tools,
            tool_ids=shown.tool_ids,
            tokens=replace(shown.tokens, cards=cards.file_tokens),
            left_out=LeftOut() if failed else self._left_out(asked, shown, visible, chosen),
            catalogue_version=visible.version,
            policy_revision=self.policy.revision,
            mode=mode,
        )
        self.journal.record("offer", offer_data(asked, offer), asked.agent)
        return offer

    @cached_property
    def cards(self) -> "Carding":
        """Just-in-time cards: what is injected, how that went, and what people say about it."""
        # numpy comes with these: loaded at the first use, not at the first import
        from prowess.engine.card_history import CardHistory
        from prowess.engine.carding import Carding, CardWays

        ways = CardWays(
            clock=self._clock,
            counter=counter(self._ways.exact_tokens),
            visible=lambda agent, authenticated: self.visible(agent, authenticated).capabilities,
            detail_of=self._catalogue.detail,
            embed=self._embedding,
            ids=self._ways.ids,
            root=self._ways.root,
            **self._ways.card_ways,
        )
        return Carding(CardHistory(self._database, self.journal, self._clock), self._ways.cards, ways)

    def inject(self, files: "Files", turn: Turn | str, session: str = "", **settings: Any) -> "Injection":
        """The files an agent starts with, and the cards this turn needs; `settings` are keys of [cards]."""
        asked = Turn(messages=(Message("user", turn),)) if isinstance(turn, str) else turn
        return self.cards.having(**settings).inject(files, asked, session)

    def rank(
        self, request: str, agent: str = DEFAULT_AGENT, depth: int = 100, split: bool = True
    ) -> list[str]:
        """The ids of `find` without threshold and abstention: what benchmarks and gates measure."""
        allowed = self.visible(agent).capabilities
        return self._prepared().rank(request, allowed, depth, split, self._ways.discovery)

    def tools(self, offer: Offer) -> tuple[JsonObject, ...]:
        """The tools of an offer, and `discover_capabilities`, as a model's interface takes them."""
        return offer.tools

    def discover(
        self, query: str, kind: str = "any", category: str = "", agent: str = DEFAULT_AGENT
    ) -> JsonObject:
        """Answer a call of `discover_capabilities`."""
        visible = self.visible(agent).capabilities
        chosen = self._settings({"kind": kind.lower(), "category": category, "only_available": False})
        hits = [
            hit
            for hit in self._prepared().find(query, visible, chosen)
            if not (visible[hit.id].kind == "card" and self.cards.rejected(visible[hit.id]))
        ]
        found = [discovered(self._search.clean(visible[hit.id]), hit) for hit in hits]
        return {"capabilities": found, "total_indexed": len(visible)}

    def related(self, id: str) -> "tuple[Edge, ...]":
        """What a capability is related to, the strongest first."""
        return self._prepared().index.graph.neighbours(self.view().get(id).id)

    def relations(self, ids: Iterable[str]) -> "tuple[Edge, ...]":
        """How these hang together: the relations among them, each once."""
        return self._prepared().index.graph.subgraph(ids)

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

    def cost_of(self, id: str) -> int:
        """The tokens it takes to show a model one capability whole."""
        return self._prepared().cost_of_everything([self.view().get(id)])

    def record(self, outcome: Outcome) -> None:
        """Remember what was done with an offer, and whether it worked."""
        if is_of_another(outcome.offer, outcome.agent):
            see = f"an outcome belongs to the agent that was offered it; this one is of {outcome.agent}"
            raise NotFound("offer", outcome.offer, see=see)
        self.journal.record("outcome", outcome_data(outcome), outcome.agent)

    def explain(self, agent: str, id: str, request: str = "") -> tuple[str, ...]:
        """Why an agent may use something and would be offered it, or not, step by step: for people."""
        steps = super().explain(agent, id)
        if id not in self.view().capabilities:
            return (*steps, "nothing in the catalogue has this id")
        return (*steps, *self._relevance(id, request)) if request else steps

    def diagnose(self) -> tuple[Problem, ...]:
        found = super().diagnose()
        if not self.view().capabilities:
            return found
        found = (*found, *self._prepared().index.graph.problems())
        failure = self._prepared().index.unavailable
        if failure is None:
            return found
        what = f"{failure.message}; search goes by words alone"
        return (*found, Problem("discovery", "encoder", what, failure.remedy))

    @property
    def discovery(self) -> DiscoveryConfig:
        """What [discovery] says, where nobody says otherwise."""
        return self._ways.discovery

    # --- small parts -------------------------------------------------------------------------

    @cached_property
    def _search(self) -> "Offering":
        # numpy comes with these: loaded at the first search, not at the first import
        from prowess.discovery.embedders import shipped
        from prowess.discovery.index import Index
        from prowess.engine.offering import Offering

        ways = self._ways
        index = Index(self._database, ways.embedder or shipped, ways.discovery.collection_name, ways.presets)
        return Offering(index, counter(ways.exact_tokens), self._catalogue.detail)

    def _embedding(self) -> "Embedding":
        """The one that search uses, so that no model is loaded twice."""
        embedding = self._search.index.embedding
        failure = embedding.tried()
        if failure is not None:
            raise failure
        return embedding

    def _prepared(self) -> "Offering":
        """The search over the catalogue as it is now; vectors that are missing are made beside it."""
        search = self._search
        view = self.view()
        if search.index.follow(view.capabilities) and not search.index.is_encoded(view.version):
            self._begin_vectors()
        return search

    def _begin_vectors(self) -> None:
        # Not a daemon: one that is ended inside the encoder's native code takes the whole process down.
        Thread(target=self._make_vectors_beside, daemon=False, name="prowess-vectors").start()

    def _make_vectors_beside(self) -> None:
        with suppress(StoreError):  # closed meanwhile; whoever searches next goes on
            self._make_vectors(_while_the_program_runs)

    def _make_vectors(self, progress: Callable[[int, int], None] = silent) -> None:
        search, view = self._search, self.view()
        if not search.index.is_encoded(view.version):
            search.index.follow(view.capabilities)
            search.index.encode(view.version, progress)

    def _settings(self, given: Mapping[str, Any]) -> DiscoveryConfig:
        return with_arguments(self._ways.discovery, given) if given else self._ways.discovery

    def _found(
        self, request: str, visible: View, settings: DiscoveryConfig, on_failure: str
    ) -> tuple[tuple[Hit, ...], str]:
        if on_failure not in ("open", "closed"):
            raise ConfigError("on_failure", f"is {on_failure!r}", "say open or closed")
        try:
            return self._prepared().fitting(request, visible.capabilities, settings), DISCOVERY
        except Exception as failure:
            # Awareness fails open unless the caller wants it closed; permission was decided before.
            failed = f"discovery failed ({type(failure).__name__})"
            if on_failure == "closed":
                return (), f"{failed}; nothing but what is pinned is offered"
            reason = f"{failed}; everything allowed is offered"
            return self._everything(visible, settings, reason), reason

    def _everything(self, visible: View, settings: DiscoveryConfig, reason: str) -> tuple[Hit, ...]:
        from prowess.engine.offering import filtered

        passes, known = filtered(settings), visible.capabilities.values()
        allowed = (each.id for each in known if each.kind != "card" and passes(each))
        return tuple(Hit(id=id, score=0.0, reasons=(reason,)) for id in allowed)

    def _with_pinned(
        self, found: tuple[Hit, ...], turn: Turn, visible: View, settings: DiscoveryConfig
    ) -> tuple[Hit, ...]:
        """What a profile pins comes first, found or not, unless a filter leaves it out."""
        from prowess.engine.offering import filtered

        known, passes = visible.capabilities, filtered(settings)
        pinned = [
            id for id in self.policy.pinned(turn.agent, self.view()) if id in known and passes(known[id])
        ]
        hits = {hit.id: hit for hit in found}
        first = [hits.pop(id, Hit(id=id, score=0.0)) for id in pinned]
        return (*(replace(hit, reasons=(*hit.reasons, *PINNED)) for hit in first), *hits.values())

    def _scope(self, turn: Turn) -> str:
        return f"{turn.agent} {turn.authenticated} {self.policy.state}"

    def _left_out(self, turn: Turn, shown: "Shown", visible: View, settings: DiscoveryConfig) -> LeftOut:
        from prowess.engine.offering import filtered, narrows

        everything = self.view()
        absence = self._absences.get(turn.agent)
        if absence is None or absence.visible is not visible or absence.everything is not everything:
            absence = self._absences[turn.agent] = Absence.of(everything, visible, turn.agent)
        close = self._prepared().nearest(turn.text, everything.capabilities, NEAREST + len(shown.shown))
        passes = filtered(settings) if narrows(settings) else None
        unfit = absence.unfit(settings.only_available, passes)
        return absence.left_out(close, shown.shown, shown.no_room, settings.tier1_min_relevance, unfit)

    @cached_property
    def _absences(self) -> dict[str, Absence]:
        return {}

    def _relevance(self, id: str, request: str) -> tuple[str, ...]:
        offering, settings, known = self._prepared(), self._ways.discovery, self.view().capabilities
        found = {hit.id: hit for hit in offering.nearest(request, known, DEEPEST)}
        hit = found.get(id)
        if hit is None:
            return ("relevance: nothing in it answers the request",)
        rank = list(found).index(id) + 1
        line = settings.tier1_min_relevance
        side = f"above the line of {line:g}" if hit.score >= line else f"below the line of {line:g}"
        if hit.score < line and id in {each.id for each in offering.find(request, known, settings)}:
            side += " but close to the best"
        why = "; ".join(hit.reasons)
        return (f"relevance {hit.score:.2f}, {side}, rank {rank} ({why})",)


def _while_the_program_runs(done: int, total: int) -> None:
    """What was made is kept; the rest is made when somebody searches again."""
    if not main_thread().is_alive():
        sys.exit()  # ends this thread alone
