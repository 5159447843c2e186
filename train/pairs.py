"""Make the pairs to learn from: a request, and the text of a tool that answers it.

    python -m train.pairs --bench DIR [--sets metatool,bfcl] --out pairs.jsonl

Only train splits are read. A row names every tool that would also be right, so that none of them
is taken for a mistake.
"""

import argparse
import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from random import Random

from train.bench import Bench, Query, Tool, read_bench
from train.kinds import Amounts, kind_of
from train.paraphrase import ask_for, join, name_of, reword
from train.text import thinned_text, tool_text


@dataclass(frozen=True, slots=True)
class Pair:
    bench: str
    kind: str
    request: str
    tool: str
    right: tuple[str, ...]
    text: str


def pairs_of(bench: Bench, queries: list[Query], amounts: Amounts, random: Random) -> list[Pair]:
    """Draw every kind of pair from one catalogue and the train queries given."""
    draw = _Draw(bench, amounts, random)
    return [*draw.from_queries(queries), *draw.from_tools()]


class _Draw:
    def __init__(self, bench: Bench, amounts: Amounts, random: Random) -> None:
        self._bench, self._amounts, self._random = bench, amounts, random
        self._tools = {tool.id: tool for tool in bench.tools}
        self._twins = twins(bench)

    def from_queries(self, queries: list[Query]) -> Iterator[Pair]:
        for query in queries:
            yield from self._all_gold("asked", query.text, query)
            if self._often(self._amounts.reworded):
                yield from self._all_gold("reworded", reword(query.text, self._random), query)
            if self._often(self._amounts.joined):
                other = self._random.choice(queries)
                both = join(query.text, other.text, self._random)
                yield from self._all_gold("joined", both, query, other)

    def from_tools(self) -> Iterator[Pair]:
        for tool in self._bench.tools:
            right = self._with_twins({tool.id})
            # A request cut from the description is found too easily in it: sometimes it is gone.
            untold = tool_text(tool, ("identifier", "category", "parameters"))
            if self._often(self._amounts.asked_for):
                pair = self._pair("asked_for", ask_for(tool, self._random), tool, right)
                yield replace(pair, text=untold) if self._often(self._amounts.untold) else pair
            if self._often(self._amounts.named):
                yield self._pair("named", name_of(tool), tool, right)

    def _all_gold(self, kind: str, request: str, *queries: Query) -> Iterator[Pair]:
        right = self._with_twins(set().union(*(query.right() for query in queries)))
        for gold in sorted({gold for query in queries for gold in query.gold}):
            yield self._pair(kind, request, self._tools[gold], right)

    def _pair(self, kind: str, request: str, tool: Tool, right: set[str]) -> Pair:
        whole = self._often(self._amounts.whole_text)
        text = tool_text(tool) if whole else thinned_text(tool, self._random)
        return Pair(self._bench.name, kind, request, tool.id, tuple(sorted(right)), text)

    def _with_twins(self, ids: set[str]) -> set[str]:
        return {twin for id in ids for twin in self._twins[id]}

    def _often(self, share: float) -> bool:
        return self._random.random() < share


def twins(bench: Bench) -> dict[str, set[str]]:
    """Map each tool to those that no request could tell from it: same name or same description."""
    alike: dict[tuple[str, str], set[str]] = {}
    for tool in bench.tools:
        for key in _likenesses(tool):
            alike.setdefault(key, set()).add(tool.id)
    return {
        tool.id: set().union({tool.id}, *(alike[key] for key in _likenesses(tool))) for tool in bench.tools
    }


def _likenesses(tool: Tool) -> list[tuple[str, str]]:
    told = [("description", tool.description.casefold())] if tool.description else []
    return [("name", tool.name.casefold()), *told]


def write_pairs(pairs: list[Pair], path: Path) -> None:
    with path.open("w", encoding="utf-8") as out:
        out.writelines(json.dumps(asdict(pair), ensure_ascii=False) + "\n" for pair in pairs)


def read_pairs(path: Path) -> list[Pair]:
    with path.open(encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    return [Pair(**{**row, "right": tuple(row["right"])}) for row in rows]


def main() -> None:
    parser = argparse.ArgumentParser(description="Draw pairs from the train splits.")
    parser.add_argument("--bench", type=Path, required=True)
    parser.add_argument(
        "--sets", default="", help="names, separated by commas; else every set with train queries"
    )
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    random, pairs = Random(given.seed), list[Pair]()
    for name in given.sets.split(",") if given.sets else sorted(each.name for each in given.bench.iterdir()):
        bench, kind = read_bench(given.bench / name), kind_of(name)
        asked = bench.of_split("train")
        for _ in range(kind.draws if asked else 0):
            pairs += pairs_of(bench, asked, kind.amounts, random)
    write_pairs(pairs, given.out)


if __name__ == "__main__":
    main()
