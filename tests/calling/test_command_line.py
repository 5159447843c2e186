"""From a person's first command to the end of their first call, and what the journal says of it."""

import json
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from prowess.cli.main import prowess

TOOLS = '''
import prowess

@prowess.tool(side_effects=False)
def convert(amount: float, source: str, target: str = "EUR") -> dict:
    """Convert an amount of money from one currency to another."""
    return {"amount": amount * 2, "target": target}

@prowess.tool
def send_mail(to: str, subject: str) -> str:
    """Send a mail to somebody."""
    return f"sent {subject} to {to}"
'''
CONFIG = '\n[[source]]\ntype = "functions"\nname = "own"\nmodule = "my_call_tools"\n'


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(sys, "path", [*sys.path])
    (tmp_path / "my_call_tools.py").write_text(TOOLS)
    assert run("init")[0] == 0
    with (tmp_path / "prowess.toml").open("a") as file:
        file.write(CONFIG)
    assert run("sync")[0] == 0
    return tmp_path


def run(*arguments: str) -> tuple[int, str, str]:
    result = CliRunner().invoke(prowess, arguments)
    return result.exit_code, result.stdout, result.stderr


def test_a_first_capability_is_called_and_its_call_is_in_the_log(here: Path) -> None:
    code, said, _ = run("call", "convert", "amount=2", "source=NOK")
    assert code == 0 and json.loads(said) == {"amount": 4.0, "target": "EUR"}
    assert run("call", "send_mail", "to=ann", "subject=12")[1] == "sent 12 to ann\n", "a text stays a text"
    log = run("log")[1]
    assert "tool:convert" in log and "call.begun" in log
    assert run("log", "--verify")[0] == 0
    assert run("calls")[2] == "no call was cut off\n"


def test_a_call_that_cannot_be_made_says_why_and_what_to_do(here: Path) -> None:
    code, said, why = run("call", "convert", "amount=two", "source=NOK")
    assert code == 1 and said == "" and "'two' is not of type 'number'" in why
    code, _, why = run("call", "convrt")
    assert code == 1 and "Did you mean 'convert'?" in why
    code, _, why = run("call", "convert", "amount")
    assert code == 2 and "'amount' is not KEY=VALUE" in why
    code, _, why = run("call", "convert", "--arguments", "{")
    assert code == 2 and "is not JSON" in why
    assert run("call", "convert", "--agent", "nobody", "amount=1", "source=NOK")[0] == 1


def test_the_same_key_does_it_once_from_one_command_to_the_next(here: Path) -> None:
    first = run("call", "send_mail", "--key", "k", "to=ann", "subject=hi", "--json")
    again = run("call", "send_mail", "--key", "k", "to=ann", "subject=hi", "--json")
    assert json.loads(first[1])["content"] == json.loads(again[1])["content"]
    assert json.loads(first[1])["id"] != json.loads(again[1])["id"]
    assert run("call", "send_mail", "--key", "k", "to=bob", "subject=hi")[0] == 1
    outcomes = run("log", "--type", "outcome")[1]
    assert outcomes.count("tool:send_mail") == 1
