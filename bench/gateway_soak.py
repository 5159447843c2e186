"""Two hours' worth of mixed calls through the gateway in a few minutes: what leaks, and what is lost.

    python -m bench.gateway_soak [--seconds 7200]

One call a second is a busy hour; here as many come as fast as they go, eight at a time, from a client of
each protocol generation over HTTP: good calls, long results, failures, wrong arguments, unknown names,
searches, progress, cancelled calls, servers that hang and servers that are killed. Meanwhile as many other
clients come, one for each of those seconds, list the tools and leave, every third of them in the middle of
that. The gateway is watched from outside and ended with kill -9; then every call that a client had an
answer to must be in its journal.
"""

import argparse
import os
import random
import subprocess
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import anyio
from mcp import Client, MCPError

import prowess
from tests.support.gateway import OWNER, free_port, served, workshop, write_config

WORKERS = 8
SECONDS_TO_ANSWER = 60
TENTHS = 10
RESULTS = Path(__file__).parent / "results" / "gateway_soak.md"
SETTINGS = "[calls]\ntimeout = 1.0\nmax_result_characters = 10000\n"

READ, EFFECTS = "call_read_only", "call_with_effects"
KINDS: tuple[tuple[int, str, str, dict[str, object]], ...] = (
    (500, READ, "echo", {"text": "x" * 2000}),
    (100, EFFECTS, "engrave", {"text": "for Ada"}),
    (60, READ, "complain", {}),
    (60, READ, "picture", {}),
    (50, READ, "long", {"count": 20_000}),
    (50, READ, "sleep", {"count": "soon"}),
    (50, READ, "nothing", {}),
    (30, READ, "count", {"count": 2}),
    (80, "discover_capabilities", "", {"query": "engrave a plate of brass"}),
    (10, "cancel", "hang", {}),
    (4, READ, "hang", {}),
    (6, READ, "die", {}),
)
"""How often, by which tool, which capability, with what."""


@dataclass(frozen=True, slots=True)
class Sample:
    """The gateway as the machine sees it at one moment."""

    processes: int
    descriptors: int
    threads: int
    megabytes: float


@dataclass(slots=True)
class Soak:
    """What was called and answered, and how the gateway looked meanwhile."""

    answered: Counter[str] = field(default_factory=Counter)
    samples: list[Sample] = field(default_factory=list)
    seconds: float = 0.0
    lost: Counter[str] = field(default_factory=Counter)
    entries: int = 0
    visits: int = 0
    """Clients that came and went meanwhile."""
    errors: Counter[str] = field(default_factory=Counter)
    """What no client should have met."""
    load: float = 0.0

    @property
    def calls(self) -> int:
        return self.answered.total()

    def growth(self) -> Sample:
        """What the end has more than the time after the first tenths, when everything is warm."""
        warm, end = self.samples[2], self.samples[-1]
        return Sample(
            end.processes - warm.processes,
            end.descriptors - warm.descriptors,
            end.threads - warm.threads,
            end.megabytes - warm.megabytes,
        )


def sample(pid: int) -> Sample:
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    megabytes = pages * os.sysconf("SC_PAGE_SIZE") / 1e6
    threads = len(os.listdir(f"/proc/{pid}/task"))
    return Sample(len(descendants(pid)), len(os.listdir(f"/proc/{pid}/fd")), threads, megabytes)


def descendants(pid: int) -> list[int]:
    found = []
    for file in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in map(int, file.read_text().split()):
            found += [child, *descendants(child)]
    return found


async def one_call(client: Client, chance: random.Random, soak: Soak) -> None:
    _, tool, name, arguments = chance.choices(KINDS, [kind[0] for kind in KINDS])[0]
    given = arguments if not name else {"id": f"tool:shop/{name}", "arguments": arguments}
    told = "search" if not name else f"tool:shop/{name}"
    try:
        with anyio.move_on_after(0.05 if tool == "cancel" else SECONDS_TO_ANSWER) as patience:
            await client.call_tool(READ if tool == "cancel" else tool, given)
    except MCPError as error:
        soak.errors[f"{told}: {error.error.message[:80]}"] += 1
        return
    if not patience.cancelled_caught:
        soak.answered[told] += 1
    elif tool != "cancel":
        soak.errors[f"{told}: no answer within {SECONDS_TO_ANSWER} s"] += 1


async def tenth(clients: list[Client], calls: int, seed: int, soak: Soak) -> None:
    left = calls

    async def worker(client: Client, chance: random.Random) -> None:
        nonlocal left
        while left > 0:
            left -= 1
            await one_call(client, chance, soak)

    async with anyio.create_task_group() as tasks:
        for number in range(WORKERS):
            chance = random.Random(seed * WORKERS + number)
            tasks.start_soon(worker, clients[number % len(clients)], chance)


async def visits(url: str, soak: Soak, most: int) -> None:
    """Clients that come and go, every third without a word."""
    for _ in range(most):
        mode = "legacy" if soak.visits % 2 else "auto"
        hasty = soak.visits % 3 == 0
        try:
            with anyio.move_on_after(0.1 if hasty else SECONDS_TO_ANSWER) as patience:
                async with Client(url, mode=mode, cache=None) as client:
                    await client.list_tools()
            if patience.cancelled_caught and not hasty:
                soak.errors[f"a visit took more than {SECONDS_TO_ANSWER} s"] += 1
        except* MCPError as errors:
            soak.errors[f"a visit: {str(errors.exceptions[0])[:80]}"] += 1
        soak.visits += 1


async def soaked(folder: Path, calls: int) -> Soak:
    """As many calls, and as many clients that come and go."""
    soak = Soak()
    file = write_config(folder, OWNER, workshop(), gateway="rate = 0")
    file.write_text(f"{file.read_text()}{SETTINGS}")
    async with gateway(file) as (process, url):
        async with Client(url, cache=None) as one, Client(url, mode="legacy", cache=None) as other:
            await one.list_tools()
            started, soak.load = time.perf_counter(), os.getloadavg()[0]
            soak.samples.append(sample(process.pid))
            for number in range(TENTHS):
                async with anyio.create_task_group() as tasks:
                    tasks.start_soon(visits, url, soak, calls // TENTHS)
                    await tenth([one, other], calls // TENTHS, number, soak)
                await anyio.sleep(0.3)  # what was cancelled or killed is being put away
                soak.samples.append(sample(process.pid))
                told = f"{soak.calls} calls, {soak.visits} visits, {time.perf_counter() - started:.0f} s"
                print(f"{told}: {soak.samples[-1]}", flush=True)
            soak.seconds = time.perf_counter() - started
        process.kill()
        process.wait(10)
    check(folder, file, soak)
    return soak


@asynccontextmanager
async def gateway(file: Path) -> AsyncIterator[tuple["subprocess.Popen[bytes]", str]]:
    port = free_port()
    process = subprocess.Popen(served(file, "--http", f"127.0.0.1:{port}"), stderr=subprocess.DEVNULL)
    try:
        with anyio.fail_after(60):
            while not await listens(port):
                await anyio.sleep(0.1)
        yield process, f"http://127.0.0.1:{port}/mcp"
    finally:
        process.kill()
        process.wait(10)


async def listens(port: int) -> bool:
    try:
        async with await anyio.connect_tcp("127.0.0.1", port):
            return True
    except OSError:
        return False


def check(folder: Path, file: Path, soak: Soak) -> None:
    """Every answer must have its entry; the chain must be whole."""
    with prowess.open(str(folder / "store.db"), config=str(file)) as engine:
        engine.journal.verify()
        calls = engine.journal.latest(1_000_000, "default", "call")
        searches = engine.journal.latest(1_000_000, "default", "search")
    written = Counter(str(entry.data["capability"]) for entry in calls)
    written["search"] = len(searches)
    soak.entries = written.total()
    soak.lost = soak.answered - written


def told(soak: Soak) -> str:
    lines = [
        "# The gateway in the long run",
        "",
        f"{soak.calls} answered calls in {soak.seconds:.0f} s, eight at a time, from a client of each"
        f" protocol generation over HTTP, then kill -9; {soak.visits} more clients came and went meanwhile."
        f" Load before: {soak.load:.0f} on 2 cores. `python -m bench.gateway_soak`.",
        "",
        f"Answers without an entry in the journal: {soak.lost.total()} (entries: {soak.entries}, the chain is"
        f" whole). Errors that clients met: {soak.errors.total()}"
        + "".join(f"; {error}: {times}" for error, times in soak.errors.most_common())
        + ".",
        "",
        "| tenth | processes behind | descriptors | threads | MB |",
        "|---|---|---|---|---|",
    ]
    for number, one in enumerate(soak.samples):
        name = number or "start"
        lines.append(
            f"| {name} | {one.processes} | {one.descriptors} | {one.threads} | {one.megabytes:.0f} |"
        )
    return "\n".join(lines) + "\n"


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("--seconds", type=int, default=7200)
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        text = told(anyio.run(soaked, Path(folder), given.seconds))
    RESULTS.write_text(text)
    print(text)


if __name__ == "__main__":
    main()
