"""`prowess login`"""

import os
import webbrowser
from functools import partial
from pathlib import Path
from typing import Any

import click

from prowess import config as configuration
from prowess.cli.session import config_file, say
from prowess.errors import ConfigError, MissingExtra, NotFound
from prowess.opening import of_workspace, workspace_of
from prowess.secrets.environment import with_secrets
from prowess.sources.configured import configured_sources
from prowess.sources.mcp.source import McpSource
from prowess.text.counts import counted
from prowess.types import DEFAULT_AGENT


@click.command()
@click.argument("server")
@click.option(
    "--agent", default=DEFAULT_AGENT, show_default=True, help="Whose login it is: each agent has its own."
)
@click.option("--forget", is_flag=True, help="Log out: delete what is kept of the login.")
@click.option("--browser/--no-browser", default=True, help="Open the page, or only print its address.")
@click.option("--port", default=0, help="Where the browser comes back to; 0: any free port.")
@click.option("--seconds", default=300, show_default=True, help="How long to wait for the person.")
@click.option("--client-id", default="", help="For servers at which programs cannot register themselves.")
@click.option("--client-secret", "variable", default="", help="The environment variable with its secret.")
def command(
    server: str, agent: str, forget: bool, browser: bool, port: int, seconds: int, client_id: str,
    variable: str,
) -> None:  # fmt: skip
    """Log in at an MCP server of prowess.toml that wants OAuth."""
    source = _source(server)
    if forget:
        _forget(source, agent)
        return
    if variable and not os.environ.get(variable):
        raise ConfigError("--client-secret", f"environment variable {variable} is not set", "set it first")
    secret = os.environ.get(variable, "") if variable else ""
    how = {"port": port, "seconds": seconds, "client_id": client_id, "client_secret": secret, "agent": agent}
    _log_in(source, browser, how)


def _source(name: str) -> McpSource:
    settings = configuration.load(config_file(), Path.cwd(), os.environ)
    secrets = with_secrets(settings, os.environ)
    chosen = click.get_current_context().find_root().obj or {}
    environment = of_workspace(workspace_of(chosen.get("workspace"), secrets, settings), secrets)
    servers = {s.name: s for s in configured_sources(settings, environment) if isinstance(s, McpSource)}
    if name not in servers:
        raise NotFound("MCP server", name, list(servers), "see: prowess sources")
    return servers[name]


def _log_in(source: McpSource, browser: bool, how: dict[str, Any]) -> None:
    try:
        # The SDK is the optional part `gateway`, and slow to import.
        import anyio
        from anyio import to_thread

        from prowess.sources.mcp.login_flow import LoginRequest, log_in
    except ImportError as error:
        raise MissingExtra("logging in at an MCP server", "gateway") from error

    async def show(url: str) -> None:
        say(f"log in at {url}")
        if browser:
            await to_thread.run_sync(webbrowser.open, url, abandon_on_cancel=True)

    found = anyio.run(partial(log_in, source, show, LoginRequest(**how)))
    if found is None:
        say(f"{source.name} wants no login")
    else:
        say(f"logged in at {source.name}: {counted(len(found.tools), 'tool')}. Next: prowess sync")


def _forget(source: McpSource, agent: str) -> None:
    from prowess.sources.mcp.login import Login, login_file

    url = source.address.resolve(source.environment).url
    gone = Login(login_file(source.name, url, source.environment, agent)).forget()
    say(f"{'forgot the' if gone else 'there is no'} login at {source.name}")
