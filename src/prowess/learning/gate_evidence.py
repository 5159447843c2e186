"""What a lesson is gated with: which of its requests teach, which judge, and what else it would take. Pure.

Above: the runs of gates. Below: values. Nothing judges what it taught; where one agent is all there is, the
earlier requests teach and the later ones judge.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from prowess.learning.labelled import MIN_JUDGES, LabelledRequest
from prowess.learning.lessons import MAX_SPANS, Lesson
from prowess.learning.paraphrases import distinct, normalised
from prowess.learning.promotion import Gated
from prowess.learning.use_store import Demonstration

MIN_TEACHERS = 2
MIN_WORDINGS = MIN_TEACHERS + MIN_JUDGES
"""So many different requests of one agent both teach and judge."""

JudgedBy: TypeAlias = Literal["labelled", "others", "anyone", "later"]
"""Requests of a labelled set; of other agents; every third one; the later ones of the only agent."""


@dataclass(frozen=True, slots=True)
class Division:
    """A lesson, the part of it that teaches, and who judges it."""

    whole: Lesson
    part: Lesson
    judged_by: JudgedBy


def divided(lesson: Lesson, seen: Sequence[Demonstration], by: JudgedBy) -> Division:
    """The lesson as some of its requests teach it, so that the others are left to judge it.

    Too few of them stay as they are: then only requests from elsewhere can judge.
    """
    split = {"others": _by_agent, "anyone": _by_turns, "later": _in_time}.get(by)
    return Division(lesson, split(lesson, seen) if split else lesson, by)


def _by_agent(lesson: Lesson, seen: Sequence[Demonstration]) -> Lesson:
    """Every other agent that showed it teaches."""
    shown: dict[str, set[str]] = {}
    for each in seen:
        if each.ok:
            shown.setdefault(each.agent, set()).add(normalised(each.span))
    teachers = sorted(shown, key=lambda agent: (-len(shown[agent]), agent))[::2]
    taught = set().union(*(shown[agent] for agent in teachers))
    if len(set().union(*shown.values()) - taught) < MIN_JUDGES:
        return lesson
    spans = tuple(span for span in lesson.spans if normalised(span) in taught)
    return replace(lesson, spans=spans, agents=tuple(sorted(teachers)))


def _by_turns(lesson: Lesson, seen: Sequence[Demonstration]) -> Lesson:
    """All but every third request teach, or but every second where there are few."""
    share = 2 if len(lesson.spans) < 3 * MIN_JUDGES else 3
    left = [span for n, span in enumerate(lesson.spans) if n % share != 1]
    return replace(lesson, spans=tuple(left)) if len(lesson.spans) - len(left) >= MIN_JUDGES else lesson


def _in_time(lesson: Lesson, seen: Sequence[Demonstration]) -> Lesson:
    """The earlier requests teach, and the last third, by when each was first made, judges."""
    first = {normalised(each.span): each.at for each in seen if each.ok}
    spans = sorted(lesson.spans, key=lambda span: (first.get(normalised(span), ""), span))
    if len(spans) < MIN_WORDINGS:
        return lesson
    return replace(lesson, spans=tuple(spans[: -max(MIN_JUDGES, len(spans) // 3)]))


# --- for people ------------------------------------------------------------------------------


def explained(
    result: Gated, division: Division, judges: Sequence[LabelledRequest], agents: Sequence[str]
) -> Gated:
    """The result with what it was measured with, and what else it takes where it did not pass.

    judges: every request that may judge.
    agents: everybody whose requests are remembered.
    """
    remedy = "" if result.satisfied else _remedy(result, division, judges, agents)
    benchmark = replace(result.benchmark, used=_used(result, division, agents), remedy=remedy)
    return replace(result, benchmark=benchmark)


def _used(result: Gated, division: Division, agents: Sequence[str]) -> str:
    lesson = division.whole
    wordings = len(distinct(lesson.spans))
    most = " or more" if wordings >= MAX_SPANS else ""
    repeated = lesson.successes - wordings
    said = [f"{_count(lesson.successes, 'use')} in {_count(wordings, 'wording')}{most}"]
    if repeated > 0 and not most:
        said.append(f"{repeated} repeat one word for word and add nothing")
    said.append(f"{len(result.examples)} teach")
    said.append(f"{result.benchmark.judging} judge{_who_judges(division, agents)}")
    return ", ".join(said)


def _who_judges(division: Division, agents: Sequence[str]) -> str:
    if division.judged_by == "later":
        return f" (the later ones: {agents[0] if agents else 'one agent'} is the only agent so far)"
    return {"labelled": " (from [learning] benchmark)", "others": " (of other agents)"}.get(
        division.judged_by, ""
    )


def _remedy(
    result: Gated, division: Division, judges: Sequence[LabelledRequest], agents: Sequence[str]
) -> str:
    lesson = division.whole
    if not result.examples:
        others = sorted(_rivals(lesson, judges))
        what = f": {', '.join(others)}" if others else " in nearly the same words"
        return f"its requests were answered by something else, too{what}; retire the lesson that is wrong"
    if result.benchmark.judging < MIN_JUDGES:
        return _more_requests(lesson, division.judged_by, result.benchmark.judging)
    if not result.tests.clears and all(row.ok for row in result.tests.rows):
        return "search finds it without the lesson, so nothing is lost by retiring it"
    return ""


def _more_requests(lesson: Lesson, by: JudgedBy, judging: int) -> str:
    missing = max(1, MIN_WORDINGS - len(distinct(lesson.spans)))
    more = f"{_count(missing, 'more request')} in other words"
    if by == "others":
        who = ", ".join(lesson.agents) or "its teacher"
        other = f"{_count(MIN_JUDGES - judging, 'request')} in other words by an agent other than {who}"
        return f'needed: {other}; or judges = "anyone" in [learning], then {more}'
    return f"needed: {more}"


def _rivals(lesson: Lesson, judges: Sequence[LabelledRequest]) -> set[str]:
    """What else answered its very requests."""
    own = {normalised(span) for span in lesson.spans}
    found = {id for judge in judges if normalised(judge.request) in own for id in judge.expected}
    return found - {lesson.method, *lesson.steps}


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"
