"""What every command shares: opening the engine, and printing data or words."""

import getpass
import os
import shutil
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import click
import msgspec

import prowess
from prowess import config as configuration
from prowess.encoding import encoded
from prowess.engine.engine import Engine
from prowess.errors import ConfigError, RemoteError, SourceError, StoreError
from prowess.opening import address_of
from prowess.operations.backend import Backend, Local
from prowess.operations.person import Person
from prowess.sources.files.reading import read_text
from prowess.sources.read_all import SyncProgress
from prowess.store.workspaces import mistyped
from prowess.types import Problem


@contextmanager
def connected(by: str = "", new: bool = False) -> Iterator[Backend]:
    """What carries operations out: the engine that `opened` gives, or the server that `--server` names.

    by: in whose name, beside the store; otherwise the user of this terminal. A server goes by its token.
    new: see `opened`.
    """
    server = _chosen("server")
    if server:
        from prowess.cli.remote import TOKEN, Remote  # only those who name a server pay for it

        yield Remote(server, os.environ.get(TOKEN, ""))
        return
    with opened(new) as engine:
        yield beside_the_store(engine, by)


def beside_the_store(engine: Engine, by: str = "") -> Local:
    """Whoever has the store may do everything; `by` says in whose name."""
    return Local(engine, Person(by or _user(), "admin"))


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a container may run as somebody who has no name
        return "a person"


def _chosen(option: str) -> str | None:
    """An option of `prowess` itself."""
    chosen = click.get_current_context().find_root().obj or {}
    return chosen.get(option)


@contextmanager
def opened(new: bool = False) -> Iterator[Engine]:
    """The engine that `--config` and `--store`, the environment and the folder ask for.

    new: the folder of the store may be made; otherwise there must be a project, and where a store is named
    and its folder is not there, it is mistyped.
    """
    refuse_server()
    file = config_file()
    if not new:
        _refuse_missing_folder(file, _chosen("store"))
    # Modules that prowess.toml names lie beside it, as they would for `python -m`.
    sys.path.insert(0, str(file.resolve().parent if file else Path.cwd()))
    chosen = _chosen("workspace")
    store, replica, config = _chosen("store"), _chosen("replica"), _chosen("config")
    with prowess.open(store, config=config, workspace=chosen, replica=replica) as engine:
        if chosen or os.environ.get("PROWESS_WORKSPACE"):
            _say_if_mistyped(engine)
        yield engine


def _say_if_mistyped(engine: Engine) -> None:
    """A workspace begins with its first use, so a mistyped one is no error, but looks empty."""
    database = engine.internals.database
    if meant := mistyped(database):
        say(f"nothing was ever written in workspace {database.workspace!r}; did you mean {meant!r}?")


def refuse_server() -> None:
    """For what needs files that are here."""
    if server := _chosen("server"):
        raise RemoteError(server, "this cannot be done over a server", "run it where the store is")


def store_is_there() -> bool:
    """Whether there is a store to open on this machine, and a command need not make one to look into it."""
    url, path = _store(config_file(), _chosen("store"))
    return not _chosen("server") and (path.exists() if path else url != "")


def _store(file: Path | None, store: str | None) -> tuple[str, Path | None]:
    """The URL of the store, and its file where it is one."""
    settings = configuration.load(file, Path.cwd(), os.environ)
    url = address_of(settings, os.environ, store).url
    if url.startswith(("postgresql://", "postgres://")):
        return url, None
    return url, settings.root / url.removeprefix("sqlite:").removeprefix("//")


def _refuse_missing_folder(file: Path | None, store: str | None) -> None:
    url, path = _store(file, store)
    if file is None and url == configuration.DEFAULT_STORE and path and not path.parent.is_dir():
        raise StoreError("there is no project here or above", "run: prowess init; or: prowess connect CLIENT")
    # Who names no store has none to mistype, and looks at an empty one.
    if url == configuration.DEFAULT_STORE or path is None:
        return
    if not path.parent.is_dir():
        remedy = "run: prowess init, then prowess sync; or correct --store, PROWESS_STORE or `store`"
        raise StoreError(f"there is no store at {path}", remedy)


@contextmanager
def until_interrupted() -> Iterator[None]:
    """What goes on until Ctrl-C: that is how it ends, and no failure."""
    with suppress(KeyboardInterrupt):
        yield


def config_file() -> Path | None:
    """The prowess.toml that `--config`, PROWESS_CONFIG or the folder means, if there is one."""
    named = _chosen("config")
    return Path(named) if named else configuration.find(os.environ, Path.cwd())


@contextmanager
def writing() -> Iterator[None]:
    """Files that a command writes; one that cannot be written is an error in one line."""
    try:
        yield
    except OSError as failure:
        what = f"cannot be written ({failure.strerror})"
        raise ConfigError(str(failure.filename), what, "choose a place that you may write to") from None


def read_file(file: str) -> str:
    """A text file that a command is told to read."""
    place = Path(file)
    try:
        return read_text(str(place.parent), place.name)
    except SourceError as failure:
        raise ConfigError(file, failure.what, "check the path") from None


def problem_count(problems: Sequence[Problem]) -> str:
    """Such as "2 problems"."""
    return f"{len(problems) or 'no'} problem{'' if len(problems) == 1 else 's'}"


def say(text: str) -> None:
    """Words for a person, on stderr, so that stdout is only data."""
    click.echo(text, err=True)


def emit(data: object) -> None:
    """Data for a program: JSON on stdout."""
    click.echo(msgspec.json.format(encoded(data), indent=2))


def table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Columns for a person; on a terminal the last one is cut to what fits."""
    cells = [[printable(cell) for cell in row] for row in rows]
    widths = [max(len(row[i]) for row in [headings, *cells]) for i in range(len(headings))]
    room = shutil.get_terminal_size().columns if sys.stdout.isatty() else 0
    click.secho(_line(headings, widths, room), bold=True)
    for row in cells:
        click.echo(_line(row, widths, room))


def printable(text: str) -> str:
    """One line without control characters: what others wrote must not steer a terminal."""
    return "".join(c if c.isprintable() else " " for c in text)


def _line(cells: Sequence[str], widths: Sequence[int], room: int) -> str:
    padded = [cell.ljust(width) for cell, width in zip(cells[:-1], widths, strict=False)]
    line = "  ".join([*padded, cells[-1]])
    return line if not room or len(line) <= room else f"{line[: room - 1]}…"


@contextmanager
def progress_bar(label: str) -> Iterator[SyncProgress]:
    """A bar on a terminal, nothing in a pipe. Several sources share it."""
    if not sys.stderr.isatty():
        yield lambda source, done, total: None
        return
    parts: dict[str, tuple[int, int]] = {}
    with click.progressbar(length=1, label=label, file=sys.stderr) as bar:

        def advance(source: str, done: int, total: int) -> None:
            parts[source] = (done, total)
            bar.length = max(1, sum(t for _, t in parts.values()))
            bar.update(sum(d for d, _ in parts.values()) - bar.pos)

        yield advance


json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
