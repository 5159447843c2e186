"""The examples that need no framework, run as their README says; the others run in `make integrations`."""

import json
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.support.places import ROOT

EXAMPLES = ROOT / "examples"
pytestmark = [pytest.mark.slow, pytest.mark.timeout(120)]


def python(*arguments: str, folder: Path = ROOT) -> subprocess.CompletedProcess[str]:
    """What a Python program says; what it remembers is not this machine's."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith("PROWESS_")} | {
        "MPLBACKEND": "agg"
    }
    return subprocess.run(
        [sys.executable, *arguments], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


def test_the_team_asks_a_person_before_a_large_refund() -> None:
    said = python("-m", "examples.team").stdout.splitlines()
    assert "ada is offered: tool:refund" in said and "ben is offered:" in said
    assert "ada: 89.00 euros went back for order 17" in said
    assert [line for line in said if line.startswith("journal: ben")] == ["journal: ben tool:refund denied"]


def test_no_customer_is_offered_what_another_has() -> None:
    said = python("-W", "ignore", "-m", "examples.customers").stdout.splitlines()
    assert said == [
        "offices, 'book a meeting room': tool:book_room",
        "offices, 'ship a parcel to Rome':",
        "parcels, 'book a meeting room':",
        "parcels, 'ship a parcel to Rome': tool:ship_parcel",
        "nobody, 'book a meeting room': there is no such customer",
        "nobody, 'ship a parcel to Rome': there is no such customer",
    ]


def job(folder: Path) -> list[int]:
    """How the steps of the example's CI job end."""
    workflow = yaml.safe_load((folder / "ci.yml").read_text(encoding="utf-8"))
    steps = [step["run"] for step in workflow["jobs"]["discovery"]["steps"] if "run" in step]
    commands = [shlex.split(step)[1:] for step in steps if step.startswith("prowess ")]
    return [python("-m", "prowess", *command, folder=folder).returncode for command in commands]


def test_the_quality_gate_lets_good_words_through_and_stops_bad_ones(tmp_path: Path) -> None:
    bank = Path(shutil.copytree(EXAMPLES / "quality_gate", tmp_path / "bank"))
    assert job(bank) == [0, 0, 0]
    tools = bank / "bank.py"
    tools.write_text(
        tools.read_text(encoding="utf-8").replace("Block a lost or stolen card at once.", "Do it.")
    )
    (bank / "policy.yaml").write_text((bank / "policy.yaml").read_text().replace("ask:", "pinned:"))
    assert job(bank) == [0, 1, 1]


def cells(notebook: Path) -> list[dict[str, Any]]:
    return [
        cell
        for cell in json.loads(notebook.read_text(encoding="utf-8"))["cells"]
        if cell["cell_type"] == "code"
    ]


def test_the_notebook_prints_and_plots_what_it_shows(tmp_path: Path) -> None:
    shown = cells(EXAMPLES / "tour.ipynb")
    program = "\n".join("".join(cell["source"]) for cell in shown)
    (tmp_path / "tour.py").write_text(program, encoding="utf-8")
    done = python("tour.py", folder=tmp_path)
    outputs = [output for cell in shown for output in cell["outputs"]]
    printed = "".join("".join(output["text"]) for output in outputs if output["output_type"] == "stream")
    assert done.stdout == printed, done.stderr
    assert sum("image/png" in output.get("data", {}) for output in outputs) == program.count("plt.show()")
