"""Run the gates of skills: replay what worked, with and without them, and judge by requests of others.

Above: learning in the engine, which keeps the results. Below: trials. Several skills may be gated in one
batch: each is judged by its own requests, and one that costs others theirs is taken out and the rest
are run again.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from prowess.engine.trial import Trial
from prowess.learning.grouping import alike, distinct, normalised, telling_words
from prowess.learning.promotion import Gated, Row, SuiteResult, benchmark_result, regression_result
from prowess.learning.skills import Skill

FEWEST_JUDGES = 2
MOST_ROUNDS = 24
HARDLY = 1e-6

Progress = Callable[[int, int], None]
MakeTrial = Callable[[Sequence[Skill]], Trial]


@dataclass(frozen=True, slots=True)
class Judge:
    """A request with what is known to be right for it, and by whom; no agent for a labelled set."""

    request: str
    expected: tuple[str, ...]
    agent: str
    told_by: str
    """The agent whose use says so; empty where people labelled it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Court:
    """Everything a gate needs: what worked before, who judges, and how much must be gained."""

    judges: tuple[Judge, ...]
    stable: tuple[Skill, ...]
    top_k: int
    min_gain: float
    others_only: bool
    command: str
    at: str
    progress: Progress


@dataclass(frozen=True, slots=True)
class _Replay:
    """One request under both: relevance where it is offered, rank and NDCG where it is ranked."""

    before: float
    after: float
    ranked_before: tuple[str, ...]
    ranked_after: tuple[str, ...]


def gate(skills: Sequence[Skill], court: Court, make: MakeTrial) -> tuple[Gated, ...]:
    """Gate these skills together; what is taken out on the way keeps the result that took it out."""
    tried = {skill.id: skill for skill in skills}
    rest = [skill for skill in court.stable if skill.id not in tried]
    without = make(rest)
    before = [without.ranked(judge.request, judge.agent) for judge in _watched(court)]
    verdicts: dict[str, SuiteResult] = {}
    running = dict(tried)
    lost: set[int] = set()
    for _ in range(MOST_ROUNDS):
        with_them = make([*rest, *running.values()])
        replays = [_replayed(judge, before[n], with_them) for n, judge in enumerate(_watched(court))]
        losses = {
            n for n, judge in enumerate(court.judges) if _lost(judge, replays[n], court.top_k, with_them)
        }
        # One skill answers for a loss; if that was not enough, all that passed what was right do.
        blamed = {n: _to_blame(court.judges[n], replays[n], running, n in lost) for n in losses}
        results = _benchmark(tuple(running.values()), court, replays, blamed)
        lost = losses
        verdicts |= results
        running = {id: skill for id, skill in running.items() if results[id].clears}
        if len(running) == len(results) or not running:
            break
    else:
        # What never came to rest is not proven.
        unsettled = "the batch did not settle; gate it alone"
        verdicts |= {id: replace(verdicts[id], why=unsettled) for id in running}
    tests = _regressions(tried, running, court, without, make([*rest, *(running or tried).values()]))
    return tuple(Gated(id, tests[id], verdicts[id]) for id in tried)


# --- the benchmark ---------------------------------------------------------------------------


def _benchmark(
    skills: Sequence[Skill], court: Court, replays: Sequence[_Replay], blamed: Mapping[int, set[str]]
) -> dict[str, SuiteResult]:
    results = {}
    for skill in skills:
        may_judge = _jury(skill, court.others_only)
        judging = [n for n, judge in enumerate(court.judges) if may_judge(judge)]
        judged = [_row(court.judges[n], replays[n].before, replays[n].after) for n in judging]
        lost = [
            _row(court.judges[n], replays[n].before, replays[n].after)
            for n, blame in blamed.items()
            if skill.id in blame
        ]
        bar = (court.min_gain, FEWEST_JUDGES)
        results[skill.id] = benchmark_result(judged, lost, bar, court.command, court.at)
    return results


def _watched(court: Court) -> Iterable[Judge]:
    for number, judge in enumerate(court.judges):
        court.progress(number, len(court.judges))
        yield judge
    court.progress(len(court.judges), len(court.judges))


def _replayed(judge: Judge, before: Sequence[str], with_them: Trial) -> _Replay:
    after = with_them.ranked(judge.request, judge.agent)
    # What stood for steps before is stable and stands for them still.
    scores = with_them.score(before, judge.expected), with_them.score(after, judge.expected)
    return _Replay(*scores, tuple(before), tuple(after))


def _lost(judge: Judge, replay: _Replay, top_k: int, with_them: Trial) -> bool:
    """Whether a request that worked before, all of it within what is offered, fails now."""
    covered = {
        step
        for id in replay.ranked_after[:top_k]
        for step in (id, *(with_them.skills[id].steps if id in with_them.skills else ()))
    }
    return set(judge.expected) <= set(replay.ranked_before[:top_k]) and not set(judge.expected) <= covered


def _to_blame(judge: Judge, replay: _Replay, running: Mapping[str, Skill], again: bool) -> set[str]:
    """The skill whose method passed what was right; of several, the one whose requests are most like it."""
    skills = list(running.values())
    now = replay.ranked_after
    missing = not set(judge.expected) <= set(now)
    last = len(now) if missing else max(now.index(id) for id in judge.expected)
    above = [s for s in skills if s.method in now[:last] and s.method not in judge.expected]
    passed = [skill for skill in above if not _stood_above(skill, judge, replay)]
    # Examples may also draw a capability away from what it answered before.
    own = [skill for skill in skills if skill.method in judge.expected]
    suspects = passed or own or above
    if again and suspects:
        return {skill.id for skill in suspects}
    words = telling_words(judge.request)
    nearest = max(suspects or skills, key=lambda skill: (_shared(skill, words), skill.id))
    return {nearest.id}


def _shared(skill: Skill, words: frozenset[str]) -> int:
    return max((len(words & telling_words(span)) for span in skill.examples), default=0)


def _stood_above(skill: Skill, judge: Judge, replay: _Replay) -> bool:
    before = list(replay.ranked_before)
    right = [before.index(id) for id in judge.expected if id in before]
    return skill.method in before and bool(right) and before.index(skill.method) < min(right)


def _jury(skill: Skill, others_only: bool) -> Callable[[Judge], bool]:
    """Which requests may judge a skill: not learned from, not taught by, and about the same thing."""
    learned_from = {normalised(span) for span in skill.examples}
    wanted = set(skill.steps or (skill.method,))

    def may_judge(judge: Judge) -> bool:
        if others_only and judge.told_by and judge.told_by in skill.agents:
            return False
        if wanted <= set(judge.expected):
            return normalised(judge.request) not in learned_from
        # What others had answered otherwise speaks against a skill that claims the same words.
        return bool(judge.told_by) and any(alike(judge.request, span) for span in skill.examples)

    return may_judge


# --- the regression suite --------------------------------------------------------------------


def _regressions(
    tried: dict[str, Skill], running: dict[str, Skill], court: Court, without: Trial, with_them: Trial
) -> dict[str, SuiteResult]:
    """Every skill's own requests, and once for all what worked before; replayed through `offer`."""
    worked = [judge for judge in court.judges if judge.told_by]
    others = list(_still_offered(worked, without, with_them))
    results = {}
    for number, skill in enumerate(tried.values()):
        court.progress(number, len(tried))
        own = [_own(skill, span, without, with_them) for span in distinct(skill.examples)]
        removed = [replace(row, after=row.before, ok=row.before >= row.after - HARDLY) for row in own]
        results[skill.id] = regression_result(own, others, removed, court.command, court.at)
    court.progress(len(tried), len(tried))
    return results


def _still_offered(judges: Sequence[Judge], without: Trial, with_them: Trial) -> Iterable[Row]:
    for judge in judges:
        before = without.offered(judge.request, judge.agent)
        if set(judge.expected) <= before.keys():
            after = with_them.offered(judge.request, judge.agent)
            least = min(after.get(id, 0.0) for id in judge.expected)
            row = _row(judge, min(before[id] for id in judge.expected), least)
            yield replace(row, ok=_covered(judge.expected, after, with_them))


def _covered(expected: Sequence[str], offered: dict[str, float], by: Trial) -> bool:
    steps = {step for id in offered for step in (id, *(by.skills[id].steps if id in by.skills else ()))}
    return set(expected) <= steps


def _own(skill: Skill, span: str, without: Trial, with_them: Trial) -> Row:
    agent = skill.agents[0] if skill.agents else "default"
    before = without.offered(span, agent).get(skill.method, 0.0)
    after = with_them.offered(span, agent).get(skill.method, 0.0)
    ok = after > 0 and after >= before - HARDLY
    return Row(request=span, agent=agent, expected=skill.method, before=before, after=after, ok=ok)


def _row(judge: Judge, before: float, after: float) -> Row:
    return Row(
        request=judge.request, agent=judge.agent, expected=", ".join(judge.expected),
        before=before, after=after, ok=after >= before - HARDLY,
    )  # fmt: skip
