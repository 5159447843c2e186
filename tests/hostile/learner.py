"""A process that learns from a store until it is done or killed.

python -m tests.hostile.learner URL PORTION
"""

import sys
from datetime import UTC, datetime
from pathlib import Path

from prowess.config import LearningConfig
from prowess.engine import Engine
from prowess.engine.options import EngineOptions
from prowess.learning import journal_reading
from prowess.store.opening import open_database

START = datetime(2026, 1, 1, tzinfo=UTC)
"""Long before anything could be given up."""


def main(url: str, portion: str) -> None:
    journal_reading.PORTION = int(portion)
    options = EngineOptions(learning=LearningConfig(mode="accumulate"))
    with Engine(open_database(url, Path()), (), lambda: START, {}, options) as engine:
        print("begins", flush=True)
        engine.learning.learn()
        print("done", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
