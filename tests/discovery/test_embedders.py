"""Other embedders: their vectors are theirs alone, and whatever goes wrong with one, words still serve."""

import json
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import prowess
from prowess.discovery import embedders
from prowess.discovery.encoder import Encoder
from prowess.discovery.index import Index
from prowess.discovery.ranking import Options
from prowess.engine import Engine
from prowess.engine.options import EngineOptions
from prowess.errors import ConfigError
from prowess.store.database import Database
from prowess.store.opening import open_database
from prowess.testing import StaticSource, capability, word_embedder
from tests.support.clock import SteppingClock
from tests.support.ports import LOOKS
from tests.support.stores import OWNER

TOOLS = [
    capability("tool:web", "Search the web for current information"),
    capability("tool:mail", "Send a message to somebody"),
    capability("tool:song", "Play music in the kitchen"),
]
REQUEST = "search the web"
EMBED = word_embedder()[1]


class Watched:
    """An embedder that counts what it is asked, and fails or answers as it is told."""

    def __init__(self, answer: Callable[[Any], Any] = lambda vectors: vectors) -> None:
        self.asked: list[str] = []
        self.answer = answer
        self.failure: Exception | None = None

    def __call__(self, texts: Sequence[str]) -> Any:
        self.asked += texts
        if self.failure:
            raise self.failure
        return self.answer(EMBED(texts))


OpenWith = Callable[..., Engine]


@pytest.fixture
def open_with(tmp_path: Path, store_url: str) -> Iterator[OpenWith]:
    (tmp_path / "policy.yaml").write_text(OWNER)
    config = tmp_path / "prowess.toml"
    config.write_text('[policy]\nfiles = ["policy.yaml"]\n')
    opened: list[Engine] = []

    def open_one(embedder: Any = None, name: str = "mine", environment: Any = None) -> Engine:
        sources = [StaticSource(capabilities=TOOLS)]
        engine = prowess.open(
            store_url, config=str(config), sources=sources, environment=environment or {},
            embedder=embedder, embedding_model_id=name,
        )  # fmt: skip
        opened.append(engine)
        return engine

    yield open_one
    for engine in opened:
        wait_for_vectors()
        engine.close()


def wait_for_vectors() -> None:
    for thread in threading.enumerate():
        if thread.name == "prowess-vectors":
            thread.join(10)


def goes_by_meaning(engine: Engine, request: str = REQUEST) -> bool:
    hits = engine.find(request)
    assert hits and hits[0].id == "tool:web"
    return any(reason.startswith("similarity") for reason in hits[0].reasons)


def said(engine: Engine) -> list[str]:
    return [str(each) for each in engine.diagnose() if "by words alone" in str(each)]


# --- whose vectors they are --------------------------------------------------------------------------


def test_another_embedder_makes_vectors_of_its_own_and_only_once(open_with: OpenWith) -> None:
    one, two = Watched(), Watched()
    open_with(one, "one").sync()
    engine = open_with(two, "two")
    engine.sync()
    assert len(two.asked) == len(one.asked) == 3
    assert goes_by_meaning(engine)
    for known, name in ((one, "one"), (two, "two")):
        known.asked.clear()
        engine = open_with(known, name)
        engine.sync()
        assert goes_by_meaning(engine) and known.asked == [REQUEST]


def test_a_search_makes_the_vectors_of_another_embedder_too(open_with: OpenWith) -> None:
    open_with(Watched(), "one").sync()
    engine = open_with(Watched(), "two")
    engine.find(REQUEST)
    wait_for_vectors()
    assert goes_by_meaning(engine)


def test_a_store_that_does_not_say_whose_its_vectors_are_is_not_encoded_again(
    open_with: OpenWith, store_url: str, tmp_path: Path
) -> None:
    open_with(Watched()).sync()
    database = open_database(store_url, tmp_path)
    with database.writing() as transaction:
        assert transaction.run("UPDATE encoding SET model = ''") == 1
    again = Watched()
    open_with(again).sync()
    assert again.asked == []
    with database.reading() as transaction:
        assert transaction.one("SELECT model FROM encoding") == ("given:mine",)
    database.close()


def test_a_sync_that_finds_nothing_new_loads_no_encoder(
    open_with: OpenWith, monkeypatch: pytest.MonkeyPatch
) -> None:
    open_with(name="").sync()
    monkeypatch.setattr(Encoder, "open", lambda: pytest.fail("the encoder was loaded"))
    engine = open_with(name="")
    engine.sync()
    assert engine.internals.parts.searching.index.embedding.failure is None


def test_a_function_of_a_module_needs_no_other_name(open_with: OpenWith) -> None:
    assert (
        open_with(numbered, name="").internals.parts.searching.index.embedding.name
        == f"given:{__name__}.numbered"
    )


def numbered(texts: Sequence[str]) -> list[list[int]]:
    return [[len(text), 1] for text in texts]


@pytest.mark.parametrize("embedder", [Watched(), lambda texts: EMBED(texts), Watched().__call__])
def test_what_has_no_lasting_name_must_be_given_one(open_with: OpenWith, embedder: Any) -> None:
    with pytest.raises(ConfigError, match="embedding_model_id"):
        open_with(embedder, name="")


# --- what it answers ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "answer",
    [lambda v: v * 10, lambda v: v.tolist(), lambda v: v.astype(np.float64) * 1e30],
    ids=["not-of-length-one", "lists", "huge"],
)
def test_vectors_of_any_length_and_kind_serve_alike(open_with: OpenWith, answer: Any) -> None:
    usual, other = open_with(Watched(), "usual"), open_with(Watched(answer), "other")
    usual.sync()
    other.sync()
    found = [[(hit.id, hit.reasons) for hit in engine.find(REQUEST)] for engine in (usual, other)]
    assert found[0] == found[1] and goes_by_meaning(other)


@pytest.mark.parametrize(
    "answer",
    [
        lambda v: v * np.nan,
        lambda v: v[:1],
        lambda v: [],
        lambda v: v[0],
        lambda v: [[1.0], *v[1:].tolist()],
        lambda v: "no numbers",
        lambda v: None,
        lambda v: v[:, :0],
    ],
    ids=["nan", "too-few", "none", "one-row", "ragged", "text", "nothing", "no-numbers"],
)
def test_an_answer_that_cannot_be_used_leaves_words_and_doctor_says_so(
    open_with: OpenWith, answer: Any
) -> None:
    engine = open_with(Watched(answer))
    assert engine.sync().total == 3
    assert not goes_by_meaning(engine)
    (problem,) = said(engine)
    assert "one row of finite numbers for each text" in problem


def test_another_width_under_the_same_name_is_not_compared(open_with: OpenWith) -> None:
    open_with(Watched()).sync()
    narrow = Watched(lambda vectors: vectors[:, :32])
    engine = open_with(narrow)
    for _ in range(4):
        assert not goes_by_meaning(engine)
        wait_for_vectors()
    assert "another name" in said(engine)[0]
    assert narrow.asked == [REQUEST, "ready?"]


# --- when it fails -----------------------------------------------------------------------------------

FAILURES = [RuntimeError("no memory"), OSError("no such model"), KeyError("data")]


@pytest.mark.parametrize("failure", FAILURES, ids=lambda failure: type(failure).__name__)
def test_whatever_an_embedder_raises_the_catalogue_is_kept_and_served_by_words(
    open_with: OpenWith, failure: Exception
) -> None:
    embedder = Watched()
    embedder.failure = failure
    engine = open_with(embedder)
    assert engine.sync().total == 3
    assert not goes_by_meaning(engine)
    assert str(failure) in said(engine)[0]
    embedder.failure = None
    engine.sync()
    assert goes_by_meaning(engine) and said(engine) == []


@pytest.mark.parametrize("failure", FAILURES, ids=lambda failure: type(failure).__name__)
def test_an_embedder_that_fails_later_leaves_words_until_the_next_sync(
    open_with: OpenWith, failure: Exception
) -> None:
    embedder = Watched()
    engine = open_with(embedder)
    engine.sync()
    embedder.failure = failure
    assert not goes_by_meaning(engine)
    assert engine.offer(REQUEST, on_failure="closed").mode == "discovery"
    wait_for_vectors()
    assert str(failure) in said(engine)[0]
    embedder.failure = None
    engine.sync()
    assert goes_by_meaning(engine) and said(engine) == []


def test_a_failure_while_vectors_are_made_beside_a_search_shows_in_doctor(
    open_with: OpenWith, capfd: pytest.CaptureFixture[str]
) -> None:
    embedder = Watched()
    embedder.failure = RuntimeError("no memory")
    engine = open_with(embedder)
    engine.sync(vectors=False)
    assert not goes_by_meaning(engine)
    wait_for_vectors()
    assert "no memory" in said(engine)[0]
    assert "Traceback" not in capfd.readouterr().err


def test_doctor_asks_an_embedder_that_nobody_has_asked_yet(open_with: OpenWith) -> None:
    open_with(Watched()).sync()
    broken = Watched()
    broken.failure = RuntimeError("no memory")
    assert "no memory" in said(open_with(broken))[0]


def test_one_request_that_it_cannot_read_does_not_keep_it_from_others(open_with: OpenWith) -> None:
    embedder = Watched()
    engine = open_with(embedder)
    engine.sync()
    embedder.failure = ValueError("this text is too long")
    assert not goes_by_meaning(engine)
    embedder.failure = None
    engine.find(REQUEST)
    wait_for_vectors()
    assert goes_by_meaning(engine)


def test_a_service_that_is_down_is_asked_once_in_a_while_and_not_by_every_search(database: Database) -> None:
    embedder = Watched(lambda vectors: (vectors * 10).tolist())
    embedder.failure = OSError("down")
    seconds = [0.0]
    index = Index(database, lambda: ("mine", embedder), "test", {}, elapsed=lambda: seconds[0])
    tools = {tool.id: tool for tool in TOOLS}

    def search_often() -> int:
        before = len(embedder.asked)
        for _ in range(20):
            if index.follow(tools).may_lack_vectors and not index.is_encoded(1):
                index.encode(1, lambda done, total: None)
            assert index.search.hits(REQUEST, tools, Options())
        return len(embedder.asked) - before

    assert search_often() == 3
    assert search_often() == 0
    seconds[0] += 61
    assert search_often() == 1
    embedder.failure = None
    seconds[0] += 61
    assert search_often() == 1 + 3 + 1
    assert index.encoded == (3, 3) and index.unavailable is None


# --- the ones that have a name in the configuration --------------------------------------------------


class Service(HTTPServer):
    """An embeddings service that answers as it is told."""

    mode = "right"


class Handler(BaseHTTPRequestHandler):
    server: Service

    def do_POST(self) -> None:
        texts = json.loads(self.rfile.read(int(self.headers["content-length"])))["input"]
        rows = [{"index": n, "embedding": v} for n, v in enumerate(EMBED(texts).tolist())]
        wrong = {"empty": [], "short": rows[1:], "ragged": [{"index": 9, "embedding": [1.0]}, *rows[1:]]}
        content = json.dumps({"data": wrong.get(self.server.mode, rows)}).encode()
        self.send_response(500 if self.server.mode == "500" else 200)
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def service() -> Iterator[Service]:
    with Service(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(LOOKS,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.mark.parametrize("mode", ["500", "empty", "short", "ragged"])
def test_a_service_that_goes_wrong_leaves_words_and_is_used_once_it_is_right(
    open_with: OpenWith, service: Service, mode: str
) -> None:
    engine = open_with(name=f"http://127.0.0.1:{service.server_port}/v1#small")
    service.mode = mode
    assert engine.sync().total == 3
    assert not goes_by_meaning(engine)
    assert said(engine)
    service.mode = "right"
    engine.sync()
    assert goes_by_meaning(engine) and said(engine) == []


def test_a_model_that_cannot_be_loaded_leaves_words(
    open_with: OpenWith, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unreachable(name: str) -> None:
        raise OSError(f"cannot reach the hub for {name}")

    package = ModuleType("sentence_transformers")
    package.SentenceTransformer = unreachable  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "sentence_transformers", package)
    engine = open_with(name="sentence-transformers:small")
    assert engine.sync().total == 3
    assert not goes_by_meaning(engine)
    assert "cannot reach the hub for small" in said(engine)[0]


def test_what_many_workspaces_offer_alike_is_encoded_once_in_a_process(
    tmp_path: Path, store_url: str
) -> None:
    asked: list[str] = []
    name, embed = word_embedder()

    def noting(texts: Sequence[str]) -> Any:
        asked.extend(texts)
        return embed(texts)

    options = EngineOptions(embedder=embedders.opened_once(embedders.Opener(lambda: name, lambda: noting)))
    found = []
    for workspace in ("acme", "bolt", "cord"):
        tools = [capability(f"tool:t{number}", f"Do what is number {number}") for number in range(30)]
        source = StaticSource("shared", capabilities=tools)
        database = open_database(store_url, tmp_path, workspace=workspace)
        with Engine(database, (source,), SteppingClock(), {}, options) as engine:
            engine.sync()
            found.append(engine.internals.parts.searching.index.encoded)
    assert found == [(30, 30)] * 3
    assert len(asked) == len(set(asked)) == 30
