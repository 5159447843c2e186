"""What a process that serves does again and again, beside everything else.

Above: whoever serves. Below: what is to be done, which claims for itself what only one of several processes
shall do.
"""

import logging
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from prowess.engine.cost_notes import EVERY, note_costs
from prowess.errors import ProwessError

if TYPE_CHECKING:
    from prowess.engine.engine import Engine

logger = logging.getLogger("prowess")
SECONDS_TO_END = 15.0
MINUTE = 60.0


@dataclass(frozen=True, slots=True)
class RecurringWork:
    name: str
    """For people who read that it failed."""
    seconds: float
    """From its end to its next beginning."""
    do: Callable[[Callable[[], bool]], object]
    """Given what says, once the process ends, that the rest shall wait for the next time."""


@contextmanager
def recurring(*works: RecurringWork, at_once: bool = True) -> Iterator[None]:
    """While this lasts, each is done now and then, one at a time.

    at_once: begin with it, rather than after its seconds: whoever starts may have better to do.
    """
    over = threading.Event()
    given = (works, at_once, over)
    thread = threading.Thread(target=_repeat, args=given, name="prowess-recurring", daemon=True)
    if works:
        thread.start()
    try:
        yield
    finally:
        over.set()
        if works:
            thread.join(SECONDS_TO_END)


def work_between_turns(engine: "Engine") -> tuple[RecurringWork, ...]:
    """What is learnt and evaluated without being asked for, as configured, and what everything would cost."""
    learning, evolution = engine.internals.options.learning, engine.internals.options.evolution
    costs = partial(note_costs, engine.internals)
    works = [RecurringWork("counting what everything would cost", EVERY.total_seconds(), costs)]
    if evolution.every_outcomes or evolution.every_minutes:
        often = min(1.0, evolution.every_minutes or 1.0)
        works.append(RecurringWork("evaluation of agents", often * MINUTE, engine.evolution.evaluate_due))
    if engine.learning.on and learning.every_minutes:
        works.append(RecurringWork("learning", learning.every_minutes * MINUTE, engine.learning.learn_due))
    return tuple(works)


def _repeat(works: tuple[RecurringWork, ...], at_once: bool, over: threading.Event) -> None:
    begin = time.monotonic()
    due = {work: begin if at_once else begin + work.seconds for work in works}
    while True:
        work = min(works, key=due.__getitem__)
        if over.wait(max(0.0, due[work] - time.monotonic())):
            return
        try:
            work.do(over.is_set)
        except ProwessError as error:  # the next time may find the store free
            logger.warning("%s failed and is tried again: %s", work.name, error)
        except Exception:  # what is wrong with one time must not end all others
            logger.exception("%s failed and is tried again", work.name)
        due[work] = time.monotonic() + work.seconds
