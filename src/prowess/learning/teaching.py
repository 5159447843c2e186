"""What a sync takes in of what was learnt, and what use was made of everything: for the engine."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from prowess.learning import lessons as skills
from prowess.learning import use_store as memory
from prowess.learning.lessons import Skill
from prowess.store.database import Database


@dataclass(frozen=True, slots=True)
class Teaching:
    database: Database

    def teach(self) -> tuple[Skill, ...]:
        """Let what is stable now be what is taught; returns it."""
        with self.database.writing() as transaction:
            held = skills.every(transaction)
            turned = [s for s in held if s.taught != (s.status == "stable")]
            for skill in turned:
                skills.keep(transaction, replace(skill, taught=skill.status == "stable"))
            if turned:
                memory.next_lesson(transaction)
        return tuple(skill for skill in held if skill.status == "stable")

    def taught(self) -> tuple[Skill, ...]:
        with self.database.reading() as transaction:
            return tuple(skill for skill in skills.every(transaction, "stable") if skill.taught)

    def counts(self) -> tuple[dict[str, int], dict[str, Sequence[int]]]:
        """By capability: how often it was offered; how often it was tried and worked."""
        with self.database.reading() as transaction:
            return memory.offered(transaction), memory.counts(transaction)
