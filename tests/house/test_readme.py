"""README's first steps, taken as they stand there, in an empty folder."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.places import ROOT

pytestmark = [pytest.mark.slow, pytest.mark.timeout(120)]

README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", README, re.MULTILINE | re.DOTALL)


def run(here: Path, *command: str) -> str:
    environment = {"HOME": str(here), "PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin"}
    done = subprocess.run(command, cwd=here, env=environment, capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_first_tool_is_found_offered_and_called_by_following_the_readme(tmp_path: Path) -> None:
    tools, program = blocks("python")[:2]
    (source,) = [one for one in blocks("toml") if "my_tools" in one]
    prowess = [sys.executable, "-m", "prowess"]
    run(tmp_path, *prowess, "init")
    (tmp_path / "my_tools.py").write_text(tools)
    with (tmp_path / "prowess.toml").open("a") as file:
        file.write(f"\n{source}")
    run(tmp_path, *prowess, "sync")
    assert run(tmp_path, *prowess, "call", "count_words", "text=one two") == "2\n"
    (tmp_path / "program.py").write_text(program)
    said = run(tmp_path, sys.executable, "program.py").splitlines()
    assert "3" in said and "Did you mean 'count_words'?" in said[-1]
    assert '"count_words"' in str(blocks("python")[1]) and "count_words" in "\n".join(said)
    log = run(tmp_path, *prowess, "log")
    assert log.count("tool:count_words") >= 3 and "tool:find_flights" not in log
