"""What a sync takes in of what was learnt, and what use was made of everything: for the engine."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from prowess.learning import lessons as lessons
from prowess.learning import reading_state as state
from prowess.learning import use_store as memory
from prowess.learning import uses
from prowess.learning.lessons import Lesson
from prowess.store.database import Database


@dataclass(frozen=True, slots=True)
class Teaching:
    database: Database

    def teach(self) -> tuple[Lesson, ...]:
        """Let what is stable now be what is taught; returns it."""
        with self.database.writing() as transaction:
            held = lessons.every(transaction)
            turned = [s for s in held if s.taught != (s.status == "stable")]
            for lesson in turned:
                lessons.keep(transaction, replace(lesson, taught=lesson.status == "stable"))
            if turned:
                state.next_taught_version(transaction)
        return tuple(lesson for lesson in held if lesson.status == "stable")

    def taught(self) -> tuple[Lesson, ...]:
        with self.database.reading() as transaction:
            return tuple(lesson for lesson in lessons.every(transaction, "stable") if lesson.taught)

    def counts(self) -> tuple[dict[str, int], dict[str, Sequence[int]]]:
        """By capability: how often it was offered; how often it was tried and worked."""
        with self.database.reading() as transaction:
            return memory.offered(transaction), uses.counts(transaction)
