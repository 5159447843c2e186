"""kill -9 at random instants, at least 200 times on each database, several writers at once.

    python -m bench.kill [ROUNDS]          (default 70 rounds of 3 writers: 210 kills each)

After every round each acknowledged entry must be there with its hash, every chain must verify, and
no sync may be half done. Run from the project's root.
"""

import sys
import tempfile
import time
from pathlib import Path

from tests.store.killing import kill_writers
from tests.support.postgres import running_postgres


def main() -> None:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 70
    print("| store | kills | acknowledged entries | lost | half done | seconds |")
    print("|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as name, running_postgres() as postgres:
        folder = Path(name)
        for store, url in (("SQLite", f"sqlite:{folder / 'store.db'}"), ("PostgreSQL", postgres)):
            start = time.monotonic()
            result = kill_writers(url, folder, rounds=rounds, writers=3, seed=11)
            counts = [result.kills, result.acknowledged, len(result.lost), len(result.half_done)]
            seconds = time.monotonic() - start
            print(f"| {store} | {' | '.join(map(str, counts))} | {seconds:.0f} |", flush=True)
            if result.lost or result.half_done:
                sys.exit(f"{result.lost[:5]} {result.half_done[:5]}")


if __name__ == "__main__":
    main()
