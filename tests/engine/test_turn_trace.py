"""How far a reader walks to follow one turn, held where it is."""

import sys
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

import prowess
from tests.support.turns import engine_of_turns

PACKAGE = str(Path(prowess.__file__).parent)
CASES = ((False, 41, 260), (True, 53, 310))
"""Whether cards and learning take part; how many files at most, and how many changes of file."""


class Walk:
    """The files of the package that calls lead through, in order."""

    def __init__(self) -> None:
        self.files: list[str] = []

    def __call__(self, frame: FrameType, event: str, argument: Any) -> None:
        file = frame.f_code.co_filename
        if event == "call" and file.startswith(PACKAGE):
            self.files.append(file.removeprefix(PACKAGE))

    @property
    def changes(self) -> int:
        return sum(one != other for one, other in zip(self.files, self.files[1:], strict=False))


@pytest.mark.parametrize(("with_all", "most_files", "most_changes"), CASES)
def test_a_warm_offer_leads_through_few_files(
    tmp_path: Path, with_all: bool, most_files: int, most_changes: int
) -> None:
    with engine_of_turns(f"sqlite:{tmp_path / 'store.db'}", tmp_path, with_all) as engine:
        engine.sync()
        for _ in range(3):
            engine.offer("Search the web for AI news")
        walk = Walk()
        sys.setprofile(walk)
        engine.offer("Search the web for AI news")
        sys.setprofile(None)
    assert len(set(walk.files)) <= most_files, sorted(set(walk.files))
    assert walk.changes <= most_changes
