"""A backup holds everything, restores into either database, and never leaves half a store."""

import gzip
import os
import random
import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner

from prowess.backup import back_up, check, restore
from prowess.cli.main import prowess
from prowess.engine import Engine
from prowess.errors import BackupError
from prowess.journal import Journal, Raw
from prowess.opening import now
from prowess.store.database import Database, tables
from prowess.store.opening import open_database
from prowess.testing import StaticSource, capability
from tests.support.stores import OpenEngine


def filled(open_engine: OpenEngine) -> Engine:
    engine = open_engine(
        StaticSource(
            "own", capabilities=[capability("tool:a", "Reads “pages” — 100 %"), capability("tool:b")]
        ),
        StaticSource("s", kind="mcp", capabilities=[capability("tool:s/c", "Writes a page")]),
    )
    engine.sync()
    engine.offer("read a page")
    engine.providers.deactivate("own", reason="it is noisy")
    return engine


def everything(database: Database) -> dict[str, list[tuple[object, ...]]]:
    with database.reading() as transaction:
        return {
            table: sorted(
                (tuple(map(_comparable, row)) for row in transaction.each(f"SELECT * FROM {table}")), key=str
            )
            for table in tables()
        }


def _comparable(value: object) -> object:
    return bytes(value) if isinstance(value, bytes | memoryview) else value


@pytest.mark.parametrize("into", ["sqlite", "postgres"])
def test_a_backup_restores_into_either_database(
    open_engine: OpenEngine, tmp_path: Path, into: str, request: pytest.FixtureRequest, postgres_server: str
) -> None:
    engine = filled(open_engine)
    back_up(engine.internals.database, tmp_path / "all.backup")
    before = everything(engine.internals.database)
    if into == "postgres" and engine.store.startswith("postgres"):
        with engine.internals.database.writing() as transaction:
            transaction.run("DELETE FROM provider_off")
        target, replace = engine.internals.database, True
    else:
        url = request.getfixturevalue("postgres_url") if into == "postgres" else "sqlite:other.db"
        target, replace = open_database(url, tmp_path), False
    restore(target, tmp_path / "all.backup", replace)
    assert everything(target) == before
    assert Journal(target, now).verify() == engine.journal.verify()
    with Engine(target, (), now, {}) as restored:
        assert [c.id for c in restored.catalogue.view().capabilities.values()] == [
            "tool:a",
            "tool:b",
            "tool:s/c",
        ]
        assert [p.off for p in restored.providers.list() if p.name == "own"] == [True]


def test_only_its_user_may_read_a_backup(open_engine: OpenEngine, tmp_path: Path) -> None:
    file = tmp_path / "all.backup"
    old = os.umask(0)
    try:
        back_up(filled(open_engine).internals.database, file)
    finally:
        os.umask(old)
    assert file.stat().st_mode & 0o777 == 0o600


def test_a_store_that_holds_something_is_replaced_only_when_told(
    open_engine: OpenEngine, tmp_path: Path
) -> None:
    engine = filled(open_engine)
    back_up(engine.internals.database, tmp_path / "all.backup")
    engine.internals.journal.record(Raw("note", {"after": "the backup"}))
    before = everything(engine.internals.database)
    with pytest.raises(BackupError, match="would replace"):
        restore(engine.internals.database, tmp_path / "all.backup")
    assert everything(engine.internals.database) == before
    restore(engine.internals.database, tmp_path / "all.backup", replace=True)
    assert not engine.journal.latest(type="note")


@pytest.mark.parametrize("harm", ["cut", "changed", "nonsense", "an entry edited"])
def test_a_damaged_backup_changes_nothing(open_engine: OpenEngine, tmp_path: Path, harm: str) -> None:
    engine = filled(open_engine)
    file = tmp_path / "all.backup"
    back_up(engine.internals.database, file)
    text = gzip.decompress(file.read_bytes())
    harmed = {
        "cut": gzip.compress(text[: len(text) // 2]),
        "changed": gzip.compress(text.replace(b"noisy", b"quiet", 1)),
        "nonsense": b"nothing of the kind",
        "an entry edited": gzip.compress(text.replace(b"read a page", b"read a book")),
    }
    file.write_bytes(harmed[harm])
    before = everything(engine.internals.database)
    with pytest.raises(BackupError):
        restore(engine.internals.database, file, replace=True)
    assert everything(engine.internals.database) == before


@pytest.mark.slow
def test_a_restore_that_is_killed_leaves_the_old_state_or_the_new(
    open_engine: OpenEngine, store_url: str, tmp_path: Path
) -> None:
    engine = filled(open_engine)
    for number in range(300):
        engine.internals.journal.record(Raw("note", {"n": number}), "ada")
    file = tmp_path / "all.backup"
    back_up(engine.internals.database, file)
    engine.internals.journal.record(Raw("note", {"after": "the backup"}))
    old, chance = len(everything(engine.internals.database)["journal"]), random.Random(5)
    code = (
        "import sys; from pathlib import Path; from prowess.backup import restore;"
        "from prowess.store.opening import open_database; d = open_database(sys.argv[1], Path());"
        "print('begins', flush=True); restore(d, Path(sys.argv[2]), True)"
    )
    for _ in range(4):
        command = [sys.executable, "-c", code, store_url, str(file)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None and process.stdout.readline() == "begins\n"
            time.sleep(chance.uniform(0, 0.1))
            process.kill()
        engine.journal.verify()
        assert len(everything(engine.internals.database)["journal"]) in (old, old - 1)


def test_a_person_backs_up_and_restores_from_the_terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    run = CliRunner()
    assert run.invoke(prowess, ["sync"], catch_exceptions=False).exit_code == 0
    made = run.invoke(prowess, ["backup", "all.backup"], catch_exceptions=False)
    assert made.exit_code == 0 and "is whole" in made.stderr
    assert check(tmp_path / "all.backup").schema > 0
    again = run.invoke(
        prowess, ["--store", "sqlite:other.db", "restore", "all.backup"], catch_exceptions=False
    )
    assert again.exit_code == 0 and "every chain verifies" in again.stderr
