"""`prowess quarantine`"""

import difflib
import getpass
from collections.abc import Iterator

import click
import msgspec

from prowess.catalogue.catalogue import Version
from prowess.cli.session import emit, json_option, opened, printable, say, table
from prowess.types import Capability, Detail

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
        approved = engine.approved_version(id)
        lines = list(difference(approved, engine.capability(id), engine.detail(id)))
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


def difference(approved: Version | None, capability: Capability, detail: Detail) -> Iterator[str]:
    """The lines that went and came; everything, where nothing was approved before."""
    before = readable(approved.capability, approved.detail) if approved else []
    return difflib.unified_diff(before, readable(capability, detail), "approved", "now", lineterm="")


def readable(capability: Capability, detail: Detail) -> list[str]:
    schema = msgspec.json.format(msgspec.json.encode(detail.input_schema), indent=2).decode()
    return [capability.description, *schema.splitlines(), *(detail.content or "").splitlines()]
