"""`prowess import`"""

from pathlib import Path

import click

from prowess import config as configuration
from prowess.cli.connect import surroundings, workspace_option, write_project
from prowess.cli.init import begun, ignore_store
from prowess.cli.session import config_file, emit, json_option, say, writing
from prowess.clients.finding import file_to_connect
from prowess.clients.known import NAMES, client_named
from prowess.sources.imports.addition import Addition, add_sources
from prowess.sources.imports.importers import Imported, read_config
from prowess.text.counts import counted

BUNDLES = ".prowess/bundles"


@click.command()
@click.argument("origin", metavar="CLIENT|FILE")
@workspace_option
@click.option("--dry-run", is_flag=True, help="Say what would be added, and write nothing.")
@json_option
def command(origin: str, workspace: str, dry_run: bool, as_json: bool) -> None:
    """Take over the MCP servers of another client's configuration.

    CLIENT is one that `prowess connect` knows; FILE is a configuration file of any of them, an entry of the
    MCP registry (server.json), or a bundle (.mcpb). Each server in it becomes a [[source]] in prowess.toml;
    secrets become environment references, never values.
    """
    path, label = _meant(origin)
    file = config_file() or Path.cwd() / configuration.FILE
    bundles = file.resolve().parent / BUNDLES
    imported = read_config(path, workspace and str(Path(workspace).resolve()), bundles)
    new = begun(file.parent) if not file.exists() else {}
    text = new.get(file) or file.read_text(encoding="utf-8")
    addition = add_sources(text, imported.servers, file.name, label)
    configuration.parse(addition.text, file.name)
    if addition.added and not dry_run:
        if imported.bundle:
            with writing():
                ignore_store(file.resolve().parent)
                imported.bundle.unpack()
        write_project(file, new, addition.text)
    if as_json:
        skipped = [str(error) for error in imported.skipped]
        emit({"file": str(file), "added": addition.added, "known": addition.known, "skipped": skipped,
              "notes": imported.notes, "set": _variables(imported)})  # fmt: skip
        return
    _say(imported, addition)
    verb = "would be added" if dry_run else "added"
    say(f"{counted(len(addition.added), 'server')} {verb} to {file.name}, {len(addition.known)} were there")
    say("next: prowess sync")


def _variables(imported: Imported) -> dict[str, str]:
    return {name: place for server in imported.servers for name, place in server.variables.items()}


def _say(imported: Imported, addition: Addition) -> None:
    for name in addition.added:
        click.echo(name)
    for note in imported.notes:
        say(note)
    for error in imported.skipped:
        say(f"skipped: {error}")
    for name, place in _variables(imported).items():
        say(f"set {name} (it was {place}): prowess secret set {name}")


def _meant(origin: str) -> tuple[str, str]:
    """The file, and whose it is: a client's name, or a path."""
    if origin in NAMES and not Path(origin).exists():
        return str(file_to_connect(client_named(origin), surroundings()).path), origin
    return origin, ""
