"""`prowess restore`"""

from pathlib import Path

import click

from prowess.backup import restore
from prowess.cli.session import opened, say
from prowess.text.counts import counted


@click.command()
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option(
    "--replace", is_flag=True, help="Restore even if the store is not empty; what it holds is lost."
)
def command(file: Path, replace: bool) -> None:
    """Replace the store by the backup FILE, which may come from the other kind of database."""
    with opened(new=True) as engine:
        contents = restore(engine.internals.database, file, replace)
        count = counted(sum(contents.rows.values()), "row")
        say(f"{count} of {file} in {engine.store}; every chain verifies")
