"""Run the gates of skills: replay what worked, with and without them, and judge by requests of others.

Above: learning in the engine, which keeps the results. Below: a trial, and the jury. Several skills may be
gated in one batch: each claim is judged alone, with and without it; what gains too little is taken out. The
rest are replayed together, and a skill that costs a request that worked is taken out too.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from prowess.engine.trial import Trial
from prowess.learning.grouping import distinct, normalised
from prowess.learning.jury import (
    FEWEST_JUDGES,
    Claim,
    Judge,
    Lost,
    claims_of,
    may_judge,
    to_blame,
    uncontested,
    vouched_for,
)
from prowess.learning.promotion import (
    Gated,
    Row,
    SuiteResult,
    benchmark_lost,
    benchmark_result,
    regression_result,
)
from prowess.learning.skills import Skill

MOST_ROUNDS = 24
UNSETTLED = "the batch did not settle; gate it alone"
HARDLY = 1e-6

Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Court:
    """Everything a gate needs: what worked before, who judges, and how much must be gained."""

    judges: tuple[Judge, ...]
    stable: tuple[Skill, ...]
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
    """The skills that are gated together: those that are still in, and what took the others out."""

    running: dict[str, Skill]
    verdicts: dict[str, SuiteResult]

    def take_out(self, results: Mapping[str, SuiteResult]) -> None:
        self.verdicts |= results
        self.running = {id: skill for id, skill in self.running.items() if id not in results}


def gate(skills: Sequence[Skill], court: Court, trial: Trial) -> tuple[Gated, ...]:
    """Gate these skills together."""
    ids = {skill.id for skill in skills}
    return _Gate(court, trial, [skill for skill in court.stable if skill.id not in ids]).run(skills)


class _Gate:
    def __init__(self, court: Court, trial: Trial, rest: Sequence[Skill]) -> None:
        self._court = court
        self._trial = trial
        self._rest = rest
        self._before: Sequence[Replay] = ()

    def run(self, skills: Sequence[Skill]) -> tuple[Gated, ...]:
        self._trial.prepare([j.request for j in self._court.judges], skills, self._court.progress)
        tried = {s.id: s for s in uncontested(skills, self._court.judges, self._trial.same)}
        self._trial.rely_on(self._rest)
        self._before = self._replayed()
        own_before = {id: self._own(skill) for id, skill in tried.items()}
        batch = _Batch({id: skill for id, skill in tried.items() if skill.examples}, {})
        batch.verdicts |= {id: self._result(()) for id in tried}
        self._judge_each(batch)
        after = self._settle(batch)
        if not batch.running:  # nothing passed; the tests still say how each of them does
            self._rely_on(tried.values())
            after = self._replayed()
        others = list(self._still_offered(after))
        tests = {
            id: self._regression(own_before[id], self._own(skill), others) for id, skill in tried.items()
        }
        return tuple(Gated(id, tests[id], batch.verdicts[id], tried[id].examples) for id in tried)

    # --- replaying ---------------------------------------------------------------------------

    def _rely_on(self, skills: Iterable[Skill]) -> None:
        self._trial.rely_on([*self._rest, *skills])

    def _replayed(self) -> list[Replay]:
        judges, replays = self._court.judges, []
        for number, judge in enumerate(judges):
            self._court.progress(number, len(judges))
            replays.append(self._replay(judge))
        self._court.progress(len(judges), len(judges))
        return replays

    def _replay(self, judge: Judge) -> Replay:
        ranked = tuple(self._trial.ranked(judge.request, judge.agent))
        offered = self._trial.offered(judge.request, judge.agent) if judge.told_by else {}
        return Replay(ranked, self._trial.score(ranked, judge.expected), offered)

    def _own(self, skill: Skill) -> tuple[Row, ...]:
        """How a skill's own requests are answered now."""
        agent = skill.agents[0] if skill.agents else "default"
        rows = []
        for span in distinct(skill.examples):
            offered = self._trial.offered(span, agent)
            found = offered.get(skill.method, 0.0)
            first = bool(offered) and next(iter(offered)) == skill.method
            rows.append(
                Row(request=span, agent=agent, expected=skill.method, before=0, after=found, ok=first)
            )
        return tuple(rows)

    # --- the benchmark -----------------------------------------------------------------------

    def _judge_each(self, batch: _Batch) -> None:
        """Each claim alone, with and without it; what gains too little is taken out of the batch."""
        if not batch.running:
            return
        self._rely_on(batch.running.values())
        in_the_way = self._in_the_way(batch, self._replayed())
        claims = claims_of(batch.running.values())
        results: dict[str, SuiteResult] = {}
        for number, claim in enumerate(claims):
            self._court.progress(number, len(claims))
            own = self._judging(claim, batch)
            concerned = [*own, *(in_the_way.get(claim.method, set()) - own)]
            result = self._result(self._compared(claim, concerned), len(own))
            results |= {skill.id: result for skill in claim.skills}
        self._court.progress(len(claims), len(claims))
        batch.verdicts |= results
        weak = {id: result for id, result in results.items() if not result.clears}
        batch.take_out(
            {id: result for id, result in weak.items() if not self._may_join(batch.running[id], result)}
        )
        self._judge_together(batch, [id for id in weak if id in batch.running])

    def _may_join(self, skill: Skill, alone: SuiteResult) -> bool:
        """Whether what shows nothing alone may be judged with the batch: harmless, and known to others."""
        judged = len(alone.rows) >= FEWEST_JUDGES
        return judged and not alone.harms and vouched_for(skill, self._court.judges, self._trial.nearest)

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

    def _compared(self, claim: Claim, concerned: Sequence[int]) -> list[Row]:
        """These requests with a claim and without it."""
        self._rely_on(claim.skills)
        rows = []
        for number in concerned:
            judge = self._court.judges[number]
            after = self._trial.score(self._trial.ranked(judge.request, judge.agent), judge.expected)
            rows.append(_row(judge, self._before[number].score, after))
        return rows

    def _judging(self, claim: Claim, batch: _Batch) -> set[int]:
        """The requests that may judge a claim, by number."""
        same = [s for s in (*self._rest, *batch.running.values()) if s.method == claim.method]
        learned_from = frozenset(normalised(span) for skill in same for span in skill.examples)
        judges = may_judge(claim, learned_from, self._court.others_only)
        return {number for number, judge in enumerate(self._court.judges) if judges(judge)}

    def _in_the_way(self, batch: _Batch, after: Sequence[Replay]) -> dict[str, set[int]]:
        """By method, the requests that nothing learned from and where it is, or was, above what is right."""
        learned_from = {normalised(span) for skill in batch.running.values() for span in skill.examples}
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

    def _result(self, rows: Sequence[Row], own: int = 0) -> SuiteResult:
        bar = (self._court.min_gain, FEWEST_JUDGES)
        return benchmark_result(rows[:own], rows[own:], bar, (self._court.command, self._court.at))

    def _settle(self, batch: _Batch) -> Sequence[Replay]:
        """Take out what costs a request that worked, until none is; what never rests is not proven."""
        after: Sequence[Replay] = self._before
        for number in range(MOST_ROUNDS):
            self._rely_on(batch.running.values())
            after = self._replayed()
            cost = self._costs(batch, after, most=number + 1)  # if one was not enough, more of them
            if not cost:
                return after
            batch.take_out(
                {id: benchmark_lost(batch.verdicts[id], rows, self._court.at) for id, rows in cost.items()}
            )
        batch.take_out({id: replace(batch.verdicts[id], why=UNSETTLED) for id in batch.running})
        return after

    def _costs(self, batch: _Batch, after: Sequence[Replay], most: int) -> dict[str, list[Row]]:
        """The requests that worked and fail now, by the skills that answer for them."""
        cost: dict[str, list[Row]] = {}
        for judge, before, now in zip(self._court.judges, self._before, after, strict=True):
            if batch.running and self._fails_now(judge, before, now):
                lost = Lost(judge, before.ranked, now.ranked)
                for id in to_blame(lost, batch.running, self._trial.near, most):
                    cost.setdefault(id, []).append(_row(judge, before.score, now.score, ok=False))
        return cost

    def _fails_now(self, judge: Judge, before: Replay, now: Replay) -> bool:
        """Whether a request that worked, and was offered what it needs, is not any more."""
        wanted = set(judge.expected)
        covered = {part for id in now.offered for part in self._trial.parts(id)}
        return bool(judge.told_by) and wanted <= before.offered.keys() and not wanted <= covered

    # --- the regression suite ----------------------------------------------------------------

    def _regression(self, without: Sequence[Row], own: Sequence[Row], others: Sequence[Row]) -> SuiteResult:
        """A skill's own requests, and what worked before; and what its own would be without it."""
        rows, removed = [], []
        for before, now in zip(without, own, strict=True):
            as_good = now.after >= before.after - HARDLY or now.ok
            rows.append(replace(now, before=before.after, ok=now.after > 0 and as_good))
            lower = before.after < now.after - HARDLY
            removed.append(replace(now, before=before.after, after=before.after, ok=not lower))
        return regression_result(rows, others, removed, self._court.command, self._court.at)

    def _still_offered(self, after: Sequence[Replay]) -> Iterable[Row]:
        for judge, before, now in zip(self._court.judges, self._before, after, strict=True):
            if judge.told_by and set(judge.expected) <= before.offered.keys():
                least = min(now.offered.get(id, 0.0) for id in judge.expected)
                ok = not self._fails_now(judge, before, now)
                yield _row(judge, min(before.offered[id] for id in judge.expected), least, ok)


def _row(judge: Judge, before: float, after: float, ok: bool | None = None) -> Row:
    passed = after >= before - HARDLY if ok is None else ok
    return Row(
        request=judge.request, agent=judge.agent, expected=", ".join(judge.expected),
        before=before, after=after, ok=passed,
    )  # fmt: skip
