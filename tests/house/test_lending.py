"""A database that is lent to a test is like a new one, whatever the test before did to it."""

from contextlib import closing
from pathlib import Path

import psycopg
import pytest

from prowess.journal import Journal, Raw
from prowess.opening import now
from prowess.store.database import Row, tables
from prowess.store.opening import open_database
from tests.support.lending import Databases

pytestmark = pytest.mark.slow


def rows(url: str, folder: Path) -> dict[str, list[Row]]:
    with closing(open_database(url, folder)) as database, database.reading() as transaction:
        return {name: transaction.all(f"SELECT * FROM {name}") for name in tables()}


def test_what_a_test_wrote_is_gone_and_what_every_new_store_holds_is_there(
    postgres_databases: Databases, postgres_url: str, tmp_path: Path
) -> None:
    with postgres_databases.lent() as first, closing(open_database(first, tmp_path)) as database:
        Journal(database, now).record(Raw("note", {}), "ada")
        with database.writing() as transaction:
            transaction.run("DELETE FROM policy_version")
    with postgres_databases.lent() as second:
        assert rows(second, tmp_path) == rows(postgres_url, tmp_path)
    assert first != second
    with pytest.raises(psycopg.OperationalError, match="does not exist"):
        psycopg.connect(first)


@pytest.mark.parametrize(
    "change", ["ALTER TABLE journal ADD COLUMN more TEXT", "DROP TABLE agent", "DELETE FROM migration"]
)
def test_a_database_with_other_tables_is_not_lent_again(
    postgres_databases: Databases, tmp_path: Path, change: str
) -> None:
    with postgres_databases.lent() as first, psycopg.connect(first) as connection:
        connection.execute(change)
    with postgres_databases.lent() as second:
        assert rows(second, tmp_path).keys() == set(tables())
        with psycopg.connect(second) as connection:
            found = connection.execute("SELECT column_name FROM information_schema.columns").fetchall()
    assert ("more",) not in found
