"""Take README's first steps with some Python, in an empty folder: `python -m scripts.first_steps PYTHON`.

Everything that is taken stands in README: the tool, its source, the program, and the commands between them.
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

README = Path(__file__).parent.parent / "README.md"
LIMIT = 100


class FirstSteps(NamedTuple):
    """What each step printed."""

    call: str
    program: str
    log: str


def blocks(page: Path, language: str) -> list[str]:
    """The code blocks of a page that are in this language."""
    text = page.read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


def run(python: str, here: Path, *arguments: str) -> str:
    """What this Python prints there, with a home and a PATH that hold nothing else."""
    python = str(Path(python).absolute())
    environment = {"HOME": str(here), "PATH": f"{Path(python).parent}:/usr/bin:/bin"}
    done = subprocess.run(
        [python, *arguments], cwd=here, env=environment, capture_output=True, text=True, timeout=LIMIT
    )
    if done.returncode:
        raise SystemExit(f"{' '.join(arguments)} failed\n{done.stderr}")
    return done.stdout


def take(python: str, here: Path) -> FirstSteps:
    """README's first steps, in this folder."""
    tool, program = blocks(README, "python")[:2]
    (source,) = [one for one in blocks(README, "toml") if "my_tools" in one]
    run(python, here, "-m", "prowess", "init")
    (here / "my_tools.py").write_text(tool)
    with (here / "prowess.toml").open("a") as file:
        file.write(f"\n{source}")
    run(python, here, "-m", "prowess", "sync")
    called = run(python, here, "-m", "prowess", "call", "count_words", "text=one two")
    (here / "program.py").write_text(program)
    said = run(python, here, "program.py")
    return FirstSteps(called, said, run(python, here, "-m", "prowess", "log"))


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        steps = take(sys.argv[1], Path(folder))
    if steps.call != "2\n" or "3" not in steps.program.splitlines() or "count_words" not in steps.log:
        raise SystemExit(f"README's first steps end otherwise than it says: {steps}")
