"""What it means to be a store. Each test runs on SQLite and on PostgreSQL."""

import sqlite3
import threading
from pathlib import Path

import pytest

from prowess.errors import MissingExtra, StoreError
from prowess.store.database import Database, migrations, statements
from prowess.store.opening import open_database
from prowess.store.postgres import adapt

pytestmark = pytest.mark.new_store


def test_what_is_committed_is_there_for_the_next_one_who_opens(store_url: str, tmp_path: Path) -> None:
    first = open_database(store_url, tmp_path)
    with first.writing() as transaction:
        transaction.run("UPDATE catalogue_version SET version = 7 WHERE one = 1")
    first.close()
    second = open_database(store_url, tmp_path)
    with second.reading() as transaction:
        assert transaction.one("SELECT version FROM catalogue_version") == (7,)
    second.close()


def test_a_failed_transaction_leaves_nothing(database: Database) -> None:
    with pytest.raises(RuntimeError), database.writing() as transaction:
        transaction.run("UPDATE catalogue_version SET version = 7 WHERE one = 1")
        raise RuntimeError
    with database.reading() as transaction:
        assert transaction.one("SELECT version FROM catalogue_version") == (0,)


def test_a_mistake_in_sql_is_a_store_error_and_the_store_goes_on(database: Database) -> None:
    with pytest.raises(StoreError), database.writing() as transaction:
        transaction.run("SELECT nothing FROM nowhere")
    with database.reading() as transaction:
        assert transaction.one("SELECT version FROM catalogue_version") == (0,)


def test_a_reader_sees_one_moment_while_others_write(database: Database) -> None:
    with database.reading() as reading:
        assert reading.one("SELECT version FROM catalogue_version") == (0,)
        with database.writing() as writing:
            writing.run("UPDATE catalogue_version SET version = 1 WHERE one = 1")
        assert reading.one("SELECT version FROM catalogue_version") == (0,)


def test_many_threads_lose_no_update(database: Database) -> None:
    def add() -> None:
        for _ in range(20):
            with database.writing() as transaction:
                transaction.run("UPDATE catalogue_version SET version = version + 1 WHERE one = 1")

    threads = [threading.Thread(target=add) for _ in range(10)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with database.reading() as transaction:
        assert transaction.one("SELECT version FROM catalogue_version") == (200,)


def test_text_with_colons_percents_and_quotes_is_kept(database: Database) -> None:
    text = "100% :name ::cast 'quoted' \"double\" — 你好"
    with database.writing() as transaction:
        transaction.run(
            "INSERT INTO journal_head (chain, count, hash) VALUES (:chain, 0, ':not a parameter %')",
            chain=text,
        )
        assert transaction.one("SELECT chain, hash FROM journal_head") == (text, ":not a parameter %")


def test_opening_a_store_at_once_from_many_threads_migrates_it_once(store_url: str, tmp_path: Path) -> None:
    opened: list[Database] = []
    threads = [
        threading.Thread(target=lambda: opened.append(open_database(store_url, tmp_path))) for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with opened[0].reading() as transaction:
        assert transaction.one("SELECT COUNT(*) FROM migration") == (len(migrations()),)
    assert len(opened) == 8
    for database in opened:
        database.close()


def test_a_store_of_a_newer_prowess_is_refused(store_url: str, tmp_path: Path) -> None:
    database = open_database(store_url, tmp_path)
    with database.writing() as transaction:
        transaction.run("INSERT INTO migration (number, name) VALUES (9999, 'the future')")
    database.close()
    with pytest.raises(StoreError, match="newer prowess"):
        open_database(store_url, tmp_path)


def test_a_closed_store_says_so(database: Database) -> None:
    database.close()
    with pytest.raises(StoreError, match="closed"), database.reading():
        pass


def test_a_file_that_is_no_database_is_named(tmp_path: Path) -> None:
    (tmp_path / "x.db").write_text("this is no database, it only has the right name" * 100)
    with pytest.raises(StoreError, match=r"x\.db: file is not a database; move the file away"):
        open_database("sqlite:x.db", tmp_path)


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="cannot be made"):
        open_database("sqlite:file/x.db", tmp_path)


@pytest.mark.slow
def test_a_server_that_is_not_there_is_named_without_the_password(tmp_path: Path) -> None:
    with pytest.raises(StoreError) as raised:
        open_database("postgresql://ada:s3cret@127.0.0.1:1/db", tmp_path)
    assert "127.0.0.1:1" in str(raised.value)
    assert "s3cret" not in str(raised.value)


def test_a_scheme_nobody_speaks_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="no store speaks 'mysql'"):
        open_database("mysql://localhost/x", tmp_path)


def test_without_the_extra_the_command_that_installs_it_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "psycopg", None)
    with pytest.raises(MissingExtra, match=r'pip install ".*\[postgres\]"'):
        open_database("postgresql://localhost/x", tmp_path)


def test_sqlite_is_in_wal_mode(tmp_path: Path) -> None:
    open_database("sqlite:x.db", tmp_path).close()
    assert sqlite3.connect(tmp_path / "x.db").execute("PRAGMA journal_mode").fetchone() == ("wal",)


def test_parameters_are_translated_for_postgresql_outside_of_literals_only() -> None:
    assert adapt("SELECT ':a %' || :b_c, :s0") == "SELECT ':a %%' || %(b_c)s, %(s0)s"


def test_a_migration_is_split_at_the_ends_of_its_statements() -> None:
    assert statements("-- why; because\nA;\nB (\n x\n);\n") == ["A", "B (\n x\n)"]


@pytest.mark.parametrize("said", [{}, {"replica": "postgresql://ann:sesame@host/db?nonsense=1"}])
def test_a_url_that_is_mistyped_is_told_in_one_line_without_its_password(
    tmp_path: Path, said: dict[str, str]
) -> None:
    url = "postgresql://ann:sesame@host/db" + ("" if said else "?nonsense=1")
    with pytest.raises(StoreError, match=r"URL of the \w+ postgresql://host/db: .*nonsense") as told:
        open_database(url, tmp_path, **said)  # type: ignore[arg-type]
    assert "sesame" not in str(told.value)


def test_a_store_in_a_file_has_no_replica_and_a_replica_is_a_postgresql(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="is a file, which has no replica"):
        open_database("store.db", tmp_path, replica="postgresql://host/db")
    with pytest.raises(StoreError, match="is no PostgreSQL"):
        open_database("postgresql://host/db", tmp_path, replica="copy.db")
