"""A database that has pgvector is a database like any other, whichever schema the extension is in."""

from pathlib import Path

import psycopg
import pytest

from prowess.store.opening import open_database
from tests.support.postgres import new_database

pytestmark = [pytest.mark.slow, pytest.mark.new_store]


def test_a_store_is_made_beside_pgvector_which_stays_where_it_is(
    postgres_server: str, tmp_path: Path
) -> None:
    with new_database(postgres_server) as url:
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("CREATE EXTENSION vector")
            connection.execute("CREATE TABLE own (place vector(3))")
            connection.execute("INSERT INTO own VALUES ('[1,2,3]')")
        open_database(url, tmp_path).close()
        with psycopg.connect(url) as connection:
            schema = connection.execute(
                "SELECT n.nspname FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace"
                " WHERE e.extname = 'vector'"
            ).fetchone()
            (near,) = connection.execute("SELECT place <-> '[1,2,4]' FROM own").fetchone() or (None,)
            tables = connection.execute("SELECT to_regclass('text_vector'), to_regclass('vector')").fetchone()
    assert schema == ("public",)
    assert near == 1
    assert tables == ("text_vector", None)
