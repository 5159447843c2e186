"""What the check of a result adds to a call through the gateway, by the length of the result.

    python -m bench.result_check [--calls 150]

Two gateways over the same server, of which one checks results and the other does not; each is called with the
same texts in turns, no text twice: source code, records as JSON, and honest results of the guard's test set.
Where the machine is busy with other things, what the gateway computes says more than the time. A server that
is fully trusted is not checked at all.
"""

import argparse
import json
import os
import random
import statistics
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
from mcp import Client, StdioServerParameters

from bench.gateway import children, computed
from tests.support.gateway import OWNER, served, workshop, write_config

RESULTS = Path(__file__).parent / "results" / "result_check.md"
ROOT = Path(__file__).parents[1]
HONEST = ROOT / "tests" / "data" / "guard_fresh" / "honest.jsonl"
LENGTHS = (200, 1000, 4000)
Measured = dict[tuple[str, int, bool], list[tuple[float, float]]]
"""Kind of text, characters, whether it is checked -> milliseconds and those computed, of each call."""


def texts() -> dict[str, str]:
    """Long texts of each kind, of which calls get pieces."""
    code = "\n".join(file.read_text() for file in sorted((ROOT / "src").rglob("*.py")))
    rows = [json.loads(line) for line in HONEST.read_text().splitlines()]
    plain = [row["text"] for row in rows if row["channel"] == "result" and row["family"] == "plain"]
    number = random.Random(2)
    records = [
        {
            "id": number.randrange(10**6),
            "title": f"Invoice {number.randrange(900)}",
            "total": round(900 * number.random(), 2),
            "due": f"2026-{number.randrange(1, 13):02}-14",
        }
        for _ in range(2000)
    ]
    return {
        "source code": code,
        "records as JSON": json.dumps(records),
        "honest results": "\n".join(plain * 3),
    }


@asynccontextmanager
async def gateway(folder: Path, checks: bool) -> AsyncIterator[tuple[Client, int]]:
    """A client of it, and its process."""
    folder.mkdir()
    file = write_config(folder, OWNER, workshop())
    said = file.read_text().replace('trust = "full"', 'trust = "pinned"')
    file.write_text(f"{said}[calls]\ncheck_results = {str(checks).lower()}\n")
    command, *args = served(file)
    before = children()
    async with Client(StdioServerParameters(command=command, args=args), cache=None) as client:
        (pid,) = children() - before
        yield client, pid


async def echoed(client: Client, pid: int, text: str) -> tuple[float, float]:
    began, computed_before = time.perf_counter(), computed(pid)
    answer = await client.call_tool("call_read_only", {"id": "tool:shop/echo", "arguments": {"text": text}})
    took = time.perf_counter() - began
    assert answer.content[0].text.startswith(text), answer  # type: ignore[union-attr]
    return 1000 * took, computed(pid) - computed_before


async def measured(folder: Path, calls: int) -> Measured:
    chance, kinds = random.Random(1), texts()
    found: Measured = {(kind, n, checks): [] for kind in kinds for n in LENGTHS for checks in (False, True)}
    async with gateway(folder / "plain", False) as plain, gateway(folder / "checked", True) as checked:
        for warm in range(20):
            await echoed(*plain, f"warm {warm}")
            await echoed(*checked, f"warm {warm}")
        for _ in range(calls):
            for kind, text in kinds.items():
                for length in LENGTHS:
                    start = chance.randrange(len(text) - length)
                    piece = text[start : start + length]
                    found[kind, length, False].append(await echoed(*plain, piece))
                    found[kind, length, True].append(await echoed(*checked, piece))
    return found


def told(found: Measured, calls: int, load: float) -> str:
    lines = [
        "# What the check of a result adds",
        "",
        f"{calls} calls of each kind and length, in turns, no text twice; load before: {load:.1f} on 2 cores."
        " `python -m bench.result_check`",
        "",
        "| results | characters | p50 ms without | p50 ms more | computed ms, mean | computed ms more |",
        "|---|---|---|---|---|---|",
    ]
    for kind, length, checks in found:
        if checks:
            continue
        without, checked = found[kind, length, False], found[kind, length, True]
        p50, cpu = (statistics.median(one[0] for one in without), statistics.fmean(one[1] for one in without))
        more = statistics.median(one[0] for one in checked) - p50
        computes = statistics.fmean(one[1] for one in checked) - cpu
        lines.append(f"| {kind} | {length} | {p50:.2f} | {more:+.2f} | {cpu:.2f} | {computes:+.2f} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("--calls", type=int, default=150)
    calls = options.parse_args().calls
    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as folder:
        text = told(anyio.run(measured, Path(folder), calls), calls, load)
    RESULTS.write_text(text)
    print(text)


if __name__ == "__main__":
    main()
