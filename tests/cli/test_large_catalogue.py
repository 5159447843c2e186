"""A catalogue beyond `in_memory`, from a person's first command to what they see."""

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from prowess.cli.main import prowess

TOOLS = """
from prowess import tool


def made(number, subject):
    def act(name: str) -> str:
        return f"{subject} {number}: {name}"

    act.__name__ = f"{subject}_{number}"
    act.__doc__ = f"Order the {subject} number {number} for somebody."
    return tool(act)


TOOLS = [made(number, subject) for number in range(12) for subject in ("flowers", "pizza", "taxi")]
globals().update({one.__name__: one for one in TOOLS})
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for name in ("PROWESS_CONFIG", "PROWESS_STORE", "PROWESS_CAPABILITY_DIRS"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


def run(*words: str) -> Result:
    done = CliRunner().invoke(prowess, words)
    assert done.exit_code == 0, done.output
    return done


def test_it_is_synced_searched_listed_and_called_like_any_other(folder: Path) -> None:
    run("init")
    (folder / "orders_of_a_day.py").write_text(TOOLS)
    file = folder / "prowess.toml"
    source = '[[source]]\ntype = "functions"\nname = "orders"\nmodule = "orders_of_a_day"\n'
    file.write_text(f"in_memory = 10\n{source}\n{file.read_text()}")
    assert "36" in run("sync").output
    assert "index" in run("jobs").output
    assert "tool:flowers_3" in run("find", "order the flowers number 3").output
    assert "flowers 3: Ann" in run("call", "tool:flowers_3", "name=Ann").output
    assert run("list").output.count("tool:") == 36
    assert "finding" in run("lint").output
    assert "related to nothing" in run("graph", "tool:flowers_3").output
    run("doctor")
    (folder / "orders_of_a_day.py").write_text(TOOLS.replace('"taxi"', '"gondola"'))
    run("sync")
    assert "tool:gondola_3" in run("find", "order the gondola number 3").output
    assert "tool:taxi" not in run("find", "order the taxi number 3").output
