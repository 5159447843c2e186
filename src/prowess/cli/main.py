"""The terminal face: `prowess COMMAND`.

Each command lives in a module of its own that is imported only when it is called, so that
`prowess --help` is quick. Data goes to stdout, words to stderr; exit 0 done, 1 an error that
prowess can name, 2 wrong usage.
"""

import sys
from importlib import import_module

import click

COMMANDS = {
    "init": "Write prowess.toml and a first policy here.",
    "sync": "Make the catalogue hold what the sources offer now.",
    "list": "List what exists.",
    "show": "Show one capability: where it is from, its schema, its history.",
    "find": "Find what fits a request.",
    "offer": "Show what a model would see for a request, and what it costs.",
    "call": "Call a capability, with the same checks as everywhere.",
    "calls": "List calls that were cut off and may have taken effect.",
    "graph": "Show what a capability is related to.",
    "lint": "Find capabilities that search will confuse or miss.",
    "sources": "List where capabilities are read from.",
    "policy": "Check, test, explain and change what agents may use.",
    "agent": "Add, list and remove agents.",
    "approval": "List and answer questions that wait for a person.",
    "why": "Explain why an agent may use something and is offered it, or not.",
    "bench": "Measure how well search finds what is right, on labelled requests.",
    "evolve": "See what changed in an agent and whether it was good; roll back.",
    "lock": "Write what servers offer into a file that a team reviews.",
    "quarantine": "List, approve and reject what is held back.",
    "inject": "Show which cards a conversation gets.",
    "cards": "Check, review and report on just-in-time cards.",
    "guard": "Judge texts, and show what of them would reach a prompt.",
    "lessons": "List, test and promote what use has taught.",
    "gaps": "List what agents needed and could not do.",
    "serve": "Serve the gateway, the dashboard and the API.",
    "access-token": "Add, list and revoke people's tokens for the dashboard and the API.",
    "login": "Log in at an MCP server that wants OAuth.",
    "secret": "Keep tokens and keys that servers need.",
    "provider": "Switch providers on and off.",
    "connect": "Put prowess into an MCP client, in the place of its servers.",
    "disconnect": "Take prowess out of a client, and give it its servers back.",
    "import": "Take over the MCP servers of another client's configuration.",
    "log": "Show what happened, and verify that the record is intact.",
    "workspaces": "List the tenants of a store, and remove one.",
    "jobs": "List work that one of all processes does, and what came of it.",
    "backup": "Write the whole store into one file.",
    "restore": "Make the store what a backup holds.",
    "doctor": "Find everything that is wrong, and say what to do about it.",
    "version": "Show which version this is.",
}

MODULES = {"import": "import_", "access-token": "access_token"}
"""The modules of commands whose name is no name in Python."""


class Commands(click.Group):
    """Finds a command's module by its name, when it is needed."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        module = import_module(f"prowess.cli.{MODULES.get(name, name)}")
        command: click.Command = module.command
        return command

    def invoke(self, ctx: click.Context) -> object:
        try:
            return super().invoke(ctx)
        except Exception as error:
            from prowess.errors import ProwessError  # only a failure pays for it

            if not isinstance(error, ProwessError):
                raise
            click.echo(f"prowess: {error}", err=True)
            ctx.exit(1)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            from prowess.errors import nearest  # only a mistyped command pays for it

            close = nearest(args[0], COMMANDS)
            hint = f" Did you mean {close!r}?" if close else " See: prowess --help"
            ctx.fail(f"No such command {args[0]!r}.{hint}")
        return super().resolve_command(ctx, args)


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--config", "config_file", type=click.Path(), help="The prowess.toml to use.")
@click.option("--store", help="Where the store is: a path or postgresql://...")
@click.option("--replica", help="A copy of a PostgreSQL store that may answer what only reads.")
@click.option("--workspace", help="The tenant this is about; without it, the one that prowess.toml names.")
@click.version_option(package_name="prowess", message="%(prog)s %(version)s")
@click.option("--server", help="Ask a prowess server instead; PROWESS_TOKEN says who you are.")
@click.pass_context
def prowess(
    ctx: click.Context,
    config_file: str | None,
    store: str | None,
    replica: str | None,
    workspace: str | None,
    server: str | None,
) -> None:
    """What an AI agent can do: what exists, what it may use, what it needs now."""
    ctx.obj = {
        "config": config_file,
        "store": store,
        "replica": replica,
        "workspace": workspace,
        "server": server,
    }
    if server:
        from prowess.cli.remote import check_command  # only those who name a server pay for it

        check_command(server, ctx.invoked_subcommand or "")


def main() -> None:
    try:
        prowess(prog_name="prowess")
    except BrokenPipeError:
        sys.stderr.close()  # whoever read our output has seen enough
