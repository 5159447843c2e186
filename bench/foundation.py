"""How fast the catalogue is: import, first sync, second sync, reopening, and growth.

    python bench/foundation.py [COUNT ...]        (default: 10000 30000 100000)

Writes COUNT folders with a CAPABILITY.yaml each, syncs them into SQLite without vectors, syncs
again with nothing changed, changes one file and syncs, and opens the store anew in a new process.
"""

import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from prowess.engine import Engine
from prowess.opening import now
from prowess.sources.files.manifests import Manifests
from prowess.store.opening import open_database

TEXT = """\
kind: tool
name: tool-{n}
displayName: Tool {n}
description: Looks up record {n} in the archive of group {group} and returns what it says
category: group-{group}
tags: [archive, lookup, group-{group}]
requiredSecrets: []
hasSideEffects: false
inputSchema: {{ type: object, properties: {{ query: {{ type: string }}, limit: {{ type: integer }} }} }}
"""
REOPEN = """
import sys, time
import prowess.engine, prowess.opening
start = time.perf_counter()
with prowess.opening.open(sys.argv[1], sources=()) as engine:
    count = len(engine.catalogue.list())
print(count, time.perf_counter() - start)
"""


def process_seconds(*command: str) -> float:
    def once() -> float:
        start = time.perf_counter()
        subprocess.run([sys.executable, *command], check=True, stdout=subprocess.DEVNULL)
        return time.perf_counter() - start

    return statistics.median(once() for _ in range(9))


def write_manifests(folder: Path, count: int) -> None:
    for n in range(count):
        place = folder / f"tool-{n}"
        place.mkdir()
        (place / "CAPABILITY.yaml").write_text(TEXT.format(n=n, group=n % 40))


def timed_sync(engine: Engine) -> float:
    start = time.perf_counter()
    engine.sync(vectors=False)
    return time.perf_counter() - start


def measure(count: int) -> list[str]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "manifests").mkdir()
        write_manifests(folder / "manifests", count)
        time.sleep(2.5)  # a file written a moment ago is read again, to be safe
        source = Manifests(name="m", paths=(str(folder / "manifests"),))
        store = f"sqlite:{folder / 'store.db'}"
        engine = Engine(open_database(store, folder), (source,), now, {})
        first, second = timed_sync(engine), timed_sync(engine)
        changed = folder / "manifests" / "tool-7" / "CAPABILITY.yaml"
        changed.write_text(changed.read_text().replace("archive of", "library of"))
        one = timed_sync(engine)
        engine.close()
        answer = subprocess.run(
            [sys.executable, "-c", REOPEN, store], check=True, capture_output=True, text=True
        )
        reopened = float(answer.stdout.split()[1])
    return [f"{count:,}", f"{first:.2f} s", f"{second:.2f} s", f"{one:.2f} s", f"{reopened:.2f} s"]


def main() -> None:
    bare = process_seconds("-c", "pass")
    imported, helped = process_seconds("-c", "import prowess"), process_seconds("-m", "prowess", "--help")
    print(f"python alone {bare * 1000:.0f} ms, import prowess {imported * 1000:.0f} ms,", end=" ")
    print(f"prowess --help {helped * 1000:.0f} ms\n")
    print("| capabilities | first sync | nothing changed | one file changed | open and list |")
    print("|---|---|---|---|---|")
    for count in [int(word) for word in sys.argv[1:]] or [10_000, 30_000, 100_000]:
        print(f"| {' | '.join(measure(count))} |", flush=True)


if __name__ == "__main__":
    main()
