"""Databases with today's tables, lent to one test after the other.

To make a database takes PostgreSQL longer than most tests take. So one that a test has left is emptied and
lent again, under a new name: a program that outlived its test finds nothing under the old one. A database
whose tables are not what they were is dropped.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

import psycopg
from psycopg.sql import SQL, Identifier, Placeholder

from prowess.store.database import tables
from prowess.store.opening import open_database

TABLES = """
SELECT md5(string_agg(concat_ws(' ', c.relname, c.relkind, a.attname, a.atttypid, a.attnotnull), ','
    ORDER BY c.relname, a.attnum)), (SELECT string_agg(number::text, ',' ORDER BY number) FROM migration)
FROM pg_class c LEFT JOIN pg_attribute a ON a.attrelid = c.oid WHERE c.relnamespace = 'public'::regnamespace
"""
LEAVE = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s"
EMPTY = """
DO $$ DECLARE name text; filled boolean; BEGIN
FOR name IN SELECT tablename FROM pg_tables WHERE schemaname = 'public' AND tablename <> 'migration' LOOP
    EXECUTE format('SELECT EXISTS (SELECT FROM %I)', name) INTO filled;
    IF filled THEN EXECUTE format('TRUNCATE %I CASCADE', name); END IF;
END LOOP; END $$
"""


class Databases:
    """Those of one server; `connection` is to another database of it."""

    def __init__(self, server: str, connection: "psycopg.Connection[Any]", folder: Path) -> None:
        self._server = server
        self._connection = connection
        self._idle: list[str] = []
        self._model = self._new("template1")
        open_database(self._url(self._model), folder).close()
        with psycopg.connect(self._url(self._model)) as there:
            self._tables = there.execute(TABLES).fetchone()
            rows = {name: there.execute(_all(name)).fetchall() for name in tables()}
        self._first_rows = {name: found for name, found in rows.items() if found}

    @contextmanager
    def lent(self) -> Iterator[str]:
        name = self._renamed(self._idle.pop()) if self._idle else self._new(self._model)
        try:
            yield self._url(name)
        finally:
            self._connection.execute(LEAVE, [name])
            if self._emptied(name):
                self._idle.append(name)
            else:
                self._connection.execute(SQL("DROP DATABASE {} WITH (FORCE)").format(Identifier(name)))

    def _url(self, name: str) -> str:
        return self._server.rpartition("/")[0] + f"/{name}"

    def _new(self, model: str) -> str:
        name = f"t{uuid4().hex}"
        made = SQL("CREATE DATABASE {} TEMPLATE {}").format(Identifier(name), Identifier(model))
        self._connection.execute(made)
        return name

    def _renamed(self, name: str) -> str:
        new = f"t{uuid4().hex}"
        self._connection.execute(
            SQL("ALTER DATABASE {} RENAME TO {}").format(Identifier(name), Identifier(new))
        )
        return new

    def _emptied(self, name: str) -> bool:
        try:
            with psycopg.connect(self._url(name), options="-c lock_timeout=5s") as there:
                if there.execute(TABLES).fetchone() != self._tables:
                    return False
                there.execute(EMPTY)
                for table, rows in self._first_rows.items():
                    there.cursor().executemany(_insert(table, len(rows[0])), rows)
        except psycopg.Error:
            return False
        return True


def _all(table: str) -> "psycopg.sql.Composed":
    return SQL("SELECT * FROM {}").format(Identifier(table))


def _insert(table: str, columns: int) -> "psycopg.sql.Composed":
    values = SQL(", ").join([Placeholder()] * columns)
    return SQL("INSERT INTO {} VALUES ({})").format(Identifier(table), values)
