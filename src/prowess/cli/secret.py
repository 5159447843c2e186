"""`prowess secret`"""

import os
import re
import sys
from pathlib import Path

import click

from prowess import config as configuration
from prowess.cli.session import config_file, connected, emit, json_option, say, table
from prowess.engine.needed_secrets import SecretStatus
from prowess.errors import ConfigError, NotFound, RemoteError
from prowess.operations.operation import NO_PARAMS
from prowess.operations.secrets import list_secrets
from prowess.secrets.environment import SecretEnvironment, with_secrets

NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,127}\Z")


@click.group()
def command() -> None:
    """Tokens and keys that servers and capabilities need, kept in the keyring or a file of your own."""


@command.command("set")
@click.argument("name")
def set_secret(name: str) -> None:
    """Keep a value for NAME: asked for without showing it, or read from a pipe."""
    _check_name(name)
    environment = _environment()
    place = environment.home.set(name, _value(name))
    say(f"{name} is kept in {place}")
    if environment.process.get(name):
        say(f"the environment has {name} too, and wins where it has it")


def _check_name(name: str) -> None:
    if "=" in name:
        what = "a value belongs to the prompt or a pipe, where no history or process list shows it"
        raise ConfigError("prowess secret set", what, "give the name alone")
    if not NAME.match(name):
        raise ConfigError("prowess secret set", "that is no name of a variable", "such as GITHUB_TOKEN")


def _value(name: str) -> str:
    if sys.stdin.isatty():
        given: str = click.prompt(f"Value of {name}", hide_input=True, err=True)
        return given
    return sys.stdin.read().removesuffix("\n").removesuffix("\r")


@command.command("list")
@json_option
def show_all(as_json: bool) -> None:
    """Which secrets there are and which are needed, by name; values are never shown."""
    found = _statuses()
    if as_json:
        emit(found)
    elif found:
        rows = [(one.name, one.origin or "not set", ", ".join(one.sources), one.needed) for one in found]
        table(("NAME", "FROM", "FOR", "NEEDED BY"), rows)
    else:
        say("no secret is needed and none is kept")


@command.command()
@click.argument("name")
def remove(name: str) -> None:
    """Forget NAME, in the keyring and in the file."""
    environment = _environment()
    if not environment.home.remove(name):
        raise NotFound("secret kept", name, environment.home.names, "see: prowess secret list")
    say(f"{name} is removed")
    if origin := environment.origin(name):
        say(f"{name} still has a value: {origin}")


@command.command()
@json_option
def check(as_json: bool) -> None:
    """Exit 1 when a secret that something needs has no value."""
    missing = [one for one in _statuses() if one.is_missing]
    if as_json:
        emit(missing)
    for one in () if as_json else missing:
        click.echo(str(one.problem))
    if not missing:
        say("every secret that is needed is set")
    sys.exit(1 if missing else 0)


def _statuses() -> tuple[SecretStatus, ...]:
    with connected() as backend:
        return backend.call(list_secrets, NO_PARAMS)


def _environment() -> SecretEnvironment:
    server = (click.get_current_context().find_root().obj or {}).get("server")
    if server:
        raise RemoteError(server, "no value of a secret goes over a server", "run it where prowess runs")
    return with_secrets(configuration.load(config_file(), Path.cwd(), os.environ), os.environ)
