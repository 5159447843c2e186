"""`prowess quarantine`"""

import getpass

import click

from prowess.cli.session import emit, json_option, opened, printable, say, table

by_option = click.option("--by", default="", help="Who decides; otherwise the user of this terminal.")


@click.group()
def command() -> None:
    """What is held back until a person has looked at it: new or changed content of others."""


@command.command("list")
@json_option
def show_all(as_json: bool) -> None:
    """Everything that is held back, and why."""
    with opened() as engine:
        held = engine.quarantined()
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
    """How ID differs from what was approved last."""
    with opened() as engine:
        lines = engine.difference(id)
    if as_json:
        emit({"id": id, "difference": lines})
        return
    for line in lines:
        colour = {"+": "green", "-": "red"}.get(line[:1])
        click.secho(printable(line), fg=colour)


@command.command()
@click.argument("id")
@by_option
def approve(id: str, by: str) -> None:
    """Let ID go, with exactly the content it has now."""
    with opened() as engine:
        engine.approve(id, by or getpass.getuser())
    say(f"{id} is approved")


@command.command()
@click.argument("id")
@by_option
def reject(id: str, by: str) -> None:
    """Keep ID out until its content changes."""
    with opened() as engine:
        engine.reject(id, by or getpass.getuser())
    say(f"{id} is rejected")
