"""`prowess connect`"""

import importlib.util
import os
import shlex
import sys
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

import click

from prowess import config as configuration
from prowess.cli.init import begun, ignore_store
from prowess.cli.session import config_file, say, writing
from prowess.clients.client import McpClient, Surroundings
from prowess.clients.difference import difference
from prowess.clients.entry import Entry, LocalEntry, RemoteEntry, local_entry
from prowess.clients.finding import SCOPES, file_to_connect
from prowess.clients.known import client_named
from prowess.clients.plan import ConnectionPlan, planned
from prowess.errors import ConfigError, MissingExtra, ProwessError
from prowess.text.counts import counted

KeepSecret = Callable[[str, str], bool]
"""Keeps the value of a secret under a name for the servers that refer to it; False: it is not kept."""

file_option = click.option(
    "--file", "named", default="", help="The client's file, where it is not the usual one."
)
scope_option = click.option(
    "--scope", type=click.Choice(SCOPES), default=None, help="Your own file, or the project's."
)
yes_option = click.option("--yes", is_flag=True, help="Write without asking.")
dry_run_option = click.option("--dry-run", is_flag=True, help="Show what would change, and write nothing.")
workspace_option = click.option(
    "--workspace", default="", metavar="DIR", help="The folder that ${workspaceFolder} means."
)


def keep_nothing(name: str, value: str) -> bool:
    """Where prowess keeps no secrets, the client goes on giving them."""
    return False


@click.command()
@click.argument("client", metavar="CLIENT")
@file_option
@scope_option
@workspace_option
@click.option(
    "--http", "address", default="", metavar="HOST:PORT|URL", help="Reach one process that clients share."
)
@click.option("--agent", default="", help="Who the client is.")
@click.option("--no-sync", is_flag=True, help="Leave the servers unread for now.")
@dry_run_option
@yes_option
def command(
    client: str, named: str, scope: str | None, workspace: str, address: str, agent: str,
    no_sync: bool, dry_run: bool, yes: bool,
) -> None:  # fmt: skip
    """Put prowess into CLIENT: one entry replaces all its servers.

    Its servers become sources in prowess.toml, and a copy of its file stays beside it: `prowess disconnect`
    gives that back. CLIENT is one of: claude-code, claude-desktop, cursor, vscode, codex, gemini, windsurf,
    zed, opencode, cline, roo-code, kiro, copilot-cli, amazon-q, qwen-code, lm-studio.
    """
    known = client_named(client)
    if importlib.util.find_spec("mcp") is None:
        raise MissingExtra("serving MCP to a client", "gateway")
    file = file_to_connect(known, surroundings(), named, scope or "")
    config = config_file() or Path.cwd() / configuration.FILE
    new = begun(config.parent) if not config.exists() else {}
    text = new.get(config) or config.read_text(encoding="utf-8")
    plan = partial(
        planned, known, file, text, place=config.name, workspace=workspace and str(Path(workspace).resolve())
    )
    entry = partial(_entry, config, agent, address)
    first = _understood(plan, entry)
    _check(first, config)
    _show(first, config, text if config.exists() else None)
    if first.is_done and not first.addition.added:
        say(f"{known.title} is connected: {file.path}")
        return
    if dry_run or not (yes or click.confirm("write this?", err=True)):
        return
    _write(plan, entry, config, new, keep_nothing)
    _say_done(known, first, address, named)
    if not no_sync:
        _sync(first)


def surroundings() -> Surroundings:
    """This machine, and the folder one is in."""
    return Surroundings(Path.home(), Path.cwd(), sys.platform, os.environ)


def _entry(config: Path, agent: str, address: str, handed_on: Mapping[str, str]) -> Entry:
    if address:
        return RemoteEntry(_url(address))
    chosen = click.get_current_context().find_root().obj or {}
    return local_entry(sys.executable, str(config.resolve()), agent, handed_on, chosen)


def _url(address: str) -> str:
    from prowess.listen import parse_bind

    if address.startswith(("http://", "https://")):
        return address
    bind = parse_bind(address)
    return f"http://{bind.host}:{bind.port}/mcp"


def _understood(
    plan: Callable[..., ConnectionPlan], entry: Callable[[Mapping[str, str]], Entry]
) -> ConnectionPlan:
    try:
        return plan(entry)
    except ConfigError as error:
        made = entry({})
        if "by hand" in error.remedy and isinstance(made, LocalEntry):
            click.echo(f"command: {made.command}\nargs: {' '.join(made.args)}")
        raise


def _check(plan: ConnectionPlan, config: Path) -> None:
    """prowess.toml must be one that prowess reads, before anything is shown or written."""
    configuration.parse(plan.addition.text, config.name)


def _show(plan: ConnectionPlan, config: Path, before: str | None) -> None:
    secrets = [value for server in plan.imported.servers for value in server.values.values()]
    for name, old, new in (
        (str(plan.file.path), plan.now, plan.after),
        (str(config), before, plan.addition.text),
    ):
        if shown := difference(name, old, new, secrets):
            click.echo(shown)
    for note in plan.notes:
        say(note)
    for error in plan.imported.skipped:
        say(f"stays as it is: {error}")


def _write(
    plan: Callable[..., ConnectionPlan], entry: Callable[[Mapping[str, str]], Entry], config: Path,
    new: Mapping[Path, str], keep_secret: KeepSecret,
) -> None:  # fmt: skip
    """prowess.toml first: until the client's file is another, nothing is for the client."""
    found = {name: value for server in plan(entry).imported.servers for name, value in server.values.items()}
    kept = {name for name, value in found.items() if keep_secret(name, value)}
    last = plan(entry, given=kept)
    write_project(config, new, last.addition.text)
    with writing():
        last.write()


def write_project(config: Path, new: Mapping[Path, str], text: str) -> None:
    """prowess.toml with its new text, and in a new project what belongs to it; each file whole or not."""
    with writing():
        if new:
            ignore_store(config.parent)
        for file, content in {**new, config: text}.items():
            if not file.exists() or file.read_text(encoding="utf-8") != content:
                write_whole(file, content)


def write_whole(file: Path, text: str) -> None:
    """Write a file of this project so that it is never half written."""
    fresh = file.with_name(f"{file.name}.new")
    fresh.write_text(text, encoding="utf-8")
    os.replace(fresh, file)


def _say_done(client: McpClient, plan: ConnectionPlan, address: str, named: str) -> None:
    count = counted(len(plan.imported.servers), "server")
    say(f"{client.title} is connected: {count} in prowess.toml, one entry in {plan.file.path}")
    if plan.kept is not None:
        back = f"prowess disconnect {client.name}" + (f" --file {shlex.quote(named)}" if named else "")
        say(f"what it had is in {plan.file.kept}; to give it back: {back}")
    variables = {name: where for server in plan.imported.servers for name, where in server.variables.items()}
    handed = {name for server in plan.imported.servers for name in (*server.values, *server.originals)}
    for name, where in variables.items():
        if address or name not in handed:
            say(f"set {name} where prowess runs (it was {where})")
    for name in sorted(handed & variables.keys()) if not address else ():
        # The client hands it to the gateway that it starts; commands of this terminal have nobody to do so.
        say(f"{name} stays with {client.title}; for commands here, too, run: prowess secret set {name}")
    if address:
        say(f"start the shared process, if it does not run: prowess serve mcp --http {address}")
    say(f"{client.title}: {client.reload}")


def _sync(plan: ConnectionPlan) -> None:
    """Read the servers now, with the values that the client will give, so that a first search finds them."""
    from prowess.cli.session import connected
    from prowess.cli.sync import sync

    for server in plan.imported.servers:
        os.environ.update({name: value for name, value in server.values.items() if name not in os.environ})
    try:
        with connected(new=True) as backend:
            sync(backend, (), False)
    except ProwessError as error:
        say(f"the servers could not be read yet: {error}")
