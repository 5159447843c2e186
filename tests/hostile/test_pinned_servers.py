"""No sequence of syncs shows anything of a pinned server that nobody approved."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from uuid import uuid4

import psycopg
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prowess.config import ToolOverrideConfig
from prowess.engine import Engine
from prowess.opening import now
from prowess.sources.overrides import Overrides
from prowess.store.database import Database
from prowess.store.opening import open_database
from prowess.testing import StaticSource, capability
from prowess.types import Detail

pytestmark = pytest.mark.slow

NAMES = ("a", "b", "c")
TEXTS = ("Reads a page", "Writes a page", "Reads a page, twice")

NOTHING: dict[str, str] = {}

tools = st.dictionaries(st.sampled_from(NAMES), st.sampled_from(TEXTS))
syncs = st.tuples(st.just("sync"), tools)
downs = st.tuples(st.just("down"), st.just(NOTHING))
approvals = st.tuples(st.just("approve"), st.dictionaries(st.sampled_from(NAMES), st.just(""), max_size=1))
rejections = st.tuples(st.just("reject"), st.dictionaries(st.sampled_from(NAMES), st.just(""), max_size=1))
dropped = st.tuples(st.just("without the server"), st.just(NOTHING))
wordings = st.tuples(st.just("word"), st.just(NOTHING))
histories = st.lists(
    st.one_of(syncs, syncs, syncs, downs, approvals, rejections, dropped, wordings), max_size=10
)
RENAMED = Overrides({"s/a": ToolOverrideConfig(name="s/x")})
"""The configuration calls `a` something else, or no longer does."""


@dataclass
class Person:
    """Remembers what a person may rely on: the first sight, and what they approved since."""

    seen: bool = False
    approved: set[tuple[str, str]] = field(default_factory=set)

    def see(self, offered: dict[str, str]) -> None:
        if offered and not self.seen:
            self.seen = True
            self.approved |= set(offered.items())


class Sync:
    """One engine over one pinned server, whose offer each step of a history sets."""

    def __init__(self, database: Database) -> None:
        self.server = StaticSource("s", kind="mcp")
        self.engine = Engine(database, (self.server,), now, {})
        self.database = database

    def begin_anew(self) -> None:
        self.server.capabilities, self.server.details, self.server.down = [], {}, ""
        with self.database.writing() as transaction:
            for table in ("capability", "approved_content", "quarantine", "first_sight", "provider"):
                transaction.run(f"DELETE FROM {table}")
            self.engine.internals.sources.overrides = {}
            transaction.run("UPDATE catalogue_version SET version = version + 1")

    def offer(self, offered: dict[str, str], down: str = "") -> None:
        self.server.capabilities = [capability(f"tool:s/{name}", text) for name, text in offered.items()]
        self.server.details = {f"tool:s/{name}": Detail(content=text) for name, text in offered.items()}
        self.server.down = down
        self.engine.sources = (self.server,)
        self.engine.sync(vectors=False)

    def word_otherwise(self) -> None:
        known = self.engine.internals.sources
        known.overrides = {} if known.overrides else {"s": RENAMED}

    def name_here(self, name: str) -> str:
        return "x" if name == "a" and self.engine.internals.sources.overrides else name

    def leave_out(self) -> None:
        """The configuration does without the server for a while."""
        self.engine.sources = ()
        self.engine.sync(vectors=False)

    def decide(self, what: str, name: str, person: Person) -> None:
        id = f"tool:s/{self.name_here(name)}"
        if id not in {held.id for held in self.engine.quarantine.list()}:
            return
        said = (name, self.engine.catalogue.get(id).description)
        if what == "approve":
            self.engine.quarantine.approve(id, by="grace")
            person.approved.add(said)
        else:
            self.engine.quarantine.reject(id, by="grace")
            person.approved.discard(said)

    def shown(self) -> set[tuple[str, str]]:
        names = {"x": "a"}
        shown = ((c.name.removeprefix("s/"), c.description) for c in self.engine.catalogue.list())
        return {(names.get(name, name), text) for name, text in shown}


@pytest.fixture(scope="module", params=["sqlite", "postgres"])
def sync(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sync]:
    if request.param == "sqlite":
        made = Sync(open_database("sqlite:x.db", tmp_path_factory.mktemp("pin")))
        yield made
        made.engine.close()
        return
    server, name = request.getfixturevalue("postgres_server"), f"pin{uuid4().hex}"
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f'CREATE DATABASE "{name}"')
        made = Sync(open_database(server.removesuffix("postgres") + name, Path()))
        yield made
        made.engine.close()
        connection.execute(f'DROP DATABASE "{name}" WITH (FORCE)')


@settings(max_examples=40, deadline=None)
@given(history=histories)
def test_everything_visible_was_in_the_first_sight_or_approved(
    history: list[tuple[str, dict[str, str]]], sync: Sync
) -> None:
    sync.begin_anew()
    person, offered = Person(), NOTHING
    for what, named in history:
        if what in ("approve", "reject"):
            for name in named:
                sync.decide(what, name, person)
        elif what == "word":
            sync.word_otherwise()
            sync.engine.sync(vectors=False)
        elif what == "without the server":
            offered = NOTHING
            sync.leave_out()
        elif what == "down":
            sync.offer(NOTHING, "it is down")
        else:
            offered = named
            sync.offer(named)
            person.see(named)
        assert sync.shown() <= person.approved
        assert {pair for pair in offered.items() if pair in person.approved} <= sync.shown()
