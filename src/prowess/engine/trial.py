"""What would be offered if other skills were relied on: the real turn, on a copy that records nothing.

Above: the gates. Below: the engine itself; a trial is a copy of it with other lessons, its own search
over the same catalogue, and a journal that forgets. What is replayed goes through `offer` and `rank`.
"""

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import replace
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
    from prowess.discovery.dense import Matrix
    from prowess.engine.learnt import WhatIsLearnt

Lessons = Mapping[str, tuple[str, ...]]

MOST_EXAMPLES = 32
DEPTH = 10
MADE_FOR_ONE_VIEW = ("_visible", "_absences", "_with_all_steps", "policy")
"""Parts of an engine that hold what belongs to what exists."""
MADE_FOR_ONE = ("_search", *MADE_FOR_ONE_VIEW, "learning")
"""Parts of an engine that hold what belongs to its own lessons."""


class Forgetful(Journal):
    """A journal for what did not really happen."""

    def append(self, transaction: Transaction, type: str, data: JsonObject, agent: str = "") -> JournalEntry:
        return self.record(type, data, agent)

    def record(self, type: str, data: JsonObject, agent: str = "") -> JournalEntry:
        return JournalEntry(chain=agent, number=0, at=stamp(self._clock()), type=type, data=data, hash="")


class Trial:
    """An engine in which exactly these skills are relied on, and others a moment later."""

    def __init__(self, engine: "WhatIsLearnt") -> None:
        self._engine = engine
        self._steps: Mapping[str, tuple[str, ...]] = {}
        self._vectors: Mapping[str, Matrix] = {}
        self._judges: Matrix | None = None
        self._allowed: dict[str, Mapping[str, Capability]] = {}

    def prepare(
        self, requests: Sequence[str], skills: Sequence[Skill], progress: Callable[[int, int], None]
    ) -> None:
        """Have at hand what every request means, so that replaying takes no encoder."""
        texts = dict.fromkeys([*requests, *(span for skill in skills for span in skill.spans)])
        self._vectors = self._engine._prepared().index.recall(list(texts), progress)
        self._judges = (
            _stacked([self._vectors[text] for text in requests]) if self._vectors and requests else None
        )

    def rely_on(self, skills: Sequence[Skill]) -> None:
        procedures = {p.capability: draft(p).capability for p in procedures_of(skills)}
        if procedures != self._engine.procedures:
            for name in MADE_FOR_ONE_VIEW:
                self._engine.__dict__.pop(name, None)
            self._engine.procedures, self._engine._extended = procedures, None
        self._engine.lessons = (0, lessons_of(skills))
        self._engine._make_vectors()
        self._allowed = {}
        self._steps = {skill.method: skill.steps for skill in skills if skill.steps}

    def near(self, request: str, others: Sequence[str]) -> list[float]:
        """How near a request is to others in meaning; nothing is near where nothing was encoded."""
        own = self._vectors.get(request)
        if own is None:
            return [0.0] * len(others)
        return [float(own @ self._vectors[other]) if other in self._vectors else 0.0 for other in others]

    def same(self, request: str, least: float) -> list[tuple[int, float]]:
        """Which of the prepared requests, by number, are at least so near, each with how near it is."""
        own = self._vectors.get(request)
        if own is None or self._judges is None:
            return []
        nearness = self._judges @ own
        return [(int(number), float(nearness[number])) for number in (nearness >= least).nonzero()[0]]

    def nearest(self, request: str, count: int) -> list[tuple[int, float]]:
        """The prepared requests that are nearest to a request, by number, each with how near it is."""
        own = self._vectors.get(request)
        if own is None or self._judges is None:
            return []
        nearness = self._judges @ own
        return [(int(number), float(nearness[number])) for number in (-nearness).argsort()[:count]]

    def parts(self, id: str) -> tuple[str, ...]:
        """What a capability brings: itself and, if it is a skill of several steps, all of them."""
        return (id, *self._steps.get(id, ()))

    def offered(self, request: str, agent: str) -> dict[str, float]:
        """What is offered, each with its relevance, best first."""
        turn = Turn(messages=(Message("user", request),), agent=agent, session_type=REPLAYED)
        return {hit.id: hit.score for hit in self._engine.offer(turn).hits}

    def ranked(self, request: str, agent: str) -> list[str]:
        """What `rank` gives; who may use what is asked once for each agent, and not for each request."""
        if agent not in self._allowed:
            self._engine._prepared()
            self._allowed[agent] = self._engine.visible(agent).capabilities
        return self._engine._search.rank(request, self._allowed[agent], DEPTH, True, self._engine.discovery)

    def score(self, ranked: Sequence[str], expected: Sequence[str]) -> float:
        """NDCG@10; a skill of several steps stands for all of them."""
        waiting, hits = set(expected), []
        for position, id in enumerate(ranked, 1):
            brought = waiting & set(self.parts(id))
            hits += [position] * len(brought)
            waiting -= brought
        return min(1.0, ndcg(hits, len(expected), DEPTH))


def trial(engine: "WhatIsLearnt") -> Trial:
    """A copy of the engine on which skills are tried."""
    other = copy(engine)
    for name in MADE_FOR_ONE:
        other.__dict__.pop(name, None)
    scratch = msgspec.structs.replace(engine._ways.discovery, collection_name="", tier2_top_k=0)
    other._ways = replace(engine._ways, discovery=scratch)
    other.journal = Forgetful(engine._database, engine._clock)
    tried = Trial(other)
    tried.rely_on(())
    return tried


def _stacked(vectors: "Sequence[Matrix]") -> "Matrix":
    import numpy as np  # loaded at the first search, not at the first import

    return np.stack(vectors)


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
