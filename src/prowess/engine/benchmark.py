"""Measure discovery on labelled requests, through the code of `find`, on an engine of its own."""

import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import ceil
from pathlib import Path

from prowess.engine.engine import Engine
from prowess.engine.options import EngineOptions
from prowess.errors import SourceError
from prowess.journal import Clock
from prowess.metrics import LabelledSet, Measurement, measure, read_set, sampled
from prowess.sources.names import display_name
from prowess.store.opening import open_database
from prowess.testing import StaticSource

OFFERS = 50
EVERYTHING = 'profiles: {bench: {agents: [default], additional_tools: ["*"]}}\n'


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchmarkOptions:
    """What to measure: which queries, how many, and whether requests are split into needs."""

    split: str = "test"
    limit: int = 2000
    needs: bool = True


@dataclass(frozen=True, slots=True)
class SetResult:
    """How one set came out, in percent, milliseconds and seconds, and what was ranked."""

    figures: dict[str, str | int | float]
    ranked: dict[str, list[str]]


def benchmark(
    folder: Path,
    chosen: BenchmarkOptions,
    options: EngineOptions,
    clock: Clock,
    progress: Callable[[int, int], None],
) -> SetResult:
    labelled = read_set(folder)
    queries = sampled(labelled.queries, chosen.split, chosen.limit)
    if not queries:
        raise SourceError(str(folder), f"has no queries of split {chosen.split!r}", "choose another --split")
    with tempfile.TemporaryDirectory(prefix="prowess-bench-") as place:
        engine = _engine(labelled, Path(place), options, clock)
        try:
            start = time.perf_counter()
            engine.sync(progress=lambda source, done, total: progress(done, total))
            index_seconds = time.perf_counter() - start
            engine.rank("warm up")
            measured = measure(queries, lambda text: engine.rank(text, split=chosen.needs), time.perf_counter)
            saved = _saved(engine, [query.text for query in queries[:OFFERS]])
        finally:
            engine.close()
    figures = _figures(labelled, measured, index_seconds, saved)
    return SetResult(figures, {id: list(ids) for id, ids in measured.ranked.items()})


def _engine(labelled: LabelledSet, place: Path, options: EngineOptions, clock: Clock) -> Engine:
    policy = place / "policy.yaml"
    policy.write_text(EVERYTHING, encoding="utf-8")
    # As a server's tools are read: their names in words too.
    tools = [replace(tool, display_name=display_name(tool.name)) for tool in labelled.capabilities]
    source = StaticSource(labelled.name, capabilities=tools, details=dict(labelled.details))
    own = EngineOptions(discovery=options.discovery, policy_files=(policy,), embedder=options.embedder)
    return Engine(open_database("store.db", place), (source,), clock, {}, own)


def _saved(engine: Engine, requests: Sequence[str]) -> float:
    """The share of tokens that offers save against showing the whole catalogue."""
    offers = [engine.offer(request, only_available=False).tokens.total for request in requests]
    return 1 - statistics.fmean(offers) / max(1, engine.catalogue.cost_of_everything())


def _figures(
    labelled: LabelledSet, measured: Measurement, index_seconds: float, saved: float
) -> dict[str, str | int | float]:
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
        "name": labelled.name,
        "tools": len(labelled.capabilities),
        "queries": len(measured.ranked),
        **{name: round(100 * value, 2) for name, value in percent.items()},
        "p50_ms": round(statistics.median(milliseconds), 2),
        "p99_ms": round(milliseconds[ceil(0.99 * len(milliseconds)) - 1], 2),
        "index_s": round(index_seconds, 2),
        "tokens_saved": round(100 * saved, 1),
    }
