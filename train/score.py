"""Rank a catalogue for each query and say how good the ranking is."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from train.bench import Query

Matrix = npt.NDArray[np.float32]

TIE_SEED = 13
DEEPEST = 100


@dataclass(frozen=True, slots=True)
class Scored:
    """One query's ranking, best first, with its NDCG@10 and Recall@10."""

    query: Query
    ranking: tuple[str, ...]
    ndcg: float
    recall: float


def score(queries: Sequence[Query], asked: Matrix, tools: Sequence[str], known: Matrix) -> list[Scored]:
    """Score every query by exact search; vectors have length 1, so the product is the cosine."""
    return [judge(query, ranking) for query, ranking in zip(queries, rank(asked, tools, known), strict=True)]


def rank(asked: Matrix, tools: Sequence[str], known: Matrix) -> list[tuple[str, ...]]:
    """Order the tools for each query; ties fall in a random order that is always the same."""
    shuffled = np.random.RandomState(TIE_SEED).permutation(len(tools))
    names = [tools[place] for place in shuffled]
    order = np.argsort(-(asked @ known[shuffled].T), axis=1, kind="stable")[:, :DEEPEST]
    return [tuple(names[place] for place in row) for row in order]


def judge(query: Query, ranking: Sequence[str]) -> Scored:
    hits = [place for place in hit_places(query, ranking) if place <= 10]
    ideal = range(1, min(10, len(query.gold)) + 1)
    ndcg = sum(map(_worth, hits)) / sum(map(_worth, ideal))
    return Scored(query, tuple(ranking), ndcg, len(hits) / len(query.gold))


def hit_places(query: Query, ranking: Sequence[str]) -> list[int]:
    """Return the places, from 1, of hits; a gold tool and its alternatives give one hit together."""
    open_gold, places = set(query.gold), list[int]()
    for place, tool in enumerate(ranking, start=1):
        met = _met(query, tool, open_gold)
        if met is not None:
            open_gold.discard(met)
            places.append(place)
    return places


def _met(query: Query, tool: str, open_gold: set[str]) -> str | None:
    if tool in open_gold:
        return tool
    for gold in query.gold:
        if gold in open_gold and tool in query.alternatives.get(gold, ()):
            return gold
    return None


def _worth(place: int) -> float:
    return float(1 / np.log2(place + 1))


def mean_ndcg(scored: Sequence[Scored]) -> float:
    return 100 * float(np.mean([one.ndcg for one in scored]))
