"""`prowess approval`"""

import getpass
from datetime import timedelta

import click

from prowess.cli.session import emit, json_option, opened, say, table
from prowess.policy.approvals import Answer


@click.group()
def command() -> None:
    """Approvals: what policy asks a person about."""


@command.command("list")
@click.option("--all", "every", is_flag=True, help="Also those that are answered or expired.")
@json_option
def show(every: bool, as_json: bool) -> None:
    """The questions that wait for an answer."""
    with opened() as engine:
        found = engine.approvals(every)
    if as_json:
        emit(found)
        return
    rows = [(a.id, a.agent, a.capability, a.state, a.expires_at, a.reason) for a in found]
    table(("ID", "AGENT", "CAPABILITY", "STATE", "UNTIL", "REASON"), rows)


@command.command()
@click.argument("id")
@click.option("--yes/--no", "yes", default=None, help="Allow it, or refuse it; one is required.")
@click.option("--by", default="", help="Who answers; otherwise the user of this terminal.")
@click.option("--note", default="", help="Why.")
@click.option("--minutes", default=60, type=click.IntRange(1), show_default=True, help="How long it holds.")
@json_option
def answer(id: str, yes: bool | None, by: str, note: str, minutes: int, as_json: bool) -> None:
    """Answer the question ID."""
    if yes is None:  # a flag of two names is never missing to click
        raise click.UsageError("Say --yes or --no.")
    said = Answer(yes=yes, by=by or getpass.getuser(), note=note, holds=timedelta(minutes=minutes))
    with opened() as engine:
        approval = engine.answer(id, said)
    if as_json:
        emit(approval)
    say(f"{approval.agent} may{'' if yes else ' not'} use {approval.capability} until {approval.expires_at}")
