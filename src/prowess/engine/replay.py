"""What would be offered if other lessons were relied on: the real turn on a changed world, recorded nowhere.

Above: the gates. Below: the turn. A replay has an index of its own over the same catalogue, because what is
learnt changes what is searched; what requests mean is at hand, so that replaying takes no encoder. What was
replayed is remembered for the last few worlds: one gate after the other begins in the same one.
"""

from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeAlias

import msgspec

from prowess.config import DiscoveryConfig
from prowess.learning.lessons import Lesson
from prowess.learning.procedures import lessons_of, procedures_of, with_procedures
from prowess.learning.usage_entries import REPLAYED
from prowess.metrics import ndcg
from prowess.sources.learned import draft
from prowess.types import Capability, Message, Turn
from prowess.world import World, Worlds

if TYPE_CHECKING:
    from prowess.discovery.dense import Matrix
    from prowess.discovery.index import Index
    from prowess.engine.turn import TurnParts

DEPTH = 10
MOST_WORLDS = 8

Relied: TypeAlias = tuple[tuple[str, tuple[str, ...]], ...]
"""The lessons of a world, each with the requests that it teaches."""


@dataclass(frozen=True, slots=True)
class Replayed:
    """What was replayed in one world, by request and agent."""

    ranked: dict[tuple[str, str], list[str]] = field(default_factory=dict)
    offered: dict[tuple[str, str], dict[str, float]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class WorldReplays:
    """Begins trials: in the world as it is, with parts of their own."""

    worlds: Worlds
    settings: DiscoveryConfig
    parts: "Callable[[], TurnParts]"

    def begin(self, agents: Sequence[str]) -> "WorldReplay":
        # Only hits are looked at: whole pages would be rendered for nobody.
        settings = msgspec.structs.replace(self.settings, tier2_top_k=0)
        return WorldReplay(self.worlds.now(*agents), self.parts(), settings)


class WorldReplay:
    """A world in which exactly these lessons are relied on, and others a moment later."""

    def __init__(self, world: World, parts: "TurnParts", settings: DiscoveryConfig) -> None:
        self._taken = world
        self._world = world
        self._parts = parts
        self._settings = settings
        self._procedures: Mapping[str, Capability] | None = None
        self._steps: Mapping[str, tuple[str, ...]] = {}
        self._vectors: Mapping[str, Matrix] = {}
        self._judges: Matrix | None = None
        self._prepared: Sequence[str] = ()
        self._relied_on: Sequence[Lesson] = ()
        self._is_of: Relied | None = None
        """The lessons that the world was made for."""
        self._known: OrderedDict[Relied, Replayed] = OrderedDict()
        self.rely_on(())

    @property
    def _index(self) -> "Index":
        return self._parts.searching.index

    def prepare(
        self, requests: Sequence[str], lessons: Sequence[Lesson], progress: Callable[[int, int], None]
    ) -> None:
        """Have at hand what every request means, so that replaying takes no encoder."""
        texts = dict.fromkeys([*requests, *(span for lesson in lessons for span in lesson.spans)])
        if requests == self._prepared and texts.keys() <= self._vectors.keys():
            return
        self._parts.searching.at(self._made())
        self._vectors = self._index.recall(list(texts), progress)
        self._judges = (
            _stacked([self._vectors[text] for text in requests]) if self._vectors and requests else None
        )
        self._prepared = requests

    def rely_on(self, lessons: Sequence[Lesson]) -> None:
        self._relied_on = lessons
        self._key = tuple(sorted((lesson.id, lesson.examples) for lesson in lessons))
        self._steps = {lesson.method: lesson.steps for lesson in lessons if lesson.steps}
        self._replayed = self._known.setdefault(self._key, Replayed())
        self._known.move_to_end(self._key)
        if len(self._known) > MOST_WORLDS:
            self._known.popitem(last=False)

    def _made(self) -> World:
        """The world in which exactly these lessons are relied on, made unless it was asked last."""
        from prowess.engine.search import make_vectors  # numpy, at the first search

        if self._key == self._is_of:
            return self._world
        lessons = self._relied_on
        procedures = {p.capability: draft(p).capability for p in procedures_of(lessons)}
        view = self._world.view
        if procedures != self._procedures:
            tried = with_procedures(self._taken.view.capabilities, procedures)
            view, self._procedures = replace(self._taken.view, capabilities=tried), procedures
        self._world, self._is_of = self._world.over(view, lessons_of(lessons)), self._key
        make_vectors(self._index, self._world)
        return self._world

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
        """What a capability brings: itself and, if it is a lesson of several steps, all of them."""
        return (id, *self._steps.get(id, ()))

    def offered(self, request: str, agent: str) -> dict[str, float]:
        """What is offered, each with its relevance, best first."""
        known = self._replayed.offered
        if (request, agent) not in known:
            known[request, agent] = self._offered(request, agent)
        return known[request, agent]

    def _offered(self, request: str, agent: str) -> dict[str, float]:
        from prowess.engine.turn import TurnOptions, offer  # numpy, at the first search

        turn = Turn(messages=(Message("user", request),), agent=agent, session_type=REPLAYED)
        options = TurnOptions(settings=self._settings, id=REPLAYED)
        return {hit.id: hit.score for hit in offer(turn, self._made(), self._parts, options).offer.hits}

    def ranked(self, request: str, agent: str) -> list[str]:
        """What `rank` gives in this world."""
        known = self._replayed.ranked
        if (request, agent) not in known:
            known[request, agent] = self._ranked(request, agent)
        return known[request, agent]

    def _ranked(self, request: str, agent: str) -> list[str]:
        from prowess.engine.search import ranking  # numpy, at the first search

        world = self._made()
        search = self._parts.searching.at(world)
        return ranking(search, request, world.visible(agent).capabilities, DEPTH, True, self._settings)

    def score(self, ranked: Sequence[str], expected: Sequence[str]) -> float:
        """NDCG@10; a lesson of several steps stands for all of them."""
        waiting, hits = set(expected), []
        for position, id in enumerate(ranked, 1):
            brought = waiting & set(self.parts(id))
            hits += [position] * len(brought)
            waiting -= brought
        return min(1.0, ndcg(hits, len(expected), DEPTH))


def _stacked(vectors: "Sequence[Matrix]") -> "Matrix":
    import numpy as np  # loaded at the first search, not at the first import

    return np.stack(vectors)
