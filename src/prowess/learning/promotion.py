"""What must hold before a lesson is relied on: suites that really ran, and what they found. Pure.

Above: the engine, which replays requests and keeps the results. Below: values. A proposal names what it
proposes and nothing else: results come only from runs, carry their command, counts, digest and time, and
a run that succeeded without counts proves nothing.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import sqrt

import msgspec

from prowess.errors import LearningError
from prowess.journal import canonical
from prowess.learning.ids import stable_id
from prowess.text.counts import counted
from prowess.types import Json

WHOLE = 10_000
"""All of them, in hundredths of a percent."""
CHANCE = 1.0
"""How many times its usual spread a loss may be before it counts as one."""
SURELY = 1.5
"""How many times its usual spread a gain must be before it speaks for itself."""
RESULTS = ("runner", "command", "passed", "failed", "digest", "evidence_digest", "command_succeeded")
FLAGS = ("gate", "gates", "has_tests", "has_benchmark_delta", "status", "promotable", "examples")

_COUNTS = re.compile(r"\bpassed=(\d+)\b.*\bfailed=(\d+)\b")


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteRow:
    """One request of a suite: what should answer it, how well it did before and does now."""

    request: str
    agent: str
    expected: str
    before: float
    after: float
    ok: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteResult:
    """A suite that was run: what it counted, and what it takes to clear it."""

    suite: str
    command: str
    passed: int
    failed: int
    minimum: int = 1
    rate: int = WHOLE
    """How many must pass, in hundredths of a percent; 0 asks only for the minimum."""
    succeeded: bool = True
    digest: str = ""
    at: str = ""
    why: str = ""
    """What keeps it from clearing although the counts would do."""
    gain: float = 0.0
    judging: int = 0
    """How many requests about it judged it."""
    used: str = ""
    """What it was measured with: for people."""
    remedy: str = ""
    """What else it takes, where that is known: for people."""
    rows: tuple[SuiteRow, ...] = ()

    @property
    def clears(self) -> bool:
        total = self.passed + self.failed
        enough = self.rate == 0 or (total > 0 and self.passed * WHOLE >= self.rate * total)
        really_run = self.succeeded and bool(self.digest)
        return really_run and self.passed >= self.minimum and enough and not self.why

    @property
    def harms(self) -> bool:
        """Whether what changed for the worse is more than chance."""
        return _change(self.rows) < -CHANCE * _spread(self.rows)

    @property
    def is_sure(self) -> bool:
        """Whether it clears, and nothing is the worse for it or the gain is clearly more than chance."""
        unharmed = all(row.ok for row in self.rows)
        return self.clears and (unharmed or _change(self.rows) > SURELY * _spread(self.rows))

    @property
    def verdict(self) -> str:
        """For people: cleared or blocked, with its counts."""
        went = f"{self.passed}/{self.passed + self.failed}"
        if self.clears:
            return f"{self.suite}: cleared {went}"
        # Why comes first: that everything else went well is no reason, and reads as if it were.
        counts = f"{sum(row.ok for row in self.rows)} of {counted(len(self.rows), 'request')} went well"
        return f"{self.suite}: blocked, " + (f"{self.why}; {counts}" if self.why else counts)


@dataclass(frozen=True, slots=True)
class Gated:
    """What the gates said about one skill."""

    lesson: str
    tests: SuiteResult
    benchmark: SuiteResult
    examples: tuple[str, ...] = ()
    """The requests it was gated with."""

    @property
    def satisfied(self) -> bool:
        return self.tests.clears and self.benchmark.clears


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """A lesson somebody suggests: requests, and what should answer them."""

    method: str
    spans: tuple[str, ...]


def digest_of(*parts: object) -> str:
    return stable_id("promotion_gate_output", canonical(parts))


def regression_result(
    own: Sequence[SuiteRow], others: Sequence[SuiteRow], without: Sequence[SuiteRow], command: str, at: str
) -> SuiteResult:
    """The regression suite: the lesson's own requests, everything that worked, and the proof by removal."""
    rows = (*own, *others)
    passed = sum(row.ok for row in rows)
    why = "" if own else "none of its own requests may teach it"
    if own and all(row.ok for row in without):
        why = "its requests are answered just as well without it"
    return SuiteResult(
        suite="regression", command=command, passed=passed, failed=len(rows) - passed,
        minimum=len(own) or 1, digest=digest_of("regression", rows, without), at=at, why=why, rows=rows,
    )  # fmt: skip


def benchmark_result(
    judged: Sequence[SuiteRow], beside: Sequence[SuiteRow], bar: tuple[float, int], ran: tuple[str, str]
) -> SuiteResult:
    """The benchmark: requests it was not learned from, with and without it.

    `beside` are requests meant for others that it stands, or stood, in the way of: what they gain counts,
    and what they lose where that is more than chance; but a lesson must gain on its own requests first.
    `bar` is the least gain and the fewest judges; `ran` is the command and the time.
    """
    (min_gain, fewest), (command, at) = bar, ran
    others = _change(beside)
    counts = others if others > 0 else min(0.0, others + CHANCE * _spread(beside))
    gain = (_change(judged) + counts) / max(len(judged), 1)
    why = ""
    if len(judged) < fewest:
        why = f"{counted(len(judged), 'request')} it was not learned from can judge it, {fewest} are needed"
    elif _change(judged) <= 0:
        why = f"requests about it gain {_change(judged) / len(judged):+.3f}, more than nothing is needed"
    elif gain < min_gain:
        why = f"it gains {gain:+.3f}, at least {min_gain:+.3f} is needed"
    rows = (*judged, *beside)
    return SuiteResult(
        suite="benchmark", command=command, passed=0 if why else sum(row.ok for row in rows),
        failed=sum(not row.ok for row in rows) or int(bool(why)), rate=0, minimum=1,
        digest=digest_of("benchmark", rows), at=at, why=why, gain=gain, judging=len(judged), rows=rows,
    )  # fmt: skip


def _change(rows: Sequence[SuiteRow]) -> float:
    return sum(row.after - row.before for row in rows)


def _spread(rows: Sequence[SuiteRow]) -> float:
    """How far the sum of changes that mean nothing usually is from zero."""
    return sqrt(sum((row.after - row.before) ** 2 for row in rows))


def benchmark_lost(result: SuiteResult, lost: Sequence[SuiteRow], at: str) -> SuiteResult:
    """The result of a benchmark after which requests that worked fail."""
    why = f"{counted(len(lost), 'request')} that worked before fail with it, such as {lost[0].request!r}"
    rows = (*lost, *result.rows)
    return replace(
        result, passed=0, failed=len(lost), at=at, why=why, rows=rows, digest=digest_of("benchmark", rows)
    )


def reported(suite: str, command: str, succeeded: bool, output: str, at: str = "") -> SuiteResult:
    """The result of a command outside, from the counts it printed last."""
    digest = digest_of(suite, command, succeeded, output)
    if not succeeded:
        return SuiteResult(
            suite=suite, command=command, passed=0, failed=1, succeeded=False, digest=digest, at=at,
            why="the command failed",
        )  # fmt: skip
    counts = [found for line in output.splitlines() if (found := _COUNTS.search(line))]
    if not counts:
        remedy = "let it print a line such as: passed=12 failed=0"
        raise LearningError(f"suite {suite}", "the command succeeded without saying what passed", remedy)
    passed, failed = int(counts[-1][1]), int(counts[-1][2])
    return SuiteResult(suite=suite, command=command, passed=passed, failed=failed, digest=digest, at=at)


def read_proposal(document: bytes, place: str) -> Proposal:
    """What a document proposes; one that brings its own results is refused."""
    try:
        data: Json = msgspec.json.decode(document)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as failure:
        raise LearningError(place, f"is not JSON ({failure})", "write an object") from None
    brought = sorted(set(_keys(data)) & {*RESULTS, *FLAGS})
    if brought:
        what = f"a proposal must not provide {', '.join(map(repr, brought))}"
        raise LearningError(place, what, "remove it; run the gates with: prowess lessons gate ID")
    try:
        proposal = msgspec.convert(data, Proposal)
    except msgspec.ValidationError as failure:
        remedy = "give an object with method and spans"
        raise LearningError(place, f"is no proposal ({failure})", remedy) from None
    if not proposal.method or not any(span.strip() for span in proposal.spans):
        raise LearningError(place, "names no method or no request", "give both method and spans")
    return proposal


def _keys(data: Json) -> Sequence[str]:
    """Every key of a document, however deep."""
    if isinstance(data, Mapping):
        return [str(key) for key in data] + [name for value in data.values() for name in _keys(value)]
    return [name for value in data for name in _keys(value)] if isinstance(data, list) else []
