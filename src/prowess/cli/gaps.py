"""`prowess gaps`"""

import getpass

import click

from prowess.cli.session import emit, json_option, opened, printable, say, table


@click.group()
def command() -> None:
    """What was needed and could not be done."""


@command.command("list")
@click.option("--closed", is_flag=True, help="Also those that are closed.")
@click.option("--limit", default=20, show_default=True, help="How many, the most worth closing.")
@json_option
def list_(closed: bool, limit: int, as_json: bool) -> None:
    """Gaps, the most worth closing first, with what would close each."""
    with opened() as engine:
        engine.learning.learn()
        gaps = engine.learning.gaps(closed)[:limit]
        found = [(gap, engine.learning.closing(gap)) for gap in gaps]
    if as_json:
        emit([{"gap": gap, "closing": closing} for gap, closing in found])
        return
    rows = [
        [gap.id, str(gap.times), str(len(gap.agents)), gap.last_seen[:19], gap.reason, closing.say, gap.span]
        for gap, closing in found
    ]
    table(["ID", "TIMES", "AGENTS", "LAST", "REASON", "WHAT WOULD CLOSE IT", "NEED"], rows)


@command.command()
@click.argument("id")
@json_option
def show(id: str, as_json: bool) -> None:
    """One gap, whole."""
    with opened() as engine:
        gap = engine.learning.gap(id)
        closing = engine.learning.closing(gap)
    if as_json:
        emit({"gap": gap, "closing": closing})
        return
    for key, value in (("need", gap.span), ("status", gap.status), ("reason", gap.reason),
                       ("met", f"{gap.times} times, first {gap.since}, last {gap.last_seen}"),
                       ("by", ", ".join(gap.agents)), ("nearest", closing.nearest),
                       ("now", closing.why), ("to close", closing.say),
                       ("closed by", gap.closed_by)):  # fmt: skip
        if value:
            click.echo(f"{key:10} {printable(value)}")


@command.command()
@click.argument("id")
@click.option("--by", default=getpass.getuser, help="Who closes it; your login name otherwise.")
def close(id: str, by: str) -> None:
    """Say that a gap needs nothing more; met again, it opens again."""
    with opened() as engine:
        gap = engine.learning.close_gap(id, by)
    say(f"{gap.id} is closed")
