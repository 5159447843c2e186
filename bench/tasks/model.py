"""A scripted model with one fixed strategy. It knows a task's words and what the tools say, and nothing else.

It plans the steps of a task, searches once for all, reads what is shown for each step (`reading`), and calls
what is worth most, or nothing where nothing is worth calling. What was only named it asks about as long as
that might be worth more than all it has read. It searches in the language of the task and understands it:
what tools say is held against the English wording. What it calls first is what it is judged by.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from bench.tasks.arguments import Filled
from bench.tasks.found import Found
from bench.tasks.reading import Reading, arguments_for
from bench.tasks.task import Step, Task


class Way(Protocol):
    """How a model finds and calls tools."""

    name: str

    async def search(self, needs: Sequence[str]) -> list[list[Found]]:
        """For each need what is shown, best first; one search, or one for each need."""

    async def described(self, found: Found) -> Found:
        """What was shown without a schema, with it."""

    async def call(self, found: Found, arguments: dict[str, Any]) -> bool:
        """Whether the server did it."""


@dataclass(slots=True)
class Tally:
    """What it took."""

    searches: int = 0
    calls: int = 0
    failures: int = 0
    tokens: int = 0


@dataclass(slots=True)
class Attempt:
    """How one task went."""

    task: Task
    language: str
    shown_at_first: bool = False
    places: list[int] = field(default_factory=list)
    """For each step, where among the tools shown for it the first right one stood; 0 where none did."""
    called: list[str] = field(default_factory=list)
    """For each step the tool that was called; empty where none was."""
    solved: bool = False
    tally: Tally = field(default_factory=Tally)


@dataclass(frozen=True, slots=True)
class Model:
    reading: Reading
    around: dict[str, Any]
    """What it knows of where it works, such as its folder."""

    async def attempted(self, task: Task, language: str, way: Way) -> Attempt:
        """Work on a task."""
        attempt = Attempt(task, language)
        shown = await way.search([step.need[language] for step in task.steps])
        everything = {found.id for each in shown for found in each}
        attempt.shown_at_first = all(step.calls & everything for step in task.steps if step.calls)
        attempt.places = [
            next((place for place, found in enumerate(each, 1) if found.id in step.calls), 0)
            for step, each in zip(task.steps, shown, strict=True)
        ]
        for step, each in zip(task.steps, shown, strict=True):
            attempt.called.append(await self._done(step, each, way))
        attempt.solved = all(
            called in step.calls if step.calls else not called
            for step, called in zip(task.steps, attempt.called, strict=True)
        )
        return attempt

    async def _done(self, step: Step, shown: Sequence[Found], way: Way) -> str:
        chosen = await self._chosen(step, shown, way)
        if chosen is None:
            return ""
        found, given = chosen
        await way.call(found, given.arguments)
        return found.id

    async def _chosen(self, step: Step, shown: Sequence[Found], way: Way) -> tuple[Found, Filled] | None:
        """The tool to call, and what with; nothing where nothing is worth it."""
        left = dict(enumerate(shown, 1))
        while left:
            read = {place: self._read(step, found, place) for place, found in left.items()}
            best = max(read, key=lambda place: read[place][0])
            worth, given = read[best]
            if worth <= 0:
                return None
            if left[best].schema is None:
                left[best] = await way.described(left[best])
            elif given is None:
                del left[best]
            else:
                return left[best], given
        return None

    def _read(self, step: Step, found: Found, place: int) -> tuple[float, Filled | None]:
        given = None if found.schema is None else arguments_for(step, found, self.around)
        return self.reading.worth(self.reading.evidence(step, found, place, given)), given
