"""The code blocks of README and docs, and a way to run the pages they stand on.

What a block needs and a reader has anyway stands in a comment before it, which no reader sees:

    <!-- before: engine = prowess.open() -->      run before the Python block that follows
    <!-- file: docs/capabilities/a.md -->         the block is this file
    <!-- run: engine = prowess.open() -->         run the commands of the block, after this; what stands in it
                                                  is what they print, with ... for the rest
    <!-- not run: it asks a person -->            why the block is only read, not run

The Python blocks of a page are one program; a plain block right after one is what it prints.
"""

import contextlib
import io
import re
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import click
from click.testing import CliRunner

from prowess import config
from prowess.cli.main import prowess as program
from prowess.policy.check import findings
from prowess.policy.definitions import define
from prowess.policy.documents import parse_yaml
from prowess.policy.patterns import CatalogueNames
from prowess.policy.ruleset import RuleSet
from tests.support.places import ROOT

BLOCK = re.compile(
    r"(?:^<!-- (?P<word>[a-z ]+?)(?:: ?(?P<said>.*?))? ?-->\n)?^```(?P<language>\w*)\n(?P<text>.*?)^```",
    re.MULTILINE | re.DOTALL,
)
SPAN = re.compile(r"`(prowess [a-z][^`\n]*)`")
COLUMNS = re.compile(r"\s{2,}")
MADE_ELSEWHERE = ("reference.md", "requirements.md", "commands.md")
"""Pages that scripts write, whose blocks are signatures."""
PROSE = re.compile(r"[\[\]|]")
SHELL = ("$ ", "prowess ", "make ")


class Block(NamedTuple):
    language: str
    text: str
    word: str
    """What the comment before it is about; empty where there is none."""
    said: str
    line: int
    is_output: bool


def pages() -> list[Path]:
    """README and every page of docs; those of integrations are run where their packages are installed."""
    return [
        ROOT / "README.md",
        *(
            page
            for page in sorted((ROOT / "docs").rglob("*.md"))
            if page.name not in MADE_ELSEWHERE and page.parent.name != "integrations"
        ),
    ]


def blocks(page: Path) -> list[Block]:
    text = page.read_text(encoding="utf-8")
    found: list[Block] = []
    end = -1
    for match in BLOCK.finditer(text):
        follows = bool(found) and found[-1].language == "python" and not text[end : match.start()].strip()
        line = text.count("\n", 0, match.start("text")) + 1
        word, said = match["word"] or "", match["said"] or ""
        is_output = follows and not match["language"] and not match["text"].startswith(SHELL)
        found.append(Block(match["language"], match["text"], word, said, line, is_output))
        end = match.end()
    return found


def run_python(page: Path) -> None:
    """Run the Python blocks of a page as one program, in the current folder."""
    names: dict[str, Any] = {"__name__": "page"}
    printed = ""
    for block in blocks(page):
        if block.is_output:
            assert printed == block.text, f"{page.name}, line {block.line}"
        if block.language == "python" and block.word != "not run":
            before = compile(block.said if block.word == "before" else "", f"{page} (before)", "exec")
            code = compile("\n" * (block.line - 1) + block.text, str(page), "exec")
            with contextlib.redirect_stdout(io.StringIO()) as heard:
                exec(before, names)
                heard.truncate(0)
                heard.seek(0)
                exec(code, names)
            printed = heard.getvalue()
    if "engine" in names:
        names["engine"].close()


def run_commands(block: Block, page: Path) -> None:
    """Run the commands of a block, one after the other, and look for the lines that it shows."""
    exec(compile(block.said, f"{page} (before)", "exec"), {})
    printed = ""
    for line in block.text.splitlines():
        command = COLUMNS.split(line.removeprefix("$ "))[0]
        if command.startswith("prowess "):
            done = CliRunner().invoke(program, shlex.split(command, comments=True)[1:])
            assert done.exit_code == 0, f"{page.name}: {command}: {done.output}"
            printed += done.output
        elif not line.startswith("..."):
            assert line in printed, f"{page.name}, line {block.line}: {line!r} is not in\n{printed}"


def write_files(page: Path, folder: Path) -> None:
    """Write the blocks that are files."""
    for block in blocks(page):
        if block.word == "file":
            place = folder / block.said
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(block.text)


def check_toml(block: Block, page: Path) -> None:
    config.parse(block.text, page.name)


def check_policy(block: Block, page: Path) -> None:
    loaded = RuleSet.of([define(parse_yaml(block.text, page.name), page.name)])
    assert findings(loaded, CatalogueNames({})) == ()


def commands(page: Path) -> Iterator[str]:
    """Every command of prowess that a page shows: in blocks, in columns, and in sentences."""
    for block in blocks(page):
        if block.language in ("", "sh", "console"):
            for line in block.text.splitlines():
                for part in COLUMNS.split(line.removeprefix("$ ")):
                    if part.startswith("prowess "):
                        yield part
    yield from SPAN.findall(page.read_text(encoding="utf-8"))


def check_command(line: str) -> None:
    """Whether there is such a command, with such options; nothing is run."""
    words = shlex.split(PROSE.sub(" ", line), comments=True)[1:]
    command: click.Command = program
    context = click.Context(program, info_name="prowess")
    while isinstance(command, click.Group):
        left = command.make_parser(context).parse_args(list(words))[1]
        if not left:
            return
        found = command.get_command(context, left[0])
        if found is None and command.invoke_without_command:
            return
        assert found is not None, f"there is no command {left[0]!r}: {line}"
        command, words = found, left[1:]
        context = click.Context(command, parent=context, info_name=left[0])
    command.make_parser(context).parse_args(list(words))


@contextlib.contextmanager
def modules_of(folder: Path) -> Iterator[None]:
    """Modules of a folder can be imported, and are forgotten again."""
    before = set(sys.modules)
    sys.path.insert(0, str(folder))
    yield
    sys.path.remove(str(folder))
    for name in set(sys.modules) - before:
        if getattr(sys.modules[name], "__file__", None) and str(folder) in str(sys.modules[name].__file__):
            del sys.modules[name]
