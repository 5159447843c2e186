"""BM25 over weighted fields, kept in step one row at a time."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prowess.discovery import lexical
from prowess.discovery.lexical import IndexedTerms, Lexical, document
from prowess.discovery.text import Words
from prowess.types import Capability

WORDS = ("alpha", "beta", "gamma", "delta", "omega")
TEXTS = st.lists(st.sampled_from(WORDS), min_size=1, max_size=6)


def capability(name: str, description: str = "", **more: tuple[str, ...]) -> Capability:
    return Capability(
        id=f"tool:{name}",
        kind="tool",
        name=name,
        display_name=name,
        description=description,
        category="",
        tags=more.get("tags", ()),
        parameters=more.get("parameters", ()),
    )


def index_of(*capabilities: Capability) -> Lexical:
    words, index = Words(), Lexical()
    index.add([document(each, words) for each in capabilities])
    return index


def plain(texts: list[str]) -> IndexedTerms:
    return document(capability("x", " ".join(texts)), Words())


def test_a_word_in_the_name_counts_more_than_in_the_description() -> None:
    scores = index_of(capability("weather", "reports"), capability("reports", "weather")).scores(["weather"])
    assert scores[0] > scores[1] > 0


def test_a_rare_word_counts_more_than_a_common_one() -> None:
    index = index_of(*(capability(f"t{n}", "common" if n else "rare") for n in range(9)))
    assert index.scores(["rare"])[0] > index.scores(["common"])[1]


def test_a_word_asked_for_twice_counts_once() -> None:
    index = index_of(capability("weather"))
    assert index.scores(["weather", "weather"])[0] == index.scores(["weather"])[0]


def test_unknown_words_and_an_empty_index_give_nothing() -> None:
    assert index_of(capability("weather")).scores(["unheard"]).tolist() == [0.0]
    assert Lexical().scores(["weather"]).tolist() == []


def test_a_display_name_that_repeats_the_name_does_not_count_twice() -> None:
    words = Words()
    shown = Capability(id="a", kind="tool", name="web-search", display_name="Web Search", description="")
    alone = Capability(id="a", kind="tool", name="web-search", display_name="web-search", description="")
    assert dict(zip(*_weights(shown, words), strict=True)) == dict(zip(*_weights(alone, words), strict=True))


def _weights(capability: Capability, words: Words) -> tuple[tuple[str, ...], tuple[float, ...]]:
    made = document(capability, words)
    return made.terms, made.weights


def test_requests_that_were_shown_to_work_can_be_found_and_do_not_dilute_the_rest() -> None:
    words, index = Words(), Lexical()
    weather = capability("weather", "forecast for a city")
    index.add([document(weather, words), document(weather, words, ["do I need an umbrella"])])
    assert index.scores(["umbrella"]).tolist()[0] == 0 < index.scores(["umbrella"])[1]
    assert index.scores(["forecast"])[0] == index.scores(["forecast"])[1]


def test_matched_terms_come_with_the_rarest_first() -> None:
    index = index_of(capability("a", "common rare"), capability("b", "common"))
    assert index.matched(0, ["common", "rare", "absent"]) == ("rare", "common")


@settings(max_examples=60, deadline=None)
@given(st.lists(TEXTS, min_size=1, max_size=12), st.data())
def test_changing_rows_one_by_one_gives_what_building_anew_gives(
    texts: list[list[str]], data: st.DataObject
) -> None:
    documents = [plain(each) for each in texts]
    grown = Lexical()
    for each in documents:
        grown.add([each])
    dropped = data.draw(st.sets(st.integers(0, len(texts) - 1), max_size=len(texts) - 1))
    for row in dropped:
        grown.drop(row)
    living = [row for row in range(len(texts)) if row not in dropped]
    built = Lexical()
    built.add([documents[row] for row in living])
    restored = Lexical.restored(grown.state())
    for word in WORDS:
        expected = built.scores([word])
        assert np.allclose(grown.scores([word])[living], expected, atol=1e-6)
        assert np.allclose(restored.scores([word]), expected, atol=1e-6)


def test_many_single_additions_are_merged_without_changing_a_score(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lexical, "OVERLAY", 3)
    documents = [plain([WORDS[n % 5], WORDS[n % 3]]) for n in range(20)]
    slow, quick = Lexical(), Lexical()
    for each in documents:
        slow.add([each])
    quick.add(documents)
    assert np.allclose(slow.scores(WORDS), quick.scores(WORDS), atol=1e-6)
