"""Offers over HTTP beside the engine in the same process, under 50 clients; and the first page.

    python -m bench.web [--clients 50] [--offers 2000] [--capabilities 1000]

Both ways make the same offers from the same catalogue with the shipped encoder, each on a store of its own,
in turns. Over HTTP the server is one process and the clients, which bring an agent's token, are another.
Afterwards the journal must hold every offer, and be intact. The first page is that of a dashboard over
10,000 capabilities, as a browser gets it that accepts gzip.
"""

import argparse
import asyncio
import gzip
import os
import re
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

import anyio
import msgspec

from prowess.engine import Engine
from prowess.engine.options import EngineOptions
from prowess.listen import LOOPBACK, Bind
from prowess.monitoring.monitored import Monitored, ServerState
from prowess.monitoring.stopping import StopTimes
from prowess.opening import now
from prowess.store.opening import open_database
from prowess.testing import StaticSource, capability
from prowess.types import Message, Turn
from prowess.web.app import create_app
from prowess.web.protection import RequestLimits
from prowess.web.serving import listening, login_link, serving

RESULTS = Path(__file__).parent / "results" / "web.md"
AGENT = "ada"
POLICY = f"profiles: {{p: {{agents: [{AGENT}], additional_tools: ['*']}}}}\n"
VERBS = ("read", "send", "list", "delete", "summarise", "translate", "convert", "plot", "book", "search")
THINGS = ("mail", "file", "invoice", "flight", "photo", "calendar entry", "table", "ticket", "song", "map")
WAYS = ("in German", "for a team", "from the archive", "by date", "with a password", "for a customer")
REQUESTS = [f"{verb} a {thing}" for verb in VERBS for thing in THINGS]
ROUNDS = 3
FEWEST_PAGES = 20


def opened(place: Path, count: int, vectors: bool = True) -> Engine:
    place.mkdir(parents=True, exist_ok=True)
    policy = place / "policy.yaml"
    policy.write_text(POLICY)
    made = [
        capability(
            f"tool:t{n}",
            f"{VERBS[n % 10].capitalize()} a {THINGS[n // 10 % 10]} {WAYS[n // 100 % 6]}, variant {n}",
            provider=f"provider{n % 40}",
            category=THINGS[n // 10 % 10],
        )
        for n in range(count)
    ]
    engine = Engine(
        open_database("store.db", place), (StaticSource(capabilities=made),), now, os.environ,
        EngineOptions(policy_files=(policy,)),
    )  # fmt: skip
    engine.sync(vectors=vectors)
    return engine


@dataclass
class Measured:
    seconds: float = 0.0
    cpu: float = 0.0
    times: list[float] = field(default_factory=list)
    errors: int = 0

    @property
    def per_second(self) -> float:
        return len(self.times) / self.seconds

    def percentile(self, share: float) -> float:
        return sorted(self.times)[min(len(self.times) - 1, int(share * len(self.times)))] * 1000


# --- in the same process -------------------------------------------------------------------------


def inside(engine: Engine, clients: int, offers: int, measured: Measured) -> None:
    def client(number: int) -> None:
        for turn in range(number, offers, clients):
            asked = Turn(messages=(Message("user", REQUESTS[turn % len(REQUESTS)]),), agent=AGENT)
            start = time.perf_counter()
            engine.offer(asked)
            measured.times.append(time.perf_counter() - start)

    threads = [threading.Thread(target=client, args=(number,)) for number in range(clients)]
    start, cpu = time.perf_counter(), time.process_time()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    measured.seconds += time.perf_counter() - start
    measured.cpu += time.process_time() - cpu


# --- over HTTP -----------------------------------------------------------------------------------


def serve(place: Path, count: int) -> None:
    with opened(place, count, vectors=count < 10_000) as engine:
        app = create_app(engine, RequestLimits(LOOPBACK, rate=0))
        bind = Bind("127.0.0.1", 0)
        door = listening(bind)
        bound = Bind(bind.host, door.getsockname()[1])
        print(login_link(app.state.people, bound, "bench"), engine.tokens.issue(AGENT).text, flush=True)
        monitored = Monitored(app, ServerState(engine.internals.database.check))
        anyio.run(serving, monitored, door, StopTimes())


class Server:
    def __init__(self, place: Path, count: int) -> None:
        command = [sys.executable, "-m", "bench.web", "--serve", str(place), "--capabilities", str(count)]
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self._process.stdout
        self.link, self.token = self._process.stdout.readline().split()
        self.port = int(re.search(r":(\d+)/", self.link)[1])  # type: ignore[index]

    def cpu(self) -> float:
        fields = Path(f"/proc/{self._process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def stop(self) -> None:
        self._process.terminate()
        self._process.wait()


async def over_http(server: Server, clients: int, offers: int, measured: Measured) -> None:
    async def client(number: int) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
        for turn in range(number, offers, clients):
            body = msgspec.json.encode({"request": REQUESTS[turn % len(REQUESTS)]})
            head = (
                f"POST /api/v1/agents/{AGENT}/offer HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n"
                f"Authorization: Bearer {server.token}\r\nContent-Type: application/json\r\n"
                f"Content-Length: {len(body)}\r\n\r\n"
            )
            start = time.perf_counter()
            writer.write(head.encode() + body)
            status, _ = await answer(reader)
            measured.times.append(time.perf_counter() - start)
            measured.errors += status != 200
        writer.close()

    start, cpu = time.perf_counter(), server.cpu()
    await asyncio.gather(*(client(number) for number in range(clients)))
    measured.seconds += time.perf_counter() - start
    measured.cpu += server.cpu() - cpu


async def answer(reader: asyncio.StreamReader) -> tuple[int, bytes]:
    head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
    length = re.search(r"content-length: (\d+)", head)
    return int(head.split()[1]), await reader.readexactly(int(length[1]) if length else 0)


# --- the first page ------------------------------------------------------------------------------


@dataclass(frozen=True)
class FirstPage:
    milliseconds: list[float]
    cpu: float
    """Seconds of the server for one page."""
    page: int
    files: dict[str, int]


async def fetch(server: Server, path: str, cookie: str) -> tuple[str, bytes]:
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
    writer.write(
        f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\nAccept-Encoding: gzip\r\n"
        f"Cookie: {cookie}\r\nConnection: close\r\n\r\n".encode()
    )
    head, _, body = (await reader.read(-1)).partition(b"\r\n\r\n")
    writer.close()
    return head.decode(), body


async def first_page(server: Server, path: str) -> FirstPage:
    head, _ = await fetch(server, server.link.partition(f":{server.port}")[2], "")
    cookie = re.search(r"set-cookie: ([^;]+)", head)[1]  # type: ignore[index]
    times, sizes = [], []
    cpu = server.cpu()
    for _ in range(FEWEST_PAGES):
        start = time.perf_counter()
        head, body = await fetch(server, path, cookie)
        times.append((time.perf_counter() - start) * 1000)
        sizes.append(len(head) + 4 + len(body))
        assert head.split()[1] == "200", head
    cpu = (server.cpu() - cpu) / FEWEST_PAGES
    text = gzip.decompress(body) if "content-encoding: gzip" in head else body
    files = {}
    for name in sorted({*re.findall(r'(?:src|href)="(/(?:static|vendor)/[^"]+)"', text.decode())}):
        head, body = await fetch(server, name, cookie)
        files[name.partition("?")[0]] = len(head) + 4 + len(body)
    return FirstPage(times, cpu, max(sizes), files)


# --- the report ----------------------------------------------------------------------------------


def journalled(place: Path) -> int:
    """How many offers the journal of a store holds; it must be intact."""
    with Engine(open_database("store.db", place), (), now, {}, EngineOptions()) as engine:
        engine.journal.verify()
        with engine.internals.database.reading() as transaction:
            row = transaction.one("SELECT COUNT(*) FROM journal WHERE type = 'offer'")
    return int(row[0]) if row else 0


def compare(place: Path, clients: int, offers: int, count: int) -> list[str]:
    here, there = Measured(), Measured()
    server = Server(place / "http", count)
    with opened(place / "inside", count) as engine:
        inside(engine, clients, clients * 2, Measured())
        asyncio.run(over_http(server, clients, clients * 2, Measured()))
        for _ in range(ROUNDS):
            inside(engine, clients, offers // ROUNDS, here)
            asyncio.run(over_http(server, clients, offers // ROUNDS, there))
    server.stop()
    kept = {name: journalled(place / name) for name in ("inside", "http")}
    expected = clients * 2 + offers // ROUNDS * ROUNDS
    lost = {name: expected - kept[name] for name in kept}
    rows = [("in the same process", here, lost["inside"]), ("over HTTP", there, lost["http"])]
    lines = [
        "| way | offers a second | p50 ms | p99 ms | CPU ms an offer | errors | missing in the journal |",
        "|---|---|---|---|---|---|---|",
    ]
    for name, one, missing in rows:
        lines.append(
            f"| {name} | {one.per_second:.0f} | {one.percentile(0.5):.1f} | {one.percentile(0.99):.1f}"
            f" | {one.cpu / len(one.times) * 1000:.2f} | {one.errors} | {missing} |"
        )
    slower = here.per_second / there.per_second
    busier = (there.cpu / len(there.times)) / (here.cpu / len(here.times))
    lines += [
        "",
        f"Over HTTP it is {slower:.2f}x slower, and takes {busier:.2f}x the CPU time (goal: at most 3x).",
    ]
    return lines


def pages(place: Path) -> list[str]:
    server = Server(place / "large", 10_000)
    lines = [
        "| page | first ms | p50 ms | p95 ms | CPU ms | page bytes | files bytes | together |",
        "|---|---|---|---|---|---|---|---|",
    ]
    try:
        link = server.link
        for path in ("/", "/catalogue"):
            server.link = link
            found = asyncio.run(first_page(server, path))
            ordered = sorted(found.milliseconds)
            files = sum(size for name, size in found.files.items() if "cytoscape" not in name)
            lines.append(
                f"| `{path}` | {found.milliseconds[0]:.0f} | {statistics.median(ordered):.0f}"
                f" | {ordered[int(0.95 * len(ordered))]:.0f} | {found.cpu * 1000:.0f} | {found.page}"
                f" | {files} | {found.page + files} |"
            )
            link = next_link(place / "large", server.port)
    finally:
        server.stop()
    return lines


def next_link(place: Path, port: int) -> str:
    """Another link, as a link serves once."""
    from prowess.web.users import Users

    with Engine(open_database("store.db", place), (), now, {}, EngineOptions()) as engine:
        people = Users(engine.internals.database, engine.internals.journal, now)
        return login_link(people, Bind("127.0.0.1", port), "bench")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--clients", type=int, default=50)
    parser.add_argument("--offers", type=int, default=3000)
    parser.add_argument("--capabilities", type=int, default=1000)
    parser.add_argument("--serve", type=Path, help="be the server, over this folder")
    said = parser.parse_args()
    if said.serve:
        serve(said.serve, said.capabilities)
        return
    with tempfile.TemporaryDirectory() as folder:
        offers = compare(Path(folder), said.clients, said.offers, said.capabilities)
        first = pages(Path(folder))
    text = "\n".join([
        "# The web face", "",
        f"`python -m bench.web --clients {said.clients} --offers {said.offers}"
        f" --capabilities {said.capabilities}`, {os.cpu_count()} cores shared by server and clients."
        " Wall time depends on what else the machine does; CPU time does not.", "",
        f"## {said.clients} clients, {said.offers} offers over {said.capabilities} capabilities", "",
        *offers, "",
        "## The first page, 10,000 capabilities, gzip, without the graph script", "",
        *first, "", "Goal: under 100 KB together and under 300 ms.", "",
    ])  # fmt: skip
    RESULTS.write_text(text)
    print(text)


if __name__ == "__main__":
    main()
