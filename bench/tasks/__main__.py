"""Tasks through the gateway: `python -m bench.tasks --installed DIR [--languages en,de] [--sets own,fresh]`.

DIR holds the servers, see `bench.tasks.servers`. `--fastmcp PYTHON` and `--smart PYTHON` name interpreters
with FastMCP and smart-mcp-proxy installed, which do the same tasks. `--verbose` says what was called in place
of what.
"""

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio

from bench.tasks.model import Attempt, Tally, attempted
from bench.tasks.servers import Server, prepare, servers, site, write_config
from bench.tasks.task import SETS, Task, read_tasks
from bench.tasks.ways import (
    FASTMCP,
    FastMcp,
    Prowess,
    SmartProxy,
    connected,
    prowess_command,
    standing,
)

RESULTS = Path(__file__).parents[1] / "results" / "tasks.md"
LANGUAGES = ("en", "de", "fr", "zh")
COLUMNS = (
    "way", "set", "language", "solved", "all needs at first", "steps with a right tool shown",
    "of those, shown first", "searches a task", "calls", "failed", "tokens a task",
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


async def ready(client: Any, tools: int) -> None:
    """All servers have been read, and everything has its vector."""
    with anyio.fail_after(180):
        while True:
            answer = await client.call_tool("list_capabilities", {})
            if json.loads(answer.content[0].text)["total"] >= tools:
                break
            await anyio.sleep(0.5)
        while "still being read" in str(
            await client.call_tool("discover_capabilities", {"query": "warm up"})
        ):
            await anyio.sleep(0.5)


async def runs_of(
    way: Any, tasks: Sequence[Task], set: str, languages: Sequence[str], around: dict[str, Any], cost: int
) -> list[Run]:
    runs = []
    for language in languages:
        attempts = []
        for task in tasks:
            if language not in task.languages():
                continue
            way.tally = Tally()
            attempt = await attempted(task, language, way, around)
            attempt.tally = way.tally
            attempts.append(attempt)
        runs.append(Run(way.name, set, language, tuple(attempts), cost))
    return runs


async def measured(given: argparse.Namespace) -> tuple[list[Run], int]:
    runs: list[Run] = []
    with site() as page:
        sets = {name: read_tasks(SETS[name], page, given.as_written) for name in given.sets.split(",")}
        everything = 0
        for kind in (Prowess, FastMcp, SmartProxy):
            python = {Prowess: sys.executable, FastMcp: given.fastmcp, SmartProxy: given.smart}[kind]
            if not python:
                continue
            for name, tasks in sets.items():
                async with AsyncExitStack() as stack:
                    place = Path(stack.enter_context(tempfile.TemporaryDirectory()))
                    folder = place / "work"
                    prepare(folder)
                    started = servers(given.installed, folder)
                    if not everything:
                        everything, tools = await listed_whole(started, folder)
                    command, env = command_of(kind, python, place, started)
                    client = await stack.enter_async_context(connected(command, folder, env))
                    if kind is Prowess:
                        await ready(client, tools)
                    around = {"path": str(folder), "repository": str(folder), "timezone": "Europe/Berlin"}
                    way, languages = kind(client), given.languages.split(",")
                    runs += await runs_of(way, tasks, name, languages, around, await standing(client))
    return runs, everything


async def listed_whole(started: dict[str, Server], folder: Path) -> tuple[int, int]:
    """Tokens of all tools of all servers, as a client without a gateway has them; and how many there are."""
    tokens = tools = 0
    for server in started.values():
        env = {**os.environ, **server.env}
        async with connected([server.command, *server.args], folder, env) as client:
            tokens += await standing(client)
            tools += len((await client.list_tools()).tools)
    return tokens, tools


def command_of(
    kind: type, python: str, place: Path, started: dict[str, Server]
) -> tuple[list[str], dict[str, str]]:
    env = dict(os.environ)
    if kind is Prowess:
        return prowess_command(python, write_config(place, started)), env
    entries = {
        name: {"command": one.command, "args": list(one.args), "env": {**env, **one.env}}
        for name, one in started.items()
    }
    if kind is FastMcp:
        return [python, "-c", FASTMCP, json.dumps({"mcpServers": entries})], env
    file = place / "mcp_config.json"
    file.write_text(json.dumps({"mcpServers": entries}))
    env |= {
        "MCPPROXY_ROUTING_TYPE": "CALL_TOOL",
        "MCPPROXY_CONFIG_PATH": str(file),
        "MCPPROXY_DATA_DIR": str(place),
        "MCPPROXY_TRUNCATE_OUTPUT_LEN": "0",
    }
    return [str(Path(python).with_name("mcpproxy"))], env


def row(run: Run, everything: int) -> str:
    tasks, possible = len(run.attempts), [one for one in run.attempts if one.task.is_possible]
    total = {
        name: sum(getattr(one.tally, name) for one in run.attempts)
        for name in ("searches", "calls", "failures", "tokens")
    }
    solved = sum(one.solved for one in run.attempts)
    shown = sum(one.shown_at_first for one in possible)
    places = [
        place
        for one in possible
        for place, step in zip(one.places, one.task.steps, strict=True)
        if step.calls
    ]
    mean = round(run.standing + total["tokens"] / max(tasks, 1))
    cells: tuple[object, ...] = (
        run.way, run.set, run.language, f"{solved} of {tasks}", f"{shown} of {len(possible)}",
        f"{sum(map(bool, places))} of {len(places)}", places.count(1),
        f"{total['searches'] / max(tasks, 1):.2f}", total["calls"], total["failures"], mean,
    )  # fmt: skip
    return f"| {' | '.join(map(str, cells))} |"


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
        print(row(run, everything))
    print(f"\nAll tools of all servers, listed: {everything} tokens.")
    for run in runs if given.verbose else ():
        for one in run.attempts:
            if not one.solved or (one.task.is_possible and not one.shown_at_first):
                wanted = [sorted(step.calls) for step in one.task.steps]
                needs = [step.need[run.language] for step in one.task.steps]
                print(
                    run.way,
                    run.language,
                    one.task.id,
                    "solved" if one.solved else "UNSOLVED",
                    needs,
                    one.called,
                    "wanted",
                    wanted,
                )


if __name__ == "__main__":
    main()
