"""Functions of one's own: scorers, session types and messages, given to `prowess.open` or named."""

import json
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

import prowess
from prowess import Message, Turn
from prowess.cards.card import Card
from prowess.cli.main import prowess as command
from prowess.errors import ConfigError
from tests.support.cards import CALENDAR, ECONOMY, ids, turn

POLICY = "profiles:\n  owner:\n    agents: [default]\n    additional_tools: ['*']\n"
ASKED = turn("something else entirely")
MODULE = """
def by_name(card, turn):
    return 1.0 if card.name in turn.text else 0.0

def nearest(card, turn):
    return 0.9 if card.name == "calendar" else 0.0

not_a_function = 7
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with two cards, a policy and a module of scorers, which is not the current folder."""
    folder, module = tmp_path / "project", f"scorers_{tmp_path.name}".replace("-", "_")
    (folder / "docs" / "capabilities").mkdir(parents=True)
    (folder / "docs" / "capabilities" / "a.md").write_text(ECONOMY)
    (folder / "docs" / "capabilities" / "b.md").write_text(CALENDAR)
    (folder / "policy.yaml").write_text(POLICY)
    (folder / f"{module}.py").write_text(MODULE)
    write(folder, f'scorer = "{module}:nearest"')
    monkeypatch.setattr(sys, "modules", dict(sys.modules))
    return folder


def write(folder: Path, line: str) -> str:
    (folder / "prowess.toml").write_text(f'[policy]\nfiles = ["policy.yaml"]\n\n[cards]\n{line}\n')
    return str(folder / "prowess.toml")


def by_name(card: Card, turn: Turn) -> float:
    return 1.0 if card.name in turn.text else 0.0


def test_a_scorer_given_to_open_is_used_under_its_name(project: Path) -> None:
    file = write(project, 'scorer = "mine"')
    with prowess.open(config=file, scorers={"mine": by_name}) as engine:
        engine.sync(vectors=False)
        assert ids(engine.inject([], "about the calendar")) == ["calendar"]
        assert ids(engine.inject([], "How much do tokens cost?")) == []
        assert ids(engine.inject([], "How much do tokens cost?", scorer="relevance")) == ["token-economy"]


def test_a_scorer_named_in_the_configuration_is_found_beside_it(project: Path) -> None:
    with prowess.open(config=str(project / "prowess.toml")) as engine:
        engine.sync(vectors=False)
        assert ids(engine.inject([], ASKED)) == ["calendar"]


def test_the_terminal_uses_the_scorer_that_is_named(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(project)
    (project / "m.jsonl").write_text('{"role": "user", "text": "something else"}')
    assert CliRunner().invoke(command, ["sync"]).exit_code == 0
    for more in ([], ["--cards", "docs/capabilities"]):
        said = CliRunner().invoke(command, ["inject", "--messages", "m.jsonl", "--json", *more])
        assert [one["name"] for one in json.loads(said.stdout)["injected"]] == ["calendar"]


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("nowhere_at_all:score", "cannot be imported"),
        ("MODULE:by_nam", "has no function 'by_nam'; did you mean 'by_name'"),
        ("MODULE:not_a_function", "has no function 'not_a_function'"),
    ],
)
def test_a_scorer_that_is_not_there_is_an_error_that_says_which(project: Path, name: str, said: str) -> None:
    module = next(project.glob("scorers_*.py")).stem
    file = write(project, f'scorer = "{name.replace("MODULE", module)}"')
    with prowess.open(config=file) as engine, pytest.raises(ConfigError, match=said):
        engine.sync(vectors=False)
        engine.inject([], ASKED)


def test_session_types_and_messages_may_come_from_functions_given_to_open(project: Path) -> None:
    said = {"chat:1": [Message("user", "How much do tokens cost?")]}
    with prowess.open(
        config=write(project, ""),
        session_type_of=lambda session: "cron" if session.startswith("cron:") else "main",
        messages_of=lambda session, count: said.get(session, [])[-count:],
    ) as engine:
        engine.sync(vectors=False)
        nothing = Turn(messages=())
        assert ids(engine.inject([], nothing, session="chat:1")) == ["token-economy"]
        assert ids(engine.inject([], nothing, session="chat:2")) == []
        assert ids(engine.inject([], turn("How much do tokens cost?"), session="cron:1")) == []
