"""Run the gates of skills: replay what worked, with and without them, and judge by requests of others.

Above: learning in the engine, which keeps the results. Below: a trial, and the jury. Several lessons may be
gated in one batch. What the judges are better off without is taken out first; then each claim is judged,
alone and within the batch, with it and without it. The rest are replayed together, and a lesson that costs a
request that worked is taken out too; what was taken out needlessly is put back.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from prowess.learning.labelled import (
    MIN_JUDGES,
    LabelledRequest,
    LessonGroup,
    Lost,
    claims_of,
    confirmed_by_others,
    may_judge,
    to_blame,
    uncontested,
)
from prowess.learning.lessons import Lesson
from prowess.learning.paraphrases import distinct, normalised
from prowess.learning.promotion import (
    Gated,
    SuiteResult,
    SuiteRow,
    benchmark_lost,
    benchmark_result,
    regression_result,
)
from prowess.learning.trial import Trial

MOST_ROUNDS = 24
MOST_RETURNS = 16
"""How often everything that worked is replayed to put lessons back."""
UNSETTLED = "the batch did not settle; gate it alone"
DOUBTED = "what it gains may be chance, and no requests of others vouch for it"
BETTER_WITHOUT = "the requests that judge it are answered better without it"
HARDLY = 1e-6

Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class GateContext:
    """Everything a gate needs: what worked before, who judges, and how much must be gained."""

    judges: tuple[LabelledRequest, ...]
    stable: tuple[Lesson, ...]
    min_gain: float
    others_only: bool
    command: str
    at: str
    progress: Progress


@dataclass(frozen=True, slots=True)
class Replay:
    """One request as it went: what ranks first, how good that is, and what was offered if it was used."""

    ranked: tuple[str, ...]
    score: float
    offered: Mapping[str, float]


@dataclass(slots=True)
class _Batch:
    """The lessons that are gated together: those that are still in, and what took the others out."""

    running: dict[str, Lesson]
    verdicts: dict[str, SuiteResult]

    def take_out(self, results: Mapping[str, SuiteResult]) -> None:
        self.verdicts |= results
        self.running = self.without(results)

    def without(self, ids: Collection[str]) -> dict[str, Lesson]:
        return {id: lesson for id, lesson in self.running.items() if id not in ids}


def gate(lessons: Sequence[Lesson], court: GateContext, trial: Trial) -> tuple[Gated, ...]:
    """Gate these lessons together."""
    return _Gate(court, trial, _others(court.stable, lessons)).run(lessons)


def may_pass(lesson: Lesson, court: GateContext, trial: Trial) -> bool:
    """Whether a lesson can pass by itself: it may teach something, and the requests about it gain."""
    return _Gate(court, trial, _others(court.stable, [lesson])).gains(lesson)


def _others(stable: Sequence[Lesson], lessons: Sequence[Lesson]) -> list[Lesson]:
    ids = {lesson.id for lesson in lessons}
    return [lesson for lesson in stable if lesson.id not in ids]


class _Gate:
    def __init__(self, court: GateContext, trial: Trial, rest: Sequence[Lesson]) -> None:
        self._court = court
        self._trial = trial
        self._rest = rest
        self._before: Sequence[Replay] = ()
        self._told = [number for number, judge in enumerate(court.judges) if judge.told_by]

    def run(self, lessons: Sequence[Lesson]) -> tuple[Gated, ...]:
        self._trial.prepare([j.request for j in self._court.judges], lessons, self._court.progress)
        tried = {s.id: s for s in uncontested(lessons, self._court.judges, self._trial.same)}
        self._trial.rely_on(self._rest)
        self._before = self._replayed()
        own_before = {id: self._own(lesson) for id, lesson in tried.items()}
        batch = _Batch({id: lesson for id, lesson in tried.items() if lesson.examples}, {})
        batch.verdicts |= {id: self._result(()) for id in tried}
        self._sort_out(batch)
        self._judge_each(batch)
        self._settle(batch)
        # Where nothing passed, the tests still say how each of them does.
        self._rely_on(batch.running.values() or tried.values())
        others = list(self._still_offered(self._replayed_of(self._told)))
        tests = {
            id: self._regression(own_before[id], self._own(lesson), others) for id, lesson in tried.items()
        }
        return tuple(Gated(id, tests[id], batch.verdicts[id], tried[id].examples) for id in tried)

    def gains(self, lesson: Lesson) -> bool:
        self._trial.prepare([j.request for j in self._court.judges], [lesson], self._court.progress)
        (tried,) = uncontested([lesson], self._court.judges, self._trial.same)
        own = self._judging(claims_of([tried])[0], _Batch({tried.id: tried}, {})) if tried.examples else ()
        if len(own) < MIN_JUDGES:
            return False
        without, with_it = self._scores(own, []), self._scores(own, [tried])
        return sum(after - before for before, after in zip(without, with_it, strict=True)) > 0

    # --- replaying ---------------------------------------------------------------------------

    def _rely_on(self, lessons: Iterable[Lesson]) -> None:
        self._trial.rely_on([*self._rest, *lessons])

    def _replayed(self) -> list[Replay]:
        return list(self._replayed_of(range(len(self._court.judges))).values())

    def _replayed_of(self, numbers: Sequence[int]) -> dict[int, Replay]:
        replays = {}
        for done, number in enumerate(numbers):
            self._court.progress(done, len(numbers))
            replays[number] = self._replay(self._court.judges[number])
        self._court.progress(len(numbers), len(numbers))
        return replays

    def _scores(self, numbers: Iterable[int], lessons: Sequence[Lesson]) -> list[float]:
        """How well these requests are answered with these lessons."""
        self._rely_on(lessons)
        judges = [self._court.judges[number] for number in numbers]
        return [self._trial.score(self._trial.ranked(j.request, j.agent), j.expected) for j in judges]

    def _replay(self, judge: LabelledRequest) -> Replay:
        ranked = tuple(self._trial.ranked(judge.request, judge.agent))
        offered = self._trial.offered(judge.request, judge.agent) if judge.told_by else {}
        return Replay(ranked, self._trial.score(ranked, judge.expected), offered)

    def _own(self, lesson: Lesson) -> tuple[SuiteRow, ...]:
        """How a lesson's own requests are answered now."""
        agent = lesson.agents[0] if lesson.agents else "default"
        rows = []
        for span in distinct(lesson.examples):
            offered = self._trial.offered(span, agent)
            found = offered.get(lesson.method, 0.0)
            first = bool(offered) and next(iter(offered)) == lesson.method
            rows.append(
                SuiteRow(request=span, agent=agent, expected=lesson.method, before=0, after=found, ok=first)
            )
        return tuple(rows)

    # --- the benchmark -----------------------------------------------------------------------

    def _sort_out(self, batch: _Batch) -> None:
        """Take out lessons without which the judges of their claim, and those it stands before, do better."""
        several = [claim for claim in claims_of(batch.running.values()) if len(claim.lessons) > 1]
        if not several:
            return
        self._rely_on(batch.running.values())
        after = self._replayed()
        in_the_way = self._in_the_way(batch, after)
        for done, claim in enumerate(several):
            self._court.progress(done, len(several))
            own = self._judging(claim, batch)
            concerned = [*own, *(in_the_way.get(claim.method, set()) - own)]
            for lesson in claim.lessons if len(own) >= MIN_JUDGES else ():
                self._sort_out_one(lesson, batch, concerned, after)
        self._court.progress(len(several), len(several))

    def _sort_out_one(
        self, lesson: Lesson, batch: _Batch, concerned: Sequence[int], after: list[Replay]
    ) -> None:
        rows, without = self._compared({lesson.id}, batch, concerned, after)
        if sum(row.after - row.before for row in rows) < -HARDLY:
            result = self._result(rows, len(rows))
            batch.take_out({lesson.id: replace(result, why=BETTER_WITHOUT)})
            for number, replay in without.items():
                after[number] = replay

    def _judge_each(self, batch: _Batch) -> None:
        """Each claim, the batch with and without it; what gains too little is taken out of the batch."""
        if not batch.running:
            return
        self._rely_on(batch.running.values())
        after = self._replayed()
        in_the_way = self._in_the_way(batch, after)
        claims = claims_of(batch.running.values())
        results: dict[str, SuiteResult] = {}
        alone: dict[str, SuiteResult] = {}
        for number, claim in enumerate(claims):
            self._court.progress(number, len(claims))
            own = self._judging(claim, batch)
            concerned = [*own, *(in_the_way.get(claim.method, set()) - own)]
            rows, _ = self._compared({lesson.id for lesson in claim.lessons}, batch, concerned, after)
            results |= dict.fromkeys((lesson.id for lesson in claim.lessons), self._result(rows, len(own)))
            rows = self._alone(claim, concerned)
            alone |= dict.fromkeys((lesson.id for lesson in claim.lessons), self._result(rows, len(own)))
        self._court.progress(len(claims), len(claims))
        # What gains only beside others, or hardly more than chance, must be known to others and do no harm.
        doubtful = {id for id, within in results.items() if not (within.is_sure and alone[id].is_sure)}
        out = {id for id in doubtful if not self._may_join(batch.running[id], results[id], alone[id])}
        batch.verdicts |= results
        batch.take_out({id: _doubted(results[id], alone[id]) for id in out})
        self._judge_together(batch, [id for id in batch.running if not results[id].clears])

    def _alone(self, claim: LessonGroup, concerned: Sequence[int]) -> list[SuiteRow]:
        """These requests with a claim and without it, while nothing else of the batch is relied on."""
        scores = zip(concerned, self._scores(concerned, claim.lessons), strict=True)
        return [_row(self._court.judges[n], self._before[n].score, after) for n, after in scores]

    def _may_join(self, lesson: Lesson, within: SuiteResult, alone: SuiteResult) -> bool:
        """Whether what shows nothing alone may be judged with the batch: harmless, and known to others."""
        judged = len(alone.rows) >= MIN_JUDGES
        harmless = not alone.harms and not within.harms
        return judged and harmless and confirmed_by_others(lesson, self._court.judges, self._trial.nearest)

    def _judge_together(self, batch: _Batch, joined: Sequence[str]) -> None:
        """One benchmark for the batch: all requests about any of it, with all of it and without."""
        if not joined:
            return
        self._rely_on(batch.running.values())
        after = self._replayed()
        own = {n for claim in claims_of(batch.running.values()) for n in self._judging(claim, batch)}
        rows = [_row(self._court.judges[n], self._before[n].score, after[n].score) for n in sorted(own)]
        together = self._result(rows, len(rows))
        batch.verdicts |= dict.fromkeys(joined, together)
        if not together.clears:
            batch.take_out(dict.fromkeys(joined, together))

    def _compared(
        self, ids: Collection[str], batch: _Batch, concerned: Sequence[int], after: Sequence[Replay]
    ) -> tuple[list[SuiteRow], dict[int, Replay]]:
        """These requests with the batch as it is and without some of it."""
        self._rely_on(batch.without(ids).values())
        rows, without = [], {}
        for number in concerned:
            judge = self._court.judges[number]
            ranked = tuple(self._trial.ranked(judge.request, judge.agent))
            without[number] = Replay(ranked, self._trial.score(ranked, judge.expected), {})
            rows.append(_row(judge, without[number].score, after[number].score))
        return rows, without

    def _judging(self, claim: LessonGroup, batch: _Batch) -> set[int]:
        """The requests that may judge a claim, by number."""
        same = [s for s in (*self._rest, *batch.running.values()) if s.method == claim.method]
        learned_from = frozenset(normalised(span) for lesson in same for span in lesson.examples)
        judges = may_judge(claim, learned_from, self._court.others_only)
        return {number for number, judge in enumerate(self._court.judges) if judges(judge)}

    def _in_the_way(self, batch: _Batch, after: Sequence[Replay]) -> dict[str, set[int]]:
        """By method, the requests that nothing learned from and where it is, or was, above what is right."""
        learned_from = {normalised(span) for lesson in batch.running.values() for span in lesson.examples}
        found: dict[str, set[int]] = {}
        for number, judge in enumerate(self._court.judges):
            if normalised(judge.request) in learned_from:
                continue
            for replay in (self._before[number], after[number]):
                places = [replay.ranked.index(id) for id in judge.expected if id in replay.ranked]
                last = max(places) if len(places) == len(judge.expected) else len(replay.ranked)
                for id in set(replay.ranked[:last]) - set(judge.expected):
                    found.setdefault(id, set()).add(number)
        return found

    def _result(self, rows: Sequence[SuiteRow], own: int = 0) -> SuiteResult:
        bar = (self._court.min_gain, MIN_JUDGES)
        return benchmark_result(rows[:own], rows[own:], bar, (self._court.command, self._court.at))

    def _settle(self, batch: _Batch) -> None:
        """Take out what costs a request that worked, until none is; what never rests is not proven."""
        settled = dict(batch.verdicts)
        times: Counter[int] = Counter()
        taken: dict[str, Lesson] = {}
        for _ in range(MOST_ROUNDS):
            if not self._take_out_costs(batch, self._told, times, taken):
                return self._put_back(batch, times, taken, settled)
            # Those that were ever lost are few and quick to replay; all the others come after them.
            while self._take_out_costs(batch, sorted(times), times, taken):
                pass
        batch.take_out({id: replace(batch.verdicts[id], why=UNSETTLED) for id in batch.running})

    def _take_out_costs(
        self, batch: _Batch, numbers: Sequence[int], times: Counter[int], taken: dict[str, Lesson]
    ) -> bool:
        """Whether any of these requests is lost; then what answers for it is out."""
        cost: dict[str, list[SuiteRow]] = {}
        for number, now in self._lost(batch.running, numbers):
            judge, before = self._court.judges[number], self._before[number]
            times[number] += 1  # if one was not enough, more of them
            lost = Lost(judge, before.ranked, now.ranked)
            for id in to_blame(lost, batch.running, self._trial.near, times[number]):
                cost.setdefault(id, []).append(_row(judge, before.score, now.score, ok=False))
        taken |= {id: batch.running[id] for id in cost}
        batch.take_out(
            {id: benchmark_lost(batch.verdicts[id], rows, self._court.at) for id, rows in cost.items()}
        )
        return bool(cost)

    def _lost(self, running: Mapping[str, Lesson], numbers: Sequence[int]) -> Iterator[tuple[int, Replay]]:
        """Which of these requests worked and fail with these lessons, each as it goes now."""
        self._rely_on(running.values())
        for done, number in enumerate(numbers if running else ()):
            self._court.progress(done, len(numbers))
            judge = self._court.judges[number]
            now = self._replay(judge)
            if self._fails_now(judge, self._before[number], now):
                yield number, now
        self._court.progress(len(numbers), len(numbers))

    def _put_back(
        self, batch: _Batch, times: Counter[int], taken: Mapping[str, Lesson],
        verdicts: Mapping[str, SuiteResult],
    ) -> None:  # fmt: skip
        """Put back what was taken out and costs nothing after all: all of it, or half, or half of that."""
        waiting = [sorted(taken)] if taken else []
        replays = 0
        while waiting and replays < MOST_RETURNS:
            ids = waiting.pop()
            tried = batch.running | {id: taken[id] for id in ids}
            costs = next(self._lost(tried, sorted(times)), None) is not None
            if not costs:
                replays += 1
                lost = dict(self._lost(tried, self._told))
                times.update(lost.keys())
                costs = bool(lost)
            if not costs:
                batch.running = tried
                batch.verdicts |= {id: verdicts[id] for id in ids}
            elif len(ids) > 1:
                waiting += [ids[len(ids) // 2 :], ids[: len(ids) // 2]]

    def _fails_now(self, judge: LabelledRequest, before: Replay, now: Replay) -> bool:
        """Whether a request that worked, and was offered what it needs, is not any more."""
        wanted = set(judge.expected)
        covered = {part for id in now.offered for part in self._trial.parts(id)}
        return bool(judge.told_by) and wanted <= before.offered.keys() and not wanted <= covered

    # --- the regression suite ----------------------------------------------------------------

    def _regression(
        self, without: Sequence[SuiteRow], own: Sequence[SuiteRow], others: Sequence[SuiteRow]
    ) -> SuiteResult:
        """A lesson's own requests, and what worked before; and what its own would be without it."""
        rows, removed = [], []
        for before, now in zip(without, own, strict=True):
            as_good = now.after >= before.after - HARDLY or now.ok
            rows.append(replace(now, before=before.after, ok=now.after > 0 and as_good))
            lower = before.after < now.after - HARDLY
            removed.append(replace(now, before=before.after, after=before.after, ok=not lower))
        return regression_result(rows, others, removed, self._court.command, self._court.at)

    def _still_offered(self, after: Mapping[int, Replay]) -> Iterable[SuiteRow]:
        for number, now in after.items():
            judge, before = self._court.judges[number], self._before[number]
            if set(judge.expected) <= before.offered.keys():
                least = min(now.offered.get(id, 0.0) for id in judge.expected)
                ok = not self._fails_now(judge, before, now)
                yield _row(judge, min(before.offered[id] for id in judge.expected), least, ok)


def _doubted(within: SuiteResult, alone: SuiteResult) -> SuiteResult:
    """Why a claim is taken out: what it lacks in the batch, else alone, else that it may be chance."""
    return next((each for each in (within, alone) if not each.clears), replace(within, why=DOUBTED))


def _row(judge: LabelledRequest, before: float, after: float, ok: bool | None = None) -> SuiteRow:
    passed = after >= before - HARDLY if ok is None else ok
    return SuiteRow(
        request=judge.request, agent=judge.agent, expected=", ".join(judge.expected),
        before=before, after=after, ok=passed,
    )  # fmt: skip
