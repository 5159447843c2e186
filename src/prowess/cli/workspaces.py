"""`prowess workspaces`"""

import click

from prowess.cli.session import emit, json_option, opened, say, table
from prowess.errors import NotFound
from prowess.store.workspaces import remove as remove_rows
from prowess.store.workspaces import workspaces
from prowess.text.counts import counted


@click.group(invoke_without_command=True)
@json_option
@click.pass_context
def command(context: click.Context, as_json: bool) -> None:
    """The tenants of this store; each has its own catalogue, policy, agents and journal."""
    if context.invoked_subcommand:
        return
    with opened() as engine:
        found = workspaces(engine.internals.database)
    if as_json:
        emit(found)
        return
    rows = [(one.name, str(one.capabilities), str(one.agents), str(one.entries)) for one in found]
    table(("WORKSPACE", "CAPABILITIES", "AGENTS", "JOURNAL"), rows)


@command.command()
@click.argument("name")
@click.option("--yes", is_flag=True, help="Do not ask.")
def remove(name: str, yes: bool) -> None:
    """Delete all that workspace NAME holds, its journal too. A backup made before is the only way back."""
    with opened() as engine:
        held = {one.name: one for one in workspaces(engine.internals.database)}
        if name not in held:
            raise NotFound("workspace", name, list(held), "see: prowess workspaces")
        own = held[name]
        what = f"{counted(own.capabilities, 'capability')} and {counted(own.entries, 'entry')} of the journal"
        if not yes:
            click.confirm(f"Delete workspace {name} with {what}, for good?", abort=True)
        database = engine.internals.database.of(name)
        try:
            count = remove_rows(database)
        finally:
            database.close()
    say(f"workspace {name} is gone: {counted(count, 'row')}")
