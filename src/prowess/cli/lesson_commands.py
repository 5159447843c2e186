"""The commands of `prowess lessons` that need a store or a server."""

import sys
from collections.abc import Sequence
from typing import get_args

import click

from prowess.cli.lessons import read_bytes
from prowess.cli.session import connected, emit, json_option, printable, progress_bar, say, table
from prowess.errors import LearningError, RemoteError
from prowess.learning.lessons import OF_A_METHOD, Lesson
from prowess.learning.promotion import read_proposal
from prowess.operations import learning as ops
from prowess.operations.backend import Backend
from prowess.operations.operation import NO_PARAMS
from prowess.text.counts import counted

FORBIDDEN = 403
STATUSES = tuple(status for status in get_args(ops.Status) if status)

by_option = click.option("--by", default="", help="Who decides; your login name otherwise.")


@click.group()
def command() -> None:
    """What use has shown to work, and what it takes to rely on it."""


@command.command()
def learn() -> None:
    """Turn what happened since the last time into lessons and gaps."""
    with connected() as backend:
        learnt = backend.call(ops.learn, NO_PARAMS)
    if learnt.on:
        say(f"{counted(learnt.lessons, 'lesson')} and {counted(learnt.gaps, 'gap')} changed")
    else:
        say('learning is off; set mode = "accumulate" under [learning] in prowess.toml')


def learn_if_allowed(backend: Backend) -> None:
    """Learn before something learnt is shown; whoever may only look sees what was learnt so far."""
    try:
        backend.call(ops.learn, NO_PARAMS)
    except RemoteError as refused:
        if refused.status != FORBIDDEN:
            raise


@command.command("list")
@click.option("--status", type=click.Choice(STATUSES), help="Only those that are this.")
@json_option
def list_(status: ops.Status | None, as_json: bool) -> None:
    """Every lesson, the one seen last first."""
    with connected() as backend:
        learn_if_allowed(backend)
        found = _lessons(backend, status or "")
    if as_json:
        emit(found)
        return
    table(["ID", "STATUS", "WORKED", "FAILED", "GATES", "METHOD", "SHOWN BY"], [_row(s) for s in found])
    for why, methods in _proposed(found).items():
        count = counted(len(methods), "lesson")
        say(f"{why}; run: prowess lessons deprecate --method {methods[0]}  ({count})")


@command.command()
@click.argument("id")
@json_option
def show(id: str, as_json: bool) -> None:
    """One lesson, with everything its gates measured."""
    with connected() as backend:
        found = backend.call(ops.show_lesson, NO_PARAMS, id=id)
    if as_json:
        emit(found)
        return
    lesson, results = found.lesson, found.results
    for key, value in (("id", lesson.id), ("method", lesson.method), ("steps", ", ".join(lesson.steps)),
                       ("status", f"{lesson.status} ({lesson.reason})"), ("proposal", lesson.proposal),
                       ("replaces", lesson.replaces), ("replaced by", lesson.replaced_by),
                       ("agents", ", ".join(lesson.agents)), ("last seen", lesson.last_seen),
                       ("worked", f"{lesson.successes} of {lesson.demonstrations}")):  # fmt: skip
        if value:
            click.echo(f"{key:11} {printable(value)}")
    for span in lesson.spans:
        click.echo(f"{'request':11} {printable(span)}")
    for result in results:
        measured = f"{result.at[:19]} {printable(result.verdict)} gain {result.gain:+.3f} {result.digest}"
        click.echo(f"{'gate':11} {measured}")


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
            asked = ops.GateLessons(lessons=ids)
            results = backend.reporting(advance).call(ops.gate_lessons, asked) if ids else ()
    if as_json:
        emit(results)
    elif not results:
        say("no lesson is proposed, so there is nothing to gate")
    for result in () if as_json else results:
        click.echo(f"{result.lesson}  {'passed' if result.satisfied else 'blocked'}")
        for suite in (result.tests, result.benchmark):
            click.echo(f"  {printable(suite.verdict)}")
        click.echo(f"  measured with: {printable(result.benchmark.used)}")
        if result.benchmark.remedy:
            click.echo(f"  {printable(result.benchmark.remedy)}")
    if not all(result.satisfied for result in results):
        sys.exit(1)


@command.command()
@click.argument("id", nargs=-1)
@click.option(
    "--auto",
    is_flag=True,
    help="Promote every lesson that passed its gates; needs `auto = true` under [learning].",
)
@by_option
def promote(id: tuple[str, ...], auto: bool, by: str) -> None:
    """Rely on a lesson from the next sync on. Its gates must have passed."""
    with connected(by=by) as backend:
        if auto:
            done = backend.call(ops.promote_all, NO_PARAMS)
        else:
            done = tuple(backend.call(ops.promote_lesson, NO_PARAMS, id=one) for one in id)
    for lesson in done:
        say(f"{lesson.id} is stable; run: prowess sync")
    if not done:
        say("nothing was promoted")


@command.command()
@click.argument("id", default="")
@click.option("--method", default="", metavar="CAPABILITY", help="Every lesson that leads to this, at once.")
@click.option("--reason", default="", help="Why.")
@by_option
def deprecate(id: str, method: str, reason: str, by: str) -> None:
    """Stop using a lesson; it may be gated and promoted again."""
    if bool(id) == bool(method):
        raise LearningError("lessons deprecate", "it must be said what", "give an ID, or --method CAPABILITY")
    with connected(by=by) as backend:
        if method:
            done = backend.call(ops.deprecate_all, ops.WithdrawMethod(method=method, reason=reason))
        else:
            done = (backend.call(ops.deprecate_lesson, ops.Reason(reason=reason), id=id),)
    for lesson in done:
        say(f"{lesson.id} is deprecated: {lesson.reason}; run: prowess sync")


@command.command()
@click.argument("id")
@click.option("--reason", default="", help="Why.")
@by_option
def retire(id: str, reason: str, by: str) -> None:
    """Withdraw a lesson for good; its history stays."""
    with connected(by=by) as backend:
        lesson = backend.call(ops.retire_lesson, ops.Reason(reason=reason), id=id)
    say(f"{lesson.id} is retired: {lesson.reason}; run: prowess sync")


@command.command()
@click.argument("proposal", type=click.Path(), metavar="PROPOSAL.json", default="")
@click.option(
    "--anew", default="", metavar="ID", help="Propose the retired lesson ID again, instead of a file."
)
@by_option
def propose(proposal: str, anew: str, by: str) -> None:
    """Suggest a lesson: an object with method and spans. It may not bring results of its own."""
    if bool(proposal) == bool(anew):
        raise LearningError("lessons propose", "it must be said what", "give a PROPOSAL.json, or --anew ID")
    said = None if anew else read_proposal(read_bytes(proposal), proposal)
    with connected(by=by) as backend:
        if said is None:
            lesson = backend.call(ops.propose_anew, NO_PARAMS, id=anew)
        else:
            lesson = backend.call(ops.propose_lesson, ops.Proposed(method=said.method, spans=said.spans))
    again = f", in place of {lesson.replaces}" if lesson.replaces else ""
    then = "" if lesson.status == "stable" else f"; run: prowess lessons gate {lesson.id}"
    say(f"{lesson.id} is {lesson.status}{again}{then}")


@command.command()
@json_option
def report(as_json: bool) -> None:
    """What each provider and skill costs in tokens, and what use was made of it."""
    with connected() as backend:
        learn_if_allowed(backend)
        lines = backend.call(ops.report_usage, NO_PARAMS)
    if as_json:
        emit(lines)
        return
    heads = ["KIND", "NAME", "TOKENS", "OFFERED", "CHOSEN", "SUCCEEDED", "NEVER USED", "ADVICE"]
    rows = [[line.kind, line.name, str(line.tokens), str(line.offered), str(line.chosen), str(line.succeeded),
             str(line.never_used), line.advice] for line in lines]  # fmt: skip
    table(heads, rows)


def _lessons(backend: Backend, status: ops.Status) -> tuple[Lesson, ...]:
    return tuple(backend.pages(ops.list_lessons, ops.LessonsQuery(status=status)))


def _proposed(found: Sequence[Lesson]) -> dict[str, list[str]]:
    """What is to be deprecated because it fails: why -> the capability that each lesson leads to."""
    methods: dict[str, list[str]] = {}
    for lesson in found:
        if OF_A_METHOD.search(lesson.proposal):
            method = lesson.proposal.rpartition(" uses of ")[2].removesuffix(" failed")
            methods.setdefault(lesson.proposal, []).append(method)
    return methods


def _row(lesson: Lesson) -> list[str]:
    gates = ("tests " if lesson.has_tests else "") + ("delta" if lesson.has_benchmark_delta else "")
    shown = lesson.proposal or (lesson.spans[0] if lesson.spans else "")
    counts = [str(lesson.successes), str(lesson.failures), gates.strip() or "-"]
    return [lesson.id, lesson.status, *counts, lesson.method, shown]
