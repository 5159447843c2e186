"""`prowess disconnect`"""

import click

from prowess.cli.connect import dry_run_option, file_option, scope_option, surroundings, yes_option
from prowess.cli.session import say, writing
from prowess.clients.connection import ClientFile, Restored
from prowess.clients.difference import difference
from prowess.clients.files import SettingsFile
from prowess.clients.finding import file_to_disconnect
from prowess.clients.known import client_named
from prowess.clients.plan import secrets_in


@click.command()
@click.argument("client", metavar="CLIENT")
@file_option
@scope_option
@dry_run_option
@yes_option
def command(client: str, named: str, scope: str | None, dry_run: bool, yes: bool) -> None:
    """Take prowess out of CLIENT, and give it back the servers it had.

    A file that nobody changed since `prowess connect` becomes what it was, byte for byte; in another one your
    own changes stay. What was taken over stays in prowess.toml.
    """
    known = client_named(client)
    file = file_to_disconnect(known, surroundings(), named, scope or "")
    now, kept = file.text(), file.kept_text()
    form = ClientFile(known, str(file.path))
    if now is None or (kept is None and not form.own_entries(now)) or now == kept:
        _say_not_connected(file, now, kept)
        return
    restored = form.restored(now, kept)
    for note in restored.notes:
        say(note)
    secrets = [secret for text in (now, kept, restored.text) for secret in secrets_in(str(file.path), text)]
    if shown := difference(str(file.path), now, restored.text, secrets):
        click.echo(shown)
    if dry_run or not (yes or click.confirm("write this?", err=True)):
        return
    with writing():
        file.write(restored.text, now)
        file.forget_kept()
    _say_done(known.title, known.reload, file, restored, kept)


def _say_not_connected(file: SettingsFile, now: str | None, kept: str | None) -> None:
    say(f"prowess is not in {file.path}")
    if kept is not None and now == kept:
        file.forget_kept()
    elif kept is not None:
        say(f"what was there before is in {file.kept}")


def _say_done(title: str, reload: str, file: SettingsFile, restored: Restored, kept: str | None) -> None:
    if restored.text is None:
        say(f"{file.path} was made by prowess and is gone")
    elif restored.text == kept:
        say(f"{file.path} is as it was")
    else:
        say(f"{file.path}: prowess is out, and its servers are back")
    say(f"{title}: {reload}")
