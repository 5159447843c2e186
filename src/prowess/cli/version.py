"""`prowess version`"""

import platform
from importlib.metadata import version

import click

from prowess.cli.session import emit, json_option


@click.command()
@json_option
def command(as_json: bool) -> None:
    """Show which version this is."""
    if as_json:
        emit({"prowess": version("prowess"), "python": platform.python_version()})
    else:
        click.echo(f"prowess {version('prowess')}")
