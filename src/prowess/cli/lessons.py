"""`prowess lessons`"""

import getpass
import sys
from collections.abc import Callable
from itertools import count
from pathlib import Path

import click

from prowess.errors import LearningError
from prowess.learning.evidence import read_evidence
from prowess.learning.ledger import SkillLedger
from prowess.learning.lessons import Lesson
from prowess.sources.read_all import SyncProgress

by_option = click.option("--by", default=getpass.getuser, help="Who decides; your login name otherwise.")


@click.group()
def command() -> None:
    """What use has shown to work, and what it takes to rely on it."""


@command.command()
@click.argument("evidence", type=click.Path(), metavar="EVIDENCE.json")
@click.option("--corrected", is_flag=True, help="Double backslashes, so that every text reads back.")
def ledger(evidence: str, corrected: bool) -> None:
    """Print the ledger of one request's evidence as Links Notation."""
    made = SkillLedger.from_evidence(read_evidence(_read(evidence), evidence))
    text = made.to_links_notation("corrected" if corrected else "original")
    sys.stdout.buffer.write(text.encode("utf-8", "replace"))


@command.command()
def learn() -> None:
    """Turn what happened since the last time into lessons and gaps."""
    from prowess.cli.session import opened, say  # `lessons ledger` needs no store
    from prowess.engine.engine import Engine

    with opened() as engine:
        learnt = engine.learning.learn()
        if isinstance(engine, Engine) and not engine.learning.on:
            say('learning is off; set mode = "accumulate" under [learning] in prowess.toml')
            return
    say(f"{len(learnt.lessons)} lessons and {len(learnt.gaps)} gaps changed")


@command.command("list")
@click.option("--status", default="", help="Only proposed, stable, deprecated or retired ones.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def list_(status: str, as_json: bool) -> None:
    """Every lesson, the one seen last first."""
    from prowess.cli.session import emit, opened, table

    with opened() as engine:
        engine.learning.learn()
        found = engine.learning.lessons(status)
    if as_json:
        emit(found)
    else:
        table(["ID", "STATUS", "WORKED", "FAILED", "GATES", "METHOD", "SHOWN BY"], [_row(s) for s in found])


@command.command()
@click.argument("id")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def show(id: str, as_json: bool) -> None:
    """One lesson, with everything its gates measured."""
    from prowess.cli.session import emit, opened, printable

    with opened() as engine:
        lesson, results = engine.learning.lesson(id), engine.learning.results(id)
    if as_json:
        emit({"lesson": lesson, "results": results})
        return
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
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@by_option
def gate(id: tuple[str, ...], every: bool, as_json: bool, by: str) -> None:
    """Run the gates: replay what worked, and measure on requests the lesson was not learned from."""
    from prowess.cli.session import emit, opened, printable, progress_bar, say

    with opened() as engine:
        engine.learning.learn()
        ids = tuple(lesson.id for lesson in engine.learning.lessons("proposed")) if every else id
        if not ids and not every:
            raise LearningError("lessons gate", "no lesson is named", "give an ID, or --all")
        with progress_bar("gates") as advance:
            results = engine.learning.gate(*ids, progress=_in_phases(advance), by=by) if ids else ()
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
    from prowess.cli.session import opened, say

    with opened() as engine:
        done = engine.learning.promote_all() if auto else [engine.learning.promote(one, by) for one in id]
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
    from prowess.cli.session import opened, say

    with opened() as engine:
        lesson = engine.learning.deprecate(id, by, reason)
    say(f"{lesson.id} is deprecated: {lesson.reason}; run: prowess sync")


@command.command()
@click.argument("id")
@click.option("--reason", default="", help="Why.")
@by_option
def retire(id: str, reason: str, by: str) -> None:
    """Withdraw a lesson for good; its history stays."""
    from prowess.cli.session import opened, say

    with opened() as engine:
        lesson = engine.learning.retire(id, by, reason)
    say(f"{lesson.id} is retired: {lesson.reason}; run: prowess sync")


@command.command()
@click.argument("proposal", type=click.Path(), metavar="PROPOSAL.json")
@by_option
def propose(proposal: str, by: str) -> None:
    """Suggest a lesson: an object with method and spans. It may not bring results of its own."""
    from prowess.cli.session import opened, say

    with opened() as engine:
        lesson = engine.learning.propose(_read(proposal), proposal, by)
    say(f"{lesson.id} is proposed; run: prowess lessons gate {lesson.id}")


@command.command()
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def report(as_json: bool) -> None:
    """What each provider and skill costs in tokens, and what use was made of it."""
    from prowess.cli.session import emit, opened, table

    with opened() as engine:
        engine.learning.learn()
        lines = engine.catalogue.usage()
    if as_json:
        emit(lines)
        return
    heads = ["KIND", "NAME", "TOKENS", "OFFERED", "CHOSEN", "SUCCEEDED", "NEVER USED", "ADVICE"]
    rows = [[line.kind, line.name, str(line.tokens), str(line.offered), str(line.chosen), str(line.succeeded),
             str(line.never_used), line.advice] for line in lines]  # fmt: skip
    table(heads, rows)


def _in_phases(advance: SyncProgress) -> Callable[[int, int], None]:
    """A gate replays again and again; each replay adds to the bar, which is full when the gate is done."""
    phases = count()
    now = next(phases)

    def step(done: int, total: int) -> None:
        nonlocal now
        now = next(phases) if done == 0 else now
        advance(str(now), done, total + 1)

    return step


def _row(lesson: Lesson) -> list[str]:
    gates = ("tests " if lesson.has_tests else "") + ("delta" if lesson.has_benchmark_delta else "")
    shown = lesson.proposal or (lesson.spans[0] if lesson.spans else "")
    counts = [str(lesson.successes), str(lesson.failures), gates.strip() or "-"]
    return [lesson.id, lesson.status, *counts, lesson.method, shown]


def _read(file: str) -> bytes:
    try:
        return Path(file).read_bytes()
    except OSError as failure:
        raise LearningError(file, f"cannot be read ({failure.strerror})", "check the path") from None
