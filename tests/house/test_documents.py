"""What README and docs show runs as it stands there, in a project as README's first steps make it."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from prowess.cli.main import prowess as program
from tests.support.documents import (
    Block,
    blocks,
    check_command,
    check_policy,
    check_toml,
    commands,
    modules_of,
    pages,
    run_commands,
    run_python,
    write_files,
)
from tests.support.places import ROOT

KNOWN = {"python", "toml", "yaml", "markdown", "js", ""}
PAGES = {page.name: page for page in pages()}


def of(language: str, word: str | None = None) -> list[str]:
    """The pages with blocks of a language, and perhaps with a certain comment."""
    return [
        name
        for name, page in PAGES.items()
        if any(one.language == language and word in (None, one.word) for one in blocks(page))
    ]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty folder in which README's first steps were taken."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for name in ("PROWESS_CONFIG", "PROWESS_STORE"):
        monkeypatch.delenv(name, raising=False)
    shown = blocks(ROOT / "README.md")
    assert CliRunner().invoke(program, ["init"]).exit_code == 0
    (tmp_path / "my_tools.py").write_text(next(one.text for one in shown if one.language == "python"))
    with (tmp_path / "prowess.toml").open("a") as file:
        file.write("\n" + next(one.text for one in shown if one.language == "toml"))
    with modules_of(tmp_path):
        yield tmp_path


@pytest.mark.slow
@pytest.mark.parametrize("name", of("python"))
def test_the_python_of_a_page_runs_and_prints_what_the_page_says(name: str, project: Path) -> None:
    write_files(PAGES[name], project)
    run_python(PAGES[name])


@pytest.mark.parametrize("name", of("", "run"))
def test_the_commands_of_a_page_run_and_print_what_it_shows(name: str, project: Path) -> None:
    write_files(PAGES[name], project)
    assert CliRunner().invoke(program, ["sync"]).exit_code == 0
    for block in blocks(PAGES[name]):
        if block.word == "run":
            run_commands(block, PAGES[name])


@pytest.mark.parametrize("name", of("toml"))
def test_a_configuration_on_a_page_is_one(name: str) -> None:
    for block in blocks(PAGES[name]):
        if block.language == "toml" and block.word != "not run":
            check_toml(block, PAGES[name])


@pytest.mark.parametrize("name", of("yaml", "policy"))
def test_a_policy_on_a_page_loads_without_a_finding(name: str) -> None:
    for block in blocks(PAGES[name]):
        if block.word == "policy":
            check_policy(block, PAGES[name])


@pytest.mark.parametrize("name", [*of("yaml", "file"), *of("markdown", "file")])
def test_the_files_on_a_page_are_read_without_a_problem(name: str, project: Path) -> None:
    (project / "prowess.toml").write_text('[policy]\nfiles = ["policy.yaml"]\n')  # the usual places are read
    write_files(PAGES[name], project)
    said = CliRunner().invoke(program, ["sync"])
    assert said.exit_code == 0 and "problem" not in said.stderr, said.stderr


@pytest.mark.parametrize("name", list(PAGES))
def test_every_command_on_a_page_is_one(name: str) -> None:
    for line in commands(PAGES[name]):
        check_command(line)


@pytest.mark.parametrize("name", list(PAGES))
def test_every_block_is_of_a_kind_that_is_run_or_says_why_not(name: str) -> None:
    def is_looked_at(block: Block) -> bool:
        if block.language in ("yaml", "markdown"):
            return block.word in ("policy", "file", "not run")
        return block.language in KNOWN and (block.word != "not run" or bool(block.said))

    assert [one.line for one in blocks(PAGES[name]) if not is_looked_at(one)] == []
