"""Tasks through the gateway: `python -m bench.tasks --installed DIR [--languages en,de] [--sets own,fresh]`.

DIR holds the servers, see `bench.tasks.servers`. `--fastmcp PYTHON` and `--smart PYTHON` name interpreters
with FastMCP and smart-mcp-proxy installed, which do the same tasks. `--verbose` says what was called in place
of what.
"""

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import anyio

from bench.tasks.model import Attempt, Model, Tally
from bench.tasks.opened import Opened, opened
from bench.tasks.reading import Reading, read_weights
from bench.tasks.servers import site
from bench.tasks.task import SETS, Task, read_tasks
from bench.tasks.ways import FastMcp, Prowess, SmartProxy
from prowess.discovery.encoder import Encoder
from prowess.discovery.reader import PairReader

LANGUAGES = ("en", "de", "fr", "zh")
COLUMNS = (
    "way", "set", "language", "solved", "all needs at first", "steps with a right tool shown",
    "of those, shown first", "right tool called", "searches a task", "calls", "failed", "tokens a task",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Run:
    """How one way did all tasks of a set in one language."""

    way: str
    set: str
    language: str
    attempts: tuple[Attempt, ...]
    standing: int
    """Tokens of its list of tools."""


async def runs_of(
    ready: Opened, reading: Reading, tasks: Sequence[Task], set: str, languages: Sequence[str]
) -> list[Run]:
    runs, way, model = [], ready.way, Model(reading, ready.around)
    for language in languages:
        attempts = []
        for task in tasks:
            if language not in task.languages():
                continue
            way.tally = Tally()
            attempt = await model.attempted(task, language, way)
            attempt.tally = way.tally
            attempts.append(attempt)
        if attempts:
            runs.append(Run(way.name, set, language, tuple(attempts), ready.standing))
    return runs


async def measured(given: argparse.Namespace) -> tuple[list[Run], int]:
    runs: list[Run] = []
    everything = 0
    reading = Reading(Encoder.open(), PairReader.open(), read_weights())
    ways = ((Prowess, sys.executable), (FastMcp, given.fastmcp), (SmartProxy, given.smart))
    with site() as page:
        sets = {name: read_tasks(SETS[name], page, given.as_written) for name in given.sets.split(",")}
        for kind, python in ways:
            for name, tasks in sets.items() if python else ():
                async with opened(kind, given.installed, python) as ready:
                    everything = ready.everything
                    runs += await runs_of(ready, reading, tasks, name, given.languages.split(","))
    return runs, everything


def row(run: Run) -> str:
    tasks, possible = len(run.attempts), [one for one in run.attempts if one.task.is_possible]
    total = {
        name: sum(getattr(one.tally, name) for one in run.attempts)
        for name in ("searches", "calls", "failures", "tokens")
    }
    solved = sum(one.solved for one in run.attempts)
    shown = sum(one.shown_at_first for one in possible)
    steps = [
        (place, called in step.calls)
        for one in possible
        for place, called, step in zip(one.places, one.called, one.task.steps, strict=True)
        if step.calls
    ]
    places = [place for place, _ in steps]
    mean = round(run.standing + total["tokens"] / tasks)
    cells: tuple[object, ...] = (
        run.way, run.set, run.language, f"{solved} of {tasks}", f"{shown} of {len(possible)}",
        f"{sum(map(bool, places))} of {len(places)}", places.count(1), sum(right for _, right in steps),
        f"{total['searches'] / tasks:.2f}", total["calls"], total["failures"], mean,
    )  # fmt: skip
    return f"| {' | '.join(map(str, cells))} |"


def missed(run: Run) -> list[str]:
    """The tasks that were not solved, or where something was not shown."""
    return [
        f"{run.way} {run.language} {one.task.id} {'solved' if one.solved else 'UNSOLVED'}"
        f" {[step.need[run.language] for step in one.task.steps]} {one.called}"
        f" wanted {[sorted(step.calls) for step in one.task.steps]}"
        for one in run.attempts
        if not one.solved or (one.task.is_possible and not one.shown_at_first)
    ]


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("--installed", type=Path, required=True)
    options.add_argument("--languages", default=",".join(LANGUAGES))
    options.add_argument("--fastmcp", default="")
    options.add_argument("--smart", default="")
    options.add_argument("--sets", default="own", help=", ".join(SETS))
    options.add_argument("--as-written", action="store_true", help="no other names for tools")
    options.add_argument("--verbose", action="store_true")
    given = options.parse_args()
    runs, everything = anyio.run(measured, given)
    print(f"| {' | '.join(COLUMNS)} |")
    print(f"|{'---|' * len(COLUMNS)}")
    for run in runs:
        print(row(run))
    print(f"\nAll tools of all servers, listed: {everything} tokens.")
    for line in (line for run in runs if given.verbose for line in missed(run)):
        print(line)


if __name__ == "__main__":
    main()
