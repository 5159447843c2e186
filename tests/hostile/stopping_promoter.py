"""A process that stops for ever inside a promotion whose gates have passed, at the Nth look at its clock.

    python -m tests.hostile.stopping_promoter URL N

It says `inside` when it stops; or `done` if the promotion looked at the clock less often.
"""

import signal
import sys
from datetime import datetime
from pathlib import Path

from prowess.config import LearningConfig
from prowess.engine import Engine
from prowess.engine.options import EngineOptions
from prowess.opening import now
from prowess.store.opening import open_database
from tests.learning.promoter import SKILLS


class StoppingClock:
    def __init__(self) -> None:
        self.left: int | None = None

    def __call__(self) -> datetime:
        if self.left is not None:
            self.left -= 1
            if self.left == 0:
                print("inside", flush=True)
                signal.pause()
        return now()


def main(url: str, number: str) -> None:
    clock = StoppingClock()
    options = EngineOptions(learning=LearningConfig(mode="accumulate"))
    engine = Engine(open_database(url, Path()), (), clock, {}, options)
    learning = engine.learning
    clock.left = int(number)
    learning.promote(SKILLS[0].id, "a person")
    print("done", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
