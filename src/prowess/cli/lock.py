"""`prowess lock`"""

import os
import sys
from pathlib import Path

import click

from prowess import config as configuration
from prowess.cli.connect import write_whole
from prowess.cli.session import config_file, emit, json_option, opened, printable, progress_bar, say, writing
from prowess.engine.locking import LockReview, compared, read_for_lock, use_lock
from prowess.errors import ConfigError
from prowess.secrets.environment import with_secrets
from prowess.sources.configured import configured_sources, overrides
from prowess.sources.lock.lock_file import NAME, read_lock, written
from prowess.text.counts import counted


@click.group(invoke_without_command=True)
@click.option("--yes", is_flag=True, help="Write it without asking.")
@click.pass_context
def command(context: click.Context, yes: bool) -> None:
    """Write into prowess.lock what the servers of prowess.toml are and offer now, for others to review.

    What differs from the lock is held back until it is written anew, here or by somebody whose change of the
    file you take over. What is held back for another reason is left out.
    """
    if context.invoked_subcommand:
        return
    file = _place()
    with opened() as engine:
        with progress_bar("reading") as progress:
            review = read_for_lock(engine.internals, progress)
        _show(review)
        for held in review.left_out:
            why = printable(held.reason)
            say(f"left out: {held.id} ({why}); look at it: prowess quarantine show {held.id}")
        if review.before is not None and not review.differences:
            say(f"{NAME} is as the servers are")
            return
        if review.before is not None and not (yes or click.confirm(f"write {NAME}?", err=True)):
            return
        with writing():
            write_whole(file, written(review.now))
        use_lock(engine.internals, review)
    count = sum(len(server.offers) for server in review.now.servers.values())
    servers = review.now.servers
    offer = "which offers" if len(servers) == 1 else "which offer"
    say(f"wrote {NAME}: {counted(len(servers), 'server')}, {offer} {count}; put it under version control")


@command.command()
@json_option
def check(as_json: bool) -> None:
    """Compare the servers with prowess.lock, and write nothing. Exit 1 when anything differs."""
    file = _place()
    settings = configuration.load(config_file(), Path.cwd(), os.environ)
    lock = read_lock(file)
    if lock is None:
        raise ConfigError(str(file), "does not exist", "run: prowess lock")
    environment = with_secrets(settings, os.environ)
    with progress_bar("reading") as progress:
        sources = configured_sources(settings, environment)
        review = compared(lock, sources, overrides(settings, sources), progress)
    if as_json:
        emit({"differences": [*review.unread, *review.differences]})
    else:
        _show(review)
    if review.unread or review.differences:
        say(f"the servers are not as {NAME} has them; if they should be, run: prowess lock")
        sys.exit(1)
    count = len(lock.servers)
    are, them = ("is", "it") if count == 1 else ("are", "them")
    say(f"{counted(count, 'server')} {are} as {NAME} has {them}")


def _place() -> Path:
    file = config_file()
    if file is None:
        raise ConfigError(configuration.FILE, "there is none here or above", "run: prowess init")
    return file.resolve().parent / NAME


def _show(review: LockReview) -> None:
    for one in (*review.unread, *review.differences):
        click.echo(printable(str(one)))
