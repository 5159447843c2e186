"""`prowess lessons` and `prowess gaps`, as a person uses them."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import prowess
from prowess.cli.main import prowess as program
from prowess.types import Outcome

TOML = """
[[source]]
type = "functions"
name = "tools"
module = "office_tools"

[policy]
files = ["policy.yaml"]

[discovery]
embedding_model_id = ""

[learning]
mode = "accumulate"
judges = "anyone"
"""

TOOLS = '''
from prowess import tool


@tool
def invoices(text: str) -> str:
    """Ledger accounting documents."""
    return text


@tool
def mail(text: str) -> str:
    """Send electronic mail to a colleague."""
    return text


@tool
def calendar(text: str) -> str:
    """Look at the calendar of meetings."""
    return text
'''


@pytest.fixture
def office(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "prowess.toml").write_text(TOML)
    (tmp_path / "office_tools.py").write_text(TOOLS)
    (tmp_path / "policy.yaml").write_text('profiles: {all: {agents: [default], additional_tools: ["*"]}}\n')
    with prowess.open() as engine:
        engine.sync()
        invoices = next(c.id for c in engine.catalogue.list() if "invoices" in c.id)
        for request in ("pay the plumber", "pay the plumber now", "pay the plumber today", "zzqqx wibbet"):
            offer = engine.offer(request)
            worked = request.startswith("pay")
            engine.record(
                Outcome(offer=offer.id, capability=invoices, ok=worked, detail="" if worked else "no idea")
            )
    return tmp_path


def run(*args: str) -> Result:
    return CliRunner().invoke(program, list(args))


def test_a_person_lists_shows_gates_and_decides(office: Path) -> None:
    listed = json.loads(run("lessons", "list", "--json").stdout)
    (lesson,) = [each for each in listed if each["successes"] == 3]
    assert "proposed" in run("lessons", "list").stdout
    assert "pay the plumber" in run("lessons", "show", lesson["id"]).stdout
    refused = run("lessons", "promote", lesson["id"], "--by", "ada")
    assert refused.exit_code == 1 and "has not shown tests" in refused.stderr
    gated = run("lessons", "gate", lesson["id"])
    assert gated.exit_code == 1 and "regression" in gated.stdout and "benchmark" in gated.stdout
    assert run("lessons", "promote", "--auto").exit_code == 1
    assert run("lessons", "retire", lesson["id"], "--by", "ada", "--reason", "wrong").exit_code == 0
    assert "retired (wrong)" in run("lessons", "show", lesson["id"]).stdout


def test_a_person_sees_gaps_with_what_would_close_them_and_closes_them(office: Path) -> None:
    (found,) = json.loads(run("gaps", "list", "--json").stdout)
    assert found["gap"]["span"] == "zzqqx wibbet"
    assert "was tried and failed: no idea" in found["gap"]["reason"]
    assert found["closing"]["say"]
    assert "zzqqx wibbet" in run("gaps", "list").stdout
    assert "no idea" in run("gaps", "show", found["gap"]["id"]).stdout
    assert run("gaps", "close", found["gap"]["id"], "--by", "ada").exit_code == 0
    assert json.loads(run("gaps", "list", "--json").stdout) == []


def test_the_report_says_what_is_costly_and_what_is_used(office: Path) -> None:
    lines = json.loads(run("lessons", "report", "--json").stdout)
    (line,) = [line for line in lines if line["kind"] == "provider"]
    assert (line["chosen"], line["succeeded"], line["never_used"]) == (4, 3, 2)
    assert line["tokens"] > 0
    assert "TOKENS" in run("lessons", "report").stdout


def test_a_proposal_is_taken_in_and_one_with_results_is_not(office: Path) -> None:
    (office / "good.json").write_text('{"method": "tool:mail", "spans": ["write to Ann"]}')
    (office / "bad.json").write_text('{"method": "tool:mail", "spans": ["write to Ann"], "has_tests": true}')
    assert run("lessons", "propose", "good.json", "--by", "ada").exit_code == 0
    refused = run("lessons", "propose", "bad.json", "--by", "ada")
    assert refused.exit_code == 1 and "must not provide 'has_tests'" in refused.stderr
    assert run("lessons", "learn").exit_code == 0


def test_a_person_promotes_what_passed_and_the_next_sync_relies_on_it(office: Path) -> None:
    with prowess.open() as engine:
        invoices = next(c.id for c in engine.catalogue.list() if "invoices" in c.id)
        for day in ("monday", "friday", "this week", "next week"):
            request = f"the gardener is due {day}"
            offer = engine.offer(request)
            engine.record(Outcome(offer=offer.id, capability=invoices, ok=True))
    (lesson,) = [
        each for each in json.loads(run("lessons", "list", "--json").stdout) if each["successes"] == 4
    ]
    gated = run("lessons", "gate", lesson["id"], "--by", "ada")
    assert gated.exit_code == 0, gated.stdout
    assert "regression: cleared" in gated.stdout and "benchmark: cleared" in gated.stdout
    assert run("lessons", "promote", lesson["id"], "--by", "ada").exit_code == 0
    assert run("sync").exit_code == 0
    shown = json.loads(run("lessons", "show", lesson["id"], "--json").stdout)
    assert (shown["lesson"]["status"], shown["lesson"]["reason"]) == ("stable", "promoted by ada")
    assert all(result["command"] == f"prowess lessons gate {lesson['id']}" for result in shown["results"])
    assert (
        run("lessons", "deprecate", lesson["id"], "--by", "ada", "--reason", "no more bills").exit_code == 0
    )
    assert "deprecated (no more bills)" in run("lessons", "show", lesson["id"]).stdout


def test_gating_all_where_nothing_is_proposed_and_learning_while_it_is_off_say_so(office: Path) -> None:
    for lesson in json.loads(run("lessons", "list", "--json").stdout):
        run("lessons", "retire", lesson["id"], "--by", "ada")
    gated = run("lessons", "gate", "--all")
    assert (gated.exit_code, gated.stderr) == (0, "no lesson is proposed, so there is nothing to gate\n")
    (office / "prowess.toml").write_text(TOML.replace("accumulate", "off"))
    assert "learning is off" in run("lessons", "learn").stderr
