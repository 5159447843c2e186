"""The command line: data on stdout, words on stderr, exit 0, 1 or 2."""

import json
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from prowess.cli.main import COMMANDS, prowess

Run = Callable[..., Result]

MANIFEST = """
kind: tool
name: {name}
description: {description}
requiredSecrets: [{secret}]
inputSchema: {{ type: object, properties: {{ query: {{ type: string }} }} }}
"""


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run a command in an empty folder, with nothing of this machine's user in reach."""
    monkeypatch.chdir(tmp_path)
    for name in ("PROWESS_CONFIG", "PROWESS_STORE", "PROWESS_CAPABILITY_DIRS", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    return lambda *words: CliRunner().invoke(prowess, words)


def manifest(name: str, description: str = "Does something useful.", secret: str = "") -> None:
    folder = Path(".prowess/capabilities") / name
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "CAPABILITY.yaml").write_text(
        MANIFEST.format(name=name, description=description, secret=secret)
    )


def test_a_first_run_goes_from_nothing_to_a_list(run: Run) -> None:
    assert run("init").exit_code == 0
    manifest("web-search", "Search the web.")
    synced = run("sync")
    assert synced.stdout == "+ tool:web-search\n"
    assert "1 capabilities: 1 added" in synced.stderr
    assert "tool:web-search" in run("list").stdout
    assert '"query"' in run("show", "tool:web-search").stdout


def test_init_twice_leaves_what_is_there(run: Run) -> None:
    run("init")
    Path("prowess.toml").write_text("# mine\n")
    again = run("init")
    assert again.exit_code == 0
    assert Path("prowess.toml").read_text() == "# mine\n"
    assert "already here" in again.stderr


def test_every_command_that_prints_data_prints_json_when_asked(run: Run) -> None:
    manifest("a", secret="NOT_SET_ANYWHERE")
    run("sync")
    (listed,) = json.loads(run("list", "--json").stdout)
    assert (listed["id"], listed["available"]) == ("tool:a", False)
    shown = json.loads(run("show", "tool:a", "--json").stdout)
    assert shown["detail"]["input_schema"]["type"] == "object"
    assert json.loads(run("sources", "--json").stdout)[0]["capabilities"] == 1
    assert json.loads(run("provider", "list", "--json").stdout)[0]["name"] == "manifests"
    assert json.loads(run("sync", "--json").stdout)["total"] == 1
    assert json.loads(run("doctor", "--json").stdout)["capabilities"] == 1
    assert json.loads(run("version", "--json").stdout)["prowess"]
    assert json.loads(run("log", "--json").stdout.splitlines()[0])["type"] == "catalogue.synced"
    assert json.loads(run("log", "--verify", "--json").stdout)["intact"] is True


def test_an_unknown_capability_is_one_line_on_stderr_and_exit_1(run: Run) -> None:
    manifest("web-search")
    run("sync")
    result = run("show", "tool:web-serch")
    assert result.exit_code == 1
    assert result.stdout == ""
    assert result.stderr == "prowess: no capability named 'tool:web-serch'; did you mean 'tool:web-search'?\n"


def test_a_wrong_command_or_option_is_exit_2(run: Run) -> None:
    assert run("lst").exit_code == 2
    assert "Did you mean 'list'" in run("lst").stderr
    assert run("list", "--nonsense").exit_code == 2


def test_one_bad_file_is_skipped_and_doctor_says_what_to_do(run: Run) -> None:
    manifest("good")
    manifest("bad")
    Path(".prowess/capabilities/bad/CAPABILITY.yaml").write_text("name: [unclosed")
    assert run("sync").exit_code == 0
    assert "tool:good" in run("list").stdout
    doctor = run("doctor")
    assert doctor.exit_code == 1
    assert "bad/CAPABILITY.yaml" in doctor.stdout
    assert "error" in doctor.stdout


def test_a_provider_that_is_off_is_in_no_answer(run: Run) -> None:
    manifest("a")
    run("sync")
    run("provider", "off", "manifests")
    assert json.loads(run("list", "--json").stdout) == []
    run("provider", "on", "manifests")
    assert len(json.loads(run("list", "--json").stdout)) == 1


def test_the_log_finds_an_edited_entry(run: Run) -> None:
    manifest("a")
    run("sync")
    heads = run("log", "--export-heads").stdout
    Path("heads.json").write_text(heads)
    assert run("log", "--verify", "--heads", "heads.json").exit_code == 0
    with sqlite3.connect(".prowess/prowess.db") as connection:
        connection.execute("UPDATE journal SET data = '{}'")
    connection.close()
    broken = run("log", "--verify")
    assert broken.exit_code == 1
    assert "it was edited" in broken.stderr
    assert run("doctor").exit_code == 1


def test_import_takes_servers_over_without_their_secrets(run: Run) -> None:
    Path("claude.json").write_text(
        json.dumps(
            {"mcpServers": {"gh": {"command": "npx", "args": ["gh"], "env": {"GH_TOKEN": "ghp_s3cret"}}}}
        )
    )
    result = run("import", "claude.json")
    assert result.stdout == "gh\n"
    text = Path("prowess.toml").read_text()
    assert "ghp_s3cret" not in text + result.output
    assert "${GH_TOKEN}" in text
    assert 'type = "manifests"' in text
    assert run("import", "claude.json").stdout == ""


def test_import_of_a_file_that_is_not_there_is_a_clear_error(run: Run) -> None:
    result = run("import", "nowhere.json")
    assert result.exit_code == 1
    assert "nowhere.json: does not exist" in result.stderr


def test_text_of_others_cannot_steer_the_terminal(run: Run) -> None:
    manifest("a", '"\\e[31mred\\a"')
    run("sync")
    assert "\x1b" not in run("list").stdout
    assert "\x1b" not in run("show", "tool:a").stdout


def test_the_history_of_a_capability_shows_every_text_it_had(run: Run) -> None:
    for text in ("first text", "second text"):
        manifest("a", text)
        run("sync")
    history = run("show", "tool:a", "--history").stdout
    assert history.index("first text") < history.index("second text")


def test_every_command_has_help_and_the_overview_lists_it(run: Run) -> None:
    overview = run("--help").stdout
    for name in COMMANDS:
        assert run(name, "--help").exit_code == 0
        assert f"  {name} " in overview


def test_the_log_streams_what_happens(run: Run) -> None:
    manifest("a")
    command = [sys.executable, "-m", "prowess", "log", "--follow", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as following:
        assert following.stdout is not None
        run("sync")
        assert json.loads(following.stdout.readline())["data"]["added"] == ["tool:a"]
        following.kill()
