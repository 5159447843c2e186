"""A replica of the store, a real standby: what is searched and shown is read there, and never what is old.

All of these use one primary and one copy, the last ones up.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import psycopg
import pytest
from click.testing import CliRunner

from prowess.cli.main import prowess
from prowess.engine import Engine
from prowess.monitoring.counts import RequestCounts, text_of
from prowess.store.replica import Replica
from prowess.testing import StaticSource, capability
from tests.engine.conftest import OpenNode
from tests.support.postgres import StoppablePostgres, stoppable_postgres
from tests.support.proxy import hanging_proxy

pytestmark = [pytest.mark.slow, pytest.mark.timeout(120)]


@pytest.fixture(scope="module")
def primary() -> Iterator[StoppablePostgres]:
    with stoppable_postgres() as primary:
        yield primary


@pytest.fixture(scope="module")
def copy(primary: StoppablePostgres) -> Iterator[StoppablePostgres]:
    with psycopg.connect(primary.url, autocommit=True) as connection:
        connection.execute("CREATE ROLE app LOGIN")
        connection.execute("CREATE DATABASE app OWNER app")
    copy = StoppablePostgres(of=primary)
    try:
        copy.start()
        yield copy
    finally:
        copy.remove()


def rows_read(server: StoppablePostgres, table: str) -> int:
    """How many rows of a table sessions that are over have read there."""
    with psycopg.connect(server.url) as connection:
        found = connection.execute(
            "SELECT seq_tup_read + COALESCE(idx_tup_fetch, 0) FROM pg_stat_user_tables WHERE relname = %s",
            [table],
        ).fetchone()
    return int(found[0]) if found else 0


@contextmanager
def paused(server: StoppablePostgres) -> Iterator[None]:
    with psycopg.connect(server.url, autocommit=True) as connection:
        connection.execute("SELECT pg_wal_replay_pause()")
        yield
        connection.execute("SELECT pg_wal_replay_resume()")


def found_by(engine: Engine, agent: str = "ada") -> list[str]:
    return [hit.id for hit in engine.find("send a mail", agent)]


def replica_of(engine: Engine) -> Replica:
    replica = engine.internals.database.replica
    assert replica is not None
    return replica


def comes_into_use(engine: Engine) -> None:
    replica, until = replica_of(engine), time.monotonic() + 20
    before = replica.answered
    while replica.answered == before:
        assert time.monotonic() < until, "the replica is never used"
        engine.journal.latest(1)
        time.sleep(0.02)


def test_a_large_catalogue_and_the_journal_are_read_from_the_replica_and_policy_is_not(
    primary: StoppablePostgres, copy: StoppablePostgres, open_node: OpenNode
) -> None:
    open_node(primary.url, in_memory=1).close()
    tables = ("posting_list", "indexed_vector", "capability_text", "journal", "agent", "policy_version")
    before = {table: rows_read(primary, table) for table in tables}
    engine = open_node(primary.url, replica=copy.url, in_memory=1)
    comes_into_use(engine)
    engine.agents.bind("one", "owner")
    assert "tool:mail" in found_by(engine, "one")
    assert engine.journal.latest(type="agent.*")
    assert engine.decide("one", "tool:mail").verdict == "allow"
    engine.close()
    there = {table for table in tables if rows_read(copy, table)}
    assert there == {"posting_list", "indexed_vector", "capability_text", "journal"}
    assert rows_read(primary, "posting_list") == before["posting_list"]
    assert rows_read(primary, "policy_version") > before["policy_version"]


TOOLS = """
from prowess import tool


def send_mail(to: str) -> str:
    \"\"\"Send a mail to somebody.\"\"\"
    return "sent"


send_mail = tool(send_mail)
"""


def run(*words: str) -> str:
    done = CliRunner().invoke(prowess, words)
    assert done.exit_code == 0, done.output
    return done.output


def test_from_init_to_what_a_person_sees_and_does_while_the_replica_is_behind_or_gone(
    primary: StoppablePostgres, copy: StoppablePostgres, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PROWESS_REPLICA", copy.url)
    run("init")
    Path("mails_of_a_day.py").write_text(TOOLS)
    file = Path("prowess.toml")
    source = '[[source]]\ntype = "functions"\nname = "mails"\nmodule = "mails_of_a_day"\n'
    file.write_text(f'store = "{primary.url}"\nworkspace = "person"\n{source}\n{file.read_text()}')
    run("sync")
    run("agent", "add", "bob", "--profile", "owner")
    before = rows_read(copy, "capability_text")
    assert "tool:send_mail" in run("find", "send a mail", "--agent", "bob")
    assert "agent" in run("log")
    assert "no problems" in run("doctor")
    assert rows_read(copy, "capability_text") > before
    with paused(copy):
        run("provider", "off", "mails_of_a_day")
        assert "tool:send_mail (switched off)" in run("find", "send a mail", "--agent", "bob")
        assert "provider" in run("log", "--limit", "1")
        run("provider", "on", "mails_of_a_day")
        assert "tool:send_mail" in run("find", "send a mail", "--agent", "bob")
        run("agent", "remove", "bob")
        assert "no agent named 'bob'" in run("find", "send a mail", "--agent", "bob")
        assert "the replica is not used" in run("doctor")
    with copy.away():
        assert "tool:send_mail" in run("find", "send a mail")
    refused = CliRunner().invoke(prowess, ["--store", "sqlite:other.db", "sync"])
    assert refused.exit_code == 1
    assert "is a file, which has no replica" in refused.output
    assert "take `replica` (PROWESS_REPLICA, --replica) out" in refused.output
    assert "1 added" in run("--store", "sqlite:other.db", "--replica", "", "sync")


def test_each_workspace_sees_its_own_rows_on_the_replica_also_as_an_ordinary_role(
    primary: StoppablePostgres, copy: StoppablePostgres, open_node: OpenNode
) -> None:
    url, at_copy = (f"postgresql://app@127.0.0.1:{one.port}/app" for one in (primary, copy))
    acme = open_node(url, replica=at_copy)
    with Engine(acme.internals.database.of("bolt"), (), lambda: datetime.now(UTC), {}) as bolt:
        assert replica_of(bolt) is replica_of(acme)
        comes_into_use(acme)
        comes_into_use(bolt)
        assert acme.journal.latest()
        assert bolt.journal.latest() == ()
        with psycopg.connect(at_copy) as connection:
            assert connection.execute("SELECT COUNT(*) FROM journal").fetchone() == (0,)


def test_while_the_replica_is_behind_a_change_of_policy_or_of_the_catalogue_is_obeyed_at_once(
    primary: StoppablePostgres, copy: StoppablePostgres, open_node: OpenNode
) -> None:
    engine, other = open_node(primary.url, replica=copy.url, in_memory=1), open_node(primary.url)
    engine.agents.bind("two", "owner")
    assert "tool:mail" in found_by(engine, "two")
    with paused(copy):
        other.agents.retire("two")
        assert found_by(engine, "two") == []
        fax = StaticSource("office", capabilities=[capability("tool:fax", "Send a mail by fax")])
        other.internals.sources.current = (fax,)
        other.sync()
        assert found_by(engine) == ["tool:fax"]
        assert engine.journal.latest(1) == other.journal.latest(1)
        assert any("it is behind" in problem.what for problem in engine.diagnose())
        begun = time.process_time(), time.monotonic()
        assert [found_by(engine) for _ in range(10)] == [["tool:fax"]] * 10
        used, took = time.process_time() - begun[0], time.monotonic() - begun[1]
        assert took - used < 1, "nobody waits for a replica that is known to be behind"
    comes_into_use(engine)


def test_a_replica_that_hangs_or_dies_costs_a_moment_once_and_is_used_again_when_it_is_back(
    primary: StoppablePostgres, copy: StoppablePostgres, open_node: OpenNode
) -> None:
    with hanging_proxy(copy.port) as proxy:
        url = copy.url.replace(str(copy.port), str(proxy.port))
        engine = open_node(primary.url, replica=url, in_memory=1)
        comes_into_use(engine)
        found = found_by(engine)
        proxy.hang()
        begun = time.monotonic()
        assert [found_by(engine) for _ in range(10)] == [found] * 10
        assert time.monotonic() - begun < 5
        shown = text_of(RequestCounts(), engine.internals.database.gauges()).splitlines()
        assert "prowess_replica_in_use 0" in shown
        assert "# TYPE prowess_replica_reads_total counter" in shown
        proxy.flow()
        comes_into_use(engine)
        with copy.away():
            assert found_by(engine) == found
            assert any("the primary answers" in problem.what for problem in engine.diagnose())
        comes_into_use(engine)


def test_a_replica_of_another_store_is_not_read_and_doctor_says_so(
    primary: StoppablePostgres, copy: StoppablePostgres, open_node: OpenNode
) -> None:
    other = open_node(primary.url, replica=f"postgresql://app@127.0.0.1:{copy.port}/app")
    assert other.journal.latest(1)
    assert any("it is no copy of the store" in problem.what for problem in other.diagnose())
    itself = open_node(primary.url, replica=primary.url)
    assert itself.journal.latest(1)
    assert any("this server follows no other" in problem.what for problem in itself.diagnose())


def test_what_a_failover_lost_is_not_shown_by_a_replica_that_has_it_nor_by_one_that_was_promoted(
    primary: StoppablePostgres, copy: StoppablePostgres, open_node: OpenNode
) -> None:
    second = StoppablePostgres(of=primary)
    try:
        second.start()
        both = f"postgresql://postgres@127.0.0.1:{primary.port},127.0.0.1:{second.port}/postgres"
        engine = open_node(both, replica=copy.url)
        comes_into_use(engine)
        with second.away():
            with psycopg.connect(primary.url, autocommit=True) as connection:
                connection.execute(
                    "SELECT pg_switch_wal()"
                )  # so the replica has come further than what follows
            engine.agents.bind("lost", "owner")
            comes_into_use(engine)
            assert engine.journal.latest(1)[0].chain == "lost"
            primary.kill()
        second.promote()
        engine.agents.bind("kept", "owner")
        chains = {entry.chain for entry in engine.journal.latest(50)}
        assert "kept" in chains
        assert "lost" not in chains
        copy.promote()
        engine.agents.bind("later", "owner")
        assert engine.journal.latest(1)[0].chain == "later"
    finally:
        second.remove()
