"""Tests against the frameworks themselves: run by `make integrations`, each in an environment of its own.

The other lanes do not read them. Where they are asked for, what a framework's extra brings must be there.
"""

import re
import tomllib
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import pytest

from tests.support.places import ROOT

FOLDER = Path(__file__).parent


def missing(file: Path) -> bool:
    """Whether the framework that a file of tests is about is not installed here."""
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    needed = extras.get(file.stem.removeprefix("test_").replace("_", "-"), [])
    return not all(_is_installed(re.split(r"[\[<>=!~; ]", one)[0]) for one in needed)


def _is_installed(distribution: str) -> bool:
    try:
        return bool(version(distribution))
    except PackageNotFoundError:
        return False


collect_ignore = [file.name for file in FOLDER.glob("test_*.py") if missing(file)]


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    is_test = collection_path.parent == FOLDER and collection_path.name.startswith("test_")
    return True if is_test and not config.getoption("integrations") else None
