"""The rows of the table, and how one of them is measured."""

import importlib
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from statistics import median

from bench.peers.shelf import Search, Shelf
from prowess.discovery.encoder import SHIPPED, Encoder
from prowess.metrics import LabelledSet, Query, RankingScores, measure, read_set, sampled
from prowess.types import Capability

CHIT_CHAT = (
    "thanks, that's all",
    "Hello there!",
    "good morning, how are you?",
    "ok",
    "You're great, I really like you.",
    "haha, that's funny",
    "never mind",
    "see you tomorrow",
    "I agree with you.",
    "yes, please go on",
)
TIMED_TOOLS = 1000
TIMED_REQUESTS = 300


@dataclass(frozen=True, slots=True)
class Row:
    label: str
    module: str
    encoder: str = ""
    """base, shipped, or nothing for what searches by words alone."""
    builder: str = "build"


ROWS: Mapping[str, Row] = {
    "fastmcp": Row("FastMCP, BM25", "fastmcp"),
    "pydantic_ai": Row("Pydantic AI, keywords", "pydantic_ai"),
    "haystack": Row("Haystack, SearchableToolset", "haystack"),
    "toolregistry": Row("ToolRegistry, BM25F", "toolregistry"),
    "bigtool": Row("langgraph-bigtool, retriever", "bigtool", "base"),
    "llama_index": Row("LlamaIndex, ObjectIndex", "llama_index", "base"),
    "semantic_router": Row("semantic-router, dense", "semantic_router", "base"),
    "ours_base_ranking": Row("prowess, threshold off", "ours", "base", "build_without_threshold"),
    "ours_base": Row("prowess, `find`", "ours", "base"),
    "ours_ranking": Row("**prowess, threshold off**", "ours", "shipped", "build_without_threshold"),
    "ours": Row("**prowess, `find` as shipped**", "ours", "shipped"),
}


def run(name: str, sets: Path, base: Path | None) -> dict[str, str]:
    row = ROWS[name]
    peer = importlib.import_module(f"bench.peers.{row.module}")
    encoder = Encoder.open(base if base and row.encoder == "base" else SHIPPED)
    encoder(["loaded"])
    metatool, sealtools = read_set(sets / "metatool"), read_set(sets / "sealtools")
    multi = [query for query in sealtools.queries if query.kind.endswith("-multi")]
    asked = sampled(metatool.queries, limit=500)

    def built(of: LabelledSet, most: int | None = None) -> Search:
        search: Search = getattr(peer, row.builder)(Shelf(of.capabilities[:most], of.details, encoder))
        return search

    small = built(metatool)
    start = time.perf_counter()
    thousand = built(sealtools, TIMED_TOOLS)
    build_seconds = time.perf_counter() - start
    names = [
        *_named(small, metatool.capabilities),
        *_named(thousand, sealtools.capabilities[:TIMED_TOOLS]),
    ]
    used = ("base" if base else "shipped") if row.encoder == "base" else row.encoder
    return {
        "library": row.label,
        "version": version(peer.PACKAGE),
        "encoder": used or "-",
        "metatool": _recalls(_scores(asked, small)),
        "sealtools multi": _recalls(_scores(sampled(multi, limit=300), built(sealtools))),
        "exact": f"{sum(names) / len(names):.3f}",
        "chit-chat": f"{sum(not thousand(turn) for turn in CHIT_CHAT)} of {len(CHIT_CHAT)}",
        "p50": _latency(thousand, [query.text for query in asked[:TIMED_REQUESTS]]),
        "build": f"{build_seconds:.1f}",
    }


def _scores(queries: Sequence[Query], search: Search) -> RankingScores:
    return measure(queries, search, time.perf_counter).scores


def _recalls(scores: RankingScores) -> str:
    return " / ".join(f"{value:.3f}" for value in (scores.recall_1, scores.recall_5, scores.recall_10))


def _named(search: Search, capabilities: Sequence[Capability]) -> list[bool]:
    """Whether each tool comes first when its name is the whole request."""
    return [list(search(each.name)[:1]) == [each.id] for each in capabilities]


def _latency(search: Search, requests: Sequence[str]) -> str:
    wall, processor = [], []
    for request in requests:
        began, used = time.perf_counter(), time.process_time()
        search(request)
        processor.append(time.process_time() - used)
        wall.append(time.perf_counter() - began)
    return f"{median(wall) * 1000:.1f} ({median(processor) * 1000:.1f})"
