"""What the numbers of `reading` are worth: `python -m bench.tasks.fitting --installed DIR [--write]`.

Every step of the spent sets is a contest between the tools that its search shows and calling nothing. The
weights make what is right as likely as they can (a softmax over the contest). Printed is how many tasks they
solve where the set, or the servers, that a task is from were left out; with `--write` those of all sets are
written to weights.json. Parameters are known of every tool here; the model asks for them as it needs them.
"""

import argparse
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
import numpy as np
import numpy.typing as npt

from bench.tasks.found import Found
from bench.tasks.opened import opened
from bench.tasks.reading import NUMBERS, WEIGHTS, Reading, arguments_for
from bench.tasks.servers import site
from bench.tasks.task import SETS, Step, read_tasks
from bench.tasks.ways import Prowess
from prowess.discovery.encoder import Encoder
from prowess.discovery.reader import PairReader

SPENT = ("own", "held_out", "fresh", "newest")
LANGUAGES = ("en", "de", "fr", "es", "zh")
RESTRAINT = 0.002
"""What the square of a weight costs, so that none grows without end."""
ROUNDS = 60
SMALLEST_STEP = 1e-4

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Contest:
    """One step: the numbers of each tool that could be called, and of calling nothing, which has none."""

    set: str
    task: tuple[str, str]
    """Its id and language."""
    servers: frozenset[str]
    """Those of the tools that are right."""
    numbers: Floats
    right: npt.NDArray[np.bool_]


def contest(
    step: Step, shown: Sequence[Found], of: tuple[str, str, str], reading: Reading, around: dict[str, Any]
) -> Contest:
    numbers, right = [np.zeros(len(NUMBERS))], [not step.calls]
    for place, found in enumerate(shown, 1):
        given = arguments_for(step, found, around)
        if given is not None:
            evidence = reading.evidence(step, found, place, given)
            numbers.append(np.array([evidence[name] for name in NUMBERS]))
            right.append(found.id in step.calls)
    servers = frozenset(id.partition("/")[0] for id in step.calls)
    return Contest(of[0], of[1:], servers, np.array(numbers), np.array(right))


async def contests(installed: Path) -> list[Contest]:
    made, reading = [], Reading(Encoder.open(), PairReader.open(), {})
    with site() as page:
        async with opened(Prowess, installed) as ready:
            way = ready.way
            assert isinstance(way, Prowess)
            for name in SPENT:
                for task in read_tasks(SETS[name], page):
                    for language in sorted(task.languages().intersection(LANGUAGES)):
                        found = await way.search([step.need[language] for step in task.steps])
                        for step, shown in zip(task.steps, found, strict=True):
                            known = [await way.described(one) for one in shown]
                            of = (name, task.id, language)
                            made.append(contest(step, known, of, reading, ready.around))
    return made


def fitted(seen: Sequence[Contest]) -> Floats:
    """Newton's method, each step halved until it helps."""
    learnt = [one for one in seen if one.right.any()]
    weights = np.zeros(len(NUMBERS))
    cost = cost_of(weights, learnt)
    for _ in range(ROUNDS):
        slope, bend = slopes(weights, learnt)
        step = np.linalg.solve(bend, slope)
        while (new := cost_of(weights - step, learnt)) > cost and np.abs(step).max() > SMALLEST_STEP:
            step = step / 2
        if np.abs(step).max() <= SMALLEST_STEP:
            break
        weights, cost = weights - step, new
    return weights


def cost_of(weights: Floats, seen: Sequence[Contest]) -> float:
    lost = [-np.log(shares(one.numbers @ weights)[one.right].sum() + 1e-12) for one in seen]
    return float(np.mean(lost) + RESTRAINT * weights @ weights / 2)


def slopes(weights: Floats, seen: Sequence[Contest]) -> tuple[Floats, Floats]:
    slope, bend = RESTRAINT * weights, (RESTRAINT + 1e-3) * np.eye(len(weights))
    for one in seen:
        likely = shares(one.numbers @ weights)
        wished = np.where(one.right, likely, 0) / (likely[one.right].sum() + 1e-12)
        middle = likely @ one.numbers
        slope += (middle - wished @ one.numbers) / len(seen)
        bend += ((one.numbers * likely[:, None]).T @ one.numbers - np.outer(middle, middle)) / len(seen)
    return slope, bend


def shares(worths: Floats) -> Floats:
    grown = np.exp(worths - worths.max())
    return np.asarray(grown / grown.sum())


def solved(seen: Sequence[Contest], weights_for: Callable[[Contest], Floats]) -> dict[tuple[str, str], int]:
    """By set and language, how many tasks have all of their steps right."""
    tasks: dict[tuple[str, str, str], bool] = {}
    for one in seen:
        right = bool(one.right[int((one.numbers @ weights_for(one)).argmax())])
        key = (one.set, *one.task)
        tasks[key] = tasks.get(key, True) and right
    done: dict[tuple[str, str], int] = {}
    for (name, _, language), right in tasks.items():
        done[name, language] = done.get((name, language), 0) + right
    return done


def report(title: str, done: dict[tuple[str, str], int]) -> None:
    for name in SPENT:
        told = ", ".join(
            f"{language} {done[name, language]}" for language in LANGUAGES if (name, language) in done
        )
        print(f"{title}, {name}: {told}")


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("--installed", type=Path, required=True)
    options.add_argument("--write", action="store_true")
    given = options.parse_args()
    seen = anyio.run(contests, given.installed)
    whole = fitted(seen)
    without = {name: fitted([one for one in seen if one.set != name]) for name in SPENT}
    kinds = {one.servers for one in seen}
    apart = {
        servers: fitted([one for one in seen if not one.servers & servers]) for servers in kinds if servers
    }
    report("all sets learnt from", solved(seen, lambda one: whole))
    report("without its set", solved(seen, lambda one: without[one.set]))
    report("without its servers", solved(seen, lambda one: apart.get(one.servers, whole)))
    weights = {name: round(float(weight), 2) for name, weight in zip(NUMBERS, whole, strict=True)}
    print(weights)
    if given.write:
        WEIGHTS.write_text(json.dumps(weights, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
