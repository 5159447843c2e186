"""Real files of twelve clients with prowess in them, and back: what is written, and that nothing is lost."""

from pathlib import Path

import pytest

from prowess.clients.client import McpClient
from prowess.clients.connection import ClientFile
from prowess.clients.entry import LocalEntry
from prowess.clients.files import SettingsFile
from prowess.clients.known import client_named
from prowess.clients.plan import ConnectionPlan, planned
from tests.support.places import DATA

FILES = sorted((DATA / "clients").glob("*.*"))
BEFORE = [file for file in FILES if ".connected" not in file.name]


def client_of(file: Path) -> McpClient:
    return client_named(file.name.partition(".")[0])


def settings(folder: Path, before: Path) -> SettingsFile:
    """A copy of a client's file, in a person's own folder."""
    place = folder / before.name
    place.write_bytes(before.read_bytes())
    return SettingsFile(place)


def plan(file: SettingsFile, client: McpClient, **more: str) -> ConnectionPlan:
    def entry(env: object) -> LocalEntry:
        assert isinstance(env, dict)
        return LocalEntry("/opt/prowess/bin/python", ("-P", "-m", "prowess", "serve", "mcp"), env)

    return planned(client, file, "", entry, **more)


def disconnect(file: SettingsFile, client: McpClient) -> tuple[str, ...]:
    now, kept = file.text(), file.kept_text()
    assert now is not None
    restored = ClientFile(client, str(file.path)).restored(now, kept)
    file.write(restored.text, now)
    file.forget_kept()
    return restored.notes


@pytest.mark.parametrize("before", BEFORE, ids=lambda file: file.name)
def test_a_real_file_is_connected_as_recorded_and_given_back_byte_for_byte(
    before: Path, tmp_path: Path
) -> None:
    client, file = client_of(before), settings(tmp_path, before)
    made = plan(file, client, workspace="/home/ada/code/shop")
    made.write()
    recorded = before.with_suffix(f".connected{before.suffix}")
    assert file.path.read_bytes() == recorded.read_bytes()
    assert file.kept.read_bytes() == before.read_bytes()
    again = plan(file, client, workspace="/home/ada/code/shop")
    assert again.is_done and again.kept == made.kept
    assert disconnect(file, client) == ()
    assert file.path.read_bytes() == before.read_bytes()
    assert not file.kept.exists()
