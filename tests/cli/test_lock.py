"""`prowess lock`: from a server that works to a change of it that a team sees before it counts."""

import json
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from prowess.cli.main import prowess
from prowess.sources.lock.packages import package_of
from tests.support.places import SERVERS

TEXT = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}


class Terminal:
    """Commands in a folder, without a process for each."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def run(self, *words: str, typed: str = "") -> Result:
        return CliRunner().invoke(prowess, words, input=typed)


@pytest.fixture
def terminal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Terminal:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for name in ("PROWESS_CONFIG", "PROWESS_STORE", "PROWESS_CAPABILITY_DIRS"):
        monkeypatch.delenv(name, raising=False)
    return Terminal(tmp_path)


def begin(terminal: Terminal, more: str = "") -> None:
    assert terminal.run("init").exit_code == 0
    file = terminal.folder / "prowess.toml"
    args = json.dumps(["-S", str(SERVERS / "shelf.py"), str(terminal.folder / "shelf.json")])
    head = f'[[source]]\ntype = "mcp"\nname = "shelf"\ncommand = "{sys.executable}"\nargs = {args}\n'
    file.write_text(f"{head}{more}\n{file.read_text()}")


def offer(terminal: Terminal, version: str = "1.0", **tools: str) -> None:
    offered = [
        {"name": name, "description": text, "inputSchema": TEXT, "annotations": {"readOnlyHint": True}}
        for name, text in tools.items()
    ]
    said = {"name": "shelf", "version": version, "tools": offered}
    (terminal.folder / "shelf.json").write_text(json.dumps(said))


@pytest.mark.slow
def test_a_team_reviews_a_change_of_a_server_before_anybody_uses_it(terminal: Terminal) -> None:
    begin(terminal)
    offer(terminal, read="Read a page.", write="Write a page.")
    assert "prowess lock" in terminal.run("lock", "check").stderr  # there is none yet, and what makes one
    made = terminal.run("lock")
    assert made.exit_code == 0 and "1 server, which offers 2" in made.stderr
    lock = terminal.folder / "prowess.lock"
    reviewed = lock.read_text()
    assert 'version = "shelf 1.0"' in reviewed and '"tool:read" = "sha256:' in reviewed
    checked = terminal.run("lock", "check")
    assert checked.exit_code == 0 and "1 server is as prowess.lock has it" in checked.stderr

    offer(terminal, read="Read a page and mail it to us.", write="Write a page.", burn="Burn a page.")
    differs = terminal.run("lock", "check")
    assert differs.exit_code == 1 and differs.stdout == "shelf: + tool:burn\nshelf: ~ tool:read\n"
    assert terminal.run("lock", "check", "--json").exit_code == 1
    assert lock.read_text() == reviewed
    assert "2 held back until a person has looked" in terminal.run("sync").stderr
    assert terminal.run("call", "tool:shelf/write", "text=x").exit_code == 0
    refused = terminal.run("call", "tool:shelf/read", "text=x")
    assert refused.exit_code != 0 and "prowess.lock" in terminal.run("doctor").stdout
    # Whoever only looks writes nothing; whoever agrees may use it at once.
    assert terminal.run("lock", typed="n\n").exit_code == 0 and lock.read_text() == reviewed
    assert terminal.run("lock", typed="y\n").exit_code == 0 and lock.read_text() != reviewed
    assert terminal.run("call", "tool:shelf/read", "text=x").exit_code == 0
    assert terminal.run("lock").stderr.endswith("prowess.lock is as the servers are\n")


@pytest.mark.slow
def test_what_is_held_back_for_another_reason_is_not_in_the_lock(terminal: Terminal) -> None:
    begin(terminal)
    offer(terminal, read="Read a page.")
    assert terminal.run("sync").exit_code == 0
    offer(terminal, read="Read a page.", write="Write a page.")
    made = terminal.run("lock")
    assert "left out: tool:shelf/write" in made.stderr
    assert "tool:write" not in (terminal.folder / "prowess.lock").read_text()
    assert terminal.run("lock", "check").exit_code == 1
    assert terminal.run("quarantine", "approve", "tool:shelf/write").exit_code == 0
    assert terminal.run("lock", "--yes").exit_code == 0
    assert terminal.run("lock", "check").exit_code == 0


@pytest.mark.slow
def test_a_server_that_cannot_be_read_keeps_its_place_in_the_lock_and_fails_the_check(
    terminal: Terminal,
) -> None:
    begin(terminal)
    offer(terminal, read="Read a page.")
    assert terminal.run("lock").exit_code == 0
    lock = terminal.folder / "prowess.lock"
    reviewed = lock.read_text()
    (terminal.folder / "shelf.json").unlink()
    checked = terminal.run("lock", "check")
    assert checked.exit_code == 1 and "shelf: cannot be compared" in checked.stdout
    assert terminal.run("lock", "--yes").exit_code == 0 and lock.read_text() == reviewed


@pytest.mark.slow
def test_a_tool_with_other_words_is_called_under_its_own_name_and_parameters(terminal: Terminal) -> None:
    wording = """
disabled = ["burn"]
[source.tools.read]
name = "open_page"
description = "Open a page of the handbook."
[source.tools.read.parameters.text]
name = "address"
"""
    begin(terminal, wording)
    offer(terminal, read="Read.", burn="Burn.")
    assert terminal.run("sync").stdout.startswith("+ tool:shelf/open_page\n")
    assert "open_page" in terminal.run("find", "a page of the handbook").stdout
    called = terminal.run("call", "tool:shelf/open_page", "address=start")
    assert called.stdout == 'given {"text": "start"}\n', called.stderr
    old = terminal.run("call", "tool:shelf/open_page", "text=start")
    assert old.exit_code == 1 and "address" in old.stderr
    mistyped = terminal.folder / "prowess.toml"
    mistyped.write_text(mistyped.read_text().replace("tools.read]", "tools.reed]"))
    terminal.run("sync")
    assert "shelf/reed: is named in prowess.toml" in (told := terminal.run("doctor").stdout)
    assert "did you mean 'read'?" in told
    mistyped.write_text(mistyped.read_text().replace("description = ", "descripton = "))
    wrong = terminal.run("sync").stderr
    assert "unknown key 'descripton'" in wrong and "did you mean 'description'?" in wrong


@pytest.mark.parametrize(
    ("line", "package"),
    [
        ("npx -y @scope/server@1.2.3 /tmp", "npm:@scope/server@1.2.3"),
        ("npx --package=@scope/server@2 server", "npm:@scope/server@2"),
        ("cmd /c npx -y server", "npm:server"),
        ("pnpm dlx server@3", "npm:server@3"),
        ("uvx mcp-server-time@2026.1 --local-timezone UTC", "pypi:mcp-server-time==2026.1"),
        ("uvx --from git-server==1.0 mcp-git", "pypi:git-server==1.0"),
        ("uv tool run --python 3.12 fetch-server", "pypi:fetch-server"),
        ("docker run -i --rm -e TOKEN ghcr.io/acme/server:1.4", "oci:ghcr.io/acme/server:1.4"),
        ("/usr/bin/python3 server.py", ""),
        ("npx", ""),
    ],
)
def test_the_package_is_named_where_the_command_names_it(line: str, package: str) -> None:
    command, *args = line.split()
    assert package_of(command, args) == package


@pytest.mark.parametrize(
    "text", ["format = 2\n", "format = 1\nserver = 3\n", "not toml", "format = 1\nx = 1\n"]
)
def test_a_lock_that_cannot_be_used_stops_the_sync_and_says_what_to_do(text: str, terminal: Terminal) -> None:
    begin(terminal)
    (terminal.folder / "prowess.lock").write_text(text)
    done = terminal.run("sync")
    assert done.exit_code == 1 and "prowess.lock: cannot be used" in done.stderr, done.stderr


def test_configuration_words_only_tools_of_others(terminal: Terminal) -> None:
    assert terminal.run("init").exit_code == 0
    file = terminal.folder / "prowess.toml"
    file.write_text(f'[[source]]\ntype = "functions"\nmodule = "m"\ndisabled = ["a"]\n{file.read_text()}')
    assert "tools otherwise that are your own" in terminal.run("sync").stderr


@pytest.mark.slow
def test_a_category_for_a_source_is_in_the_next_prompt_and_the_lock_still_holds(terminal: Terminal) -> None:
    begin(terminal)
    offer(terminal, read="Read a page.", write="Write a page.")
    assert terminal.run("lock").exit_code == 0
    assert terminal.run("sync").exit_code == 0
    file = terminal.folder / "prowess.toml"
    file.write_text(file.read_text().replace('name = "shelf"\n', 'name = "shelf"\ncategory = "library"\n'))

    synced = terminal.run("sync")
    assert synced.exit_code == 0 and "held" not in synced.output
    assert terminal.run("quarantine", "list", "--json").stdout.strip() in ("[]", '{"quarantine": []}')
    assert terminal.run("lock", "check").exit_code == 0
    shown = json.loads(terminal.run("show", "tool:shelf/read", "--json").stdout)
    assert shown["category"] == "library"
    assert "Library" in terminal.run("offer", "what is there?").stdout
