"""A change that one process makes wakes those in others who wait for one, and only after it holds."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Event

import psycopg
import pytest

from prowess.store.database import Database
from prowess.store.opening import open_database

pytestmark = [pytest.mark.slow, pytest.mark.parametrize("store_url", ["postgres"], indirect=True)]


@contextmanager
def opened(url: str, folder: Path) -> Iterator[Database]:
    database = open_database(url, folder)
    try:
        yield database
    finally:
        database.close()


@contextmanager
def waiting(database: Database) -> Iterator[Event]:
    """Set by each change that is heard of; what begins to listen looks once, and that is over here."""
    changed = Event()
    with database.told(changed.set):
        assert changed.wait(30)
        changed.clear()
        yield changed


def change(database: Database) -> None:
    with database.writing() as transaction:
        transaction.announce()


def test_a_change_is_heard_of_in_its_workspace_alone_and_once_it_holds(
    store_url: str, tmp_path: Path
) -> None:
    with opened(store_url, tmp_path) as here, opened(store_url, tmp_path) as there:
        acme = here.of("acme")
        with waiting(here) as changed, acme.told((of_acme := Event()).set):
            with suppress(ZeroDivisionError), there.writing() as transaction:
                transaction.announce()
                print(1 // 0)
            with (there_acme := there.of("acme")).writing() as transaction:
                transaction.announce()
            assert of_acme.wait(30) and not changed.is_set()
            change(there)
            assert changed.wait(30)
        there_acme.close()
        acme.close()


def test_whoever_waits_looks_once_and_hears_on_after_the_connection_was_cut(
    store_url: str, tmp_path: Path
) -> None:
    with opened(store_url, tmp_path) as here, waiting(here) as changed:
        with psycopg.connect(store_url, autocommit=True) as admin:
            (cut,) = admin.execute(
                "SELECT COUNT(pg_terminate_backend(pid)) FROM pg_stat_activity"
                " WHERE datname = current_database() AND (query LIKE 'LISTEN%' OR query LIKE '%in_recovery%')"
                " AND pid <> pg_backend_pid()"
            ).fetchone() or (0,)
        assert cut == 1 and changed.wait(30)
        changed.clear()
        change(here)
        assert changed.wait(30)


def test_behind_a_pooler_nobody_listens_and_nobody_misses_it(store_url: str, tmp_path: Path) -> None:
    with opened(f"{store_url}?pooler=transaction", tmp_path) as here, here.told(Event().set):
        change(here)
        assert "prowess-changes" not in {thread.name for thread in threading.enumerate()}
