"""A process that writes to a store until it is killed. What it prints was acknowledged.

    python -m tests.store.writer URL NAME

Each round appends an entry to its own chain and one to a shared chain, and each tenth syncs a
source whose twenty capabilities all carry the round's number: a sync seen half done shows two.
"""

import itertools
import sys
from pathlib import Path

from prowess.engine import Engine
from prowess.journal import Raw
from prowess.opening import now
from prowess.store.opening import open_database
from prowess.testing import StaticSource, capability


def acknowledge(*words: object) -> None:
    print(*words, flush=True)


def main(url: str, name: str) -> None:
    source = StaticSource(name)
    engine = Engine(open_database(url, Path()), (source,), now, {})
    for number in itertools.count():
        for agent in (name, "shared"):
            entry = engine.internals.journal.record(Raw("note", {"writer": name, "n": number}), agent)
            acknowledge(agent, entry.number, entry.hash)
        if number % 10 == 0:
            source.capabilities = [
                capability(f"tool:{name}-{i}", f"round {number}", source="") for i in range(20)
            ]
            engine.sync(vectors=False)


if __name__ == "__main__":
    main(*sys.argv[1:])
