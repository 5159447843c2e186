"""`prowess backup`"""

from pathlib import Path

import click

from prowess.backup import back_up
from prowess.cli.session import opened, say
from prowess.text.counts import counted


@click.command()
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
def command(file: Path) -> None:
    """Write the whole store into FILE, while others go on using it."""
    with opened() as engine:
        contents = back_up(engine.internals.database, file)
        count = sum(contents.rows.values())
        say(f"{counted(count, 'row')} of {engine.store} are in {file}, which was read back and is whole")
