"""`prowess sync`"""

import click

from prowess.cli.list import missing_secrets
from prowess.cli.session import (
    beside_the_store,
    connected,
    emit,
    json_option,
    opened,
    printable,
    problem_count,
    progress_bar,
    say,
    until_interrupted,
)
from prowess.operations import catalogue as ops
from prowess.operations.backend import Backend
from prowess.operations.operation import NO_PARAMS
from prowess.operations.quarantine import list_held
from prowess.text.counts import counted
from prowess.types import SyncReport

FEW_PROBLEMS = 3
"""So many are said at once; more are for the doctor."""
NOTHING_READ = (
    "no source has anything: name your functions, servers or folders under [[source]] in prowess.toml,"
    " or take over the servers of a client: prowess connect CLIENT"
)


@click.command()
@click.argument("source", nargs=-1)
@click.option("--watch", is_flag=True, help="Keep running, and sync again whenever files change.")
@json_option
def command(source: tuple[str, ...], watch: bool, as_json: bool) -> None:
    """Bring the catalogue up to date with all sources, or with each SOURCE you name."""
    if not watch:
        with connected(new=True) as backend:
            sync(backend, source, as_json)
        return
    with opened(new=True) as engine:
        backend = beside_the_store(engine)
        sync(backend, source, as_json)
        with until_interrupted():
            say("watching for changes; stop with Ctrl-C")
            engine.watch(lambda report: show(backend, report, as_json))


def sync(backend: Backend, sources: tuple[str, ...], as_json: bool) -> None:
    with progress_bar("reading") as progress:
        report = backend.reporting(progress).call(ops.sync, ops.SyncRequest(sources=sources))
    show(backend, report, as_json)


def show(backend: Backend, report: SyncReport, as_json: bool) -> None:
    changes = report.changes
    if as_json:
        emit(report)
        return
    for sign, ids in (("+", changes.added), ("~", changes.changed), ("-", changes.removed)):
        for id in ids[:20]:
            click.echo(f"{sign} {id}")
        if len(ids) > 20:
            click.echo(f"{sign} and {len(ids) - 20} more")
    say(
        f"{counted(report.total, 'capability')}: {len(changes.added)} added, {len(changes.changed)} changed,"
        f" {len(changes.removed)} removed (catalogue version {report.version})"
    )
    for problem in (problem for problem in report.problems if problem.source == "guard"):
        say(printable(f"guard: {problem}"))
    _say_what_to_do(backend, report)


def _say_what_to_do(backend: Backend, report: SyncReport) -> None:
    waiting = [held for held in backend.call(list_held, NO_PARAMS) if held.state == "waiting"]
    if waiting:
        say(f"{len(waiting)} held back until a person has looked; see: prowess quarantine list")
    if report.problems:
        others = [problem for problem in report.problems if problem.source != "guard"]
        for problem in others if len(others) <= FEW_PROBLEMS else ():
            say(printable(str(problem)))
        say(f"{problem_count(report.problems)}; see: prowess doctor")
    for line in missing_secrets(backend):
        say(line)
    if report.problems:
        return
    if not report.total:
        say(NOTHING_READ)
