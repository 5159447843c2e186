"""`prowess quarantine`"""

import click

from prowess.cli.session import connected, emit, json_option, printable, say, table
from prowess.operations import quarantine as ops
from prowess.operations.operation import NO_PARAMS
from prowess.text.invisible import visible

by_option = click.option("--by", default="", help="Who decides; otherwise the user of this terminal.")


@click.group()
def command() -> None:
    """What is held back until a person has looked at it: new or changed content of others."""


@command.command("list")
@json_option
def show_all(as_json: bool) -> None:
    """Everything that is held back, and why."""
    with connected() as backend:
        held = backend.call(ops.list_held, NO_PARAMS)
    if as_json:
        emit(held)
    elif held:
        table(("ID", "STATE", "SINCE", "REASON"), [(h.id, h.state, h.since[:19], h.reason) for h in held])
    else:
        say("nothing is held back")


@command.command()
@click.argument("id")
@json_option
def show(id: str, as_json: bool) -> None:
    """What the guard finds in ID, and how it differs from what was approved last."""
    with connected() as backend:
        held = backend.call(ops.show_held, NO_PARAMS, id=id)
    if as_json:
        emit(held)
        return
    for found in held.findings:
        click.secho(f"{found.where} {found.place}: {printable(found.reason)}", fg="yellow")
        click.echo(f"    {printable(visible(found.text))}")
    if held.new:
        say(f"{id} is new: nothing of it was approved before")
    for line in held.difference:
        colour = {"+": "green", "-": "red"}.get(line[:1])
        click.secho(printable(line), fg=colour)


@command.command()
@click.argument("id")
@by_option
def approve(id: str, by: str) -> None:
    """Approve ID, with exactly the content it has now."""
    with connected(by=by) as backend:
        backend.call(ops.approve, ops.QuarantineDecision(), id=id)
    say(f"{id} is approved")


@command.command()
@click.argument("id")
@by_option
def reject(id: str, by: str) -> None:
    """Keep ID out until its content changes."""
    with connected(by=by) as backend:
        backend.call(ops.reject, ops.QuarantineDecision(), id=id)
    say(f"{id} is rejected")
