"""Where the time of a first index goes: the guard, the encoder, and everything else.

    python -m bench.first_index SETS [COUNT]

Processor time, each part by itself and once, as in a process that begins: what is opened is opened here. On
an idle machine the encoder's texts are shared among the processors; the guard's are not, because most of its
time are rules in Python.
"""

import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from bench.discovery import catalogue, engine_at, preload
from prowess.types import Detail, Draft

Made = TypeVar("Made")


def timed(what: str, work: Callable[[], Made]) -> Made:
    start = time.process_time()
    made = work()
    print(f"| {what} | {1000 * (time.process_time() - start):,.0f} ms |")
    return made


def main() -> None:
    sets, count = Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 100
    tools = catalogue(sets, count)
    preload()
    print(f"| first index of {count:,}, libraries loaded | processor |\n|---|---|")
    drafts = [Draft(one, tools.details.get(one.id) or Detail()) for one in tools.capabilities]
    guard(drafts)
    encoder(drafts)
    with tempfile.TemporaryDirectory() as folder, engine_at(Path(folder), tools) as engine:
        timed("the whole, guard and encoder opened anew: sync and vectors", engine.sync)


def guard(drafts: list[Draft]) -> None:
    from prowess.catalogue.findings import MOST_JUDGED
    from prowess.catalogue.findings import guard as judging
    from prowess.guard.classifier import Classifier

    judge = judging(timed("guard: open it", Classifier.open))
    first, *others = drafts[:MOST_JUDGED]
    timed(
        "guard: the first text, which makes its tables and opens its networks",
        lambda: judge(first, True, False),
    )
    timed(f"guard: the other {len(others)}", lambda: [judge(one, True, False) for one in others])


def encoder(drafts: list[Draft]) -> None:
    from prowess.discovery.encoder import Encoder
    from prowess.discovery.text import embedding_text

    encode = timed("encoder: open it", Encoder.open)
    texts = [embedding_text(one.capability) for one in drafts]
    timed(f"encoder: {len(texts)} texts", lambda: [encode([text]) for text in texts])


if __name__ == "__main__":
    main()
