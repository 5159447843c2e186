"""How fast evolution is, how often it is wrong, and whether it finds the cause of a fall.

    python -m bench.evolution [--quick]

Writes its tables to stdout; `bench/results/evolution.md` keeps the last full run. Seeds are fixed,
so the simulation gives the same numbers everywhere; the times depend on the machine.
"""

import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from bench.simulated_agents import NOISE, Damage, Rule, found_cause, original, ours
from bench.simulated_agents import false_alarms as alarms_of
from prowess.evolution.drift import Drift
from prowess.evolution.fitness import measure
from prowess.evolution.generations import Generations
from prowess.evolution.params import Params
from prowess.evolution.records import EvaluationContext, EvaluationInput
from prowess.evolution.replay import Life
from prowess.evolution.scores import Scores
from prowess.evolution.snapshot import Snapshot, snapshot_of
from prowess.evolution.triggers import check_triggers, detect_capability_changes
from prowess.store.database import Database
from prowess.store.opening import open_database

LEVEL = 0.74
PARAMS = Params()
FACULTIES = ("Reasoning", "Memory", "Communication", "Tool", "Vision", "HAL", "Web")


def best(work: Callable[[], object], repeats: int, inner: int = 1) -> float:
    """The median processor time of one call, in seconds: others on the machine do not count."""
    times = []
    for _ in range(repeats):
        began = time.process_time()
        for _ in range(inner):
            work()
        times.append((time.process_time() - began) / inner)
    return statistics.median(times)


def row(*cells: object) -> None:
    print("| " + " | ".join(str(cell) for cell in cells) + " |")


def pure_speed() -> None:
    now, before = Scores(0.61, 0.55, 1.0, 3, 0.4), Scores(0.60, 0.55, 1.0, 3, 0.4)
    current, previous = measure(now, PARAMS), measure(before, PARAMS)
    held = ("autonomy", "cognitive", "behavioral", "meta_learning")
    took = best(lambda: check_triggers(current, previous, 50, PARAMS, held), 20, 5000)
    row("check_triggers", f"{took * 1e6:.2f} µs", "5 µs")
    for count, label in ((10, "10 changed"), (10_000, "all new")):
        old, new = providers(10_000, count)
        took = best(lambda old=old, new=new: detect_capability_changes(old, new), 20)  # type: ignore[misc]
        row(f"change detection over 10,000 providers, {label}", f"{took * 1e3:.2f} ms", "5 ms")


def providers(total: int, changed: int) -> tuple[Snapshot, Snapshot]:
    brings = {f"provider-{n:05}": (FACULTIES[n % 7],) for n in range(total)}
    kept = dict(list(brings.items())[: total - changed])
    return snapshot_of(kept, kept), snapshot_of(brings, brings)


def store_speed(history: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        database = open_database(f"sqlite:{folder}/bench.db", Path())
        brings = {f"provider-{n}": (FACULTIES[n % 7],) for n in range(20)}
        setting = EvaluationContext(snapshot=snapshot_of(brings, brings), at="2026-01-01T00:00:00")
        done = 0
        for mark in (10, 1_000, history):
            done = fill(database, setting, done, mark)
            began = time.process_time()
            times = [one_evaluation(database, setting, done + n) for n in range(200)]
            processor = (time.process_time() - began) / 200
            done += 200
            label = f"evaluate on SQLite, after {mark:,}"
            row(label, f"{spread(times)}; {processor * 1e3:.2f} ms of processor time", "2 ms p50")
        times = [bare_commit(database, number) for number in range(200)]
        row("(a durable transaction of one small row, for comparison)", spread(times), "")
        database.close()


def spread(times: Sequence[float]) -> str:
    p50, p99 = statistics.median(times), sorted(times)[len(times) * 99 // 100]
    return f"{p50 * 1e3:.2f} ms p50, {p99 * 1e3:.2f} ms p99"


def bare_commit(database: Database, number: int) -> float:
    began = time.perf_counter()
    with database.writing() as transaction:
        transaction.run(
            "INSERT INTO evolution_snapshot (digest, snapshot) VALUES (:digest, '')", digest=str(number)
        )
    return time.perf_counter() - began


def fill(database: Database, setting: EvaluationContext, done: int, until: int) -> int:
    """Bring the history to a length, many evaluations in one transaction."""
    with database.writing() as transaction:
        for number in range(done, until):
            Generations().evaluate(transaction, "ada", wobbling(number), setting)
    return max(done, until)


def one_evaluation(database: Database, setting: EvaluationContext, number: int) -> float:
    began = time.perf_counter()
    with database.writing() as transaction:
        Generations().evaluate(transaction, "ada", wobbling(number), setting)
    return time.perf_counter() - began


def wobbling(number: int) -> Scores:
    return Scores(0.60 + number % 5 / 1000, 0.55, 1.0, 3, 0.4)


def false_alarms(chance: random.Random, noise: float, series: int, length: int) -> tuple[int, int]:
    """Alarms in evaluations that only wobble, each series with a level of its own."""
    alarms = 0
    for _ in range(series):
        drift = Drift()
        for _ in range(length):
            drift = drift.observe(LEVEL + chance.gauss(0, noise), PARAMS.drift_allowance)
            if drift.found(PARAMS.drift_limit):
                alarms += 1
                drift = drift.forgiven()
    return alarms, series * length


def engine_alarms(chance: random.Random, params: Params, length: int) -> tuple[int, int]:
    """(Regressions, generations) of one agent that only wobbles, through the whole of evolution."""
    life, setting = Life(), EvaluationContext(snapshot=Snapshot(), at="now")
    regressions = 0
    for _ in range(length):
        by = chance.gauss(0, 0.04)
        scores = Scores(min(1.0, 0.7 + by), min(1.0, 0.6 + by), 1.0, 2, 0.2)
        regressions += life.evaluate(EvaluationInput("ada", scores, setting), params).trigger == "Regression"
    return regressions, life.standing.generation


def delays(chance: random.Random, trials: int, path: Callable[[int], float]) -> list[int]:
    """How many evaluations of a decline it takes to find it, after 40 stable ones."""
    found = []
    for _ in range(trials):
        drift = Drift()
        for _ in range(40):
            drift = drift.observe(LEVEL + chance.gauss(0, 0.02), PARAMS.drift_allowance)
        number = 0
        while not drift.found(PARAMS.drift_limit) and number < 1000:
            number += 1
            drift = drift.observe(LEVEL - path(number) + chance.gauss(0, 0.02), PARAMS.drift_allowance)
        found.append(number)
    return found


def told(label: str, found: Sequence[int]) -> None:
    within = sum(number <= 60 for number in found) / len(found)
    row(label, f"median {statistics.median(found):.0f}, slowest {max(found)}", f"{within:.2%} within 60")


def stable_agents(agents: int, length: int) -> None:
    print(f"\n## {agents} agents that stay as they are, {length:,} evaluations each\n")
    row("noise of each axis", "autonomy", "transitions after the first", "per 10,000", "which")
    row("---", "---", "---", "---", "---")
    for noise, steady in ((0.02, True), (0.05, True), (0.05, False), (0.1, True)):
        found = alarms_of(8, agents, length, noise, steady)
        total = sum(found.values())
        said = ", ".join(f"{name} {count}" for name, count in sorted(found.items())) or "none"
        kind = "a level" if steady else "measured with the same noise"
        row(noise, kind, total, f"{total / (agents * length) * 10_000:.2f}", said)


def causes(trials: int) -> None:
    print(f"\n## Finding the cause, {trials} cases for each lag from 0 to 5\n")
    row("case", "right one off within 5", "innocent one off after 10", "right one off after 10",
        "the original's rule: within 5", "innocent off", "right one off after 10")  # fmt: skip
    row(*["---"] * 7)
    for changes in (1, 2, 3):
        for evidence in (False, True):
            label = f"{changes} at once, {'outcomes known' if evidence else 'scores alone'}"
            cause_row(label, trials, partial(case_of, changes, 0.0, evidence, 0, NOISE))
    for late in (1, 2, 3):
        label = f"3 at once, scores alone, recovery seen {late} later"
        cause_row(label, trials, partial(case_of, 3, 0.0, False, late, NOISE))
    cause_row("3 at once, a fall of 0.08 in fitness", trials, partial(case_of, 3, 0.16, False, 0, NOISE))
    cause_row("3 at once, scores alone, noise 0.1", trials, partial(case_of, 3, 0.0, False, 0, 0.1))


def case_of(changes: int, size: float, evidence: bool, late: int, noise: float, lag: int) -> Damage:
    return Damage(changes, lag, size, evidence, late, noise)


def cause_row(label: str, trials: int, case: Callable[[int], Damage]) -> None:
    row(label, *shares(trials, case, ours), *shares(trials, case, original))


def shares(trials: int, case: Callable[[int], Damage], rule: Callable[[], Rule]) -> list[str]:
    found = [found_cause(trial * 6 + lag, case(lag), rule) for trial in range(trials) for lag in range(6)]
    counts = ([f.in_time for f in found], [f.innocent_off for f in found], [f.still_off for f in found])
    return [f"{sum(column) / len(found):.1%}" for column in counts]


def main(quick: bool) -> None:
    print("# Evolution\n\n## Speed\n")
    row("what", "measured", "goal")
    row("---", "---", "---")
    pure_speed()
    store_speed(2_000 if quick else 100_000)
    chance = random.Random(8)
    print("\n## Drift: false alarms while nothing changes\n")
    row("noise on fitness", "evaluations", "false alarms", "per 10,000")
    row("---", "---", "---", "---")
    for noise in (0.02, 0.025, 0.03):
        alarms, total = false_alarms(chance, noise, 10 if quick else 200, 10_000)
        row(noise, f"{total:,}", alarms, f"{alarms / total * 10_000:.3f}")
    print("\n## The whole of evolution while nothing changes (noise 0.02 on fitness)\n")
    row("parameters", "evaluations", "regressions", "generations")
    row("---", "---", "---", "---")
    length = 2_000 if quick else 200_000
    row("ours", f"{length:,}", *engine_alarms(chance, PARAMS, length))
    row("noise_margin = 0", "1,000", *engine_alarms(chance, Params(noise_margin=0.0), 1_000))
    print("\n## Drift: how soon a decline is found (noise 0.02)\n")
    row("decline", "evaluations until found", "share")
    row("---", "---", "---")
    trials = 100 if quick else 2_000
    told("0.1 at once", delays(chance, trials, lambda n: 0.1))
    told("0.1 in 60 equal steps", delays(chance, trials, lambda n: 0.1 * min(1.0, n / 60)))
    told("0.05 at once", delays(chance, trials, lambda n: 0.05))
    stable_agents(20 if quick else 100, 200 if quick else 1_000)
    causes(10 if quick else 60)


if __name__ == "__main__":
    main("--quick" in sys.argv)
