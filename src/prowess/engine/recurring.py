"""What a process that serves does again and again, beside everything else.

Above: whoever serves. Below: what is to be done, which claims for itself what only one of several processes
shall do.
"""

import logging
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from prowess.engine.cost_notes import EVERY, note_costs
from prowess.errors import ProwessError
from prowess.waking import Told

if TYPE_CHECKING:
    from prowess.engine.engine import Engine

logger = logging.getLogger("prowess")
SECONDS_TO_END = 15.0
SECONDS_APART = 1.0
"""Between two times of a work that is stirred again and again."""
MINUTE = 60.0


@dataclass(frozen=True, slots=True)
class RecurringWork:
    name: str
    """For people who read that it failed."""
    seconds: float
    """From its end to its next beginning."""
    do: Callable[[Callable[[], bool]], object]
    """Given what says, once the process ends, that the rest shall wait for the next time."""
    told: Told | None = None
    """What says that now is an occasion, too; nothing: it is done at its time alone."""


class Timetable:
    """What is due when, and what ends the waiting for it."""

    def __init__(self, works: tuple[RecurringWork, ...], at_once: bool) -> None:
        begin = time.monotonic()
        self._ended = {work: begin - work.seconds if at_once else begin for work in works}
        self._stirred: set[RecurringWork] = set()
        self._woken = threading.Event()
        self.over = threading.Event()

    def stir(self, work: RecurringWork) -> None:
        """It is due now, or in a moment where it was just done."""
        self._stirred.add(work)
        self._woken.set()

    def end(self) -> None:
        self.over.set()
        self._woken.set()

    def each(self) -> Iterator[RecurringWork]:
        """One after the other, each when it is due, until all is over."""
        while not self.over.is_set():
            self._woken.clear()
            work = min(self._ended, key=self._due)
            if not self.over.is_set() and not self._woken.wait(max(0.0, self._due(work) - time.monotonic())):
                self._stirred.discard(work)
                yield work
                self._ended[work] = time.monotonic()

    def _due(self, work: RecurringWork) -> float:
        after = SECONDS_APART if work in self._stirred else work.seconds
        return self._ended[work] + min(after, work.seconds)


@contextmanager
def recurring(*works: RecurringWork, at_once: bool = True) -> Iterator[None]:
    """While this lasts, each is done now and then, one at a time.

    at_once: begin with it, rather than after its seconds: whoever starts may have better to do.
    """
    table = Timetable(works, at_once)
    thread = threading.Thread(target=_repeat, args=(table,), name="prowess-recurring", daemon=True)
    with ExitStack() as stack:
        for work in works:
            if work.told:
                stack.enter_context(work.told(partial(table.stir, work)))
        if works:
            thread.start()
        try:
            yield
        finally:
            table.end()
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


def _repeat(table: Timetable) -> None:
    for work in table.each():
        try:
            work.do(table.over.is_set)
        except ProwessError as error:  # the next time may find the store free
            logger.warning("%s failed and is tried again: %s", work.name, error)
        except Exception:  # what is wrong with one time must not end all others
            logger.exception("%s failed and is tried again", work.name)
