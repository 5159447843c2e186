"""Requests that a capability was shown to answer draw its vector towards them, and nothing else changes."""

import numpy as np
import numpy.typing as npt
import pytest

from prowess.discovery.examples import Half, Matrix, taught
from prowess.discovery.index import Index
from prowess.discovery.ranking import Options
from prowess.store.database import Database
from prowess.testing import capability, word_embedder

TOOLS = {
    c.id: c for c in (capability("tool:ledger", "Keeps accounts."), capability("tool:oven", "Bakes bread."))
}
SHOWN = {"tool:ledger": ("pay the plumber", "settle a bill")}
ANY = Options(min_relevance=0.0)


def open_index(database: Database, collection: str = "test") -> Index:
    return Index(database, word_embedder, collection, {})


def scores(index: Index, request: str) -> dict[str, float]:
    return {hit.id: hit.score for hit in index.search.hits(request, TOOLS, ANY)}


def test_a_demonstrated_request_is_found_and_what_has_no_examples_keeps_its_vector(
    database: Database,
) -> None:
    plain, taught = open_index(database), open_index(database, "")
    for index, examples in ((plain, {}), (taught, SHOWN)):
        index.follow(TOOLS, examples)
        index.encode(1, lambda done, total: None)
    assert scores(taught, "settle the bill")["tool:ledger"] > scores(plain, "settle the bill").get(
        "tool:ledger", 0
    )
    ovens = [
        index._current.corpus.dense.matrix[index._current.corpus.row("tool:oven")]
        for index in (plain, taught)
    ]
    assert np.array_equal(ovens[0], ovens[1])


def test_an_index_opened_again_answers_like_the_one_that_was_taught(database: Database) -> None:
    taught = open_index(database)
    taught.follow(TOOLS, SHOWN)
    taught.encode(1, lambda done, total: None)
    taught._write("words")
    for examples in (SHOWN, {}):
        again, fresh = open_index(database), open_index(database, "")
        for index in (again, fresh):
            index.follow(TOOLS, examples)
            index.encode(1, lambda done, total: None)
        assert scores(again, "settle the bill") == pytest.approx(scores(fresh, "settle the bill"))


def test_taking_examples_back_gives_the_old_answers(database: Database) -> None:
    index = open_index(database)
    index.follow(TOOLS)
    index.encode(1, lambda done, total: None)
    before = scores(index, "settle the bill")
    for examples in (SHOWN, {}):
        index.follow(TOOLS, examples)
        if not index.is_encoded(1):
            index.encode(1, lambda done, total: None)
    assert scores(index, "settle the bill") == before


def test_what_is_taught_has_length_one_and_lies_between_its_words_and_its_examples() -> None:
    own, shown = np.array([1, 0], np.float16), np.array([[0, 1], [0, 1]], np.float16)
    (both,) = taught({"tool:x": own}, {"tool:x": shown}).values()
    assert np.linalg.norm(both.vector) == pytest.approx(1, abs=1e-3)
    assert both.vector[0] > both.vector[1] > 0
    assert both.handicap > 0


def test_nothing_is_taught_without_examples_or_without_a_vector_of_its_own() -> None:
    own, shown = np.array([1, 0], np.float16), np.array([[0, 1]], np.float16)
    assert taught({"tool:x": own}, {}) == {}
    assert taught({"tool:x": own}, {"tool:x": shown[:0], "tool:y": shown}) == {}


def a_catalogue(seed: int, tools: int = 160, requests: int = 24) -> tuple[Matrix, Matrix]:
    """Descriptions, and requests that are near them, and nearer to each other than to descriptions."""
    random = np.random.default_rng(seed)
    meanings, style = random.normal(size=(tools, 1, 32)), 1.5 * random.normal(size=32)
    own = meanings[:, 0] + 1.2 * random.normal(size=(tools, 32))
    asked = meanings + style + 1.2 * random.normal(size=(tools, requests, 32))
    return _unit(own), _unit(asked)


def _unit(vectors: npt.NDArray[np.float64]) -> Matrix:
    return np.asarray(vectors / np.linalg.norm(vectors, axis=-1, keepdims=True), np.float32)


def _half(vectors: Matrix) -> Half:
    return vectors.astype(np.float16)


def found(own: Matrix, handicaps: Matrix, asked: Matrix, tools: range) -> float:
    """The share of requests whose capability is among the first five."""
    places = [
        np.count_nonzero(request @ own.T - handicaps > request @ own[tool] - handicaps[tool])
        for tool in tools
        for request in asked[tool]
    ]
    return float(np.mean(np.array(places) < 5))


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("count", [1, 3, 10])
def test_what_has_examples_is_found_better_and_what_has_none_as_well_as_before(seed: int, count: int) -> None:
    own, asked = a_catalogue(seed)
    lesson = taught(
        {str(tool): _half(own[tool]) for tool in range(0, 160, 2)},
        {str(tool): _half(asked[tool, :count]) for tool in range(0, 160, 2)},
    )
    nothing, drawn, handicaps = np.zeros(160, np.float32), own.copy(), np.zeros(160, np.float32)
    for tool, each in lesson.items():
        drawn[int(tool)], handicaps[int(tool)] = each.vector, each.handicap
    others, shown, plain = asked[:, 10:], range(0, 160, 2), range(1, 160, 2)
    assert found(drawn, handicaps, others, plain) >= found(own, nothing, others, plain) - 0.05
    assert found(drawn, nothing, others, plain) < found(own, nothing, others, plain) - 0.05
    if count > 1:
        assert found(drawn, handicaps, others, shown) > found(own, nothing, others, shown)


def test_examples_never_make_a_word_look_common(database: Database) -> None:
    plain, taught = open_index(database), open_index(database, "")
    plain.follow(TOOLS)
    taught.follow(TOOLS, {"tool:ledger": ("bread bread bread bread", "fresh bread")})
    before, after = _bread(plain), _bread(taught)
    assert before == after
    taught.follow(TOOLS)
    assert before == _bread(taught)


def _bread(index: Index) -> float:
    """What the word is worth to the tool that has it by itself."""
    corpus = index._current.corpus
    row = corpus.row("tool:oven")
    assert row is not None
    return float(corpus.lexical.scores(["bread"])[row])
