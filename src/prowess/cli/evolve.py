"""`prowess evolve`"""

import sys
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO

import click
import msgspec

from prowess.cli.evaluating import (
    EVALUATING,
    agent_option,
    assigned,
    dry_run_option,
    say_if_dry,
    say_rolled_back,
    value_of,
)
from prowess.cli.session import connected, emit, json_option, printable, say, table
from prowess.errors import EvolutionError
from prowess.evolution.encoding import params_data
from prowess.evolution.history import GenerationDifference
from prowess.evolution.params import Params, parse_params
from prowess.evolution.records import Evaluation
from prowess.evolution.replay import as_data, replay
from prowess.operations import evolution as ops
from prowess.operations.backend import Backend
from prowess.operations.operation import NO_PARAMS, AgentQuery
from prowess.text.counts import counted
from prowess.types import Json

BAR = 24
EIGHTHS = " ▏▎▍▌▋▊▉█"


@click.group()
def command() -> None:
    """See what changed in an agent, whether it was good, and roll it back."""


for each in EVALUATING:
    command.add_command(each)


@command.command()
@agent_option
@json_option
def status(agent: str, as_json: bool) -> None:
    """Where an agent stands."""
    with connected() as backend:
        found = backend.call(ops.status, AgentQuery(agent=agent))
    if as_json:
        emit(found)
    else:
        table(("WHAT", "NOW"), _status_rows(found))


@command.command()
@agent_option
@click.option("--limit", default=50, show_default=True, help="How many, the newest.")
@json_option
def history(agent: str, limit: int, as_json: bool) -> None:
    """The generations, oldest first, with their fitness as a chart."""
    with connected() as backend:
        found = backend.call(ops.list_generations, ops.GenerationsQuery(agent=agent, limit=limit))
    if as_json:
        emit(found)
    elif found:
        _chart(found)
    else:
        say(f"{agent} has no generations yet; the first evaluation makes one")


@command.command()
@click.argument("number", type=int)
@agent_option
@json_option
def show(number: int, agent: str, as_json: bool) -> None:
    """One generation, whole."""
    with connected() as backend:
        found = backend.call(ops.show_generation, AgentQuery(agent=agent), number=str(number))
    if as_json:
        emit(found)
    else:
        table(("WHAT", "VALUE"), _generation_rows(found))


@command.command()
@click.argument("before", type=int)
@click.argument("after", type=int)
@agent_option
@json_option
def diff(before: int, after: int, agent: str, as_json: bool) -> None:
    """Show what changed between two generations."""
    with connected() as backend:
        found = backend.call(ops.difference, ops.Between(agent=agent, before=before, after=after))
    if as_json:
        emit(found)
    else:
        table(("WHAT", "CHANGE"), _difference_rows(found))


@command.command()
@click.argument("number", type=int)
@dry_run_option
@agent_option
@json_option
def rollback(number: int, dry_run: bool, agent: str, as_json: bool) -> None:
    """Bring a generation back: what came since is switched off for the agent."""
    with connected() as backend:
        done = backend.call(ops.rollback, ops.Back(generation=number, dry_run=dry_run), agent=agent)
    if as_json:
        emit({name: getattr(done, name) for name in ("agent", "trigger", "generation", "events")})
    else:
        say_if_dry(dry_run)
        say_rolled_back(done, number)


@command.command()
@agent_option
def resume(agent: str) -> None:
    """Let an agent run again after it was stopped."""
    with connected() as backend:
        backend.call(ops.resume, NO_PARAMS, agent=agent)
    say(f"{agent} runs again; what was rolled back stays off until you switch it on")


@command.command()
@agent_option
def repair(agent: str) -> None:
    """Restore or remove unreadable records of an agent's evolution; doctor says when this is needed."""
    with connected() as backend:
        done = backend.call(ops.repair, NO_PARAMS, agent=agent)
    for what in done.rewritten:
        say(f"{what}: found from the other records and written anew")
    for what in done.removed:
        say(f"{what}: removed, nothing of it could be read")
    if not (done.rewritten or done.removed):
        say(f"everything of {agent} can be read")


@command.command()
@click.option("--set", "changes", multiple=True, metavar="NAME=VALUE", help="Change one; weights.safety=0.3.")
@agent_option
@json_option
def params(changes: tuple[str, ...], agent: str, as_json: bool) -> None:
    """The parameters that decide about transitions; with --set, change some."""
    with connected() as backend:
        found = backend.call(ops.show_params, AgentQuery(agent=agent))
        if changes:
            found = _changed(backend, agent, found, _assignments(changes))
    if as_json:
        emit(params_data(found))
    else:
        table(("NAME", "VALUE"), [(name, str(value)) for name, value in _flat(params_data(found)).items()])


def _changed(backend: Backend, agent: str, before: Params, changes: dict[str, Json]) -> Params:
    parse_params(changes, before)  # says what is wrong better than the form of a request can
    return backend.call(ops.set_params, msgspec.convert(changes, ops.ParamsAsked), agent=agent)


@command.command("replay")
@click.argument("file", type=click.File("rb"))
@click.option("--params", "params_file", type=click.Path(), help="Parameters to try, as JSON or TOML.")
@json_option
def replay_(file: BinaryIO, params_file: str | None, as_json: bool) -> None:
    """What would have happened: evaluations from a file, without any store.

    Each line of FILE is {"agent": ..., "scores": {...}, "snapshot": {...}}; - reads from a pipe.
    """
    tried = _read_params(Path(params_file)) if params_file else Params()
    lines = as_json or not sys.stdout.isatty()
    for evaluation in replay(file, tried, getattr(file, "name", "-")):
        click.echo(msgspec.json.encode(as_data(evaluation)) if lines else _told(evaluation))


# --- for people ------------------------------------------------------------------------------


def _chart(generations: Sequence[ops.GenerationShown]) -> None:
    rows = [
        (
            str(generation.number),
            generation.at[:19].replace("T", " "),
            generation.trigger,
            f"{_bar(generation.fitness)} {generation.fitness:.3f} {generation.fitness_delta:+.3f}",
            f"back to {generation.restored}: {generation.reason}"
            if generation.restored
            else generation.reason,
        )
        for generation in generations
    ]
    table(("GEN", "WHEN", "TRIGGER", "FITNESS".ljust(BAR + 13), "NOTE"), rows)


def _bar(value: float) -> str:
    """A bar of `BAR` cells, fine to an eighth of a cell."""
    eighths = round(min(1.0, max(0.0, value)) * BAR * 8)
    full, rest = divmod(eighths, 8)
    return (EIGHTHS[8] * full + (EIGHTHS[rest] if rest else "")).ljust(BAR)


def _status_rows(status: ops.StatusShown) -> list[tuple[str, str]]:
    if status.scores is None or status.fitness is None:
        by_hand = f"prowess evolve evaluate --agent {status.agent}"
        return [("agent", status.agent), ("evaluated", f"not evaluated yet; run: {by_hand}")]
    rows = [
        ("agent", status.agent),
        ("generation", f"{status.generation} (last good: {status.good})"),
        ("fitness", f"{_bar(status.fitness)} {status.fitness:.3f}, {status.trend}"),
        *((axis, str(value)) for axis, value in msgspec.structs.asdict(status.scores).items()),
        ("evaluations", f"{status.evaluations}, {status.since_generation} since the last generation"),
    ]
    if status.grace:
        grace = status.grace
        rows.append(
            (
                "grace",
                f"{counted(status.grace_remaining, 'evaluation')} left to reach {grace.baseline:.3f} again",
            )
        )
    if status.trial:
        trial, by_hand = status.trial, f"prowess evolve accept --agent {status.agent}"
        rows.append(
            ("suspect", f"{trial.suspect}: {trial.reason}; then: {', '.join(trial.others) or 'nobody'}")
        )
        waits = f"for you; run: {by_hand}, or decline"
        back = f"to see whether fitness stays well with {', '.join(trial.on_again)} on again"
        sees = back if trial.on_again else "to see whether it helps that it is off"
        rows.append(("waits", waits if trial.waits_for_a_person else sees))
    if status.stopped:
        rows.append(("stopped", f"{status.stopped}; run: prowess evolve resume --agent {status.agent}"))
    return rows


def _generation_rows(generation: ops.GenerationShown) -> list[tuple[str, str]]:
    return [(name, _text(value)) for name, value in _flat(msgspec.to_builtins(generation)).items()]


def _difference_rows(found: GenerationDifference) -> list[tuple[str, str]]:
    return [
        ("fitness", f"{found.fitness:+.3f}"),
        *((axis, f"{change:+.3f}") for axis, change in found.axes.items()),
        *((name, "added") for name in found.providers_added),
        *((name, "removed") for name in found.providers_removed),
        *((gain.provider, f"brings {gain.faculty}") for gain in found.gained),
        *((loss.provider, f"no longer brings {loss.faculty}") for loss in found.lost),
        ("policy", "changed" if found.policy_changed else "the same"),
        ("catalogue", "changed" if found.catalogue_changed else "the same"),
    ]


def _told(evaluation: Evaluation) -> str:
    said = ", ".join(event.type for event in evaluation.events)
    line = f"{evaluation.agent}  gen {evaluation.generation}  {evaluation.trigger or '-'}  {said}"
    return printable(line)


# --- reading ---------------------------------------------------------------------------------


def _read_params(file: Path) -> Params:
    try:
        text = file.read_text(encoding="utf-8")
        data = tomllib.loads(text) if file.suffix == ".toml" else msgspec.json.decode(text)
    except (OSError, ValueError) as failure:
        remedy = "give a file of parameters as JSON or TOML; see: prowess evolve params --json"
        raise EvolutionError(str(file), f"cannot be read ({failure})", remedy) from None
    return parse_params(data, place=str(file))


def _assignments(changes: Sequence[str]) -> dict[str, Json]:
    """`alpha=0.2` and `weights.safety=0.3` as an object."""
    found: dict[str, Json] = {}
    for change in changes:
        name, text = assigned(change, "--set name=value")
        group, _, part = name.rpartition(".")
        (found.setdefault(group, {}) if group else found)[part] = value_of(text)
    return found


def _flat(data: Json, prefix: str = "") -> dict[str, Json]:
    found: dict[str, Json] = {}
    for name, value in data.items():
        found |= _flat(value, f"{prefix}{name}.") if isinstance(value, dict) else {f"{prefix}{name}": value}
    return found


def _text(value: Json) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
