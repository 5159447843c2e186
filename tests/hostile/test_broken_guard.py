"""A guard whose files are missing or damaged lets nothing of a server through, and says so."""

import shutil
from pathlib import Path

import pytest

from prowess.guard import integrity as shipped
from prowess.testing import StaticSource, capability
from tests.support.stores import OpenEngine


@pytest.fixture(params=["missing", "damaged", "no digests"])
def broken(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    folder = Path(shutil.copytree(shipped.MODEL, tmp_path / "model"))
    if request.param == "missing":
        (folder / "taught.onnx").unlink()
    elif request.param == "damaged":
        (folder / "guard.npz").write_bytes(b"PK nothing of the kind")
    else:
        (folder / "digests.json").unlink()
    monkeypatch.setattr(shipped, "MODEL", folder)
    return str(request.param)


def test_what_a_server_says_is_held_while_the_guard_is_broken(
    open_engine: OpenEngine, broken: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = StaticSource("s", kind="mcp", capabilities=[capability("tool:s/a", "Reads a page")])
    own = StaticSource("own", capabilities=[capability("tool:b", "Reads a book")])
    engine = open_engine(server, own)
    report = engine.sync()
    assert [c.id for c in engine.catalogue.list()] == ["tool:b"]
    (held,) = engine.quarantine.list()
    assert held.reason.startswith("the guard could not judge it: ")
    assert any(problem.source == "guard" for problem in report.problems)
    assert any(problem.place == "model" and "reinstall" in problem.remedy for problem in engine.diagnose())
    monkeypatch.undo()
    mended = open_engine(server, own)
    mended.sync()
    assert [c.id for c in mended.catalogue.list()] == ["tool:b", "tool:s/a"]
    assert mended.quarantine.list() == ()


def test_the_shipped_files_are_the_ones_whose_digests_are_shipped() -> None:
    assert shipped.fault() == ""


def test_digests_are_written_for_whatever_files_are_there(tmp_path: Path) -> None:
    (tmp_path / "new.onnx").write_bytes(b"weights")
    assert shipped.write_digests(tmp_path) == tmp_path / "digests.json"
    assert shipped.fault(tmp_path) == ""
    (tmp_path / "new.onnx").write_bytes(b"other weights")
    assert shipped.fault(tmp_path) == "new.onnx of the guard is not the file that was shipped"
