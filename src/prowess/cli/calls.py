"""`prowess calls`"""

import click

from prowess.cli.session import connected, emit, json_option, say, table
from prowess.operations import calls as ops
from prowess.operations.operation import NO_PARAMS


@click.group(invoke_without_command=True)
@json_option
@click.pass_context
def command(context: click.Context, as_json: bool) -> None:
    """List calls that were interrupted: they may have taken effect."""
    if context.invoked_subcommand is not None:
        return
    with connected() as backend:
        found = backend.call(ops.list_open, NO_PARAMS)
    if as_json:
        emit(found)
    elif found:
        rows = [(one.id, one.agent, one.capability, one.begun_at[:19], one.key) for one in found]
        table(("ID", "AGENT", "CAPABILITY", "BEGUN", "KEY"), rows)
    else:
        say("no call was cut off")


@command.command()
@click.argument("id")
@click.option("--by", default="", help="Who looked; otherwise the user of this terminal.")
@click.option("--note", default="", help="What was found out.")
def settle(id: str, by: str, note: str) -> None:
    """Settle the interrupted call ID, after finding out whether it took effect."""
    with connected(by=by) as backend:
        backend.call(ops.settle, ops.Settlement(note=note), id=id)
    say(f"{id} is settled")
