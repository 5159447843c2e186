"""The labelled sets as catalogues that are looked up in PostgreSQL, beside the same in memory.

    python -m bench.large_quality SETS [--limit 500]

SETS is the folder with the labelled sets; their test requests are asked. Both searches read one store.
"""

import argparse
import tempfile
import time
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from bench.large_catalogue import SETS
from prowess.discovery import embedders
from prowess.engine import Engine
from prowess.engine.options import EngineOptions
from prowess.metrics import LabelledSet, Measurement, Query, measure, read_set, sampled
from prowess.sources.names import display_name
from prowess.store.opening import open_database
from prowess.testing import StaticSource
from tests.support.postgres import new_database, running_postgres

EVERYTHING = 'profiles: {bench: {agents: [default], additional_tools: ["*"]}}\n'
HELD, LOOKED_UP = 1_000_000, 1


def measured(
    url: str, place: Path, labelled: LabelledSet, asked: tuple[Query, ...], held: int
) -> Measurement:
    (place / "policy.yaml").write_text(EVERYTHING)
    tools = [replace(tool, display_name=display_name(tool.name)) for tool in labelled.capabilities]
    source = StaticSource(labelled.name, capabilities=tools, details=dict(labelled.details))
    options = EngineOptions(
        embedder=embedders.opened_once(embedders.shipped), policy_files=(place / "policy.yaml",),
        in_memory=held,
    )  # fmt: skip
    with Engine(open_database(url, place), (source,), lambda: datetime.now(UTC), {}, options) as engine:
        engine.sync()
        assert engine.catalogue.view().is_stored == (held == LOOKED_UP)
        return measure(asked, engine.rank, time.perf_counter)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("sets", type=Path)
    parser.add_argument("--limit", type=int, default=500)
    chosen = parser.parse_args()
    print("| set | tools | requests | NDCG@10 in memory | looked up | the same ten, in the same order |")
    print("|---|---|---|---|---|---|")
    means: list[tuple[float, float]] = []
    with running_postgres() as server:
        for name in SETS:
            labelled = read_set(chosen.sets / name)
            asked = sampled(labelled.queries, "test", chosen.limit)
            with new_database(server) as url, tempfile.TemporaryDirectory() as place:
                one, other = (measured(url, Path(place), labelled, asked, held) for held in (HELD, LOOKED_UP))
            scores = 100 * one.scores.ndcg_10, 100 * other.scores.ndcg_10
            means.append(scores)
            same = sum(one.ranked[id][:10] == other.ranked[id][:10] for id in one.ranked) / len(asked)
            print(
                f"| {name} | {len(labelled.capabilities):,} | {len(asked):,} | {scores[0]:.2f} |"
                f" {scores[1]:.2f} | {100 * same:.1f}% |", flush=True,
            )  # fmt: skip
    first, second = (sum(each) / len(means) for each in zip(*means, strict=True))
    print(f"| mean | | | {first:.2f} | {second:.2f} | |")


if __name__ == "__main__":
    main()
