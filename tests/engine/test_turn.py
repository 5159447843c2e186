"""One turn, one world: what is offered, what it names and what is recorded agree, whatever happens."""

import os
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from prowess.engine import Engine
from prowess.engine.options import EngineOptions
from prowess.sources.files.cards import CardFiles
from prowess.store.connections import Connections
from prowess.store.database import Database, Row, Transaction
from prowess.store.opening import open_database
from prowess.testing import StaticSource, capability, word_embedder
from prowess.types import Message, Turn
from tests.learning.test_gates import practise
from tests.support.clock import SteppingClock
from tests.support.evolution import AB, FAIR, exhaust
from tests.support.learning import office
from tests.support.stores import OpenEngine

RULE = 'profiles: {{p: {{agents: [default], additional_tools: ["{}"]}}}}\n'
TOOLS = [capability("tool:a", "Send an email to the team."), capability("tool:b", "Count words of text.")]
CARD = """---
id: billing
name: Billing
description: How bills are paid here
triggers: {keywords: [bill, supplier], confidence_threshold: 0.1}
---
Bills of suppliers are paid on the first of the month by the ledger team, after two people looked at them.
"""


def opened(url: str, folder: Path, embed: Any) -> Engine:
    (folder / "policy.yaml").write_text(RULE.format("*"))
    options = EngineOptions(policy_files=(folder / "policy.yaml",), embedder=lambda: ("watched", embed))
    source = StaticSource(capabilities=TOOLS)
    return Engine(open_database(url, folder), (source,), SteppingClock(), {}, options)


def test_an_offer_names_the_revision_that_allows_it_when_policy_narrows_meanwhile(
    store_url: str, tmp_path: Path
) -> None:
    words, armed = word_embedder()[1], threading.Event()

    def embed(texts: Sequence[str]) -> Any:
        if armed.is_set():  # somebody narrows the policy while the request is encoded
            (tmp_path / "policy.yaml").write_text(RULE.format("tool:b"))
            os.utime(tmp_path / "policy.yaml", (1, 1))
        return words(texts)

    with opened(store_url, tmp_path, embed) as engine:
        engine.sync()
        before = engine.internals.world().policy.revision
        armed.set()
        offer = engine.offer("send an email to the team now")
        (entry,) = engine.journal.latest(type="offer")
        assert [hit.id for hit in offer.hits] == ["tool:a"]
        assert offer.policy_revision == entry.data["policy_revision"] == before
        assert [c.id for c in engine.catalogue.list("default")] == ["tool:b"], "the next turn sees it"


@pytest.mark.parametrize("meanwhile", ["switched off", "removed", "stopped"])
def test_a_turn_is_of_one_world_whatever_changes_in_the_middle(
    store_url: str, tmp_path: Path, meanwhile: str
) -> None:
    words, armed = word_embedder()[1], threading.Event()

    def embed(texts: Sequence[str]) -> Any:
        if armed.is_set():
            armed.clear()
            with opened(store_url, tmp_path, words) as other:
                change(other)
        return words(texts)

    def change(other: Engine) -> None:
        if meanwhile == "switched off":
            other.providers.deactivate("static")
        elif meanwhile == "removed":
            other.sources = (StaticSource(capabilities=TOOLS[1:]),)
            other.sync(vectors=False)
        else:
            other.evolution.evaluate("default", FAIR, AB)
            exhaust(partial(other.evolution.evaluate, "default"))
            assert other.evolution.stopped("default")

    with opened(store_url, tmp_path, embed) as engine:
        engine.sync()
        version = engine.catalogue.view().version
        armed.set()
        offer = engine.offer("send an email to the team now")
        assert not armed.is_set(), "the change happened in the middle"
        assert [hit.id for hit in offer.hits] == ["tool:a"] and "tool:a" in offer.tool_ids.values()
        assert offer.catalogue_version == version
        assert [hit.id for hit in engine.offer("send an email to the team now").hits] != ["tool:a"]


def test_one_warm_offer_is_one_read_and_one_write(store_url: str, tmp_path: Path) -> None:
    with opened(store_url, tmp_path, word_embedder()[1]) as engine:
        engine.sync()
        engine.offer("send an email")
        begun = Transactions(engine.internals.database)
        engine.offer("send an email")
        assert begun.kinds == ["read", "write"]


class Transactions:
    """Which transactions a database was asked for."""

    def __init__(self, database: Database) -> None:
        self.kinds: list[str] = []
        reading, writing = database.reading, database.writing

        def read(everywhere: bool = False) -> Any:
            self.kinds.append("read")
            return reading(everywhere)

        def write(flush: bool = True, everywhere: bool = False) -> Any:
            self.kinds.append("write")
            return writing(flush, everywhere)

        database.reading, database.writing = read, write  # type: ignore[method-assign]


def test_no_transaction_is_open_while_the_encoder_works(store_url: str, tmp_path: Path) -> None:
    words, open_now, seen = word_embedder()[1], [0], []

    def embed(texts: Sequence[str]) -> Any:
        seen.append(open_now[0])
        return words(texts)

    with opened(store_url, tmp_path, embed) as engine:
        usual = Connections.transaction

        def counted(self: Connections, *arguments: Any, **options: Any) -> Any:
            @contextmanager
            def inner() -> Any:
                open_now[0] += 1
                try:
                    with usual(self, *arguments, **options) as transaction:
                        yield transaction
                finally:
                    open_now[0] -= 1

            return inner()

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Connections, "transaction", counted)
            engine.sync()
            engine.offer("send an email to the whole team")
            engine.find("count the words of this text")
    assert len(seen) >= 3 and set(seen) == {0}


def test_a_process_that_opens_a_store_asks_for_all_vectors_of_a_catalogue_in_a_few_statements(
    open_engine: OpenEngine,
) -> None:
    many = StaticSource("many", capabilities=[capability(f"tool:t{n}", f"Do {n}") for n in range(120)])
    open_engine(many).sync()
    asked: list[str] = []
    usual = Transaction.all

    def noting(self: Transaction, sql: str, **values: object) -> list[Row]:
        asked.append(sql)
        return usual(self, sql, **values)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Transaction, "all", noting)
        patch.setattr(Transaction, "one", lambda *given, **values: next(iter(noting(*given, **values)), None))
        assert open_engine(many).find("do 7")[0].id == "tool:t7"
    assert len(asked) < 40


def test_two_searches_are_in_the_encoder_at_the_same_time(store_url: str, tmp_path: Path) -> None:
    words, meeting = word_embedder()[1], threading.Barrier(2, timeout=30)
    armed = threading.Event()

    def embed(texts: Sequence[str]) -> Any:
        if armed.is_set():
            meeting.wait()  # nobody gets on before the other is here too
        return words(texts)

    with opened(store_url, tmp_path, embed) as engine:
        engine.sync()
        armed.set()
        with ThreadPoolExecutor(2) as pool:
            found = list(pool.map(engine.find, ("send an email", "count the words of a text")))
        armed.clear()
    assert not meeting.broken
    assert [hits[0].id for hits in found] == ["tool:a", "tool:b"]


def contents(engine: Engine) -> dict[str, list[Any]]:
    """Every row of every table."""
    with engine.internals.database.reading() as transaction:
        names = [
            "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'",
            "SELECT tablename FROM pg_tables WHERE schemaname = 'public'",
        ][engine.store.startswith("postgresql")]
        tables = [row[0] for row in transaction.all(names)]
        return {table: sorted(map(repr, transaction.all(f"SELECT * FROM {table}"))) for table in tables}


def changed(before: dict[str, list[Any]], after: dict[str, list[Any]]) -> set[str]:
    return {table for table in after if before[table] != after[table]}


def test_a_gate_a_preview_and_an_explanation_change_no_table_but_their_own(
    store_url: str, tmp_path: Path, clock: SteppingClock
) -> None:
    (tmp_path / "billing.md").write_text(CARD)
    with office(store_url, tmp_path, clock) as engine:
        engine.sources = (*engine.sources, CardFiles(name="cards", paths=(str(tmp_path),)))
        engine.sync()
        skill = practise(engine)
        before = contents(engine)
        turn = Turn(messages=(Message("user", "pay the bill of the supplier"),))
        assert engine.preview("ada").offer(turn).offer.cards == ("card:billing",)
        assert engine.explain("ada", "tool:invoices", "pay the bill of the supplier")
        assert changed(before, contents(engine)) <= {"text_vector"}, "what a text means may be kept"
        engine.learning.gate(skill.id)
        own = {"learnt_skill", "skill_gate", "text_vector", "journal", "journal_head"}
        assert changed(before, contents(engine)) <= own
        types = {entry.type for entry in engine.journal.latest(5)}
        assert "skill.gated" in types
        counts = [len(engine.journal.latest(10_000, type=type)) for type in ("cards.selected", "offer")]
        engine.learning.gate(skill.id)
        assert counts == [len(engine.journal.latest(10_000, type=t)) for t in ("cards.selected", "offer")]


@pytest.mark.parametrize(
    ("agent", "id", "request_text", "conclusion"),
    [
        ("ada", "tool:mail", "send electronic mail", "offered: it is number 1 of "),
        ("ada", "tool:wiper", "send electronic mail", "not offered, because it fits the request too little"),
        ("gus", "tool:mail", "send electronic mail", "not offered, because policy denies it"),
        ("ada", "tool:none", "send electronic mail", "not offered, because nothing in the catalogue"),
    ],
)
def test_why_ends_in_one_plain_sentence(
    store_url: str, tmp_path: Path, clock: SteppingClock, agent: str, id: str, request_text: str,
    conclusion: str,
) -> None:  # fmt: skip
    with office(store_url, tmp_path, clock) as engine:
        assert engine.explain(agent, id, request_text)[-1].startswith(conclusion)
