"""`prowess inject`"""

import os
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import click
import msgspec

from prowess.cards.injection import BootstrapFile, Injection, audit_text
from prowess.cli.session import (
    config_file,
    emit,
    json_option,
    opened,
    printable,
    read_file,
    say,
    store_is_there,
)
from prowess.config import load
from prowess.engine.card_folder import inject_from
from prowess.errors import ConfigError
from prowess.opening import now
from prowess.sources.configured import card_folders
from prowess.sources.files.reading import read_text
from prowess.types import DEFAULT_AGENT, Message, Turn

LARGEST_FILE = 1024 * 1024


@click.command()
@click.option("--cards", "folder", type=click.Path(), help="A folder of cards; without it, the catalogue's.")
@click.option("--messages", "messages_file", type=click.Path(), required=True,
              help='JSON lines {"role", "text"}, the oldest first.')  # fmt: skip
@click.option("--files", "files_folder", type=click.Path(), help="The folder with AGENTS.md and the like.")
@click.option("--session-type", default="main", show_default=True)
@click.option("--budget", type=click.IntRange(min=0), help="The most tokens the cards may cost.")
@click.option("--scorer", help="keyword, or relevance (the default).")
@click.option("--agent", default=DEFAULT_AGENT, show_default=True, help="As this agent.")
@json_option
def command(messages_file: str, as_json: bool, **given: Any) -> None:
    """Which cards a conversation gets, and the files with them in it."""
    turn = Turn(
        messages=read_messages(messages_file), agent=given["agent"], session_type=given["session_type"]
    )
    files = read_files(given["files_folder"]) if given["files_folder"] else ()
    changes: dict[str, Any] = {"max_tokens": given["budget"], "scorer": given["scorer"]}
    changes = {key: value for key, value in changes.items() if value is not None}
    if given["folder"]:
        settings = load(config_file(), Path.cwd(), os.environ)
        config = msgspec.structs.replace(settings.config.cards, **changes)
        (source,) = card_folders(settings, given["folder"])
        start = time.perf_counter()
        injection = inject_from(source, files, turn, config, now, taken_as_they_are(), settings.root)
        injection = replace(injection, milliseconds=(time.perf_counter() - start) * 1000)
    else:
        with opened() as engine:
            injection = engine.inject(files, turn, **changes)
    _print(injection, as_json)


def taken_as_they_are() -> Mapping[tuple[str, str], str]:
    """What people accepted, by id and digest: who; nothing where there is no store yet."""
    if not store_is_there():
        return {}
    with opened() as engine:
        return engine.internals.world().view.accepted


def read_messages(file: str) -> tuple[Message, ...]:
    """The messages of a file, one JSON object in each line."""
    found = []
    for number, line in enumerate(read_file(file).splitlines(), 1):
        if line.strip():
            try:
                found.append(msgspec.json.decode(line, type=Message))
            except msgspec.MsgspecError as failure:
                remedy = 'write {"role": "user", "text": "..."}'
                raise ConfigError(f"{file}, line {number}", f"is no message ({failure})", remedy) from None
    return tuple(found)


def read_files(folder: str) -> tuple[BootstrapFile, ...]:
    """The markdown files of a folder, in order of their names."""
    place = Path(folder)
    if not place.is_dir():
        raise ConfigError(folder, "is not a folder", "name the folder with AGENTS.md")
    names = sorted(path.name for path in place.iterdir() if path.suffix == ".md")
    return tuple(BootstrapFile(name, read_text(folder, name, LARGEST_FILE)) for name in names)


def _print(injection: Injection, as_json: bool) -> None:
    if as_json:
        keys = ("files", "injected", "tokens_used", "truncated", "skipped", "warnings", "mode", "held_back")
        emit({key: getattr(injection, key) for key in keys})
        return
    if injection.text:
        click.echo("\n".join(printable(line) for line in injection.text.splitlines()))
    say(printable_lines(audit_text(injection, "detailed")))


def printable_lines(text: str) -> str:
    return "\n".join(printable(line) for line in text.splitlines())
