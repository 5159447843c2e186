"""Work on all processors, for what runs outside of Python's lock most of the time: the networks."""

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

MOST_THREADS = 8

Given = TypeVar("Given")
Made = TypeVar("Made")


def in_threads(work: Callable[[Given], Made], items: Sequence[Given], fewest_each: int) -> Iterator[Made]:
    """What the work makes of each item, in order.

    fewest_each: so many items are worth a thread; fewer are done by whoever asks.
    """
    threads = min(MOST_THREADS, processors(), len(items) // fewest_each)
    if threads < 2:
        yield from map(work, items)
        return
    with ThreadPoolExecutor(threads, "prowess-worker") as workers:
        try:
            made = workers.map(work, items)
        except RuntimeError:  # the program ends, and no thread begins any more: what runs still finishes
            made = map(work, items)
        yield from made


def processors() -> int:
    """How many this process may use, which is not all of them in a container."""
    if sys.platform == "linux":
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
