"""What discovery is taught by lessons that are relied on: requests as examples, and steps as capabilities."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from prowess.learning.lessons import Lesson
from prowess.sources.learned import NAME, Procedure
from prowess.types import Capability

Lessons = Mapping[str, tuple[str, ...]]
"""Capability -> requests that it was shown to answer."""
NOTHING: Lessons = MappingProxyType({})

MOST_EXAMPLES = 32


def lessons_of(lessons: Sequence[Lesson]) -> Lessons:
    """Requests by the capability that they are examples of; of many, the first few of each skill."""
    found: dict[str, list[str]] = {}
    for lesson in sorted(lessons, key=lambda lesson: lesson.id):
        known = found.setdefault(lesson.method, [])
        known += [span for span in lesson.examples if span not in known]
    return {method: tuple(spans[:MOST_EXAMPLES]) for method, spans in found.items()}


def procedures_of(lessons: Sequence[Lesson]) -> tuple[Procedure, ...]:
    return tuple(
        Procedure(id=lesson.id, capability=lesson.method, steps=lesson.steps, requests=lesson.examples)
        for lesson in lessons
        if lesson.steps
    )


def with_procedures(
    capabilities: Mapping[str, Capability], procedures: Mapping[str, Capability]
) -> dict[str, Capability]:
    """What exists, with lessons of several steps on trial, and without those that are not."""
    kept = {id: c for id, c in capabilities.items() if c.provider != NAME or id in procedures}
    return {**kept, **procedures}
