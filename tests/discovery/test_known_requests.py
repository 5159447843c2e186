"""What was asked elsewhere helps where nobody asks in the words of the tools that are here."""

from dataclasses import replace

import numpy as np
import pytest

from prowess.discovery.corpus import Corpus
from prowess.discovery.encoder import Encoder, shipped_as
from prowess.discovery.fusion import Calibration
from prowess.discovery.known_requests import SHIPPED, KnownRequests, known_to
from prowess.discovery.ranking import Options, Ranker
from prowess.discovery.text import embedding_text
from prowess.testing import capability

ASKED = Options(by_known=True)
EVERYTHING = Options(min_relevance=0.0, by_known=True)
TOOLS = [
    capability("tool:create_ticket", "Open a new issue in a project."),
    capability("tool:browser_click", "Perform click on a web page"),
    capability("tool:find_free_time", "Find open slots in the calendars of one or more people."),
    capability("tool:query_metrics", "Evaluate a PromQL expression over a time range and return the series."),
    capability("tool:get_on_call", "Who is on call now and next, for a schedule."),
    capability("tool:log_work", "Record time spent on an issue."),
]


@pytest.mark.parametrize(
    ("request_", "meant"),
    [
        ("the login button does nothing, please file that as a bug", "tool:create_ticket"),
        ("when could Ada and Bo meet", "tool:find_free_time"),
    ],
)
def test_what_is_asked_in_other_words_comes_first_and_is_likelier(
    request_: str, meant: str, ranker: Ranker
) -> None:
    alone = {hit.id: hit.score for hit in replace(ranker, known=None).search(request_, None, EVERYTHING)}
    first, *_ = ranker.search(request_, None, EVERYTHING)
    assert first.id == meant
    assert first.score > alone[meant]


def test_where_something_fits_for_sure_nothing_changes(ranker: Ranker) -> None:
    request = "find open slots in the calendars of two people"
    assert ranker.search(request, None, ASKED) == replace(ranker, known=None).search(request) != ()


def test_what_nothing_does_is_less_likely_to_find_something(ranker: Ranker) -> None:
    def best(ranker: Ranker) -> float:
        return max(hit.score for hit in ranker.search("order a pizza for tonight", None, EVERYTHING))

    assert best(ranker) < best(replace(ranker, known=None))


def test_only_the_shipped_encoder_knows_them(encoder: Encoder) -> None:
    assert known_to(shipped_as(encoder.digest)) is not None
    assert known_to("given:my-model-2") is None


def test_they_were_read_by_the_encoder_that_is_shipped(encoder: Encoder) -> None:
    assert KnownRequests.open(SHIPPED).encoder == encoder.digest


def test_an_answer_is_about_what_the_tool_says_that_does_it(encoder: Encoder) -> None:
    bug, other = encoder(["createIssue\nCreates an issue (bug, task or story) in a project.", "Play a song"])
    answer = KnownRequests.open().answer(encoder(["log new bug"])[0])
    assert np.vecdot(answer, bug) > np.vecdot(answer, other) + 0.2


@pytest.fixture(scope="module")
def encoder() -> Encoder:
    return Encoder.open()


@pytest.fixture(scope="module")
def ranker(encoder: Encoder) -> Ranker:
    corpus = Corpus()
    corpus.put(TOOLS)
    vectors = encoder([embedding_text(each) for each in TOOLS])
    corpus.give_vectors({each.id: vector for each, vector in zip(TOOLS, vectors, strict=True)})
    return Ranker(corpus, Calibration.read(), encoder, KnownRequests.open())
