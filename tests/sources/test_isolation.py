"""What a started server has and may reach: its own variables, its home, its limits, its sandbox."""

import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from shutil import which
from typing import Any

import pytest

import prowess
from prowess.engine import Engine
from prowess.errors import ConfigError
from prowess.sources.mcp.isolation import INHERITED, LIMITER, PROXIES
from tests.support.terminal import server_block

pytestmark = pytest.mark.slow

POLICY = "profiles: {owner: {agents: [default], additional_tools: ['*']}}\n"
NOBODY = 65534


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "policy.yaml").write_text(POLICY)
    (tmp_path / "home").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("CLOUD_KEY", "of somebody else")
    return tmp_path


class Server:
    """The server crm.py as a project has it, called through an engine."""

    def __init__(self, project: Path, more: str) -> None:
        head = 'store = "sqlite:store.db"\n[policy]\nfiles = ["policy.yaml"]\n'
        (project / "prowess.toml").write_text(head + server_block("crm", "crm.py", more=more))
        self.engine: Engine = prowess.open(config=str(project / "prowess.toml"))
        self.engine.sync(vectors=False)

    def __enter__(self) -> "Server":
        return self

    def __exit__(self, *failure: object) -> None:
        self.engine.close()

    def says(self, tool: str, text: object = "") -> str:
        result: str = self.engine.call(f"tool:crm/{tool}", {"text": str(text)}).text
        return result

    @property
    def down(self) -> str:
        return self.engine.providers.list()[0].down


@pytest.fixture
def listener() -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as door:
        yield door.getsockname()[1]


def readable() -> str:
    """What our own server needs: the interpreter of the tests, and its script."""
    folders = {sys.prefix, sys.base_prefix, str(Path(__file__).parents[1] / "support")}
    return json.dumps(sorted(folders))


def test_a_server_has_its_own_variables_and_the_named_ones_and_no_other(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", "/etc/ssl/certs/ca-certificates.crt")
    monkeypatch.setenv("HTTPS_PROXY", "http://proxy.example:3128")
    monkeypatch.setenv("HTTP_PROXY", "http://ada:sesame@proxy.example:3128")
    with Server(project, 'env = { CRM_TOKEN = "x", REGION = "eu" }') as server:
        names = set(server.says("variables").split())
        assert {"CRM_TOKEN", "REGION", "PATH", "HOME"} <= names and "CLOUD_KEY" not in names
        assert {"SSL_CERT_FILE", "HTTPS_PROXY"} <= names and "HTTP_PROXY" not in names
        assert names <= {*INHERITED, *PROXIES, "CRM_TOKEN", "REGION", "PROWESS_GATEWAY", "LC_CTYPE"}


def test_a_server_gets_a_home_and_a_folder_of_its_own_where_asked(project: Path) -> None:
    with Server(project, 'isolation = { home = "own" }') as server:
        own = project / ".prowess" / "servers" / "crm"
        assert server.says("place") == f"{own} {own}"
        assert own.stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize(
    ("limits", "tool", "within", "beyond", "error"),
    [
        ("memory_mb = 200", "use_memory", 20, 400, "MemoryError"),
        ("files = 40", "open_files", 10, 60, "OSError"),
    ],
)
def test_a_server_cannot_use_up_more_than_its_limit(
    project: Path, limits: str, tool: str, within: int, beyond: int, error: str
) -> None:
    with Server(project, f"limits = {{ {limits} }}") as server:
        assert server.says(tool, beyond).startswith(error)
        assert server.says(tool, within) == str(within)


def forking(*command: str, **options: Any) -> str:
    """How many of 40 processes a program can start, of whom the limiter may be the first."""
    code = (
        "import subprocess\nstarted = []\n"
        "try:\n    while len(started) < 40: started.append(subprocess.Popen(['sleep', '3']))\n"
        "except OSError: pass\nprint(len(started))\n[one.kill() for one in started]"
    )
    done = subprocess.run(
        [*command, "/usr/bin/env", "python3", "-c", code],
        capture_output=True, text=True, timeout=60, check=False, **options,
    )  # fmt: skip
    return str(done.stdout.strip() or done.stderr)


def test_a_user_who_is_not_root_cannot_start_more_processes_than_the_limit(project: Path) -> None:
    who = {"user": NOBODY, "group": NOBODY, "cwd": "/"} if os.geteuid() == 0 else {}
    python = which("python3", path="/usr/local/bin:/usr/bin") or sys.executable
    # The tests' own folders may be closed to others; the limiter is nothing but its text.
    copy = Path("/tmp") / f"limiter-{os.getpid()}.py"
    copy.write_text(Path(LIMITER).read_text())
    try:
        copy.chmod(0o644)
        assert int(forking(python, "-I", "-S", str(copy), "10", "0", "0", **who)) < 12
        assert forking(python, "-I", "-S", str(copy), "0", "0", "0", **who) == "40"
    finally:
        copy.unlink()


def test_a_limit_of_processes_that_the_system_would_not_keep_is_refused(project: Path) -> None:
    with Server(project, "limits = { processes = 20 }") as server:
        if os.geteuid() == 0:
            assert "the system keeps no limit of processes for root" in server.down
        else:
            assert server.down == "" and "BlockingIOError" in server.says("fork", 60)


SANDBOXED = 'isolation = {{ sandbox = "bubblewrap", read = {read}{more} }}'


def test_a_sandboxed_server_reaches_what_is_named_and_nothing_else(project: Path, listener: int) -> None:
    """Where there is no bubblewrap, the server is refused with the reason, and never started without."""
    (project / "notes").mkdir()
    (project / "notes" / "a.txt").write_text("a note")
    (project / "private.txt").write_text("private")
    read = json.dumps([*json.loads(readable()), "notes"])
    with Server(project, SANDBOXED.format(read=read, more=', write = ["out"], network = false')) as first:
        if which("bwrap") is None:
            assert "there is no bubblewrap here" in first.down
            return
    (project / "out").mkdir()
    with Server(project, SANDBOXED.format(read=read, more=', write = ["out"], network = false')) as server:
        assert server.down == ""
        assert server.says("read", project / "notes" / "a.txt") == "a note"
        assert "FileNotFoundError" in server.says("read", project / "private.txt")
        assert "OSError" in server.says("write", project / "notes" / "b.txt")
        assert server.says("write", project / "out" / "b.txt") == "written"
        assert (project / "out" / "b.txt").read_text() == "written"
        assert "Refused" in server.says("reach", listener)
        own = project / ".prowess" / "servers" / "crm"
        assert server.says("place") == f"{own} {own}"
    with Server(project, SANDBOXED.format(read=read, more="")) as server:
        assert server.says("reach", listener) == "reached"


def test_no_sandbox_shows_where_secrets_are(project: Path) -> None:
    kept = project / "home" / ".local" / "state" / "prowess" / "secrets"
    kept.mkdir(parents=True)
    (kept / "secrets.json").write_text('{"secrets": {}}')
    read = json.dumps([*json.loads(readable()), "~"])
    with Server(project, SANDBOXED.format(read=read, more="")) as server:
        if which("bwrap") is None:
            assert "there is no bubblewrap here" in server.down
            return
        assert "FileNotFoundError" in server.says("read", kept / "secrets.json")


def test_a_program_outside_of_its_sandbox_is_said_with_what_to_add(project: Path) -> None:
    with Server(project, SANDBOXED.format(read="[]", more="")) as server:
        wanted = "lies outside of what its sandbox may read" if which("bwrap") else "there is no bubblewrap"
        assert wanted in server.down


@pytest.mark.parametrize("said", ['read = ["x"]', "network = false"])
def test_what_nothing_would_keep_a_server_to_is_refused(project: Path, said: str) -> None:
    with pytest.raises(ConfigError, match="nothing keeps it to that; write sandbox"):
        Server(project, f"isolation = {{ {said} }}")


def test_a_misspelt_key_names_the_nearest(project: Path) -> None:
    with pytest.raises(ConfigError, match=r"unknown key 'memory' in \[source.*did you mean 'memory_mb'"):
        Server(project, "limits = { memory = 2 }")
