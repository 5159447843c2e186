"""What keeps something from working is said where somebody looks: modules, keys, workspaces, names."""

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import prowess
from prowess.cli.main import prowess as command
from prowess.journal import Journal, Raw
from prowess.opening import now
from prowess.store.opening import open_database
from prowess.store.workspaces import mistyped
from tests.support.places import ROOT

Run = Callable[..., Result]
LIBRARY = ROOT / "tests" / "support" / "servers" / "library.py"
MISTYPED = '[[source]]\ntype = "functions"\nmodule = "my_toools"\n'
BROKEN = "my_toools: cannot be imported: ModuleNotFoundError: No module named 'my_toools'"


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run a command in an empty folder, with nothing of this machine's user in reach."""
    monkeypatch.chdir(tmp_path)
    for name in ("PROWESS_CONFIG", "PROWESS_STORE", "PROWESS_WORKSPACE", "NOTES_KEY", "XDG_STATE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.null.Keyring")
    return lambda *words, **given: CliRunner().invoke(command, words, **given)


def test_a_module_that_cannot_be_imported_is_told_wherever_somebody_looks_for_its_tools(
    run: Run, caplog: pytest.LogCaptureFixture
) -> None:
    run("init")
    with Path("prowess.toml").open("a") as file:
        file.write(MISTYPED)
    assert "my_toools: was not read yet" in run("doctor").stdout
    assert BROKEN in run("sync").stderr
    for looks in (("list",), ("find", "count words")):
        assert f"nothing is in the catalogue: {BROKEN}" in run(*looks).stderr
    assert BROKEN in run("doctor").stdout
    with prowess.open() as engine:
        engine.offer("count words")
        engine.offer("count letters")
    assert [one.getMessage().split(";")[0] for one in caplog.records] == [
        f"nothing is in the catalogue: {BROKEN}"
    ]


@pytest.fixture
def connected(run: Run, tmp_path: Path) -> Run:
    """Cursor had a server, and a key for it."""
    file = tmp_path / "home" / ".cursor" / "mcp.json"
    file.parent.mkdir(parents=True)
    server = {"command": sys.executable, "args": [str(LIBRARY)], "env": {"NOTES_KEY": "a1b2c3d4e5f6a7b8c9"}}
    file.write_text(json.dumps({"mcpServers": {"notes": server}}))
    done = run("connect", "cursor", "--yes")
    said = "NOTES_KEY stays with Cursor; for commands here, too, run: prowess secret set NOTES_KEY"
    assert said in done.stderr and "Cursor is connected: 1 server in" in done.stderr
    return run


@pytest.mark.slow
def test_a_key_that_only_the_client_has_is_said_to_be_missing_here_and_set_by_one_command(
    connected: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NOTES_KEY", raising=False)
    remedy = "run: prowess secret set NOTES_KEY"
    for words in (("find", "borrow a book"), ("sync",), ("list",), ("call", "find_book", "title=Emma")):
        assert remedy in connected(*words).stderr, words
    assert remedy in connected("doctor").stdout
    assert connected("secret", "set", "NOTES_KEY", input="a1b2c3").exit_code == 0
    assert "find_book" in connected("find", "borrow a book").stdout
    assert connected("call", "find_book", "title=Emma").stdout.strip() == "Emma (0)"


def test_a_servers_own_name_of_a_tool_is_enough_where_one_server_has_it(run: Run) -> None:
    run("init")
    for server, tool in (("notes", "read_text"), ("notes", "drop"), ("files", "drop")):
        folder = Path(".prowess/capabilities") / f"{server}-{tool}"
        folder.mkdir(parents=True)
        (folder / "CAPABILITY.yaml").write_text(f"kind: tool\nname: {server}/{tool}\ndescription: Do it.\n")
    run("sync")
    assert "tool:notes/read_text is not called" in run("call", "read_text").stderr
    both = run("call", "drop")
    assert both.exit_code == 1
    assert "several servers have one; say which: tool:files/drop, tool:notes/drop" in both.stderr
    assert "There is no capability 'dro' here" in run("call", "dro").stderr


def test_a_mistyped_workspace_is_said_to_be_new_beside_the_one_that_may_be_meant(run: Run) -> None:
    run("init")
    assert run("--workspace", "acme", "sync").exit_code == 0
    run("--workspace", "acme", "offer", "anything")
    told = "nothing was ever written in workspace 'acem'; did you mean 'acme'?"
    assert told in run("--workspace", "acem", "list").stderr
    assert "did you mean" not in run("--workspace", "acme", "list").stderr
    assert "did you mean 'acme'?" in run("workspaces", "remove", "acem", "--yes").stderr


def test_only_what_is_near_and_was_written_in_is_suggested(store_url: str, tmp_path: Path) -> None:
    with_entry = open_database(store_url, tmp_path, workspace="acme")
    Journal(with_entry, now).record(Raw("note", {}))
    suggestions = {name: with_entry.of(name) for name in ("acme", "acem", "bolt")}
    assert {name: mistyped(one) for name, one in suggestions.items()} == {
        "acme": "",
        "acem": "acme",
        "bolt": "",
    }
    for one in (*suggestions.values(), with_entry):
        one.close()
