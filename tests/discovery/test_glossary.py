"""Requests in other languages, as tools that speak English understand them."""

import pytest

from prowess.discovery.corpus import Corpus
from prowess.discovery.encoder import Encoder
from prowess.discovery.fusion import Calibration
from prowess.discovery.glossary import in_english, in_other_words
from prowess.discovery.ranking import Ranker
from prowess.discovery.text import embedding_text
from prowess.testing import capability
from prowess.types import SourceRef

TOOLS = [
    capability(f"tool:{id}", said, provider=id.partition("/")[0], source_ref=SourceRef("mcp", "x"))
    for id, said in (
        ("files/move_file", "Move or rename files and directories."),
        ("files/read_text_file", "Read the complete contents of a file as text."),
        ("memory/create_entities", "Create multiple new entities in the knowledge graph"),
        ("memory/add_observations", "Add new observations to existing entities in the knowledge graph"),
        ("memory/search_nodes", "Search for nodes in the knowledge graph based on a query"),
        ("git/git_status", "Shows the working tree status"),
        ("git/git_diff_unstaged", "Shows changes in the working directory that are not yet staged"),
        ("git/git_commit", "Records changes to the repository"),
        ("calendar/create_event", "Create a calendar event. Attendees are sent an invitation."),
        ("mail/send_message", "Send an email from the signed-in mailbox."),
        ("monitoring/silence_alert", "Create a silence for alerts that match, for a while."),
        ("time/get_current_time", "Get current time in a specific timezone"),
    )
]


@pytest.mark.parametrize(
    ("request_", "english"),
    [
        ("eine Datei umbenennen", "a file rename"),
        ("lade Ada zu einer Besprechung ein", "invite ada to a meeting"),
        ("den Festplattenalarm stummschalten", "the disk alert mute silence"),
        ("quelles tables contient la base de données", "what table contains the database"),
        ("guarda el informe en un archivo nuevo", "save the report document in a file new"),
        ("在浏览器中打开网页", "in browser in open web page"),
    ],
)
def test_a_request_in_another_language_is_read_in_english_word_by_word(request_: str, english: str) -> None:
    assert in_english(request_).replace(" un ", " a ") == english


@pytest.mark.parametrize(
    "request_",
    [
        "rename a file",
        "die in the game and start again",
        "what is the status of my order in Berlin",
        "translate 你好 for the people of the town",
        "ファイルの名前を変更",
        "",
        "42",
    ],
)
def test_what_is_english_or_in_no_known_language_stays_as_it_is(request_: str) -> None:
    assert in_english(request_) == ""


@pytest.mark.parametrize(
    ("request_", "wanted"),
    [
        ("what changed since the last commit", {"tool:git/git_diff_unstaged", "tool:git/git_status"}),
        (
            "was hat sich seit dem letzten Commit geändert",
            {"tool:git/git_diff_unstaged", "tool:git/git_status"},
        ),
        ("eine Datei umbenennen", {"tool:files/move_file"}),
        ("quelle heure est-il à Tokyo", {"tool:time/get_current_time"}),
        ("envía el informe por correo", {"tool:mail/send_message"}),
        ("将磁盘告警静音一小时", {"tool:monitoring/silence_alert"}),
    ],
)
def test_a_request_finds_tools_that_describe_themselves_in_other_words(
    request_: str, wanted: set[str], finding: Ranker
) -> None:
    assert wanted <= {hit.id for hit in finding.search(request_)}


@pytest.mark.parametrize(
    "request_", ["order a pizza with mushrooms", "bestelle eine Pizza mit Pilzen", "订一份披萨"]
)
def test_what_nothing_does_finds_nothing_in_any_language(request_: str, finding: Ranker) -> None:
    assert finding.search(request_) == ()


@pytest.fixture(scope="module")
def finding() -> Ranker:
    encoder, corpus = Encoder.open(), Corpus()
    corpus.put(TOOLS)
    vectors = encoder([embedding_text(each) for each in TOOLS])
    corpus.give_vectors({each.id: vector for each, vector in zip(TOOLS, vectors, strict=True)})
    return Ranker(corpus, Calibration.read(), encoder)


def test_a_channel_that_is_named_is_a_place_for_messages() -> None:
    assert in_other_words("tell #general we are back") == "tell #general we are back (message channel)"


@pytest.mark.parametrize(
    "request_",
    ["fix #12 and #parse", "paint it, from #fff to #00ff7f", "https://a.example/in #!top", "#Sunday"],
)
def test_numbers_colours_and_words_are_no_channels(request_: str) -> None:
    assert in_other_words(request_) == ""
