"""`prowess approval`"""

from typing import get_args

import click

from prowess.cli.session import connected, emit, json_option, say, table
from prowess.journal import spoken
from prowess.operations.approvals import AnswerApproval, Every, answer_approval, list_approvals
from prowess.policy.approvals import Approval, Scope


@click.group()
def command() -> None:
    """Approvals: what policy asks a person about."""


@command.command("list")
@click.option("--all", "every", is_flag=True, help="Also those that are answered or expired.")
@json_option
def show(every: bool, as_json: bool) -> None:
    """The questions that wait for an answer."""
    with connected() as backend:
        found = backend.call(list_approvals, Every(every=every))
    if as_json:
        emit(found)
        return
    rows = [(a.id, a.agent, a.capability, _with(a), a.state, a.expires_at, a.reason) for a in found]
    table(("ID", "AGENT", "CAPABILITY", "ARGUMENTS", "STATE", "UNTIL", "REASON"), rows)


def _with(approval: Approval) -> str:
    if not approval.arguments:
        return "none" if approval.arguments_digest else "not stated"
    return ", ".join(f"{name}: {value}" for name, value in approval.arguments.items())


@command.command()
@click.argument("id")
@click.option("--yes/--no", "yes", default=None, help="Allow it, or refuse it; one is required.")
@click.option("--by", default="", help="Who answers; otherwise the user of this terminal.")
@click.option("--note", default="", help="Why.")
@click.option("--minutes", default=60, type=click.IntRange(1), show_default=True, help="How long it holds.")
@click.option(
    "--scope",
    type=click.Choice(get_args(Scope)),
    default="once",
    show_default=True,
    help="once: one use with these arguments; repeat: any number of uses with them; any: any arguments.",
)
@json_option
def answer(id: str, yes: bool | None, by: str, note: str, minutes: int, scope: Scope, as_json: bool) -> None:
    """Answer the question ID."""
    if yes is None:  # a flag of two names is never missing to click
        raise click.UsageError("Say --yes or --no.")
    said = AnswerApproval(yes=yes, note=note, minutes=minutes, scope=scope)
    with connected(by=by) as backend:
        approval = backend.call(answer_approval, said, id=id)
    if as_json:
        emit(approval)
    how = {"once": "once with these arguments", "repeat": "with these arguments", "any": "with any arguments"}
    may = f"{approval.agent} may{'' if yes else ' not'} use {approval.capability}"
    say(
        f"{may} {how['repeat' if scope == 'once' and not yes else scope]} until {spoken(approval.expires_at)}"
    )
