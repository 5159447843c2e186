"""Measure a converted model: quality per set, speed, and the queries it does worst.

    python -m train.report --model DIR --bench DIR --out DIR

Writes `report.md` and `worst.jsonl`. The model is run exactly as the package runs it.
"""

import argparse
import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from prowess.discovery.encoder import Encoder
from train.bench import Bench, read_bench
from train.score import Matrix, Scored, mean_ndcg, score
from train.text import tool_text

SETS = (
    "metatool", "sealtools", "bfcl", "toollinkos_main", "restbench", "toolalpaca",
    "toolalpaca_api", "apibench",
)  # fmt: skip
WORST = 25

Encode = Callable[[Sequence[str]], Matrix]


@dataclass(frozen=True, slots=True)
class Speed:
    query_ms: float
    texts_per_second: float


def measure(encode: Encode, bench: Bench) -> list[Scored]:
    queries = bench.sample("test")
    known = encode([tool_text(tool) for tool in bench.tools])
    asked = encode([query.text for query in queries])
    return score(queries, asked, [tool.id for tool in bench.tools], known)


def time_it(encode: Encode, queries: Sequence[str], texts: Sequence[str]) -> Speed:
    """Take the median time of one query, and the pace over whole tool texts."""
    taken = []
    for query in queries:
        start = time.perf_counter()
        encode([query])
        taken.append(time.perf_counter() - start)
    start = time.perf_counter()
    encode(texts)
    return Speed(1000 * float(np.median(taken)), len(texts) / (time.perf_counter() - start))


def worst(name: str, scored: Sequence[Scored]) -> list[dict[str, object]]:
    """Show the queries with the lowest NDCG@10, with what was found instead of the gold."""
    lowest = sorted(scored, key=lambda one: one.ndcg)[:WORST]
    return [
        {"set": name, "query": one.query.text, "gold": one.query.gold,
         "found": one.ranking[:5], "ndcg": round(one.ndcg, 3)}
        for one in lowest
    ]  # fmt: skip


def table(figures: dict[str, list[Scored]], speed: Speed) -> str:
    lines = ["| set | queries | NDCG@10 | Recall@10 |", "|---|---|---|---|"]
    for name, scored in figures.items():
        recall = 100 * float(np.mean([one.recall for one in scored]))
        lines.append(f"| {name} | {len(scored)} | {mean_ndcg(scored):.2f} | {recall:.2f} |")
    mean = np.mean([mean_ndcg(scored) for scored in figures.values()])
    lines.append(f"| mean | | {mean:.2f} | |")
    pace = f"one query {speed.query_ms:.1f} ms (median), {speed.texts_per_second:.0f} texts/s"
    return "\n".join([*lines, "", f"One thread: {pace}.", ""])


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure a converted model.")
    for name in ("model", "bench", "out"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    parser.add_argument("--sets", default=",".join(SETS))
    given = parser.parse_args()
    encode = Encoder.open(given.model)
    benches = [read_bench(given.bench / name) for name in given.sets.split(",")]
    figures = {bench.name: measure(encode, bench) for bench in benches}
    queries = [query.text for query in benches[0].sample("test")[:300]]
    texts = [tool_text(tool) for tool in benches[0].tools[:300]]
    given.out.mkdir(parents=True, exist_ok=True)
    report = table(figures, time_it(encode, queries, texts))
    (given.out / "report.md").write_text(report, encoding="utf-8")
    rows = [row for name, scored in figures.items() for row in worst(name, scored)]
    lines = [json.dumps(row, ensure_ascii=False) + "\n" for row in rows]
    (given.out / "worst.jsonl").write_text("".join(lines), encoding="utf-8")
    print(report)


if __name__ == "__main__":
    main()
