"""`prowess gaps`"""

import click

from prowess.cli.lesson_commands import learn_if_allowed
from prowess.cli.session import connected, emit, json_option, printable, say, table
from prowess.operations import learning as ops
from prowess.operations.operation import NO_PARAMS
from prowess.text.counts import counted


@click.group()
def command() -> None:
    """What was needed and could not be done."""


@command.command("list")
@click.option("--closed", is_flag=True, help="Also those that are closed.")
@click.option("--limit", default=20, show_default=True, help="How many, the most worth closing.")
@json_option
def list_(closed: bool, limit: int, as_json: bool) -> None:
    """Gaps, the most worth closing first, with what would close each."""
    with connected() as backend:
        learn_if_allowed(backend)
        found = tuple(backend.pages(ops.list_gaps, ops.Gaps(closed=closed), limit))
    if as_json:
        emit(found)
        return
    shown = [(one.gap, one.closing.say) for one in found]
    rows = [
        [gap.id, str(gap.times), str(len(gap.agents)), gap.last_seen[:19], gap.reason, say, gap.span]
        for gap, say in shown
    ]
    table(["ID", "TIMES", "AGENTS", "LAST", "REASON", "WHAT WOULD CLOSE IT", "NEED"], rows)


@command.command()
@click.argument("id")
@json_option
def show(id: str, as_json: bool) -> None:
    """One gap, whole."""
    with connected() as backend:
        found = backend.call(ops.show_gap, NO_PARAMS, id=id)
    if as_json:
        emit(found)
        return
    gap, closing = found.gap, found.closing
    for key, value in (("need", gap.span), ("status", gap.status), ("reason", gap.reason),
                       ("met", f"{counted(gap.times, 'time')}, first {gap.since}, last {gap.last_seen}"),
                       ("by", ", ".join(gap.agents)), ("nearest", closing.nearest),
                       ("now", closing.why), ("to close", closing.say),
                       ("closed by", gap.closed_by), ("with", gap.answer)):  # fmt: skip
        if value:
            click.echo(f"{key:10} {printable(value)}")


@command.command()
@click.argument("id")
@click.option("--by", default="", help="Who closes it; your login name otherwise.")
def close(id: str, by: str) -> None:
    """Close a gap; it opens again when agents meet it again."""
    with connected(by=by) as backend:
        gap = backend.call(ops.close_gap, NO_PARAMS, id=id)
    say(f"{gap.id} is closed")
