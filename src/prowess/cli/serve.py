"""`prowess serve`"""

import logging
import os
import sys
from pathlib import Path

import click

from prowess.cli.session import config_file, say
from prowess.errors import MissingExtra
from prowess.types import DEFAULT_AGENT

CLIENTS = ("claude-code", "claude-desktop", "codex", "cursor", "gemini", "vscode")


@click.group()
def command() -> None:
    """Servers: everything behind one door."""


@command.command()
@click.option("--http", "bind", metavar="HOST:PORT", help="Serve over HTTP instead of standard input.")
@click.option("--agent", default=DEFAULT_AGENT, show_default=True, help="Who the client is.")
@click.option("--install", "client", type=click.Choice(CLIENTS), help="Print that client's entry for this.")
@click.option("--write", is_flag=True, help="With --install: write it into the client's file, with a backup.")
def mcp(bind: str | None, agent: str, client: str | None, write: bool) -> None:
    """One MCP server in front of all the others."""
    if client:
        _install(client, agent, write)
        return
    # Clients show a server's standard error to the person who looks for what is wrong.
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING)
    # Each call passes between the event loop and a worker thread; neither should wait long for the other.
    sys.setswitchinterval(0.001)
    _serve(bind, agent)
    # Everything is closed; waiting for idle threads would only keep the client waiting.
    sys.stderr.flush()
    os._exit(0)


def _serve(bind: str | None, agent: str) -> None:
    try:
        # The SDK is the optional part `gateway`, and slow to import.
        from prowess.gateway.http import parse_bind, serve_http
        from prowess.gateway.opening import opened
        from prowess.gateway.stdio import serve_stdio
    except ImportError as error:
        raise MissingExtra("serving MCP", "gateway") from error
    where = parse_bind(bind) if bind else None
    file = config_file()
    # Modules that prowess.toml names lie beside it, as they would for `python -m`.
    sys.path.insert(0, str(file.resolve().parent if file else Path.cwd()))
    chosen = click.get_current_context().find_root().obj or {}
    with opened(file, chosen.get("store"), os.environ) as gateway:
        if where is None:
            serve_stdio(gateway, agent)
            return
        say(f"serving MCP on http://{where.host}:{where.port}/mcp; stop with Ctrl-C")
        if not where.is_loopback:
            say("every client needs a token: prowess agent add NAME --profile PROFILE")
        serve_http(gateway, where, agent)


def _install(client: str, agent: str, write: bool) -> None:
    from prowess.gateway.install import Entry, Place, place_of, printed, written

    file = config_file()
    entry = Entry.here(sys.executable, str(file.resolve()) if file else "", agent)
    place: Place = place_of(client, Path.home(), Path.cwd(), sys.platform)
    if not write:
        click.echo(printed(entry, place))
        say(f"put this into {place.file}, or add --write")
        return
    backup = written(entry, place)
    say(f"wrote {place.file}" + (f"; the old one is {backup}" if backup else ""))
