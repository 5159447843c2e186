"""`prowess log archive`"""

from datetime import UTC, datetime
from pathlib import Path

import click

from prowess.cli.session import opened, say
from prowess.errors import ConfigError
from prowess.journal import stamp
from prowess.journal.archive import archive, verify_archives
from prowess.learning import reading_state
from prowess.text.counts import counted

FOLDER = Path(".prowess/archive")


@click.command()
@click.option("--before", required=True, metavar="DATE", help="Such as 2026-01-31 or 2026-01-31T12:00 (UTC).")
@click.option(
    "--to", "folder", type=click.Path(file_okay=False, path_type=Path), default=FOLDER, show_default=True,
    help="Where archives are; keep them all in one place.",
)  # fmt: skip
@click.option("--verify", is_flag=True, help="Then walk every chain through all archives into the store.")
def command(before: str, folder: Path, verify: bool) -> None:
    """Move entries that are older than DATE into a compressed file, whose chains go on in the store.

    While agents learn, what was not learnt from yet stays.
    """
    with opened() as engine:
        database, limits = engine.internals.database, None
        if engine.learning.on:
            with database.reading() as transaction:
                limits = {head.chain: head.count for head in reading_state.heads(transaction)}
        with engine.internals.jobs.held("archive") as lease:
            if lease is None:
                raise ConfigError("prowess log archive", "another process is at it", "see: prowess jobs")
            done = archive(database, folder, stamp(_time(before)), limits, lease.keep)
            lease.result = f"{counted(done.entries, 'entry')} of {counted(done.chains, 'chain')}"
        say(
            f"{counted(done.entries, 'entry')} of {counted(done.chains, 'chain')} are in {done.file}"
            if done.file
            else "nothing is older"
        )
        if verify:
            count = verify_archives(database, folder)
            heads = engine.journal.verify()
            say(f"intact: {counted(sum(head.count for head in heads), 'entry')}, {count} of them in archives")


def _time(said: str) -> datetime:
    try:
        found = datetime.fromisoformat(said)
    except ValueError:
        raise ConfigError("--before", f"{said!r} is no date", "write it as 2026-01-31") from None
    return found if found.tzinfo else found.replace(tzinfo=UTC)
