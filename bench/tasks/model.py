"""A scripted model with one fixed strategy. It knows a task's words and what the tools say, and nothing else.

It plans the steps of a task, searches once for all, and takes for each the first tool that fits and
arguments for; where several fit, the one whose arguments take most of what was said, by name. What
is shown as weak it takes only where that takes everything that was said. What it calls first is what it is
judged by.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from bench.tasks.arguments import Filled, filled
from bench.tasks.task import Step, Task


@dataclass(frozen=True, slots=True)
class Found:
    """A tool as a search shows it."""

    id: str
    schema: dict[str, Any] | None
    weak: bool = False
    use: str = ""
    """How it is called, as the search said."""


class Way(Protocol):
    """How a model finds and calls tools."""

    name: str

    async def search(self, needs: Sequence[str]) -> list[list[Found]]:
        """For each need what is shown, best first; one search, or one for each need."""

    async def schema(self, found: Found) -> dict[str, Any]:
        """The schema of what was shown without."""

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
    called: list[str] = field(default_factory=list)
    """For each step the tool that was called; empty where none was."""
    solved: bool = False
    tally: Tally = field(default_factory=Tally)


async def attempted(task: Task, language: str, way: Way, around: dict[str, Any]) -> Attempt:
    """Work on a task."""
    attempt = Attempt(task, language)
    shown = await way.search([step.need[language] for step in task.steps])
    everything = {found.id for each in shown for found in each}
    attempt.shown_at_first = all(step.calls & everything for step in task.steps if step.calls)
    for number, step in enumerate(task.steps):
        attempt.called.append(await _done(step, shown[number], language, way, around))
    attempt.solved = all(
        called in step.calls if step.calls else not called
        for step, called in zip(task.steps, attempt.called, strict=True)
    )
    return attempt


async def _done(step: Step, shown: Sequence[Found], language: str, way: Way, around: dict[str, Any]) -> str:
    found = await _chosen(step, shown, way, around)
    if found is None:
        return ""
    tool, given = found
    await way.call(tool, given.arguments)
    return tool.id


async def _chosen(
    step: Step, shown: Sequence[Found], way: Way, around: dict[str, Any]
) -> tuple[Found, Filled] | None:
    """The tool to call, and what with; nothing where nothing serves."""
    usable: list[tuple[Found, Filled]] = []
    for found in shown:
        schema = found.schema if found.schema is not None else await way.schema(found)
        given = filled(schema, step.values, around)
        takes_all = given is not None and given.placed == len(step.values) > 0
        if given is not None and (takes_all or not found.weak):
            usable.append((found, given))
    strong = [one for one in usable if not one[0].weak] or usable
    return max(strong, key=lambda one: one[1].worth) if strong else None
