"""What gates need of a replay: turns as they would be if other lessons were relied on."""

from collections.abc import Callable, Sequence
from typing import Protocol

from prowess.learning.lessons import Lesson


class Trial(Protocol):
    """A world in which exactly these lessons are relied on, and others a moment later."""

    def prepare(
        self, requests: Sequence[str], lessons: Sequence[Lesson], progress: Callable[[int, int], None]
    ) -> None:
        """Have at hand what every request means, so that replaying takes no encoder."""

    def rely_on(self, lessons: Sequence[Lesson]) -> None: ...

    def near(self, request: str, others: Sequence[str]) -> list[float]:
        """How near a request is to others in meaning; nothing is near where nothing was encoded."""

    def same(self, request: str, least: float) -> list[tuple[int, float]]:
        """Which of the prepared requests, by number, are at least so near, each with how near it is."""

    def nearest(self, request: str, count: int) -> list[tuple[int, float]]:
        """The prepared requests that are nearest to a request, by number, each with how near it is."""

    def parts(self, id: str) -> tuple[str, ...]:
        """What a capability brings: itself and, if it is a lesson of several steps, all of them."""

    def offered(self, request: str, agent: str) -> dict[str, float]:
        """What is offered, each with its relevance, best first."""

    def ranked(self, request: str, agent: str) -> list[str]:
        """What `rank` gives in this world."""

    def score(self, ranked: Sequence[str], expected: Sequence[str]) -> float:
        """NDCG@10; a lesson of several steps stands for all of them."""


class Trials(Protocol):
    def begin(self, agents: Sequence[str]) -> Trial:
        """A trial in the world as it is for these agents."""
