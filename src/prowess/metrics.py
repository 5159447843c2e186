"""How good a ranking is, on requests whose right capabilities are known.

Reads a folder with `tools.jsonl`, `queries.jsonl` and perhaps `edges.jsonl`, and scores any function
from a request to ranked ids. `prowess bench` and the gates of learning both measure with this.
"""

import json
import os
import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import log2
from pathlib import Path
from statistics import fmean
from typing import TypeAlias, TypeVar

from prowess.errors import SourceError
from prowess.types import Capability, Detail

Rank: TypeAlias = Callable[[str], Sequence[str]]
Row: TypeAlias = Mapping[str, object]

SEED = 13
MOST_QUERIES = 2000
DEPTH = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """A request, the ids that are right for it, and for each of those the ids that do as well."""

    id: str
    text: str
    gold: tuple[str, ...]
    alternatives: Mapping[str, tuple[str, ...]]
    split: str = "test"
    kind: str = ""


Named = TypeVar("Named", Capability, Query)


@dataclass(frozen=True, slots=True)
class LabelledSet:
    name: str
    capabilities: tuple[Capability, ...]
    queries: tuple[Query, ...]
    details: Mapping[str, Detail] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RankingScores:
    """Means over queries, from 0 to 1."""

    recall_1: float
    recall_5: float
    recall_10: float
    ndcg_5: float
    ndcg_10: float
    mrr: float
    complete_10: float


@dataclass(frozen=True, slots=True)
class Measurement:
    """The scores of a ranking, what it ranked (by query id), and the seconds of each query."""

    scores: RankingScores
    ranked: Mapping[str, tuple[str, ...]]
    seconds: tuple[float, ...]


def measure(queries: Sequence[Query], rank: Rank, clock: Callable[[], float]) -> Measurement:
    """Rank every query and score the outcome."""
    ranked: dict[str, tuple[str, ...]] = {}
    seconds: list[float] = []
    for query in queries:
        start = clock()
        ids = tuple(rank(query.text))[:DEPTH]
        seconds.append(clock() - start)
        ranked[query.id] = ids
    return Measurement(score(queries, ranked), ranked, tuple(seconds))


def score(queries: Sequence[Query], ranked: Mapping[str, Sequence[str]]) -> RankingScores:
    """Compare rankings with what is right; a query without a ranking counts as a miss."""
    found = [(hit_positions(query, ranked.get(query.id, ())), len(query.gold)) for query in queries]
    return RankingScores(
        recall_1=_mean(recall(hits, size, 1) for hits, size in found),
        recall_5=_mean(recall(hits, size, 5) for hits, size in found),
        recall_10=_mean(recall(hits, size, 10) for hits, size in found),
        ndcg_5=_mean(ndcg(hits, size, 5) for hits, size in found),
        ndcg_10=_mean(ndcg(hits, size, 10) for hits, size in found),
        mrr=_mean(1 / hits[0] if hits else 0.0 for hits, _ in found),
        complete_10=_mean(float(recall(hits, size, 10) == 1) for hits, size in found),
    )


def hit_positions(query: Query, ranked: Sequence[str]) -> tuple[int, ...]:
    """Where the ranking hits, counted from 1; a right id and its alternatives hit once together."""
    waiting = {gold: {gold, *query.alternatives.get(gold, ())} for gold in query.gold}
    positions: list[int] = []
    for position, id in enumerate(ranked[:DEPTH], 1):
        # The id itself before one it could stand in for, so that no other hit is used up.
        gold = id if id in waiting else next((g for g, ids in waiting.items() if id in ids), None)
        if gold is not None:
            del waiting[gold]
            positions.append(position)
    return tuple(positions)


def recall(hits: Sequence[int], size: int, k: int) -> float:
    return sum(position <= k for position in hits) / size


def ndcg(hits: Sequence[int], size: int, k: int) -> float:
    gained = sum(1 / log2(position + 1) for position in hits if position <= k)
    return gained / sum(1 / log2(position + 1) for position in range(1, min(k, size) + 1))


def sampled(queries: Iterable[Query], split: str = "test", limit: int = MOST_QUERIES) -> tuple[Query, ...]:
    """At most `limit` queries of a split, the same ones on every machine."""
    chosen = [query for query in queries if query.split == split]
    random.Random(SEED).shuffle(chosen)
    return tuple(chosen[:limit])


def read_set(folder: Path) -> LabelledSet:
    """A catalogue and its queries, all splits."""
    tools = folder / "tools.jsonl"
    rows = list(_rows(tools))
    capabilities = {each.id: each for each in _unique((at, _capability(row, at)) for at, row in rows)}
    details = {str(row["id"]): _detail(row) for _, row in rows}
    edges = folder / "edges.jsonl"
    needed: dict[str, dict[str, None]] = {}
    for at, row in _rows(edges) if edges.exists() else ():
        needed.setdefault(_text(row, "source", at), {})[_text(row, "target", at)] = None
    linked = (
        replace(each, required_tools=tuple(needed[id])) if id in needed else each
        for id, each in capabilities.items()
    )
    path = folder / "queries.jsonl"
    queries = tuple(_unique((at, _query(row, at, capabilities)) for at, row in _rows(path)))
    return LabelledSet(name_of(folder), tuple(linked), queries, details)


def read_queries(file: Path, known: Mapping[str, Capability]) -> tuple[Query, ...]:
    """Queries alone, whose right answers are in a catalogue that is known."""
    return tuple(_unique((at, _query(row, at, known, "the catalogue")) for at, row in _rows(file)))


def name_of(folder: Path) -> str:
    """What a set is called: its folder's name, also where that is written as `.`"""
    return Path(os.path.abspath(folder)).name


def _unique(rows: Iterable[tuple[str, Named]]) -> Iterator[Named]:
    seen: set[str] = set()
    for at, each in rows:
        if each.id in seen:
            raise SourceError(at, f"the id {each.id!r} occurs twice", "give every row its own id")
        seen.add(each.id)
        yield each


def _capability(row: Row, at: str) -> Capability:
    name = _text(row, "name", at)
    parameters = row.get("parameters") or {}
    return Capability(
        id=_text(row, "id", at),
        kind="tool",
        name=name,
        display_name=name,
        description=str(row.get("description") or ""),
        category=str(row.get("category") or ""),
        tags=_texts(row, "tags", at),
        parameters=tuple(map(str, parameters)) if isinstance(parameters, (Mapping, list)) else (),
        provider=str(row.get("server") or ""),
    )


def _detail(row: Row) -> Detail:
    """The schema that a model would be shown: what costs tokens, and what search never reads."""
    parameters = row.get("parameters")
    named = parameters if isinstance(parameters, Mapping) else {}
    properties = {str(name): {"type": "string", "description": str(said)} for name, said in named.items()}
    return Detail(input_schema={"type": "object", "properties": properties})


def _query(row: Row, at: str, known: Mapping[str, Capability], where: str = "tools.jsonl") -> Query:
    gold = _texts(row, "gold", at)
    if not gold:
        raise SourceError(at, "the query has no right tool", 'list at least one id under "gold"')
    for id in gold:
        if id not in known:
            raise SourceError(at, f"the right tool {id!r} is not in {where}", "add it or correct the id")
    others = row.get("alternatives") or {}
    if not isinstance(others, Mapping):
        raise SourceError(at, '"alternatives" is not an object', "write it as {id: [ids]}")
    return Query(
        id=_text(row, "id", at),
        text=_text(row, "query", at),
        gold=gold,
        alternatives={str(id): _texts(others, id, at) for id in others},
        split=str(row.get("split") or "test"),
        kind=str(row.get("kind") or ""),
    )


def _rows(path: Path) -> Iterator[tuple[str, Row]]:
    try:
        with path.open(encoding="utf-8") as lines:
            for number, line in enumerate(lines, 1):
                if line.strip():
                    at = f"{path}:{number}"
                    yield at, _object(line, at)
    except (OSError, UnicodeDecodeError) as failed:
        raise SourceError(
            str(path), "it cannot be read as text", "check that it is there, in UTF-8"
        ) from failed


def _object(line: str, at: str) -> Row:
    try:
        row = json.loads(line)
    except ValueError as failed:
        raise SourceError(at, "the line is not JSON", "write one JSON object on each line") from failed
    if not isinstance(row, dict):
        raise SourceError(at, "the line is not a JSON object", "write one JSON object on each line")
    return row


def _text(row: Row, key: str, at: str) -> str:
    value = row.get(key)
    if not isinstance(value, str) or not value:
        raise SourceError(at, f"{key!r} is missing or not a text", f"add {key!r} to the row")
    return value


def _texts(row: Row, key: str, at: str) -> tuple[str, ...]:
    values = row.get(key) or []
    if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
        raise SourceError(at, f"{key!r} is not a list of texts", f"write {key!r} as a list")
    return tuple(dict.fromkeys(values))


def _mean(values: Iterable[float]) -> float:
    collected = list(values)
    return fmean(collected) if collected else 0.0
