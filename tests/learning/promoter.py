"""A process that promotes and deprecates skills until it is killed. What it prints was acknowledged.

    python -m tests.learning.promoter URL FIRST_ROUND

Each skill has passed its gates. Promoting one changes its row and adds an entry to the journal; a promotion
seen half done shows one without the other.
"""

import itertools
import sys
from dataclasses import replace
from pathlib import Path

from prowess.config import LearningConfig
from prowess.engine import Engine
from prowess.engine.options import EngineOptions
from prowess.learning import lessons as lessons
from prowess.learning.lessons import Lesson
from prowess.opening import now
from prowess.store.opening import open_database

SKILLS = tuple(
    Lesson(
        id=f"skill_{number}", method=f"tool:{number}", spans=("x",), has_tests=True, has_benchmark_delta=True
    )
    for number in range(5)
)


def acknowledge(*words: object) -> None:
    print(*words, flush=True)


def withdraw(engine: Engine, id: str, by: str) -> None:
    """Rely on a skill no more, and let its gates have passed again."""
    if engine.learning.lesson(id).status == "stable":
        engine.learning.deprecate(id, by)
    with engine.internals.database.writing() as transaction:
        passed = replace(lessons.get(transaction, id), has_tests=True, has_benchmark_delta=True)
        lessons.keep(transaction, passed)


def main(url: str, first: str) -> None:
    options = EngineOptions(learning=LearningConfig(mode="accumulate"))
    engine = Engine(open_database(url, Path()), (), now, {}, options)
    for lesson in SKILLS:
        withdraw(engine, lesson.id, "the start")
    for number in itertools.count(int(first)):
        lesson = SKILLS[number % len(SKILLS)]
        engine.learning.promote(lesson.id, f"round {number}")
        acknowledge("promoted", lesson.id, number)
        withdraw(engine, lesson.id, f"round {number}")


if __name__ == "__main__":
    main(*sys.argv[1:])
