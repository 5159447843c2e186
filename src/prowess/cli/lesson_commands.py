"""The commands of `prowess lessons` that need a store or a server."""

import sys
from typing import get_args

import click

from prowess.cli.lessons import read_bytes
from prowess.cli.session import connected, emit, json_option, printable, progress_bar, say, table
from prowess.errors import LearningError, RemoteError
from prowess.learning.lessons import Lesson
from prowess.learning.promotion import read_proposal
from prowess.operations import learning as operations
from prowess.operations.backend import Backend
from prowess.operations.learning import GateLessons, LessonsQuery, Proposed, Reason, Status
from prowess.operations.operation import NO_PARAMS

FORBIDDEN = 403
STATUSES = tuple(status for status in get_args(Status) if status)

by_option = click.option("--by", default="", help="Who decides; your login name otherwise.")


@click.group()
def command() -> None:
    """What use has shown to work, and what it takes to rely on it."""


@command.command()
def learn() -> None:
    """Turn what happened since the last time into lessons and gaps."""
    with connected() as backend:
        learnt = backend.call(operations.learn, NO_PARAMS)
    if learnt.on:
        say(f"{learnt.lessons} lessons and {learnt.gaps} gaps changed")
    else:
        say('learning is off; set mode = "accumulate" under [learning] in prowess.toml')


def learn_if_allowed(backend: Backend) -> None:
    """Learn before something learnt is shown; whoever may only look sees what was learnt so far."""
    try:
        backend.call(operations.learn, NO_PARAMS)
    except RemoteError as refused:
        if refused.status != FORBIDDEN:
            raise


@command.command("list")
@click.option("--status", type=click.Choice(STATUSES), help="Only those that are this.")
@json_option
def list_(status: Status | None, as_json: bool) -> None:
    """Every lesson, the one seen last first."""
    with connected() as backend:
        learn_if_allowed(backend)
        found = _lessons(backend, status or "")
    if as_json:
        emit(found)
    else:
        table(["ID", "STATUS", "WORKED", "FAILED", "GATES", "METHOD", "SHOWN BY"], [_row(s) for s in found])


@command.command()
@click.argument("id")
@json_option
def show(id: str, as_json: bool) -> None:
    """One lesson, with everything its gates measured."""
    with connected() as backend:
        found = backend.call(operations.show_lesson, NO_PARAMS, id=id)
    if as_json:
        emit(found)
        return
    lesson, results = found.lesson, found.results
    for key, value in (("id", lesson.id), ("method", lesson.method), ("steps", ", ".join(lesson.steps)),
                       ("status", f"{lesson.status} ({lesson.reason})"), ("proposal", lesson.proposal),
                       ("agents", ", ".join(lesson.agents)), ("last seen", lesson.last_seen),
                       ("worked", f"{lesson.successes} of {lesson.demonstrations}")):  # fmt: skip
        if value:
            click.echo(f"{key:10} {printable(value)}")
    for span in lesson.spans:
        click.echo(f"{'request':10} {printable(span)}")
    for result in results:
        measured = f"{result.at[:19]} {printable(result.verdict)} gain {result.gain:+.3f} {result.digest}"
        click.echo(f"{'gate':10} {measured}")


@command.command()
@click.argument("id", nargs=-1)
@click.option("--all", "every", is_flag=True, help="Every proposed lesson, in one batch.")
@json_option
@by_option
def gate(id: tuple[str, ...], every: bool, as_json: bool, by: str) -> None:
    """Run the gates: replay what worked, and measure on requests the lesson was not learned from."""
    with connected(by=by) as backend:
        learn_if_allowed(backend)
        ids = tuple(lesson.id for lesson in _lessons(backend, "proposed")) if every else id
        if not ids and not every:
            raise LearningError("lessons gate", "no lesson is named", "give an ID, or --all")
        with progress_bar("gates") as advance:
            asked = GateLessons(lessons=ids)
            results = backend.reporting(advance).call(operations.gate_lessons, asked) if ids else ()
    if as_json:
        emit(results)
    elif not results:
        say("no lesson is proposed, so there is nothing to gate")
    for result in () if as_json else results:
        click.echo(f"{result.lesson}  {'passed' if result.satisfied else 'blocked'}")
        for suite in (result.tests, result.benchmark):
            click.echo(f"  {printable(suite.verdict)}")
    if not all(result.satisfied for result in results):
        sys.exit(1)


@command.command()
@click.argument("id", nargs=-1)
@click.option("--auto", is_flag=True, help="Whatever has passed its gates, if the configuration says so.")
@by_option
def promote(id: tuple[str, ...], auto: bool, by: str) -> None:
    """Rely on a lesson from the next sync on. Its gates must have passed."""
    with connected(by=by) as backend:
        if auto:
            done = backend.call(operations.promote_all, NO_PARAMS)
        else:
            done = tuple(backend.call(operations.promote_lesson, NO_PARAMS, id=one) for one in id)
    for lesson in done:
        say(f"{lesson.id} is stable; run: prowess sync")
    if not done:
        say("nothing was promoted")


@command.command()
@click.argument("id")
@click.option("--reason", default="", help="Why.")
@by_option
def deprecate(id: str, reason: str, by: str) -> None:
    """Rely on a lesson no more; it may be gated and promoted again."""
    with connected(by=by) as backend:
        lesson = backend.call(operations.deprecate_lesson, Reason(reason=reason), id=id)
    say(f"{lesson.id} is deprecated: {lesson.reason}; run: prowess sync")


@command.command()
@click.argument("id")
@click.option("--reason", default="", help="Why.")
@by_option
def retire(id: str, reason: str, by: str) -> None:
    """Withdraw a lesson for good; its history stays."""
    with connected(by=by) as backend:
        lesson = backend.call(operations.retire_lesson, Reason(reason=reason), id=id)
    say(f"{lesson.id} is retired: {lesson.reason}; run: prowess sync")


@command.command()
@click.argument("proposal", type=click.Path(), metavar="PROPOSAL.json")
@by_option
def propose(proposal: str, by: str) -> None:
    """Suggest a lesson: an object with method and spans. It may not bring results of its own."""
    said = read_proposal(read_bytes(proposal), proposal)
    with connected(by=by) as backend:
        lesson = backend.call(operations.propose_lesson, Proposed(method=said.method, spans=said.spans))
    say(f"{lesson.id} is proposed; run: prowess lessons gate {lesson.id}")


@command.command()
@json_option
def report(as_json: bool) -> None:
    """What each provider and skill costs in tokens, and what use was made of it."""
    with connected() as backend:
        learn_if_allowed(backend)
        lines = backend.call(operations.report_usage, NO_PARAMS)
    if as_json:
        emit(lines)
        return
    heads = ["KIND", "NAME", "TOKENS", "OFFERED", "CHOSEN", "SUCCEEDED", "NEVER USED", "ADVICE"]
    rows = [[line.kind, line.name, str(line.tokens), str(line.offered), str(line.chosen), str(line.succeeded),
             str(line.never_used), line.advice] for line in lines]  # fmt: skip
    table(heads, rows)


def _lessons(backend: Backend, status: Status) -> tuple[Lesson, ...]:
    return tuple(backend.pages(operations.list_lessons, LessonsQuery(status=status)))


def _row(lesson: Lesson) -> list[str]:
    gates = ("tests " if lesson.has_tests else "") + ("delta" if lesson.has_benchmark_delta else "")
    shown = lesson.proposal or (lesson.spans[0] if lesson.spans else "")
    counts = [str(lesson.successes), str(lesson.failures), gates.strip() or "-"]
    return [lesson.id, lesson.status, *counts, lesson.method, shown]
