"""A full disk, many at once, a clock that is set back, others on the machine: a clear word, nothing lost."""

import os
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from prowess.journal import Journal, JournalPosition, Raw
from prowess.policy.files import stamp_files
from prowess.store.database import Database, migrations
from prowess.store.opening import open_database
from tests.support.stores import OpenEngine

pytestmark = pytest.mark.timeout(120)

FILL = """
import resource, sys
from pathlib import Path
from prowess.errors import StoreError
from prowess.journal import Journal, Raw
from prowess.opening import now
from prowess.store.opening import open_database
journal = Journal(open_database(sys.argv[1], Path()), now)
resource.setrlimit(resource.RLIMIT_FSIZE, (1_200_000, 1_200_000))
for number in range(10_000):
    try:
        journal.record(Raw("note", {"n": number, "text": "x" * 2000}), "ada")
    except StoreError as error:
        print(error)
        break
    print(number, flush=True)
"""


@pytest.mark.slow
def test_a_disk_that_is_full_says_so_and_loses_nothing(tmp_path: Path) -> None:
    url = f"sqlite:{tmp_path / 'store.db'}"
    done = subprocess.run([sys.executable, "-c", FILL, url], capture_output=True, text=True, timeout=60)
    *written, said = done.stdout.splitlines()
    assert "disk" in said and "closed database" not in said, done.stderr
    assert "nothing was changed" in said
    database = open_database(url, tmp_path)
    assert Journal(database, lambda: datetime.now(UTC)).verify()[0].count == len(written) > 0
    database.close()


OPEN = """
import os, sys
from pathlib import Path
from prowess.store.opening import open_database
from prowess.store import database as loaded
try:
    import psycopg
except ImportError:
    pass
loaded.migrations()
go_read, go_write = os.pipe()
children = []
for _ in range(int(sys.argv[2])):
    pid = os.fork()
    if pid == 0:
        os.close(go_write)
        os.read(go_read, 1)
        try:
            open_database(sys.argv[1], Path()).close()
            os._exit(0)
        except BaseException as error:
            print(error, flush=True)
            os._exit(1)
    children.append(pid)
os.close(go_write)
os.close(go_read)
print(sum(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in children))
"""


@pytest.mark.slow
@pytest.mark.new_store
def test_180_processes_open_a_new_store_at_once(store_url: str, tmp_path: Path) -> None:
    command = [sys.executable, "-c", OPEN, store_url, "180"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100)
    assert done.stdout == "0\n", done.stdout + done.stderr
    database = open_database(store_url, tmp_path)
    with database.reading() as transaction:
        assert transaction.one("SELECT COUNT(*) FROM migration") == (len(migrations()),)
    database.close()


def test_a_clock_that_is_set_back_does_not_turn_the_journal_round(database: Database) -> None:
    times = [datetime(2026, 5, 1, hour, tzinfo=UTC) for hour in (12, 13, 9, 10)]
    moments = iter(times)
    journal = Journal(database, lambda: next(moments))
    written = [journal.record(Raw("note", {"n": number}), "ada") for number in range(4)]
    assert journal.latest() == tuple(written)
    assert journal.after(()) == tuple(written)
    last = written[-1]
    assert journal.latest(2, before=JournalPosition(last.at, last.chain, last.number)) == tuple(written[1:3])
    journal.verify()


def test_an_edit_of_a_policy_that_keeps_size_and_time_is_noticed(
    open_engine: OpenEngine, tmp_path: Path
) -> None:
    file = tmp_path / "rules.yaml"
    file.write_text("profiles: {a: {agents: [ada]}}")
    before, seen = file.stat(), stamp_files([file])
    with file.open("r+") as same:
        same.write("profiles: {b: {agents: [ada]}}")
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    after = file.stat()
    assert (after.st_size, after.st_mtime_ns, after.st_ino) == (
        before.st_size, before.st_mtime_ns, before.st_ino,
    )  # fmt: skip
    assert stamp_files([file]) != seen


@pytest.fixture
def loose() -> object:
    old = os.umask(0)
    yield
    os.umask(old)


def mode(place: Path) -> int:
    return place.stat().st_mode & 0o777


def test_nobody_else_may_read_a_store(tmp_path: Path, loose: object) -> None:
    database = open_database("sqlite:.prowess/prowess.db", tmp_path)
    with database.writing() as transaction:
        transaction.run("UPDATE catalogue_version SET version = 7")
    folder = tmp_path / ".prowess"
    assert mode(folder) == 0o700
    assert {file.name: mode(file) for file in folder.iterdir()} == dict.fromkeys(
        ("prowess.db", "prowess.db-wal", "prowess.db-shm"), 0o600
    )
    database.close()


def test_a_store_that_others_could_read_is_closed_to_them_with_a_word(
    tmp_path: Path, loose: object, caplog: pytest.LogCaptureFixture
) -> None:
    folder = tmp_path / ".prowess"
    open_database("sqlite:.prowess/prowess.db", tmp_path).close()
    folder.chmod(0o755)
    (folder / "prowess.db").chmod(0o644)
    open_database("sqlite:.prowess/prowess.db", tmp_path).close()
    assert (mode(folder), mode(folder / "prowess.db")) == (0o700, 0o600)
    assert "closed to them now" in caplog.text


def test_a_folder_that_is_not_ours_is_left_alone_and_reported(tmp_path: Path, loose: object) -> None:
    folder = tmp_path / "shared"
    folder.mkdir(mode=0o755)
    database = open_database("sqlite:shared/prowess.db", tmp_path)
    assert mode(folder) == 0o755 and mode(folder / "prowess.db") == 0o600
    (problem,) = database.problems()
    assert problem.place == str(folder) and "others on this machine may read it" in problem.what
    database.close()
