"""What a person changes in a client's file meanwhile stays, and what prowess took out of it comes back."""

import json
from pathlib import Path

import pytest

from prowess.clients.connection import ClientFile
from prowess.clients.files import SettingsFile
from prowess.clients.known import CLIENTS, client_named
from prowess.errors import ConfigError
from prowess.sources.imports.documents import parsed
from tests.clients.test_connection import BEFORE, client_of, disconnect, plan, settings

CURSOR = client_named("cursor")


def written(folder: Path, text: str, name: str = "mcp.json") -> SettingsFile:
    file = SettingsFile(folder / name)
    file.path.write_text(text, newline="")
    return file


@pytest.mark.parametrize("before", BEFORE, ids=lambda file: file.name)
def test_a_server_added_meanwhile_stays_and_the_old_ones_come_back(before: Path, tmp_path: Path) -> None:
    client, file = client_of(before), settings(tmp_path, before)
    form = ClientFile(client, str(file.path))
    plan(file, client, workspace="/w").write()
    text = file.path.read_bytes().decode()
    added = {"command": "mine", "args": ["-x"]}
    container = form.own_entries(text)[0][:-1]
    file.path.write_bytes(form.edits.with_value(text, (*container, "mine"), added).encode())
    assert any("those changes stay" in note for note in disconnect(file, client))
    old = parsed(before.name, before.read_text("utf-8-sig"))
    new = parsed(before.name, file.path.read_text("utf-8-sig"))
    for key in container:
        old, new_inside = old[key], new[key]
        new = new_inside
    assert new == {**old, "mine": added}


@pytest.mark.parametrize("before", BEFORE, ids=lambda file: file.name)
def test_connecting_again_takes_over_what_was_added_and_both_come_back(before: Path, tmp_path: Path) -> None:
    client, file = client_of(before), settings(tmp_path, before)
    form = ClientFile(client, str(file.path))
    plan(file, client, workspace="/w").write()
    text = file.path.read_bytes().decode()
    container = form.own_entries(text)[0][:-1]
    file.path.write_bytes(form.edits.with_value(text, (*container, "mine"), {"command": "mine"}).encode())
    again = plan(file, client, workspace="/w")
    assert "mine" in [server.name for server in again.imported.servers]
    again.write()
    assert plan(file, client, workspace="/w").is_done
    kept = file.kept.read_bytes()
    disconnect(file, client)
    assert file.path.read_bytes() == kept
    data = parsed(before.name, file.path.read_text("utf-8-sig"))
    for key in container:
        data = data[key]
    assert data["mine"] == {"command": "mine"}


@pytest.mark.parametrize("client", CLIENTS, ids=lambda client: client.name)
def test_a_client_without_a_file_gets_one_and_loses_it_again(client: object, tmp_path: Path) -> None:
    assert isinstance(client, type(CURSOR))
    file = SettingsFile(tmp_path / "deep" / ("config.toml" if client.name == "codex" else "mcp.json"))
    made = plan(file, client)
    made.write()
    assert plan(file, client).is_done and not file.kept.exists()
    disconnect(file, client)
    assert not file.path.exists()


@pytest.mark.parametrize(
    "text", ["", "{}", "{\n}\n", '{"mcpServers": {}}', "\ufeff{}", "// mine\n{ // all\n}\n"]
)
def test_an_empty_file_is_connected_and_given_back(text: str, tmp_path: Path) -> None:
    file = written(tmp_path, text)
    plan(file, CURSOR).write()
    entries = ClientFile(CURSOR, str(file.path)).own_entries(file.text() or "")
    assert entries == (("mcpServers", "prowess"),)
    disconnect(file, CURSOR)
    assert file.path.read_bytes() == text.encode()


def test_an_entry_that_was_put_in_by_hand_is_replaced_and_does_not_come_back(tmp_path: Path) -> None:
    servers = {
        "gateway": {"command": "uvx", "args": ["prowess", "serve", "mcp"]},
        "time": {"command": "time"},
    }
    file = written(tmp_path, json.dumps({"mcpServers": servers}))
    plan(file, CURSOR).write()
    assert list(json.loads(file.text() or "")["mcpServers"]) == ["prowess"]
    disconnect(file, CURSOR)
    assert list(json.loads(file.text() or "")["mcpServers"]) == ["time"]


def test_a_server_of_that_name_which_is_another_program_keeps_its_name(tmp_path: Path) -> None:
    before = '{"mcpServers": {"prowess": {"command": "sailing", "disabled": false}}}'
    windsurf = client_named("windsurf")
    file = written(tmp_path, before)
    plan(file, windsurf).write()
    servers = json.loads(file.text() or "")["mcpServers"]
    assert servers["prowess"]["command"] == "sailing" and "prowess-2" in servers
    disconnect(file, windsurf)
    assert file.text() == before


def test_a_server_that_a_person_wrote_anew_under_its_old_name_is_theirs(tmp_path: Path) -> None:
    file = written(tmp_path, '{"mcpServers": {"time": {"command": "old"}, "git": {"command": "git"}}}')
    plan(file, CURSOR).write()
    now = json.loads(file.text() or "")
    now["mcpServers"]["time"] = {"command": "new"}
    file.path.write_text(json.dumps(now))
    disconnect(file, CURSOR)
    assert json.loads(file.text() or "")["mcpServers"] == {
        "time": {"command": "new"},
        "git": {"command": "git"},
    }


def test_a_person_who_took_the_entry_out_by_hand_gets_the_others_back(tmp_path: Path) -> None:
    file = written(tmp_path, '{"a": 1, "mcpServers": {"git": {"command": "git"}}}')
    plan(file, CURSOR).write()
    file.path.write_text('{"a": 2}')
    disconnect(file, CURSOR)
    assert json.loads(file.text() or "") == {"a": 2, "mcpServers": {"git": {"command": "git"}}}


def test_what_is_kept_of_an_earlier_time_is_never_overwritten(tmp_path: Path) -> None:
    file = written(tmp_path, '{"mcpServers": {"git": {"command": "git"}}}')
    plan(file, CURSOR).write()
    file.path.write_text('{"mcpServers": {"time": {"command": "time"}}}')
    plan(file, CURSOR).write()
    earlier = file.kept.with_name(f"{file.kept.name}.1")
    assert "git" in earlier.read_text() and "time" in file.kept.read_text()


UNUSABLE = [
    "[]",
    "{",
    '{"mcpServers": []}',
    '{"mcpServers": {"a": {"command": "x"}} "b": 1}',
    '{"mcpServers": {}, "mcpServers": {"a": {"command": "x"}}}',
    '{"mcpServers": {"a": {"command": "x"}, "a": {"command": "y"}}}',
    "mcpServers = 1",
    "[" * 100_000,
]


@pytest.mark.parametrize("text", UNUSABLE, ids=lambda text: text[:40])
def test_a_file_that_cannot_be_understood_is_left_as_it_is(text: str, tmp_path: Path) -> None:
    file = written(tmp_path, text)
    with pytest.raises(ConfigError, match="left as it is") as error:
        plan(file, CURSOR)
    assert "by hand" in error.value.remedy
    assert file.text() == text and not file.kept.exists()


@pytest.mark.parametrize("text", ["= 3", "mcp_servers = 3", "[mcp_servers]\na = 1\na = 2"])
def test_toml_that_cannot_be_understood_is_left_as_it_is(text: str, tmp_path: Path) -> None:
    file = written(tmp_path, text, "config.toml")
    with pytest.raises(ConfigError, match="left as it is"):
        plan(file, client_named("codex"))
    assert file.text() == text


@pytest.mark.parametrize(
    "text",
    [
        'mcp_servers = { git = { command = "git" } } # all\n',
        'mcp_servers.git.command = "git"\n[tui]\nx = 1\n',
        '[mcp_servers]\ngit = { command = "git" }\n\n# end',
        '[mcp_servers.git]\r\ncommand = "git" # mine\r\n\r\n[tui]\r\nx = 1\r\n',
    ],
)
def test_every_way_to_write_toml_is_connected_and_given_back(text: str, tmp_path: Path) -> None:
    file, codex = written(tmp_path, text, "config.toml"), client_named("codex")
    plan(file, codex).write()
    servers = parsed("config.toml", file.text() or "")["mcp_servers"]
    assert servers["git"] == {"command": "git", "enabled": False} and servers["prowess"]["command"]
    disconnect(file, codex)
    assert file.path.read_bytes() == text.encode()


def test_a_file_that_another_program_wrote_meanwhile_is_not_overwritten(tmp_path: Path) -> None:
    file = written(tmp_path, '{"mcpServers": {"git": {"command": "git"}}}')
    made = plan(file, CURSOR)
    file.path.write_text('{"numStartups": 2}')
    with pytest.raises(ConfigError, match="another program meanwhile"):
        made.write()
    assert file.text() == '{"numStartups": 2}'


@pytest.mark.parametrize("exists", [True, False])
def test_a_file_behind_a_link_is_written_and_the_link_stays(tmp_path: Path, exists: bool) -> None:
    file, real = SettingsFile(tmp_path / "mcp.json"), tmp_path / "dotfiles" / "mcp.json"
    if exists:
        real.parent.mkdir()
        real.write_text('{"mcpServers": {"other": {"command": "x"}}}')
        real.chmod(0o644)
    file.path.symlink_to(real)
    plan(file, CURSOR).write()
    assert file.path.is_symlink() and "prowess" in real.read_text()
    assert not exists or real.stat().st_mode & 0o777 == file.kept.stat().st_mode & 0o777 == 0o644
    disconnect(file, CURSOR)
    assert file.path.is_symlink()
