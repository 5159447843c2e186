"""A scripted model with one fixed strategy. It knows a task's words and what the tools say, and nothing else.

It plans the steps of a task, searches once for all, and takes for each step what is worth most: what stands
before the others, has names for what was said, speaks of the same things, and needs no guesses. It changes
nothing where it was asked something, and takes what is marked as weak only where names or words speak for
it. Where a task says no values at all, their lack speaks against nothing. It searches in the language of the
task and understands it: what tools say is held against the English wording. What it calls first is what it
is judged by.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from bench.tasks.arguments import Filled, filled
from bench.tasks.task import Step, Task
from prowess.discovery.text import Words, split_name

WORDS = Words()
QUESTIONS = frozenset(
    ("what", "which", "who", "whose", "when", "where", "how", "why", "is", "are", "do", "does", "did")
)
NAMED, TOLD, CALLED, PLACE, GUESSED, UNKNOWN, LEFT_OVER, WEAK, ACTS = (
    2.0,
    1.5,
    1.5,
    0.3,
    0.4,
    1.0,
    1.0,
    1.0,
    2.0,
)
"""What speaks for a tool and against it."""
LAST_PLACE = 4
CLEARLY_TOLD = 0.5


@dataclass(frozen=True, slots=True)
class Found:
    """A tool as a search shows it."""

    id: str
    schema: dict[str, Any] | None
    weak: bool = False
    use: str = ""
    """How it is called, as the search said."""
    told: str = ""
    """Its name and what it says of itself."""
    acts: bool = False
    """Whether it may change something."""


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


async def attempted(task: Task, language: str, way: Way, around: dict[str, Any]) -> Attempt:
    """Work on a task."""
    attempt = Attempt(task, language)
    shown = await way.search([step.need[language] for step in task.steps])
    everything = {found.id for each in shown for found in each}
    attempt.shown_at_first = all(step.calls & everything for step in task.steps if step.calls)
    attempt.places = [
        next((place for place, found in enumerate(each, 1) if found.id in step.calls), 0)
        for step, each in zip(task.steps, shown, strict=True)
    ]
    for number, step in enumerate(task.steps):
        attempt.called.append(await _done(step, shown[number], way, around))
    attempt.solved = all(
        called in step.calls if step.calls else not called
        for step, called in zip(task.steps, attempt.called, strict=True)
    )
    return attempt


async def _done(step: Step, shown: Sequence[Found], way: Way, around: dict[str, Any]) -> str:
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
    best: tuple[float, Found, Filled] | None = None
    for place, each in enumerate(shown):
        if each.schema is None and not may_do(step, each):
            continue
        found = each if each.schema is not None else await way.described(each)
        given = filled(found.schema or {}, step.values, around)
        worth = None if given is None else worth_of(step, found, given, place)
        if given is not None and worth is not None and (best is None or worth > best[0]):
            best = worth, found, given
    return best[1:] if best else None


def may_do(step: Step, found: Found) -> bool:
    """Whether it is worth reading about: it speaks of the same things, or has names for all that was said."""
    names = set(WORDS.terms(found.told))
    takes = all(names.intersection(WORDS.terms(split_name(key))) for key in step.values)
    return overlap(step.meaning, found.told) >= CLEARLY_TOLD or bool(step.values and takes)


def worth_of(step: Step, found: Found, given: Filled, place: int) -> float | None:
    """How likely it is meant; nothing for what would be called in the dark."""
    said, told = len(step.values), overlap(step.meaning, found.told)
    named = given.named / said if said else 0.0
    if found.weak and told < CLEARLY_TOLD and not takes_all(given, said, told):
        return None
    return (
        NAMED * named
        + TOLD * told
        + CALLED * overlap(step.meaning, found.told.partition(" ")[0])
        - PLACE * min(place, LAST_PLACE)
        - GUESSED * given.guessed
        - UNKNOWN * given.unknown * bool(said)
        - LEFT_OVER * (said - given.placed)
        - WEAK * found.weak
        - ACTS * (found.acts and asks(step.meaning))
    )


def takes_all(given: Filled, said: int, told: float) -> bool:
    """Whether all that was said has a parameter of its name, and nothing else is needed."""
    return given.named == said > 0 and not (given.guessed or given.unknown) and (told > 0 or said > 1)


def asks(need: str) -> bool:
    """Whether it wants to know something; then nothing is changed."""
    return need.split(" ", 1)[0].lower() in QUESTIONS or need.endswith("?")


def overlap(need: str, told: str) -> float:
    """The share of the words of a need that the tool says as well."""
    words = WORDS.terms(need)
    says = set(WORDS.terms(told))
    return len(says.intersection(words)) / len(set(words)) if words else 0.0
