"""Another model for a very large catalogue: the old vectors serve until the new ones are ready."""

import os
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from subprocess import PIPE
from threading import Event

import pytest

from prowess.discovery.dense import Matrix
from prowess.discovery.embedders import shipped
from prowess.discovery.ranking import Embed
from prowess.discovery.stored import encodings
from prowess.engine import Engine
from prowess.engine.options import EngineOptions
from prowess.opening import now
from prowess.store.opening import open_database
from prowess.testing import StaticSource, capability, word_embedder
from prowess.types import Capability
from tests.support.processes import running

POLICY = "profiles: {owner: {agents: [default], additional_tools: ['*']}}\n"
Model = Callable[[], tuple[str, Embed]]


class Counted:
    """A model of words that knows which texts it encoded, and may be stopped before them."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.texts: list[str] = []
        self.begun, self.goes = Event(), Event()
        self.goes.set()

    def __call__(self) -> tuple[str, Embed]:
        words = word_embedder()[1]

        def embed(texts: Sequence[str]) -> Matrix:
            if len(texts) > 1:  # not a single request
                self.begun.set()
                assert self.goes.wait(60)
                self.texts += texts
            return words(texts)

        return self.name, embed


def tools(count: int) -> list[Capability]:
    return [capability(f"tool:t{number}", f"Order the flowers number n{number}x.") for number in range(count)]


@contextmanager
def opened(
    url: str, folder: Path, source: StaticSource, model: Model, later: timedelta = timedelta(0)
) -> Iterator[Engine]:
    (folder / "policy.yaml").write_text(POLICY)
    options = EngineOptions(embedder=model, policy_files=(folder / "policy.yaml",), in_memory=10)
    with Engine(open_database(url, folder), (source,), lambda: now() + later, {}, options) as engine:
        yield engine


def searched_by(engine: Engine) -> str:
    """The model by whose vectors a search goes now."""
    stored = engine.internals.parts.searching.stored
    engine.rank("flowers")
    return stored._held.encoding.model


def test_the_old_vectors_serve_while_new_ones_are_made_and_what_changes_meanwhile_is_found(
    store_url: str, tmp_path: Path
) -> None:
    source = StaticSource("tools", capabilities=tools(30))
    with opened(store_url, tmp_path, source, shipped) as engine:
        engine.sync()
        before = engine.rank("a bouquet of roses for my mother")
    new = Counted("new")
    new.goes.clear()
    with opened(store_url, tmp_path, source, new) as engine, ThreadPoolExecutor(1) as beside:
        encoding = beside.submit(engine.sync)
        assert new.begun.wait(60)
        assert searched_by(engine) == shipped.name
        assert engine.rank("a bouquet of roses for my mother") == before
        assert "running" in {job.state for job in engine.internals.jobs.every() if job.work.endswith("new")}
        new.goes.set()
        encoding.result(60)
        assert searched_by(engine) == "new"
        assert [job.result for job in engine.internals.jobs.every() if job.work.endswith("new")] == [
            "30 encoded"
        ]


def test_where_the_old_model_cannot_be_had_words_serve(store_url: str, tmp_path: Path) -> None:
    source = StaticSource("tools", capabilities=tools(30))
    with opened(store_url, tmp_path, source, Counted("old")) as engine:
        engine.sync()
    new = Counted("new")
    new.goes.clear()
    with opened(store_url, tmp_path, source, new) as engine, ThreadPoolExecutor(1) as beside:
        encoding = beside.submit(engine.sync)
        assert new.begun.wait(60)
        assert searched_by(engine) == ""
        assert engine.rank("order n7x")[0] == "tool:t7"
        new.goes.set()
        encoding.result(60)
        assert searched_by(engine) == "new"


def test_the_way_back_encodes_nothing_and_after_a_day_the_other_vectors_are_gone(
    store_url: str, tmp_path: Path
) -> None:
    source = StaticSource("tools", capabilities=tools(30))
    for name in ("old", "new"):
        with opened(store_url, tmp_path, source, Counted(name)) as engine:
            engine.sync()
    old = Counted("old")
    with opened(store_url, tmp_path, source, old) as engine:
        assert searched_by(engine) == "old"
        assert engine.rank("order n7x")[0] == "tool:t7"
        assert models(engine) == ["old", "new"]
    source.capabilities.append(capability("tool:late", "Waters the plants."))
    with opened(store_url, tmp_path, source, old, timedelta(days=2)) as engine:
        engine.sync()
        assert models(engine) == ["old"]
        assert engine.rank("water the plants")[0] == "tool:late"
        assert vectors(engine) == 31
    assert len(old.texts) == 0  # one text by itself is not counted


def models(engine: Engine) -> list[str]:
    with engine.internals.database.reading() as transaction:
        return [each.model for each in encodings.every(transaction)]


def vectors(engine: Engine) -> int:
    """How many the index has, of all models together."""
    with engine.internals.database.reading() as transaction:
        row = transaction.one("SELECT COUNT(*) FROM indexed_vector WHERE workspace = :workspace")
    return int(row[0]) if row else 0


def test_several_processes_make_each_vector_once_side_by_side(store_url: str, tmp_path: Path) -> None:
    source = StaticSource("tools", capabilities=tools(600))
    first, second = Counted("new"), Counted("new")
    with (
        opened(store_url, tmp_path, source, first) as one,
        opened(store_url, tmp_path, source, second) as other,
        ThreadPoolExecutor(2) as both,
    ):
        one.sync(vectors=False)
        first.goes.clear()
        leading = both.submit(one.sync)
        assert first.begun.wait(60)
        other.rank("flowers")  # notices that there is something to do, and helps
        assert second.begun.wait(60)
        first.goes.set()
        leading.result(60)
        assert one.rank("order n7x")[0] == "tool:t7"
        assert vectors(one) == 600
    assert first.texts and second.texts
    assert len(first.texts) + len(second.texts) == len({*first.texts, *second.texts}) == 600


KILLED = """
import sys
from pathlib import Path
from prowess.opening import now
from prowess.testing import StaticSource
from tests.discovery.test_reencoding import Counted, opened, tools

class Stopping(Counted):
    def __call__(self):
        name, embed = super().__call__()
        def embed_some(texts):
            if len(self.texts) >= 128:
                print("half", flush=True)
                sys.stdin.read()
            return embed(texts)
        return name, embed_some

model = Stopping("new")
with opened(sys.argv[1], Path(sys.argv[2]), StaticSource("tools", capabilities=tools(600)), model) as engine:
    engine.sync()
"""


@pytest.mark.slow
def test_what_was_killed_goes_on_where_it_stopped(store_url: str, tmp_path: Path) -> None:
    command = [sys.executable, "-c", KILLED, store_url, str(tmp_path)]
    with running(command, stdin=PIPE, stdout=PIPE, text=True) as process:
        assert process.stdout and process.stdout.readline() == "half\n"
        os.kill(process.pid, signal.SIGKILL)
        process.wait(30)
    source, model = StaticSource("tools", capabilities=tools(600)), Counted("new")
    with opened(store_url, tmp_path, source, model, timedelta(minutes=3)) as engine:
        engine.sync()
        assert searched_by(engine) == "new"
        assert vectors(engine) == 600
    assert 0 < len(model.texts) <= 600 - 100
