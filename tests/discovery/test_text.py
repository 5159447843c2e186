"""Words of texts and names, and the text that stands for a capability."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prowess.discovery.text import Words, embedding_text, joined_name, split_name
from prowess.types import Capability


def tool(**changed: object) -> Capability:
    values: dict[str, object] = {
        "id": "tool:web-search",
        "kind": "tool",
        "name": "web-search",
        "display_name": "Web Search",
        "description": "Search the web for current information",
        "category": "information",
    }
    return Capability(**{**values, **changed})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("getHTTPUser_by-id", "get HTTP User by id"),
        ("web-search", "web search"),
        ("GET /movie/{movie_id}", "GET movie movie id"),
        ("plain", "plain"),
    ],
)
def test_an_identifier_is_read_as_its_words(name: str, words: str) -> None:
    assert split_name(name) == words


def test_an_identifier_gives_its_parts_and_its_joined_form() -> None:
    assert Words().terms("getUser web_search news-search") == [
        *("get", "user", "getuser"),
        *("web", "search", "websearch"),
        *("news", "search", "newssearch"),
    ]


def test_forms_of_a_word_are_one_term_and_stop_words_are_none() -> None:
    words = Words()
    assert words.terms("searching searches searched") == ["search"] * 3
    assert words.terms("thanks, that's all") == []
    assert words.terms("the user\u2019s files") == words.terms("user file")


def test_letter_case_and_character_forms_do_not_matter() -> None:
    words = Words()
    assert words.terms("\uff37\uff25\uff22") == words.terms("web") == words.terms("WEB")


def test_text_without_spaces_gives_characters_and_pairs() -> None:
    assert Words().terms("搜索新闻") == ["搜", "索", "新", "闻", "搜索", "索新", "新闻"]


@given(st.text(max_size=200))
def test_any_text_can_be_read_and_is_read_the_same_way_twice(text: str) -> None:
    words = Words()
    assert words.terms(text) == words.terms(text) == Words().terms(text)
    assert all(term and len(term) <= 64 for term in words.terms(text))


@given(st.text(max_size=80))
def test_a_name_is_the_same_however_its_words_are_joined(name: str) -> None:
    assert joined_name(name) == joined_name(joined_name(name))


def test_terms_can_be_shown_as_a_text_writes_them() -> None:
    assert Words().surfaces("Summaries of getUser, please") == {
        "summari": "Summaries",
        "get": "getUser",
        "user": "getUser",
        "getuser": "getUser",
    }


def test_words_beyond_what_is_remembered_are_read_all_the_same() -> None:
    assert Words(remembered=0).terms("running tests") == ["run", "test"]


def test_the_embedding_text_has_every_section_in_order() -> None:
    text = embedding_text(
        tool(tags=("search", "news"), parameters=("query", "max_results"), required_tools=("gh", "git"))
    )
    assert text.splitlines() == [
        "Web Search (web-search)",
        "Search the web for current information",
        "Category: information",
        "Use cases: search, news",
        "Parameters: query, max_results",
        "Requires: gh, git",
    ]


def test_empty_sections_are_left_out_of_the_embedding_text() -> None:
    assert embedding_text(tool(description="", category="")) == "Web Search (web-search)"


def test_a_display_name_that_is_the_name_stands_alone() -> None:
    assert embedding_text(tool(display_name="web-search")).splitlines()[0] == "web-search"


def test_secrets_and_metadata_are_never_embedded() -> None:
    text = embedding_text(tool(required_secrets=("SERPER_API_KEY",), metadata={"note": "hidden"}))
    assert "SERPER" not in text
    assert "hidden" not in text
