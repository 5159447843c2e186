"""Every row knows its workspace: what is in one workspace is in no answer of another."""

import ast
import base64
import gzip
import json
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from prowess.backup import back_up, restore
from prowess.cli.main import prowess
from prowess.engine import Engine
from prowess.errors import BackupError, JournalBroken
from prowess.journal import Journal, Raw
from prowess.opening import now
from prowess.policy import state as standing
from prowess.store import database as store
from prowess.store.database import Database, Transaction, tables
from prowess.store.opening import open_database
from tests.store.workspaces import engine_over, fill, listed
from tests.support.places import DATA, PACKAGE

pytestmark = pytest.mark.new_store

SOURCES = sorted(PACKAGE.rglob("*.py"))
BEFORE = DATA / "store" / "schema-15.backup"
LISTED_BEFORE = json.loads(BEFORE.with_suffix(".json").read_text())
SEEN_RARELY = {
    "search_index",
    "learning_due",
    "learning_failing",
    "job",
    "journal_archive",
    "stored_index",
    "indexed_capability",
    "indexed_relation",
    "indexed_vector",
    "index_segment",
    "index_encoding",
    "index_codes",
    "posting_list",
}
"""Tables that are empty here: for large catalogues only, while learning goes on, while something fails,
where processes share work, and where old entries were archived."""

# --- every statement says its workspace --------------------------------------------------------

STATEMENT = re.compile(r"(SELECT|INSERT INTO|UPDATE|DELETE FROM|WITH) ")
NAMED = re.compile(r"\b(?:FROM|JOIN|INTO|UPDATE) (\w+|\{)")
SAID = re.compile(r"\bworkspace = |(?<!CONFLICT )\(workspace, ")
WHOLE = {
    "SELECT workspace FROM journal UNION SELECT workspace FROM journal_head": "a restore verifies them all",
    "SELECT {} FROM {}": "a backup holds every workspace",
    "INSERT INTO {} ({}) VALUES (:{})": "rows of a backup say their workspace themselves",
    "DELETE FROM {}": "a restore replaces every workspace",
    "SELECT 1 FROM {} LIMIT 1": "a store that holds something in any workspace is replaced only when told",
    "SELECT * FROM {} LIMIT 0": "asks for columns, never for rows",
    "SELECT workspace, COUNT(*) FROM capability GROUP BY workspace": "whoever runs a store lists its tenants",
    "SELECT workspace, COUNT(*) FROM agent GROUP BY workspace": "likewise",
    "SELECT workspace, SUM(count) FROM journal_head GROUP BY workspace": "likewise",
}  # fmt: skip
"""Statements about all workspaces, and why they are."""


def statements_of(path: Path) -> Iterator[str]:
    """Every SQL text in a file; what is filled in stands as {}."""
    tree = ast.parse(path.read_text())
    formatted = [node for node in ast.walk(tree) if isinstance(node, ast.JoinedStr)]
    parts = {id(part) for node in formatted for part in node.values}
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            text = "".join(str(p.value) if isinstance(p, ast.Constant) else "{}" for p in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in parts:
            text = node.value
        else:
            continue
        if STATEMENT.match(text):
            yield text


def is_silent(text: str) -> bool:
    """Whether a statement names a table more often than it says a workspace."""
    named = [name for name in NAMED.findall(text) if name in {*tables(), "{"}]
    return len(SAID.findall(text)) < len(named)


def test_every_statement_says_its_workspace() -> None:
    found = {text: path.name for path in SOURCES for text in statements_of(path)}
    silent = {text: name for text, name in found.items() if is_silent(text)}
    assert {text: name for text, name in silent.items() if text not in WHOLE} == {}
    assert WHOLE.keys() <= silent.keys(), "an exception that is none any more"
    assert len(found) > 150, "the texts are found at all"


@pytest.mark.parametrize(
    "text",
    [
        "SELECT 1 FROM journal",
        "DELETE FROM agent WHERE name = :name",
        "INSERT INTO agent (name) VALUES (:name) ON CONFLICT (workspace, name) DO NOTHING",
        "SELECT 1 FROM capability c JOIN capability_text t ON t.id = c.id WHERE c.workspace = :workspace",
        "DELETE FROM uri_claim WHERE workspace = :workspace AND provider NOT IN (SELECT name FROM provider)",
    ],
)
def test_a_statement_that_forgets_it_once_is_found(text: str) -> None:
    assert is_silent(text)


# --- every table has it, first of all ----------------------------------------------------------

LEADING = {
    "sqlite": "SELECT name FROM pragma_table_info(:name) WHERE pk = 1",
    "postgres": "SELECT a.attname FROM pg_index i JOIN pg_attribute a ON a.attrelid = i.indrelid"
    " AND a.attnum = i.indkey[0] WHERE i.indisprimary AND i.indrelid = CAST(:name AS regclass)",
}
INDEXES = {
    "sqlite": "SELECT name, sql FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL",
    "postgres": "SELECT indexname, indexdef FROM pg_indexes"
    " WHERE schemaname = 'public' AND tablename <> 'migration'",
}  # fmt: skip


def kind_of(database: Database) -> str:
    return "postgres" if database.place.startswith("postgres") else "sqlite"


def test_the_workspace_leads_every_table_key_and_index(database: Database) -> None:
    kind = kind_of(database)
    with database.reading() as transaction:
        assert [name for name in tables() if transaction.columns(name)[0] != "workspace"] == []
        leading = {name: transaction.all(LEADING[kind], name=name) for name in tables()}
        indexes = transaction.all(INDEXES[kind])
    assert leading.pop("resource_use") == [], "its rows are counted and have no name"
    assert {name for name, first in leading.items() if first != [("workspace",)]} == set()
    assert [name for name, text in indexes if not re.search(r"\(workspace[,)]", text)] == []
    assert len(tables()) == len(set(tables()))


# --- two workspaces in one store ---------------------------------------------------------------


@pytest.fixture
def opened(store_url: str, tmp_path: Path) -> Iterator[Callable[[str, str], Engine]]:
    """An engine over one workspace of this test's store; its catalogue and policy are about one word."""
    engines: list[Engine] = []

    def open_one(workspace: str, word: str) -> Engine:
        engine = engine_over(lambda: open_database(store_url, tmp_path, workspace=workspace), tmp_path, word)
        engines.append(engine)
        return engine

    yield open_one
    for engine in engines:
        engine.close()


def rows_of(database: Database, workspace: str) -> dict[str, list[Any]]:
    with database.reading() as transaction:
        everything = {
            name: transaction.all(f"SELECT * FROM {name} WHERE workspace = :of", of=workspace)
            for name in tables()
        }
    return {name: sorted(map(repr, rows)) for name, rows in everything.items()}


def settled(rows: dict[str, list[Any]]) -> dict[str, list[Any]]:
    """All but the tables that a search writes beside, whenever it gets there."""
    return {name: each for name, each in rows.items() if name not in ("vector", "encoding")}


@pytest.mark.slow
def test_nothing_of_one_workspace_shows_in_another(opened: Callable[[str, str], Engine]) -> None:
    bees, ants = opened("default", "bees"), opened("other", "ants")
    fill(bees, "bees")
    alone = listed(bees)
    fill(ants, "ants")
    assert listed(bees) == alone
    of_ants = listed(ants)
    assert "bees" in json.dumps(alone) and "bees" not in json.dumps(of_ants)
    assert {key: len(each) for key, each in of_ants.items()} == {
        key: len(each) for key, each in alone.items()
    }
    assert [head["count"] for head in of_ants["heads"]].count(0) == 0
    kept = {
        "bees": rows_of(bees.internals.database, "default"),
        "ants": rows_of(bees.internals.database, "other"),
    }
    assert {name for rows in kept.values() for name, each in rows.items() if not each} <= SEEN_RARELY
    assert "ants" not in repr(kept["bees"]) and "bees" not in repr(kept["ants"])
    assert len(bees.journal.verify()) == len(ants.journal.verify()) == 6


@pytest.mark.slow
def test_what_is_undone_in_one_workspace_stays_in_another(opened: Callable[[str, str], Engine]) -> None:
    bees, ants = opened("default", "bees"), opened("other", "ants")
    fill(bees, "bees")
    before, rows = listed(bees), settled(rows_of(bees.internals.database, "default"))
    fill(ants, "ants")
    ants.providers.activate("server")
    ants.providers.activate("books", "ada")
    ants.agents.retire("ants-helper")
    ants.cards.resume()
    ants.cards.drop("ants-card")
    ants.quarantine.approve("tool:server/ask", "ann")
    for token in ants.tokens.list():
        ants.tokens.revoke(token.id)
    for skill in ants.learning.lessons():
        ants.learning.retire(skill.id, "ann")
    ants.sources = ()
    ants.sync()
    assert ants.catalogue.list() == ()
    assert listed(bees) == before
    assert settled(rows_of(bees.internals.database, "default")) == rows


def test_an_edited_entry_breaks_the_chain_of_its_own_workspace(store_url: str, tmp_path: Path) -> None:
    with two_journals(store_url, tmp_path) as (first, second):
        with second.writing() as transaction:
            edited = transaction.run(
                "UPDATE journal SET data = '{}' WHERE workspace = :workspace AND number = 2"
            )
        assert edited == 1
        assert [head.count for head in Journal(first, now).verify()] == [3]
        with pytest.raises(JournalBroken):
            Journal(second, now).verify()


def test_those_who_come_first_to_a_workspace_lose_nothing(store_url: str, tmp_path: Path) -> None:
    """Its numbers begin when somebody needs them, and two may need them at once."""
    database = open_database(store_url, tmp_path, workspace="new")

    def count() -> None:
        for _ in range(10):
            with database.writing() as transaction:
                standing.lock(transaction)
                standing.moved(transaction)

    threads = [threading.Thread(target=count) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with database.reading() as transaction:
        assert standing.read_version(transaction) == 40
        assert standing.read_version(transaction.within("default")) == 0
    database.close()


# --- backups -----------------------------------------------------------------------------------


@contextmanager
def two_journals(url: str, folder: Path) -> Iterator[tuple[Database, Database]]:
    """Two workspaces of one store, with three entries on a chain of the same name."""
    opened = [open_database(url, folder, workspace=name) for name in ("default", "other")]
    for database in opened:
        for number in range(3):
            Journal(database, now).record(Raw("note", {"n": number, "of": database.workspace}), "ada")
    yield opened[0], opened[1]
    for database in opened:
        database.close()


def test_a_backup_holds_every_workspace(store_url: str, tmp_path: Path) -> None:
    with two_journals(store_url, tmp_path) as (first, second):
        heads = [Journal(each, now).heads() for each in (first, second)]
        back_up(second, tmp_path / "all.backup")
        Journal(first, now).record(Raw("note", {"after": "the backup"}))
        restore(first, tmp_path / "all.backup", replace=True)
        assert [Journal(each, now).verify() for each in (first, second)] == heads
        assert [entry.data["of"] for entry in Journal(second, now).latest()] == ["other"] * 3


def test_a_backup_whose_chain_is_broken_in_another_workspace_changes_nothing(
    store_url: str, tmp_path: Path
) -> None:
    with two_journals(store_url, tmp_path) as (first, second):
        with second.writing() as transaction:
            transaction.run("UPDATE journal SET data = '{}' WHERE workspace = :workspace AND number = 2")
        back_up(first, tmp_path / "all.backup")
        with pytest.raises((JournalBroken, BackupError)):
            restore(first, tmp_path / "all.backup", replace=True)
        assert [head.count for head in Journal(first, now).verify()] == [3]


# --- a store of the version before -------------------------------------------------------------


def as_far_as(before: Any, now: Any) -> Any:
    """What is listed now, without the fields that the version before did not have."""
    if isinstance(before, dict) and isinstance(now, dict):
        return {key: as_far_as(before[key], value) for key, value in now.items() if key in before}
    if isinstance(before, list) and isinstance(now, list) and len(before) == len(now):
        return [as_far_as(*pair) for pair in zip(before, now, strict=True)]
    return now


def as_before(url: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make a store that the version before wrote, with the rows that it wrote."""
    known = store.migrations()
    with monkeypatch.context() as before:
        before.setattr(store, "migrations", lambda: [one for one in known if one.number <= 15])
        database, names = open_database(url, folder), tables()
    with database.writing() as transaction, gzip.open(BEFORE, "rb") as lines:
        for table in names:
            assert "workspace" not in transaction.columns(table)
            transaction.run(f"DELETE FROM {table}")
        _write_rows(transaction, map(json.loads, lines))
    database.close()


def _write_rows(transaction: Transaction, lines: Iterator[Any]) -> None:
    sql, columns = "", list[str]()
    for said in lines:
        if isinstance(said, dict) and "columns" in said:
            columns = said["columns"]
            names = ", ".join(f":{name}" for name in columns)
            sql = f"INSERT INTO {said['table']} ({', '.join(columns)}) VALUES ({names})"
        elif isinstance(said, list):
            values = [base64.b64decode(one["bytes"]) if isinstance(one, dict) else one for one in said]
            transaction.run(sql, **dict(zip(columns, values, strict=True)))


def test_a_store_of_the_version_before_lists_what_it_listed(
    store_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    as_before(store_url, tmp_path, monkeypatch)
    heads = tmp_path / "heads.json"
    heads.write_text(json.dumps(LISTED_BEFORE["heads"]))
    run = CliRunner().invoke(
        prowess, ["log", "--verify", "--heads", str(heads)], env={"PROWESS_STORE": store_url}
    )
    assert run.output == "intact: 47 entries in 6 chains\n"
    with engine_over(lambda: open_database(store_url, tmp_path), tmp_path, "bees") as engine:
        assert as_far_as(LISTED_BEFORE, listed(engine)) == LISTED_BEFORE


def test_postgresql_knows_the_size_of_tables_that_were_made_anew(
    postgres_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else it takes a workspace for a handful of rows, and reads a large journal whole for its last page."""
    as_before(postgres_url, tmp_path, monkeypatch)
    database = open_database(postgres_url, tmp_path)
    with database.reading() as transaction:
        known = transaction.all(
            "SELECT CAST(most_common_vals AS TEXT) FROM pg_stats"
            " WHERE tablename = 'journal' AND attname = 'workspace'"
        )
    database.close()
    assert known == [("{default}",)]


def test_a_backup_of_the_version_before_lists_what_it_listed(store_url: str, tmp_path: Path) -> None:
    database = open_database(store_url, tmp_path)
    restore(database, BEFORE)
    database.close()
    with engine_over(lambda: open_database(store_url, tmp_path), tmp_path, "bees") as engine:
        assert as_far_as(LISTED_BEFORE, listed(engine)) == LISTED_BEFORE
        engine.sync()
        offer = engine.offer("read pages about bees")
        assert offer.hits[0].id == "tool:bees-read"
        assert sum(head.count for head in engine.journal.verify()) > 47
