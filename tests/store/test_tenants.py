"""Tenants of one store: opened by name, apart in the database itself, listed and removed."""

import json
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest
from click.testing import CliRunner

import prowess
from prowess.backup import back_up, restore
from prowess.cli.main import prowess as command
from prowess.journal import Journal, Raw
from prowess.opening import now
from prowess.store.database import Database, tables
from prowess.store.opening import open_database

CONFIG = """
store = "{store}"
workspace = "{workspace}"

[policy]
files = ["policy.yaml"]

[[source]]
type = "functions"
module = "{workspace}_tools"
"""
POLICY = 'profiles: {owner: {agents: [default], additional_tools: ["*"]}}'
TOOL = """
import prowess

@prowess.tool
def {workspace}_greet(name: str) -> str:
    \"\"\"Greet somebody.\"\"\"
    return "{workspace} greets " + name
"""


def run(*arguments: str) -> str:
    result = CliRunner().invoke(command, arguments)
    assert result.exit_code == 0, result.output
    return result.output


def tenant(folder: Path, store: str, workspace: str) -> list[str]:
    """A folder with a configuration of its own over a store that it shares; what names it to a command."""
    folder.mkdir()
    (folder / "prowess.toml").write_text(CONFIG.format(store=store, workspace=workspace))
    (folder / "policy.yaml").write_text(POLICY)
    (folder / f"{workspace}_tools.py").write_text(TOOL.format(workspace=workspace))
    return ["--config", str(folder / "prowess.toml")]


def test_two_tenants_of_one_store_see_and_call_their_own(
    store_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    acme, bolt = (tenant(tmp_path / name, store_url, name) for name in ("acme", "bolt"))
    for one in (acme, bolt):
        run(*one, "sync")
    assert "acme greets ann" in run(*acme, "call", "acme_greet", "name=ann")
    assert [hit["id"] for hit in json.loads(run(*bolt, "list", "--json"))] == ["tool:bolt_greet"]
    assert run(*acme, "find", "greet somebody", "--json").count("bolt") == 0
    refused = CliRunner().invoke(command, [*bolt, "call", "acme_greet", "name=ann"])
    assert refused.exit_code == 1 and "acme greets" not in refused.output

    listed = json.loads(run(*acme, "workspaces", "--json"))
    assert [(one["name"], one["capabilities"]) for one in listed] == [("acme", 1), ("bolt", 1)]
    run(*acme, "workspaces", "remove", "bolt", "--yes")
    assert [one["name"] for one in json.loads(run(*acme, "workspaces", "--json"))] == ["acme"]
    assert "intact" in run(*acme, "log", "--verify")


def test_an_argument_names_the_workspace_before_the_environment_and_the_file(tmp_path: Path) -> None:
    (tmp_path / "prowess.toml").write_text('workspace = "filed"\n')
    config = str(tmp_path / "prowess.toml")
    environment = {"PROWESS_WORKSPACE": "told"}
    for said, given in (("said", {"workspace": "said"}), ("told", {})):
        with prowess.open("sqlite::memory:", config=config, environment=environment, **given) as engine:  # type: ignore[arg-type]
            assert engine.internals.database.workspace == said
    with prowess.open("sqlite::memory:", config=config, environment={}) as engine:
        assert engine.internals.database.workspace == "filed"


@pytest.mark.parametrize("name", ["", "*", "Acme", "a b", "x'; DROP TABLE agent; --", "a" * 64, ".a"])
def test_what_is_no_name_for_a_workspace_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(prowess.WorkspaceError, match="cannot be the name of a workspace"):
        open_database("sqlite::memory:", tmp_path, workspace=name)


# --- apart in PostgreSQL itself ----------------------------------------------------------------


@pytest.fixture
def tenants_url(postgres_server: str) -> Iterator[str]:
    """A database whose owner is an ordinary role: a superuser would see everything."""
    import psycopg

    from tests.support.postgres import new_database

    role = f"r{uuid4().hex}"
    with new_database(postgres_server) as url, psycopg.connect(postgres_server, autocommit=True) as admin:
        admin.execute(f'CREATE ROLE "{role}" LOGIN')
        admin.execute(f'ALTER DATABASE "{url.rpartition("/")[2]}" OWNER TO "{role}"')
        with psycopg.connect(url, autocommit=True) as inside:
            inside.execute(f'GRANT ALL ON SCHEMA public TO "{role}"')
        before, _, host = url.partition("@")
        yield f"{before.partition('://')[0]}://{role}@{host}"
        admin.execute(f'DROP DATABASE "{url.rpartition("/")[2]}" WITH (FORCE)')
        admin.execute(f'DROP ROLE "{role}"')
        admin.execute(f'CREATE DATABASE "{url.rpartition("/")[2]}"')


@pytest.fixture
def two(tenants_url: str, tmp_path: Path) -> Iterator[tuple[Database, Database]]:
    """Two workspaces that share connections, with an entry each."""
    acme = open_database(tenants_url, tmp_path, workspace="acme")
    bolt = acme.of("bolt")
    for database in (acme, bolt):
        Journal(database, now).record(Raw("note", {"of": database.workspace}))
    yield acme, bolt
    acme.close()
    bolt.close()


def test_a_statement_that_forgets_its_workspace_finds_only_that(two: tuple[Database, Database]) -> None:
    forgetful = " ".join(["SELECT workspace", "FROM journal"])
    for database in (*two, *two):
        with database.reading() as transaction:
            assert transaction.all(forgetful) == [(database.workspace,)]
    with two[0].reading(everywhere=True) as transaction:
        assert sorted(transaction.all(forgetful)) == [("acme",), ("bolt",)]


def test_no_row_can_be_written_into_another_workspace(two: tuple[Database, Database]) -> None:
    with (
        pytest.raises(prowess.StoreError, match="row-level security"),
        two[0].writing() as transaction,
    ):
        transaction.within("bolt").run("UPDATE journal SET workspace = :workspace")
    with two[0].writing() as transaction:
        assert transaction.within("bolt").run("DELETE FROM journal WHERE workspace = :workspace") == 0


def test_a_connection_that_says_no_workspace_sees_no_row(
    two: tuple[Database, Database], tenants_url: str
) -> None:
    import psycopg

    with psycopg.connect(tenants_url) as connection:
        for table in tables():
            assert connection.execute(f"SELECT * FROM {table}").fetchall() == []


def test_a_backup_holds_every_tenant_and_comes_back(two: tuple[Database, Database], tmp_path: Path) -> None:
    acme, bolt = two
    back_up(acme, tmp_path / "all.backup")
    Journal(bolt, now).record(Raw("note", {"after": "the backup"}))
    restore(acme, tmp_path / "all.backup", replace=True)
    for database in two:
        assert [entry.data for entry in Journal(database, now).latest()] == [{"of": database.workspace}]
    with acme.reading() as transaction:
        assert transaction.all(" ".join(["SELECT workspace", "FROM journal"])) == [("acme",)]


def test_the_store_stays_open_until_its_last_workspace_is_closed(store_url: str, tmp_path: Path) -> None:
    first = open_database(store_url, tmp_path)
    second = first.of("second")
    first.close()
    Journal(second, now).record(Raw("note", {}))
    second.close()
    with pytest.raises(prowess.StoreError, match="closed"):
        Journal(second, now).record(Raw("note", {}))
