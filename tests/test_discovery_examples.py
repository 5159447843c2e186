"""Requests that a capability was shown to answer draw its vector towards them, and nothing else changes."""

import numpy as np
import pytest

from prowess.discovery.dense import blended
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
    return {hit.id: hit.score for hit in index.search(request, TOOLS, ANY)}


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
    row = taught._current.row("tool:oven")
    assert np.array_equal(taught._current.dense.matrix[row], plain._current.dense.matrix[row])


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


def test_the_blend_has_length_one_and_lies_between() -> None:
    own, shown = np.array([1, 0], np.float16), np.array([[0, 1], [0, 1]], np.float16)
    both = blended(own, shown)
    assert np.linalg.norm(both) == pytest.approx(1)
    assert both[0] > both[1] > 0


def test_examples_never_make_a_word_look_common(database: Database) -> None:
    plain, taught = open_index(database), open_index(database, "")
    plain.follow(TOOLS)
    taught.follow(TOOLS, {"tool:ledger": ("bread bread bread bread", "fresh bread")})
    plain_row, row = plain._current.row("tool:oven"), taught._current.row("tool:oven")
    assert (
        plain._current.lexical.scores(["bread"])[plain_row] == taught._current.lexical.scores(["bread"])[row]
    )
    taught.follow(TOOLS)
    again = taught._current.row("tool:oven")
    assert (
        plain._current.lexical.scores(["bread"])[plain_row]
        == taught._current.lexical.scores(["bread"])[again]
    )
