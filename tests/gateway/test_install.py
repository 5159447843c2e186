"""`prowess serve mcp --install`: the entry for each client, printed, or written with a backup."""

import json
import tomllib
from pathlib import Path

import pytest

from prowess.cli.serve import CLIENTS
from prowess.errors import ConfigError
from prowess.gateway.install import ConfigLocation, ServerEntry, place_of, printed, written

ENTRY = ServerEntry.here("/opt/python", "/home/ada/prowess.toml", "ada")


def place(client: str, folder: Path) -> ConfigLocation:
    return place_of(client, folder / "home", folder / "project", "linux")


@pytest.mark.parametrize("client", CLIENTS)
def test_every_client_gets_a_command_that_starts_this_installation(client: str, tmp_path: Path) -> None:
    where = place(client, tmp_path)
    text = printed(ENTRY, where)
    data = tomllib.loads(text) if where.is_toml else json.loads(text)
    entry = data[where.key]["prowess"]
    assert entry["command"] == "/opt/python"
    assert entry["args"][-4:] == ["serve", "mcp", "--agent", "ada"]
    assert written(ENTRY, where) is None
    assert where.file.read_text() == text


def test_what_else_is_in_the_file_stays_and_the_old_one_is_kept(tmp_path: Path) -> None:
    where = place("cursor", tmp_path)
    where.file.parent.mkdir(parents=True)
    old = json.dumps({"mcpServers": {"other": {"command": "x"}}, "theme": "größer"}, ensure_ascii=False)
    where.file.write_text(old)
    where.file.chmod(0o644)
    backup = written(ENTRY, where)
    assert backup is not None and backup.read_text() == old
    data = json.loads(where.file.read_text())
    assert data["theme"] == "größer" and set(data["mcpServers"]) == {"other", "prowess"}
    assert where.file.stat().st_mode & 0o777 == 0o644
    assert written(ENTRY, where) is None


@pytest.mark.parametrize("exists", [True, False])
def test_a_file_behind_a_link_is_written_and_the_link_stays(tmp_path: Path, exists: bool) -> None:
    where = place("cursor", tmp_path)
    where.file.parent.mkdir(parents=True)
    real = tmp_path / "dotfiles" / "mcp.json"
    if exists:
        real.parent.mkdir()
        real.write_text('{"mcpServers": {"other": {"command": "x"}}}')
    where.file.symlink_to(real)
    written(ENTRY, where)
    assert where.file.is_symlink() and where.file.readlink() == real
    assert "prowess" in json.loads(real.read_text())["mcpServers"]


def test_comments_in_toml_survive(tmp_path: Path) -> None:
    where = place("codex", tmp_path)
    where.file.parent.mkdir(parents=True)
    where.file.write_text('# mine\nmodel = "x"\n\n[mcp_servers.other]\ncommand = "y" # good\n')
    written(ENTRY, where)
    text = where.file.read_text()
    assert "# mine" in text and "# good" in text
    assert set(tomllib.loads(text)["mcp_servers"]) == {"other", "prowess"}


@pytest.mark.parametrize("text", ["{ // a comment\n}", "[]", '{"mcpServers": []}', "{"])
def test_a_file_that_cannot_be_understood_is_left_as_it_is(text: str, tmp_path: Path) -> None:
    where = place("cursor", tmp_path)
    where.file.parent.mkdir(parents=True)
    where.file.write_text(text)
    with pytest.raises(ConfigError, match="by hand"):
        written(ENTRY, where)
    assert where.file.read_text() == text
