"""What would be offered if other skills were relied on: the real turn, on a copy that records nothing.

Above: the gates. Below: the engine itself; a trial is a copy of it with other lessons, its own search
over the same catalogue, and a journal that forgets. What is replayed goes through `offer` and `rank`.
"""

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import msgspec

from prowess.journal import Journal, stamp
from prowess.learning.skills import Skill
from prowess.learning.use import REPLAYED
from prowess.measure import ndcg
from prowess.sources.learnt import NAME, Procedure, draft
from prowess.store.database import Transaction
from prowess.types import Capability, JournalEntry, JsonObject, Message, Turn

if TYPE_CHECKING:
    from prowess.engine.learnt import WhatIsLearnt

Lessons = Mapping[str, tuple[str, ...]]

MOST_EXAMPLES = 32
DEPTH = 10
MADE_FOR_ONE = ("_search", "_visible", "_absences", "_with_all_steps", "policy", "learning")
"""Parts of an engine that hold what belongs to its own lessons."""


class Forgetful(Journal):
    """A journal for what did not really happen."""

    def append(self, transaction: Transaction, type: str, data: JsonObject, agent: str = "") -> JournalEntry:
        return self.record(type, data, agent)

    def record(self, type: str, data: JsonObject, agent: str = "") -> JournalEntry:
        return JournalEntry(chain=agent, number=0, at=stamp(self._clock()), type=type, data=data, hash="")


@dataclass(frozen=True, slots=True)
class Trial:
    """An engine with exactly these skills relied on."""

    engine: "WhatIsLearnt"
    skills: Mapping[str, Skill]
    """By the capability that each of several steps has become."""

    def offered(self, request: str, agent: str) -> dict[str, float]:
        """What is offered, each with its relevance."""
        turn = Turn(messages=(Message("user", request),), agent=agent, session_type=REPLAYED)
        return {hit.id: hit.score for hit in self.engine.offer(turn).hits}

    def ranked(self, request: str, agent: str) -> list[str]:
        return self.engine.rank(request, agent, depth=DEPTH)

    def score(self, ranked: Sequence[str], expected: Sequence[str]) -> float:
        """NDCG@10; a skill of several steps stands for all of them."""
        waiting, hits = set(expected), []
        for position, id in enumerate(ranked, 1):
            brought = waiting & {id, *(self.skills[id].steps if id in self.skills else ())}
            hits += [position] * len(brought)
            waiting -= brought
        return min(1.0, ndcg(hits, len(expected), DEPTH))


def trial(engine: "WhatIsLearnt", skills: Sequence[Skill]) -> Trial:
    """A copy of the engine in which these skills, and no others, are relied on."""
    other = copy(engine)
    for name in MADE_FOR_ONE:
        other.__dict__.pop(name, None)
    scratch = msgspec.structs.replace(engine._ways.discovery, collection_name="", tier2_top_k=0)
    other._ways = replace(engine._ways, discovery=scratch)
    other.journal = Forgetful(engine._database, engine._clock)
    other.lessons = (0, lessons_of(skills))
    other.procedures = {p.capability: draft(p).capability for p in procedures_of(skills)}
    other._make_vectors()
    return Trial(other, {skill.method: skill for skill in skills if skill.steps})


def lessons_of(skills: Sequence[Skill]) -> Lessons:
    """Requests by the capability that they are examples of; of many, the first few of each skill."""
    found: dict[str, list[str]] = {}
    for skill in sorted(skills, key=lambda skill: skill.id):
        known = found.setdefault(skill.method, [])
        known += [span for span in skill.examples if span not in known]
    return {method: tuple(spans[:MOST_EXAMPLES]) for method, spans in found.items()}


def procedures_of(skills: Sequence[Skill]) -> tuple[Procedure, ...]:
    return tuple(
        Procedure(id=skill.id, capability=skill.method, steps=skill.steps, requests=skill.examples)
        for skill in skills
        if skill.steps
    )


def with_procedures(
    capabilities: Mapping[str, Capability], procedures: Mapping[str, Capability]
) -> dict[str, Capability]:
    """What exists, with skills of several steps on trial, and without those that are not."""
    kept = {id: c for id, c in capabilities.items() if c.provider != NAME or id in procedures}
    return {**kept, **procedures}
