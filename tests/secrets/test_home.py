"""Where secrets live: a keyring that keeps them, else a file of one's own; `.env`; and what wins."""

import json
import stat
from dataclasses import dataclass, field
from pathlib import Path
from threading import Thread

import pytest
from keyring.backend import KeyringBackend

from prowess.config import Settings, parse
from prowess.errors import ConfigError, SecretError
from prowess.secrets.environment import SecretEnvironment, with_secrets
from prowess.secrets.home import SecretHome
from prowess.secrets.os_keyring import OsKeyring, os_keyring
from tests.secrets.backends import DrawerKeyring, LockedKeyring


@pytest.fixture
def home(tmp_path: Path) -> SecretHome:
    return SecretHome(tmp_path / "state" / "secrets", "file")


def opened(root: Path, text: str = "", **process: str) -> SecretEnvironment:
    said = f'[secrets]\nfolder = "kept"\nkeep = "file"\n{text}'
    return with_secrets(Settings(parse(said), root), process)


@dataclass
class Drawer:
    """A keyring of a machine, for one test."""

    backend: KeyringBackend = field(default_factory=DrawerKeyring)

    def of(self, service: str) -> OsKeyring:
        return OsKeyring(self.backend, service)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_secret_is_kept_in_a_file_that_only_its_owner_may_read(home: SecretHome) -> None:
    assert home.set("CRM_TOKEN", "sesame") == str(home.file)
    assert (mode(home.file), mode(home.folder)) == (0o600, 0o700)
    assert (home.get("CRM_TOKEN"), home.where("CRM_TOKEN"), home.names) == ("sesame", "file", ("CRM_TOKEN",))
    assert home.remove("CRM_TOKEN") and not home.remove("CRM_TOKEN")
    assert home.get("CRM_TOKEN") == "" and "sesame" not in home.file.read_text()
    assert [path.name for path in home.folder.iterdir() if path.name[0] != "."] == ["secrets.json"]


@pytest.mark.parametrize("value", ["", "x\0y", "x" * 70_000])
def test_what_is_no_value_is_refused_and_never_repeated(home: SecretHome, value: str) -> None:
    with pytest.raises(SecretError) as refused:
        home.set("CRM_TOKEN", value)
    assert "x" * 20 not in str(refused.value) and home.names == ()


def test_values_of_many_lines_and_any_script_come_back_as_they_were(home: SecretHome) -> None:
    value = "-----BEGIN KEY-----\nabc\n-----END KEY-----\nключ ${NOT_A_REFERENCE}"
    home.set("KEY", value)
    assert SecretHome(home.folder, "file").get("KEY") == value


def test_an_open_home_sees_what_another_process_sets(home: SecretHome) -> None:
    assert home.get("A") == ""
    other = SecretHome(home.folder, "file")
    other.set("A", "one")
    assert home.get("A") == "one"
    other.set("A", "two")
    assert home.get("A") == "two"
    other.remove("A")
    assert home.get("A") == ""


def test_secrets_that_are_set_at_the_same_time_are_all_kept(home: SecretHome) -> None:
    homes = [SecretHome(home.folder, "file") for _ in range(8)]
    threads = [Thread(target=one.set, args=(f"S{at}", f"v{at}")) for at, one in enumerate(homes)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert {name: home.get(name) for name in home.names} == {f"S{at}": f"v{at}" for at in range(8)}


def test_a_keyring_that_keeps_secrets_is_preferred_and_the_file_then_holds_only_the_name(
    tmp_path: Path,
) -> None:
    drawer = Drawer()
    home = SecretHome(tmp_path / "kept", "auto", drawer.of)
    assert "keyring" in home.set("CRM_TOKEN", "sesame")
    assert home.where("CRM_TOKEN") == "keyring" and "sesame" not in home.file.read_text()
    assert SecretHome(home.folder, "auto", drawer.of).get("CRM_TOKEN") == "sesame"
    assert home.remove("CRM_TOKEN") and DrawerKeyring.held(drawer.backend) == {}


def test_the_keyring_is_asked_once_for_a_value_until_a_secret_changes(tmp_path: Path) -> None:
    drawer = Drawer()
    home = SecretHome(tmp_path / "kept", "auto", drawer.of)
    home.set("A", "one")
    before = DrawerKeyring.readings(drawer.backend)
    assert [home.get("A") for _ in range(20)] == ["one"] * 20
    assert DrawerKeyring.readings(drawer.backend) - before == 1


def test_a_keyring_that_is_locked_leaves_the_file_and_a_value_in_it_unset(tmp_path: Path) -> None:
    locked = Drawer(LockedKeyring())
    home = SecretHome(tmp_path / "kept", "auto", locked.of)
    assert home.set("CRM_TOKEN", "sesame") == str(home.file)
    file = tmp_path / "kept" / "secrets.json"
    file.write_text(json.dumps({"secrets": {"OTHER": {"keyring": True}}}))
    assert home.get("OTHER") == ""


def test_where_a_keyring_is_demanded_and_there_is_none_nothing_is_written(tmp_path: Path) -> None:
    home = SecretHome(tmp_path / "kept", "keyring", lambda service: None)
    with pytest.raises(SecretError, match=r'there is no keyring .*; install it with: pip install "prowess'):
        home.set("CRM_TOKEN", "sesame")
    assert home.names == ()


@pytest.mark.parametrize(
    ("backend", "is_used"),
    [
        ("keyring.backends.fail.Keyring", False),
        ("keyring.backends.null.Keyring", False),
        ("tests.secrets.backends.DrawerKeyring", True),
        ("tests.secrets.backends.FeebleKeyring", False),
        ("tests.secrets.backends.ChainedKeyring", True),
    ],
)
def test_a_backend_that_keeps_nothing_or_keeps_it_badly_is_no_keyring(
    backend: str, is_used: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    import keyring
    from keyring.core import load_keyring

    before = keyring.get_keyring()
    keyring.set_keyring(load_keyring(backend))
    try:
        found = os_keyring("prowess")
        assert (found is not None) == is_used
        assert found is None or found.title == "Drawer"
    finally:
        keyring.set_keyring(before)


def test_the_environment_wins_over_the_file_beside_and_that_over_the_home(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("export B='of the file'\nC=of the file # not a part\nEMPTY=\n")
    found = opened(tmp_path, 'env_file = ".env"\n', C="of the process", D="")
    for name in "ABCD":
        found.home.set(name, "of the home")
    assert {name: found.get(name) for name in "ABCD"} == {
        "A": "of the home", "B": "of the file", "C": "of the process", "D": "of the home",
    }  # fmt: skip
    assert [found.origin(name) for name in "ABCDE"] == ["file", ".env", "environment", "file", ""]
    assert "EMPTY" not in found and "A" in found
    (tmp_path / ".env").write_text("B=another")
    assert found["B"] == "another"


def test_a_file_beside_is_read_only_when_the_configuration_asks_for_it(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("B=of the file")
    assert opened(tmp_path).get("B") is None


def test_a_file_beside_that_is_no_text_is_an_error_at_the_start(tmp_path: Path) -> None:
    (tmp_path / ".env").write_bytes(b"B=\xff\xfe\x00")
    with pytest.raises(ConfigError, match=r"\.env: cannot be read .*; save it as UTF-8 text"):
        opened(tmp_path, 'env_file = ".env"\n')


def test_a_home_that_is_broken_or_open_to_others_is_said_and_breaks_no_turn(tmp_path: Path) -> None:
    found = opened(tmp_path)
    found.home.set("A", "one")
    assert found.home.fault() == ""
    found.home.file.chmod(0o644)
    assert found.home.fault() == "others on this machine may read it"
    found.home.file.write_text("{")
    assert found.get("A") is None and "cannot be read" in found.home.fault()
    with pytest.raises(SecretError, match="mend it, or remove it"):
        found.home.set("B", "two")
