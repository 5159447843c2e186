"""Measure discovery on labelled requests, through the code of `find`.

A labelled set has an engine of its own; requests of the journal or of a file are asked of one's
own catalogue.
"""

import statistics
import tempfile
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import ceil
from pathlib import Path

from prowess.engine.engine import Engine
from prowess.engine.options import EngineOptions
from prowess.errors import SourceError
from prowess.journal import Clock
from prowess.learning.answered import answered_requests
from prowess.metrics import (
    LabelledSet,
    Measurement,
    Query,
    hit_positions,
    measure,
    name_of,
    ndcg,
    read_queries,
    read_set,
    sampled,
    score,
)
from prowess.sources.names import display_name
from prowess.store.opening import open_database
from prowess.testing import StaticSource
from prowess.text.secrets import without_secrets
from prowess.types import DEFAULT_AGENT, Message, Turn

OFFERS = 50
SHOWN = 3
EVERYTHING = 'profiles: {bench: {agents: [default], additional_tools: ["*"]}}\n'


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchmarkOptions:
    """What to measure: which queries, how many, and whether requests are split into needs."""

    split: str = "test"
    limit: int = 2000
    needs: bool = True


@dataclass(frozen=True, slots=True)
class Miss:
    """A request, what would have been right, and what came first instead."""

    id: str
    request: str
    """Without what looks like a secret."""
    gold: tuple[str, ...]
    first: tuple[str, ...]
    ndcg: float

    @classmethod
    def of(cls, query: Query, ranked: Sequence[str]) -> "Miss":
        found = ndcg(hit_positions(query, ranked), len(query.gold), 10)
        return cls(query.id, without_secrets(query.text), query.gold, tuple(ranked[:SHOWN]), found)


@dataclass(frozen=True, slots=True)
class SetResult:
    """How one set came out, in percent, milliseconds and seconds, and what was ranked."""

    figures: dict[str, str | int | float]
    ranked: dict[str, list[str]]
    misses: tuple[Miss, ...]
    """The requests whose right answers do not all come first, the worst first."""


@dataclass(frozen=True, slots=True)
class OwnQueries:
    """What to measure a catalogue of one's own with: queries, and the agent that asks each, by query id."""

    name: str
    queries: tuple[Query, ...]
    agents: Mapping[str, str]
    left_out: int = 0
    """How many requests are left out, since what answered them is gone, or is denied by now."""

    def agent(self, query: Query) -> str:
        return self.agents.get(query.id, DEFAULT_AGENT)


def benchmark(
    folder: Path,
    chosen: BenchmarkOptions,
    options: EngineOptions,
    clock: Clock,
    progress: Callable[[int, int], None],
) -> SetResult:
    """A labelled set, tools and queries both, on an engine of its own."""
    labelled = read_set(folder)
    queries = _chosen(labelled.queries, chosen, str(folder))
    with tempfile.TemporaryDirectory(prefix="prowess-bench-") as place:
        engine = _engine(labelled, Path(place), options, clock)
        try:
            start = time.perf_counter()
            engine.sync(progress=lambda source, done, total: progress(done, total))
            index_seconds = time.perf_counter() - start
            own = OwnQueries(labelled.name, queries, {})
            return _measured(engine, own, chosen, {"index_s": round(index_seconds, 2)})
        finally:
            engine.close()


def own_benchmark(engine: Engine, own: OwnQueries, chosen: BenchmarkOptions) -> SetResult:
    """A catalogue of one's own, as it stands: nothing is synced, and nothing recorded."""
    queries = _chosen(own.queries, chosen, own.name)
    return _measured(engine, replace(own, queries=queries), chosen, {"left_out": own.left_out})


def queries_of_file(engine: Engine, file: Path, agent: str) -> OwnQueries:
    """Queries that somebody wrote down for their own catalogue."""
    queries = read_queries(file, {each.id: each for each in engine.catalogue.list()})
    return OwnQueries(name_of(file), queries, {query.id: agent for query in queries})


def queries_of_journal(engine: Engine) -> OwnQueries:
    """What agents asked here, with what they used and what worked; the newest requests first."""
    visible: dict[str, Collection[str]] = {}
    queries: list[Query] = []
    agents: dict[str, str] = {}
    answered = answered_requests(engine.journal.after(()))
    for one in reversed(answered):
        if one.agent not in visible:
            visible[one.agent] = engine.internals.world(one.agent).visible(one.agent).capabilities
        if gold := tuple(id for id in one.worked if id in visible[one.agent]):
            queries.append(Query(id=one.offer, text=one.request, gold=gold, alternatives={}))
            agents[one.offer] = one.agent
    if not queries:
        what = "has no request of which it is known what answered it"
        remedy = "report outcomes, or let agents call through prowess; or name a file of queries"
        raise SourceError("the journal", what, remedy)
    return OwnQueries("journal", tuple(queries), agents, len(answered) - len(queries))


def _chosen(queries: Sequence[Query], chosen: BenchmarkOptions, place: str) -> tuple[Query, ...]:
    found = sampled(queries, chosen.split, chosen.limit)
    if not found:
        raise SourceError(place, f"has no queries of split {chosen.split!r}", "choose another --split")
    return found


def _measured(
    engine: Engine, own: OwnQueries, chosen: BenchmarkOptions, further: Mapping[str, int | float]
) -> SetResult:
    engine.rank("warm up")
    parts = [_ranked(engine, own, agent, chosen) for agent in dict.fromkeys(map(own.agent, own.queries))]
    ranked = {id: ids for part in parts for id, ids in part.ranked.items()}
    seconds = tuple(second for part in parts for second in part.seconds)
    measured = Measurement(score(own.queries, ranked), ranked, seconds)
    saved = _saved(engine, own, own.queries[:OFFERS])
    tools = len(engine.catalogue.view().capabilities)
    misses = tuple(Miss.of(query, measured.ranked[query.id]) for query in own.queries)
    return SetResult(
        {"name": own.name, "tools": tools, **_figures(measured, saved), **further},
        {id: list(ids) for id, ids in measured.ranked.items()},
        tuple(sorted((m for m in misses if m.ndcg < 1), key=lambda miss: (miss.ndcg, miss.id))),
    )


def _engine(labelled: LabelledSet, place: Path, options: EngineOptions, clock: Clock) -> Engine:
    policy = place / "policy.yaml"
    policy.write_text(EVERYTHING, encoding="utf-8")
    # As a server's tools are read: their names in words too.
    tools = [replace(tool, display_name=display_name(tool.name)) for tool in labelled.capabilities]
    source = StaticSource(labelled.name, capabilities=tools, details=dict(labelled.details))
    own = EngineOptions(discovery=options.discovery, policy_files=(policy,), embedder=options.embedder)
    return Engine(open_database("store.db", place), (source,), clock, {}, own)


def _ranked(engine: Engine, own: OwnQueries, agent: str, chosen: BenchmarkOptions) -> Measurement:
    """What one agent's requests find among what it may use."""
    queries = [query for query in own.queries if own.agent(query) == agent]
    rank = partial(engine.rank, agent=agent, split=chosen.needs)
    return measure(queries, rank, time.perf_counter)


def _saved(engine: Engine, own: OwnQueries, queries: Sequence[Query]) -> float:
    """The share of tokens that offers save against showing the whole catalogue."""
    previews = {agent: engine.preview(agent) for agent in {own.agent(query) for query in queries}}
    offers = [
        previews[own.agent(query)].offer(Turn(messages=(Message("user", query.text),)), only_available=False)
        for query in queries
    ]
    shown = statistics.fmean(each.offer.tokens.total for each in offers)
    return 1 - shown / max(1, engine.catalogue.cost_of_everything())


def _figures(measured: Measurement, saved: float) -> dict[str, str | int | float]:
    scores = measured.scores
    milliseconds = sorted(second * 1000 for second in measured.seconds)
    percent = {
        "recall@1": scores.recall_1,
        "recall@5": scores.recall_5,
        "recall@10": scores.recall_10,
        "ndcg@5": scores.ndcg_5,
        "ndcg@10": scores.ndcg_10,
        "mrr": scores.mrr,
    }
    return {
        "queries": len(measured.ranked),
        **{name: round(100 * value, 2) for name, value in percent.items()},
        "p50_ms": round(statistics.median(milliseconds), 2),
        "p99_ms": round(milliseconds[ceil(0.99 * len(milliseconds)) - 1], 2),
        "tokens_saved": round(100 * saved, 1),
    }
