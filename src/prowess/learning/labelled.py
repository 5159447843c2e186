"""Which requests may judge which lessons, and which lesson answers for a request that was lost. Pure.

Above: the gates, which replay requests. Below: values. Lessons that teach one method by the same agents
stand or fall together: they are one claim, and what one agent claims is not vouched for by another's.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from prowess.learning.lessons import Lesson
from prowess.learning.paraphrases import alike, normalised

MIN_JUDGES = 2
NEIGHBOURS = 5
HARDLY_NEARER = 0.1
SAME_THING = 0.8
"""Two requests this near in meaning ask for the same thing."""

Near = Callable[[str, Sequence[str]], Sequence[float]]
"""How near one request is to each of several, as cosines."""
Same = Callable[[str, float], Sequence[tuple[int, float]]]
"""Which judges, by number, are at least so near to a request, each with its cosine."""

Nearest = Callable[[str, int], Sequence[tuple[int, float]]]
"""The judges, by number, that come nearest to a request, so many, each with its cosine."""


@dataclass(frozen=True, slots=True)
class LabelledRequest:
    """A request with what is known to be right for it, and by whom; no agent for a labelled set."""

    request: str
    expected: tuple[str, ...]
    agent: str
    told_by: str
    """The agent whose use says so; empty where people labelled it."""


@dataclass(frozen=True, slots=True)
class LessonGroup:
    """Lessons that say of one method, by the same agents, what it answers."""

    method: str
    agents: tuple[str, ...]
    lessons: tuple[Lesson, ...]

    @property
    def wanted(self) -> frozenset[str]:
        return frozenset(self.lessons[0].steps or (self.method,))

    @property
    def examples(self) -> tuple[str, ...]:
        return tuple(span for lesson in self.lessons for span in lesson.examples)


def claims_of(lessons: Iterable[Lesson]) -> tuple[LessonGroup, ...]:
    groups: dict[tuple[str, tuple[str, ...]], list[Lesson]] = {}
    for lesson in lessons:
        groups.setdefault((lesson.method, lesson.agents), []).append(lesson)
    return tuple(LessonGroup(method, agents, tuple(held)) for (method, agents), held in groups.items())


def uncontested(
    lessons: Iterable[Lesson], judges: Sequence[LabelledRequest], same: Same
) -> tuple[Lesson, ...]:
    """Lessons with the requests that teach: none that something else was said to answer, whoever said so.

    Saying it in other words does not help: what others asked in nearly the same meaning counts as well,
    unless a request that the method is known to answer is as near.
    """
    told: dict[str, list[LabelledRequest]] = {}
    for judge in judges:
        if judge.told_by:
            told.setdefault(normalised(judge.request), []).append(judge)

    def teaches(lesson: Lesson, span: str) -> bool:
        if not all(_about(lesson, judge) for judge in told.get(normalised(span), ())):
            return False
        near = [(judges[n], nearness) for n, nearness in same(span, SAME_THING)]
        others = [(j, nearness) for j, nearness in near if not j.told_by or j.told_by not in lesson.agents]
        mine = max((nearness for judge, nearness in others if _about(lesson, judge)), default=0.0)
        return mine >= max((nearness for judge, nearness in others if not _about(lesson, judge)), default=0.0)

    return tuple(
        replace(lesson, examples=tuple(span for span in lesson.spans if teaches(lesson, span)))
        for lesson in lessons
    )


def confirmed_by_others(lesson: Lesson, judges: Sequence[LabelledRequest], nearest: Nearest) -> bool:
    """Whether, for most of its requests, hardly any request of others is nearer than one that is about it."""
    known = {normalised(span) for span in lesson.examples}

    def vouched(span: str) -> bool:
        near = [(judges[number], nearness) for number, nearness in nearest(span, NEIGHBOURS)]
        others = [(j, nearness) for j, nearness in near if not j.told_by or j.told_by not in lesson.agents]
        strange = [(j, nearness) for j, nearness in others if normalised(j.request) not in known]
        best = max((nearness for _, nearness in strange), default=0.0)
        return any(_about(lesson, judge) and nearness > best - HARDLY_NEARER for judge, nearness in strange)

    return 2 * sum(vouched(span) for span in lesson.examples) > len(lesson.examples)


def _about(lesson: Lesson, judge: LabelledRequest) -> bool:
    return lesson.method in judge.expected or (bool(lesson.steps) and judge.expected == lesson.steps)


def may_judge(
    claim: LessonGroup, learned_from: frozenset[str], others_only: bool
) -> Callable[[LabelledRequest], bool]:
    """Which requests may judge a claim: not learned from, not taught by, and about the same thing."""

    def judges(judge: LabelledRequest) -> bool:
        if others_only and judge.told_by and judge.told_by in claim.agents:
            return False
        if claim.wanted <= set(judge.expected):
            return normalised(judge.request) not in learned_from
        # What others had answered otherwise speaks against a lesson that claims the same words.
        return bool(judge.told_by) and any(alike(judge.request, span) for span in claim.examples)

    return judges


@dataclass(frozen=True, slots=True)
class Lost:
    """A request that worked before and does not now, with both rankings."""

    judge: LabelledRequest
    before: tuple[str, ...]
    after: tuple[str, ...]


def to_blame(lost: Lost, running: Mapping[str, Lesson], near: Near, most: int = 1) -> set[str]:
    """The lessons whose method passed what was right, so many of them, the nearest first."""
    expected, now = lost.judge.expected, lost.after
    last = max((now.index(id) if id in now else len(now)) for id in expected)
    above = [s for s in running.values() if s.method in now[:last] and s.method not in expected]
    passed = [lesson for lesson in above if not _stood_above(lesson, lost)]
    # Examples may also draw a capability away from what it answered before.
    own = [lesson for lesson in running.values() if lesson.method in expected]
    # What is close to the first is offered with it; where the first is less sure, so are the others.
    carried = [lesson for lesson in running.values() if _stood_above(lesson, lost)]
    suspects = passed or own or above or carried or list(running.values())
    nearness = {s.id: max(near(lost.judge.request, s.examples), default=0.0) for s in suspects}
    return set(sorted(nearness, key=lambda id: (-nearness[id], id))[:most])


def _stood_above(lesson: Lesson, lost: Lost) -> bool:
    right = [lost.before.index(id) for id in lost.judge.expected if id in lost.before]
    return lesson.method in lost.before and bool(right) and lost.before.index(lesson.method) < min(right)
