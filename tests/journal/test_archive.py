"""Old entries leave the store and stay verifiable: archived, forged, lost, and killed in between."""

import gzip
import json
import subprocess
import sys
import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
from click.testing import CliRunner

from prowess.backup import back_up, restore
from prowess.cli.main import prowess as command
from prowess.errors import BackupError, JournalBroken
from prowess.journal import Journal, Raw, stamp
from prowess.journal.archive import archive, verify_archives
from prowess.opening import now
from prowess.store.database import Database
from prowess.store.opening import open_database
from tests.support.clock import SteppingClock

Write = Callable[[int], None]


def written(database: Database, clock: SteppingClock, days: int) -> Journal:
    """A chain of two agents and one of none, one entry of each a day."""
    journal = Journal(database, clock)
    for day in range(days):
        for agent in ("ada", "bob", ""):
            journal.record(Raw("note", {"day": day}), agent)
        clock.now += timedelta(days=1)
    return journal


def test_what_is_archived_leaves_the_store_and_its_chains_still_verify(
    database: Database, clock: SteppingClock, tmp_path: Path
) -> None:
    journal = written(database, clock, 5)
    exported = journal.heads()
    done = archive(database, tmp_path / "old", stamp(clock.now - timedelta(days=2, hours=1)))
    assert (done.entries, done.chains) == (9, 3)
    assert [entry.data["day"] for entry in journal.latest(agent="ada")] == [3, 4]
    journal.record(Raw("note", {"day": 5}), "ada")
    assert {(head.chain, head.count) for head in journal.verify(exported)} == {
        ("ada", 6),
        ("bob", 5),
        ("", 5),
    }
    assert verify_archives(database, tmp_path / "old", exported) == 9
    again = archive(database, tmp_path / "old", stamp(clock.now + timedelta(days=2)))
    assert again.entries == 7 and journal.latest() == ()
    assert verify_archives(database, tmp_path / "old", exported) == 16
    assert archive(database, tmp_path / "old", stamp(clock.now)).file == ""
    assert journal.record(Raw("note", {"day": 6}), "ada").number == 7
    journal.verify()


def test_an_archive_that_was_edited_or_lost_is_found(
    database: Database, clock: SteppingClock, tmp_path: Path
) -> None:
    written(database, clock, 4)
    file = Path(archive(database, tmp_path, stamp(clock.now)).file)
    lines = gzip.decompress(file.read_bytes()).splitlines(keepends=True)
    row = json.loads(lines[2])
    row[4] = row[4].replace(":1", ":7")
    file.write_bytes(gzip.compress(b"".join([*lines[:2], json.dumps(row).encode() + b"\n", *lines[3:]])))
    with pytest.raises(JournalBroken, match="edited"):
        verify_archives(database, tmp_path)
    file.write_bytes(gzip.compress(b"".join(lines[:-1])))
    with pytest.raises(BackupError, match="whole"):
        verify_archives(database, tmp_path)
    file.unlink()
    with pytest.raises(JournalBroken, match="no archive"):
        verify_archives(database, tmp_path)


def test_what_is_missing_in_the_store_beyond_its_archive_is_found(
    database: Database, clock: SteppingClock, tmp_path: Path
) -> None:
    journal = written(database, clock, 4)
    archive(database, tmp_path, stamp(clock.now - timedelta(days=2, hours=1)))
    with database.writing() as transaction:
        transaction.run("DELETE FROM journal WHERE workspace = :workspace AND chain = 'ada' AND number = 3")
    with pytest.raises(JournalBroken, match="missing"):
        journal.verify()


def test_a_backup_of_a_store_with_archives_restores_and_goes_on(
    database: Database, clock: SteppingClock, tmp_path: Path
) -> None:
    written(database, clock, 4)
    archive(database, tmp_path / "old", stamp(clock.now - timedelta(days=2, hours=1)))
    back_up(database, tmp_path / "backup")
    other = open_database("sqlite:other.db", tmp_path)
    restore(other, tmp_path / "backup")
    Journal(other, clock).record(Raw("note", {"day": 9}), "ada")
    assert verify_archives(other, tmp_path / "old") == 6
    Journal(other, clock).verify()
    other.close()


def test_the_command_archives_and_walks_the_chains_into_the_store(
    store_url: str, clock: SteppingClock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    database = open_database(store_url, tmp_path)
    written(database, clock, 3)
    database.close()
    monkeypatch.setenv("PROWESS_STORE", store_url)
    monkeypatch.chdir(tmp_path)
    before = stamp(clock.now - timedelta(days=1))[:10]
    said = CliRunner().invoke(command, ["log", "archive", "--before", before, "--verify"])
    assert said.exit_code == 0, said.output
    assert "6 entries of 3 chains are in .prowess/archive/" in said.output
    assert "intact: 9 entries, 6 of them in archives" in said.output
    wrong = CliRunner().invoke(command, ["log", "archive", "--before", "yesterday"])
    assert wrong.exit_code == 1 and "is no date" in wrong.output


@pytest.mark.slow
def test_an_archiving_that_is_killed_at_any_moment_loses_nothing_and_is_finished_by_the_next(
    store_url: str, tmp_path: Path
) -> None:
    database = open_database(store_url, tmp_path)
    journal = Journal(database, now)
    with database.writing() as transaction:
        for number in range(3000):
            journal.append(transaction, Raw("note", {"n": number}), f"a{number % 3}")
    code = (
        "import sys; from pathlib import Path; from prowess.journal.archive import archive;"
        "from prowess.store.opening import open_database;"
        "database = open_database(sys.argv[1], Path()); print('begun', flush=True);"
        "archive(database, Path(sys.argv[2]), '9999')"
    )
    for pause in (0.0, 0.02, 0.05, 0.1, 0.2):
        started = [sys.executable, "-c", code, store_url, str(tmp_path / "old")]
        process = subprocess.Popen(started, stdout=subprocess.PIPE, text=True)
        assert process.stdout and process.stdout.readline() == "begun\n"
        time.sleep(pause)
        process.kill()
        process.wait(30)
        process.stdout.close()
        journal.verify()
    archive(database, tmp_path / "old", "9999")
    assert verify_archives(database, tmp_path / "old") == 3000
    assert journal.latest() == () and [head.count for head in journal.verify()] == [1000] * 3
    database.close()
