"""Frameworks that the gateway serves: each page's program, as it stands there, before a real gateway.

A program and its framework live in an environment without prowess; `prowess` is a command beside it.
"""

import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from examples.office import CONFIG, LAST, POLICY
from tests.integrations.loopback import LoopbackModel, Step
from tests.integrations.pages import blocks
from tests.support.places import ROOT

FRAMEWORKS = ("agent_framework", "autogen", "crewai", "dspy", "smolagents", "vercel")
ENVIRONMENTS = ROOT / ".venv-integrations"
TOOLS = f"""
import sys

sys.path.insert(0, {str(ROOT)!r})
from examples.office import find_invoices, other_tools, print_report, send_email

globals().update({{one.__name__: one for one in other_tools()}})
"""
SOURCE = '[[source]]\ntype = "functions"\nmodule = "office_tools"\n'
MAIL = {"to": "ann@example.com", "text": "Invoices 17 and 23 are open."}
FIRST: tuple[Step, ...] = (
    ("discover_capabilities", {"query": "open invoices of a customer"}),
    ("call_read_only", {"id": "tool:find_invoices", "arguments": {"customer": "ACME"}}),
    ("call_with_effects", {"id": "tool:print_report", "arguments": {"quarter": "Q3"}}),
    ("discover_capabilities", {"query": "count a room by its name"}),
    ("call_read_only", {"id": "tool:count_room", "arguments": {"name": "blue"}}),
    ("call_with_effects", {"id": "tool:send_email", "arguments": MAIL}),
)
FOUND, CALLED, FAILED, OFFERED, DENIED, WAITING = range(len(FIRST))
AGAIN = ("call_with_effects", {"id": "tool:send_email", "arguments": MAIL, "key": "mail-1"})
QUIET = {"CREWAI_DISABLE_TELEMETRY": "true", "CREWAI_TRACING_ENABLED": "false", "OTEL_SDK_DISABLED": "true"}

pytestmark = pytest.mark.timeout(300)


@dataclass
class Desk:
    """An office that is served, and a program of a framework before it.

    folder: where the program runs and prowess.toml lies.
    framework: whose page it is.
    """

    folder: Path
    framework: str

    def prowess(self, *arguments: str) -> str:
        """What a person reads who gives this command."""
        return self._run([str(Path(sys.executable).parent / "prowess"), *arguments])

    def journal(self, type: str) -> list[dict[str, Any]]:
        said = self.prowess("log", "--agent", "ada", "--type", type, "--json")
        return [json.loads(line)["data"] for line in said.splitlines()]

    def run(self, model: LoopbackModel) -> str:
        """What the program says at the end, with this model."""
        place = ENVIRONMENTS / self.framework
        language, program = blocks(self.framework)[0]
        file = self.folder / f"program.{'mjs' if language == 'js' else 'py'}"
        file.write_text(program)
        if language == "js" and not (self.folder / "node_modules").exists():
            (self.folder / "node_modules").symlink_to(place / "node_modules")
        with model.serving() as address:
            runner = place / "bin" / ("node" if language == "js" else "python")
            return self._run([str(runner), str(file)], OPENAI_BASE_URL=address, OPENAI_API_KEY="none")

    def _run(self, command: list[str], **more: str) -> str:
        path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
        environment = {"HOME": str(self.folder), "PATH": path, **QUIET, **more}
        done = subprocess.run(
            command, cwd=self.folder, env=environment, capture_output=True, text=True, timeout=200
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout


@dataclass
class Day:
    """What was seen of a program that ran twice, with a person's answer between.

    desk: where.
    first: the model of the first run, and `second` that of the other process.
    said: what both runs said at the end.
    """

    desk: Desk
    first: LoopbackModel
    second: LoopbackModel
    said: tuple[str, str]


@pytest.fixture(scope="module", params=FRAMEWORKS)
def day(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Day:
    desk = Desk(tmp_path_factory.mktemp("office"), request.param)
    (desk.folder / "prowess.toml").write_text(CONFIG + SOURCE)
    (desk.folder / "office_tools.py").write_text(TOOLS)
    policy = desk.folder / "policy.yaml"
    policy.write_text(POLICY)
    desk.prowess("sync")

    def deny() -> None:
        policy.write_text(POLICY.replace('"tool:delete_*"', '"tool:delete_*", "tool:count_*"'))

    first = LoopbackModel(FIRST, LAST, before={DENIED: deny})
    said = desk.run(first)
    (waiting,) = json.loads(desk.prowess("approval", "list", "--json"))
    desk.prowess("approval", "answer", waiting["id"], "--yes", "--by", "the boss")
    second = LoopbackModel((AGAIN, FIRST[FOUND], AGAIN), LAST)
    return Day(desk, first, second, (said, desk.run(second)))


def test_the_program_of_the_page_runs_to_the_end(day: Day) -> None:
    assert day.first.problems == day.second.problems == []
    assert all(LAST in said for said in day.said)
    assert [len(day.first.heard), len(day.second.heard)] == [len(FIRST), 3]


def test_what_a_search_finds_can_be_called(day: Day) -> None:
    assert "tool:find_invoices" in day.first.heard[FOUND] and "delete_" not in day.first.heard[FOUND]
    assert re.search(r"\[\s*17,\s*23\s*\]", day.first.heard[CALLED])


def test_a_tool_that_raises_is_something_that_the_model_reads(day: Day) -> None:
    assert "the printer is on fire" in day.first.heard[FAILED]


def test_what_is_denied_between_search_and_call_reads_as_unknown(day: Day) -> None:
    assert "tool:count_room" in day.first.heard[OFFERED]
    assert "There is no capability 'tool:count_room'" in day.first.heard[DENIED]


def test_a_call_that_waits_says_so_and_is_made_by_the_next_process_after_the_answer(day: Day) -> None:
    assert "waits for a person" in day.first.heard[WAITING]
    assert "sent to ann@example.com" in day.second.heard[0]


def test_a_call_that_is_repeated_with_its_key_is_made_once(day: Day) -> None:
    assert "sent to ann@example.com" in day.second.heard[2]
    made = [one for one in day.desk.journal("outcome") if one["capability"] == "tool:send_email"]
    assert [one["ok"] for one in made] == [True]


def test_the_journal_names_every_call_and_the_search_that_it_answers(day: Day) -> None:
    calls = day.desk.journal("call")
    assert [(one["capability"], one["outcome"]) for one in calls][:5] == [
        ("tool:find_invoices", "ok"),
        ("tool:print_report", "failed"),
        ("tool:count_room", "denied"),
        ("tool:send_email", "asked"),
        ("tool:send_email", "ok"),
    ]
    searches = [one["search"] for one in day.desk.journal("search")]
    assert calls[0]["search"] == searches[0]
