"""The one way from a request to hits, on a small catalogue, with and without vectors."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prowess.discovery import corpus as corpus_module
from prowess.discovery.corpus import Corpus
from prowess.discovery.dense import Matrix
from prowess.discovery.encoder import Encoder
from prowess.discovery.fusion import Calibration
from prowess.discovery.ranking import Embed, Options, Ranker
from prowess.discovery.text import embedding_text
from prowess.types import Capability, Hit

CHANNELS = ("telegram", "discord", "slack", "whatsapp", "signal", "matrix", "irc", "teams")
EVERYTHING = Options(top_k=100, min_relevance=0.0, abstain=False)


def capability(id: str, description: str, category: str, **more: tuple[str, ...]) -> Capability:
    kind, _, name = id.partition(":")
    return Capability(
        id=id,
        kind=kind,
        name=name,
        display_name=name.replace("-", " ").title(),
        description=description,
        category=category,
        provider=name,
        tags=more.get("tags", ()),
        parameters=more.get("parameters", ()),
        required_tools=more.get("needs", ()),
        unavailable=more.get("unavailable", ()),
    )


def catalogue() -> list[Capability]:
    information, developer = "information", "developer-tools"
    return [
        capability(
            "tool:web-search", "Search the web for current information", information, tags=("search",)
        ),
        capability(
            "tool:news-search", "Search news articles by keyword", information, tags=("search", "news")
        ),
        capability("tool:web-browser", "Browse a URL and extract content", information, parameters=("url",)),
        capability(
            "skill:github", "Use the GitHub CLI for issues, PRs, repos", developer, needs=("cli-executor",)
        ),
        capability("tool:git", "Run git commands in a repository", developer),
        capability("tool:cli-executor", "Execute shell commands", developer, parameters=("command",)),
        capability("skill:summarizer", "Summarize long documents into key points", information),
        *(
            capability(f"channel:{name}", f"Send and receive messages on {name.title()}", "communication")
            for name in CHANNELS
        ),
    ]


def corpus_of(capabilities: Sequence[Capability], embed: Embed | None) -> Corpus:
    corpus = Corpus()
    corpus.put(capabilities)
    if embed is not None:
        matrix = embed([embedding_text(each) for each in capabilities])
        corpus.give_vectors({each.id: row for each, row in zip(capabilities, matrix, strict=True)})
    return corpus


@pytest.fixture(scope="module")
def encoder() -> Encoder:
    return Encoder.open()


@pytest.fixture(params=["with vectors", "by words alone"])
def ranker(request: pytest.FixtureRequest, encoder: Encoder) -> Ranker:
    embed = encoder if request.param == "with vectors" else None
    return Ranker(corpus_of(catalogue(), embed), Calibration.read(), embed)


def ids(hits: Sequence[Hit]) -> list[str]:
    return [hit.id for hit in hits]


@pytest.mark.parametrize("digit", [3e-7, -3e-7])
def test_the_last_digits_of_a_similarity_decide_no_order(digit: float) -> None:
    """They differ from one processor to the next."""
    near = {"sensor-a": 0.6, "sensor-b": 0.6 + digit, "sensor-c": 0.61}

    def embed(texts: Sequence[str]) -> Matrix:
        cosines = [next((near[name] for name in near if name in text), 1.0) for text in texts]
        return np.array([(cosine, np.sqrt(1 - cosine * cosine)) for cosine in cosines], np.float32)

    sensors = [replace(capability(f"tool:{name}", name, ""), name=name, display_name=name) for name in near]
    ranker = Ranker(corpus_of(sensors[::-1], embed), Calibration.read(), embed)
    hits = ranker.search("how warm is it", None, EVERYTHING)
    assert ids(hits) == ["tool:sensor-c", "tool:sensor-a", "tool:sensor-b"]


def test_both_needs_of_a_request_are_served(ranker: Ranker) -> None:
    hits = ranker.search("Search the web for AI news and summarize it")
    assert {"tool:web-search", "tool:news-search", "skill:summarizer"} <= set(ids(hits))


def test_a_hit_says_which_need_it_answers_and_why(ranker: Ranker) -> None:
    hits = {hit.id: hit for hit in ranker.search("Search the web for AI news and summarize it")}
    assert hits["skill:summarizer"].need == "summarize it"
    assert "words: summarize" in hits["skill:summarizer"].reasons


def test_a_request_about_github_brings_the_tool_that_the_skill_needs(ranker: Ranker) -> None:
    hits = ranker.search("create a GitHub issue for this bug")
    assert ids(hits)[:2] == ["skill:github", "tool:cli-executor"]
    assert "needed by skill:github" in hits[1].reasons


def test_a_message_on_discord_is_sent_on_discord(ranker: Ranker) -> None:
    assert (
        ids(ranker.search("send a message on Discord", None, Options(kind="channel")))[0] == "channel:discord"
    )


@pytest.mark.parametrize("said", ["thanks, that's all", "hello", "ok", "yes please", "", "?!"])
def test_nothing_is_offered_when_nothing_is_asked(ranker: Ranker, said: str) -> None:
    assert ranker.search(said) == ()


def test_relevance_is_between_0_and_1_and_falls(ranker: Ranker) -> None:
    scores = [hit.score for hit in ranker.search("search the web for messages", None, EVERYTHING)]
    assert scores == sorted(scores, reverse=True)
    assert all(0 <= score <= 1 for score in scores)


def test_a_higher_threshold_keeps_fewer_hits_and_top_k_is_a_limit(ranker: Ranker) -> None:
    every = ranker.search("search news on the web", None, EVERYTHING)
    some = ranker.search("search news on the web", None, replace(EVERYTHING, min_relevance=0.4))
    assert ids(some) == ids(every)[: len(some)]
    assert all(hit.score >= 0.4 for hit in some)
    assert len(ranker.search("search news on the web", None, replace(EVERYTHING, top_k=2))) == 2


def test_what_is_close_to_the_best_is_the_more_relevant_for_it(ranker: Ranker) -> None:
    beside = ranker.search("search news on the web", None, EVERYTHING)
    second = beside[1]
    without_best = replace(EVERYTHING, exclude=(beside[0].id,))
    alone = ranker.search("search news on the web", None, without_best)[0]
    assert (second.id, second.score > alone.score) == (alone.id, True)


def test_a_relevance_does_not_depend_on_the_threshold_and_none_is_below_it(ranker: Ranker) -> None:
    every = {hit.id: hit.score for hit in ranker.search("search news on the web", None, EVERYTHING)}
    for threshold in (0.1, 0.3, 0.6, 0.9):
        kept = ranker.search("search news on the web", None, replace(EVERYTHING, min_relevance=threshold))
        assert {hit.id: hit.score for hit in kept} == {id: s for id, s in every.items() if s >= threshold}


@pytest.mark.parametrize("each", catalogue(), ids=lambda each: str(each.id))
def test_a_capability_called_by_name_comes_first(ranker: Ranker, each: Capability) -> None:
    for request in (each.id, each.name, each.name.upper(), each.display_name, each.name.replace("-", "_")):
        assert ids(ranker.search(request))[0] == each.id


@pytest.mark.parametrize(
    "request_text", ["use web-search on this", "what does `git` do?", "run tool:git now"]
)
def test_a_name_inside_a_sentence_comes_first(ranker: Ranker, request_text: str) -> None:
    first = ranker.search(request_text)[0]
    assert first.id in ("tool:web-search", "tool:git")
    assert "named in the request" in first.reasons


def test_a_common_word_that_is_a_name_does_not_take_over_a_sentence(encoder: Encoder) -> None:
    tools = [*catalogue(), capability("tool:list", "Show the entries of a folder", "files")]
    ranker = Ranker(corpus_of(tools, encoder), Calibration.read(), encoder)
    assert ids(ranker.search("list the news articles about chess"))[0] == "tool:news-search"
    assert ids(ranker.search("list"))[0] == "tool:list"


def test_the_closest_way_of_writing_a_name_wins() -> None:
    tools = [
        capability("getUser", "Fetch somebody", "people"),
        capability("get_user", "Fetch somebody", "people"),
        capability("GET_USER", "Fetch somebody", "people"),
        capability("get_user now", "Fetch somebody", "people"),
    ]
    tools = [replace(each, name=each.id, display_name=each.id) for each in tools]
    ranker = Ranker(corpus_of(tools, None), Calibration.read())
    for each in tools:
        assert ids(ranker.search(each.name))[0] == each.id


@pytest.mark.parametrize(
    ("request_text", "first"),
    [
        ("call getUser for user 5", "tool:b/getUser"),
        ("call get_user for user 5", "tool:a/get_user"),
        ("getUser?", "tool:b/getUser"),
        ("what does `getUser()` do?", "tool:b/getUser"),
        ("`C++`", "tool:C++"),
        ("C++?", "tool:C++"),
        ("`C#`", "tool:C#"),
        ("`get_http_user`", "tool:get_http_user"),
        ("getHTTPUser", "tool:getHTTPUser"),
    ],
)
def test_a_name_written_to_the_letter_wins_wherever_it_stands(request_text: str, first: str) -> None:
    written = ("a/get_user", "b/getUser", "C", "C#", "C++", "getHTTPUser", "get_http_user")
    tools = [
        replace(capability(f"tool:{name}", "Fetch", "people"), name=name.rpartition("/")[2])
        for name in written
    ]
    ranker = Ranker(corpus_of(tools, None), Calibration.read())
    assert ids(ranker.search(request_text))[0] == first


def test_only_what_is_allowed_is_found_whatever_depends_on_it(ranker: Ranker) -> None:
    allowed = ranker.corpus.mask(["skill:github", "tool:git"])
    assert set(ids(ranker.search("create a GitHub issue", allowed, EVERYTHING))) <= {
        "skill:github",
        "tool:git",
    }
    assert ranker.search("cli-executor", ranker.corpus.mask([])) == ()


@pytest.mark.parametrize(
    "options",
    [
        Options(kind="skill"),
        Options(category="information"),
        Options(provider="github"),
        Options(exclude=("CLI Executor",)),
        Options(exclude=("tool:cli-executor",)),
    ],
)
def test_filters_hold_for_what_relations_bring_too(ranker: Ranker, options: Options) -> None:
    wide = replace(options, top_k=100, min_relevance=0.0)
    assert "tool:cli-executor" not in ids(ranker.search("create a GitHub issue for this bug", None, wide))


def test_what_is_unavailable_can_be_left_out() -> None:
    tools = [replace(each, unavailable=("no key",)) if each.name == "git" else each for each in catalogue()]
    ranker = Ranker(corpus_of(tools, None), Calibration.read())
    assert "tool:git" in ids(ranker.search("git"))
    assert "tool:git" not in ids(ranker.search("git", None, Options(only_available=True)))


def test_the_order_does_not_depend_on_the_order_of_the_catalogue() -> None:
    forth = Ranker(corpus_of(catalogue(), None), Calibration.read())
    back = Ranker(corpus_of(catalogue()[::-1], None), Calibration.read())
    for request in ("send messages", "search", "run commands in a repository"):
        assert ids(forth.search(request, None, EVERYTHING)) == ids(back.search(request, None, EVERYTHING))


def test_what_has_no_vector_yet_is_found_by_words(encoder: Encoder) -> None:
    corpus = corpus_of(catalogue(), encoder)
    corpus.put([capability("tool:weather", "Forecast for a city", "information")])
    ranker = Ranker(corpus, Calibration.read(), encoder)
    assert [each.id for each in corpus.without_vectors()] == ["tool:weather"]
    assert ids(ranker.search("weather forecast for the city of Oslo"))[0] == "tool:weather"


def test_what_was_replaced_leaves_nothing_behind_that_counts(encoder: Encoder) -> None:
    corpus = corpus_of(catalogue(), encoder)
    corpus.put([replace(catalogue()[0], description="Look things up on the internet")])
    corpus.drop(["tool:git"])
    assert not corpus.dense.complete
    (changed,) = corpus.without_vectors()
    corpus.give_vectors({changed.id: encoder([embedding_text(changed)])[0]})
    assert corpus.dense.complete
    searching = Ranker(corpus, Calibration.read(), encoder)
    assert "tool:git" not in ids(searching.search("run git commands", None, EVERYTHING))


def test_filters_see_a_change_at_once() -> None:
    corpus = corpus_of(catalogue(), None)
    ranker = Ranker(corpus, Calibration.read())
    only = Options(only_available=True, kind="tool")
    assert "tool:git" in ids(ranker.search("git", None, only))
    corpus.put([replace(catalogue()[4], unavailable=("no key",))])
    assert "tool:git" not in ids(ranker.search("git", None, only))
    corpus.put([capability("tool:git-log", "Run git log", "developer-tools"), catalogue()[4]])
    assert {"tool:git", "tool:git-log"} <= set(ids(ranker.search("git log", None, only)))


def test_a_request_with_clear_needs_is_encoded_once_by_its_needs(encoder: Encoder) -> None:
    read: list[str] = []

    def embed(texts: Sequence[str]) -> Matrix:
        read.extend(texts)
        return encoder(texts)

    ranker = Ranker(corpus_of(catalogue(), encoder), Calibration.read(), embed)
    hits = ranker.search("Send a message on Discord, then summarize this long document into key points")
    assert {"channel:discord", "skill:summarizer"} <= set(ids(hits))
    assert read == ["Send a message on Discord", "summarize this long document into key points"]


def test_a_change_that_no_search_sees_keeps_row_and_vector(encoder: Encoder) -> None:
    corpus = corpus_of(catalogue(), encoder)
    before = corpus.size
    corpus.put([replace(catalogue()[0], unavailable=("no key",))])
    assert (corpus.size, corpus.without_vectors()) == (before, ())
    assert corpus.at(corpus.row("tool:web-search") or 0).unavailable == ("no key",)


def bag(texts: Sequence[str]) -> Matrix:
    """Vectors that depend on letters only, quick enough for many examples."""
    counts = np.array([[text.count(letter) + 1e-3 for letter in "etaoinshr"] for text in texts], np.float32)
    return np.asarray(counts / np.linalg.norm(counts, axis=1, keepdims=True), np.float32)


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 14), st.sampled_from(["put", "drop", "change"])), max_size=20))
def test_a_corpus_changed_step_by_step_finds_what_a_new_one_finds(changes: list[tuple[int, str]]) -> None:
    known = {each.id: each for each in catalogue()}
    corpus = corpus_of(catalogue(), bag)
    for number, change in changes:
        each = catalogue()[number]
        if change == "drop":
            corpus.drop([each.id])
            known.pop(each.id, None)
            continue
        known[each.id] = replace(each, description=each.description + " now") if change == "change" else each
        corpus.put([known[each.id]])
        missing = corpus.without_vectors()
        rows = bag([embedding_text(one) for one in missing]) if missing else ()
        corpus.give_vectors({one.id: row for one, row in zip(missing, rows, strict=True)})
    fresh = corpus_of(list(known.values()), bag) if known else Corpus()
    again = Corpus.restored(corpus.state(), known)
    results = [
        [
            (hit.id, round(hit.score, 4))
            for hit in Ranker(each, Calibration.read(), bag).search("now", None, EVERYTHING)
        ]
        for each in (fresh, corpus, again)
    ]
    assert results[0] == results[1] == results[2]


def test_rows_of_the_past_are_cleared_away(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(corpus_module, "MOST_DROPPED", 4)
    corpus = corpus_of(catalogue(), bag)
    for round_number in range(40):
        corpus.put([replace(catalogue()[0], description=f"Search the web, take {round_number}")])
    assert corpus.size <= 2 * len(corpus) + 4
    assert ids(Ranker(corpus, Calibration.read()).search("web-search"))[0] == "tool:web-search"


def test_a_state_without_some_capabilities_gives_a_corpus_without_them() -> None:
    corpus = corpus_of(catalogue(), bag)
    kept = {each.id: each for each in catalogue() if each.kind == "tool"}
    restored = Corpus.restored(corpus.state(), kept)
    assert len(restored) == len(kept)
    assert ids(Ranker(restored, Calibration.read()).search("discord messages", None, EVERYTHING)) == []


def test_vectors_of_another_encoder_replace_the_old_ones() -> None:
    corpus = corpus_of(catalogue(), bag)
    corpus.give_vectors({"tool:git": np.ones(3, np.float32) / np.float32(3**0.5)})
    assert len(corpus.without_vectors()) == len(catalogue()) - 1
