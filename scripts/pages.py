"""Write the pages of docs that are made from the code: `python -m scripts.pages`.

commands.md has every command with its options, errors.md every error with its status over HTTP.
"""

import inspect
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import click

from prowess import errors
from prowess.cli.main import prowess
from prowess.errors import ProwessError
from prowess.web.problems import status_of, urn_of

DOCS = Path(__file__).parent.parent / "docs"
COMMANDS_HEAD = """# Commands

Every command with its arguments and options, written from the code by `python -m scripts.pages`. The
options of `prowess` itself come before the command. Results go to stdout, messages to stderr. The exit
status is 0 when the command worked, 1 after an error, 2 after wrong usage.
"""
ERRORS_HEAD = """# Errors

Every error that prowess raises, written from the code by `python -m scripts.pages`. Each is a
`prowess.errors.ProwessError` with a `message` (what happened to what) and a `remedy` (what to do next);
the command line prints both in one line. Over HTTP the same is `application/problem+json` with the status
and the type below.

| error | what happened | status | type |
|---|---|---|---|
"""
EVERYWHERE = {"help"}


def commands() -> str:
    return COMMANDS_HEAD + "".join(_command(prowess, "prowess"))


def _command(command: click.Command, path: str) -> Iterator[str]:
    context = click.Context(command, info_name=path)
    takes = [p for p in command.params if isinstance(p, click.Argument)]
    usage = " ".join([path, *(p.make_metavar(context) for p in takes)])
    level = "#" * min(2 + path.count(" "), 4)
    yield f"\n{level} `{usage}`\n\n{_paragraphs(inspect.cleandoc(command.help or ''))}\n"
    options = [p for p in command.params if isinstance(p, click.Option) and p.name not in EVERYWHERE]
    rows = [one for p in options if (one := p.get_help_record(context))]
    if rows:
        yield "\n" + "".join(f"- `{_plain(names)}`: {_plain(said)}\n" for names, said in rows)
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            below = command.get_command(context, name)
            if below is not None and not below.hidden:
                yield from _command(below, f"{path} {name}")


def _paragraphs(text: str) -> str:
    """Help as Markdown: what click keeps line by line is an example."""
    example = re.compile(r"\x08\n(.*?)(?=\n\n|\Z)", re.DOTALL)
    return example.sub(lambda found: f"```\n{inspect.cleandoc(found[1])}\n```", text)


def _plain(text: str) -> str:
    return " ".join(text.split())


def error_table() -> str:
    return ERRORS_HEAD + "".join(_errors(ProwessError, 0))


def _errors(kind: type[ProwessError], depth: int) -> Iterator[str]:
    if depth:
        said = _plain((kind.__doc__ or "").split("\n\n")[0])
        name = "&nbsp;&nbsp;" * (depth - 1) + f"`{kind.__name__}`"
        status = "its own" if kind is errors.Refused else status_of(kind)
        yield f"| {name} | {said} | {status} | `{urn_of(kind)}` |\n"
    for below in kind.__subclasses__():
        if below.__module__ == errors.__name__:
            yield from _errors(below, depth + 1)


PAGES: Mapping[str, Callable[[], str]] = {"commands.md": commands, "errors.md": error_table}

if __name__ == "__main__":
    for name, made in PAGES.items():
        (DOCS / name).write_text(made(), encoding="utf-8")
