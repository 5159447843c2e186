"""`prowess import`"""

from pathlib import Path

import click

from prowess import config as configuration
from prowess.cli.init import first_config
from prowess.cli.session import config_file, emit, json_option, say, writing
from prowess.sources.imports.addition import add_sources
from prowess.sources.imports.importers import read_config


@click.command()
@click.argument("path", type=click.Path())
@click.option("--dry-run", is_flag=True, help="Say what would be added, and write nothing.")
@json_option
def command(path: str, dry_run: bool, as_json: bool) -> None:
    """Take over the MCP servers of another client's configuration.

    PATH is a file of Claude Desktop, Claude Code, Cursor, VS Code, Codex or Gemini. Each server in
    it becomes a [[source]] in prowess.toml; secrets become environment references, never values.
    """
    imported = read_config(path)
    file = config_file() or Path.cwd() / configuration.FILE
    text = file.read_text(encoding="utf-8") if file.exists() else first_config(file.parent)
    addition = add_sources(text, imported.servers, file.name)
    configuration.parse(addition.text, file.name)
    if addition.added and not dry_run:
        with writing():
            file.write_text(addition.text, encoding="utf-8")
    variables = {name: place for server in imported.servers for name, place in server.variables.items()}
    if as_json:
        emit({"file": str(file), "added": addition.added, "known": addition.known, "set": variables,
              "skipped": [str(error) for error in imported.skipped]})  # fmt: skip
        return
    for name in addition.added:
        click.echo(name)
    for error in imported.skipped:
        say(f"skipped: {error}")
    for name, place in variables.items():
        say(f"set {name} in the environment (it was {place})")
    verb = "would be added" if dry_run else "added"
    say(f"{len(addition.added)} servers {verb} to {file.name}, {len(addition.known)} were there")
    say("next: prowess sync")
