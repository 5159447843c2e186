"""README's first steps, taken as they stand there, in an empty folder; and what it says in figures."""

import re
import sys
from pathlib import Path

import pytest

from demo.__main__ import what_is_offered
from prowess import open as open_engine
from scripts.first_steps import take
from tests.support.places import ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")
COMPARISON = (ROOT / "docs" / "comparison.md").read_text(encoding="utf-8")
PEERS = (ROOT / "bench" / "results" / "peers.md").read_text(encoding="utf-8")
MOST_LINES = 125
METATOOL, SEVERAL_NEEDS = 3, 4
"""Columns of the measured table."""


def rows(text: str) -> list[list[str]]:
    cells = [line.strip("|").split("|") for line in text.splitlines() if line.startswith("| ")]
    return [[cell.strip(" *") for cell in row] for row in cells]


def at_five(row: list[str], column: int) -> float:
    return float(row[column].split("/")[1])


@pytest.mark.slow
@pytest.mark.timeout(120)
def test_a_first_tool_is_found_offered_and_called_by_following_the_readme(tmp_path: Path) -> None:
    steps = take(sys.executable, tmp_path)
    assert steps.call == "2\n"
    said = steps.program.splitlines()
    assert "3" in said and "count_words" in steps.program and "Did you mean 'count_words'?" in said[-1]
    assert steps.log.count("tool:count_words") >= 3 and "tool:find_flights" not in steps.log


@pytest.mark.slow
def test_the_offers_in_the_readme_are_those_of_the_demo(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with open_engine(str(tmp_path / "demo.db"), config=str(ROOT / "demo" / "prowess.toml")) as engine:
        engine.sync()
        what_is_offered(engine)
    printed = capsys.readouterr().out.splitlines()
    shown = [line for line in README.splitlines() if re.match(r"  ('|  \d)", line)]
    assert len(shown) > 8 and [line for line in shown if line not in printed] == []


def test_the_figures_in_the_readme_are_those_that_were_measured() -> None:
    measured = [row for row in rows(PEERS) if row[METATOOL].startswith("0.")]
    others = [row for row in measured if not row[0].startswith("prowess")]
    (ours,) = [row for row in measured if "`find`" in row[0]]
    best = [max(at_five(row, column) for row in others) for column in (METATOOL, SEVERAL_NEEDS)]
    said = {row[0]: row[1:] for row in rows(README.partition("## How well it finds")[2])}
    assert len(others) == 7
    assert [float(cell) for cell in said["best of seven others"]] == best
    assert [float(cell) for cell in said["prowess, `find`"]] == [
        at_five(ours, column) for column in (METATOOL, SEVERAL_NEEDS)
    ]


def test_the_figures_of_the_comparison_are_those_that_were_measured() -> None:
    numbers = {match.lstrip("0") for match in re.findall(r"\d\.\d{3}", PEERS)}
    said = re.findall(r"(?<![\d.])(?:\.\d{3}|1\.000)(?!\d)", COMPARISON)
    assert len(said) > 30 and [one for one in said if one not in numbers] == []


def test_the_readme_stays_short_and_its_picture_small() -> None:
    assert README.count("\n") <= MOST_LINES
    assert (ROOT / "docs" / "images" / "dashboard.png").stat().st_size < 200_000
