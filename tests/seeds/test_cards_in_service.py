"""Cards in service: settings, points of extension, failures, the way into production."""

import logging
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from prowess.types import Outcome
from tests.seeds.conftest import write
from tests.seeds.decks import AGENTS, ASKED, SOUL, Opened, asked, card, names
from tests.support.clock import SteppingClock

ROOM = "Cards in service"


# --- configuration ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        pytest.param("", ["economy"], id="cards are on unless somebody says otherwise"),
        pytest.param("enabled = false", [], id="enabled: false leaves everything as it was"),
        pytest.param("maxTokens = 5", [], id="maxTokens is the budget"),
        pytest.param(
            "confidenceThreshold = 1.0", [], id="confidenceThreshold takes the place of each card's"
        ),
        pytest.param(
            "forceInclude = ['travel']", ["economy", "travel"], id="forceInclude passes the threshold"
        ),
        pytest.param("exclude = ['economy']", [], id="exclude keeps a card out"),
        pytest.param(
            "forceInclude = ['economy']\nexclude = ['economy']", [], id="exclude wins over forceInclude"
        ),
    ],
)
def test_the_six_settings(opened: Opened, keys: str, expected: list[str]) -> None:
    """The settings of the original are keys of [cards]."""
    travel = card("travel", keywords="[flight, hotel]")
    assert names(opened(card(head="priority: 9\n"), travel, keys=keys)) == expected


@pytest.mark.parametrize(
    ("level", "lines"),
    [
        pytest.param("none", 0, id="logLevel none is silent"),
        pytest.param("summary", 2, id="logLevel summary has a line for each card"),
        pytest.param("detailed", 3, id="logLevel detailed says more"),
    ],
)
def test_log_levels(opened: Opened, caplog: pytest.LogCaptureFixture, level: str, lines: int) -> None:
    """How much the log says is a setting."""
    engine = opened(keys=f'logLevel = "{level}"')
    caplog.clear()
    with caplog.at_level(logging.INFO, "prowess"):
        engine.inject([], ASKED)
    said = [line for message in caplog.messages for line in message.splitlines() if "capab" in message]
    assert (len(said) == lines) if lines < 3 else (len(said) >= lines)


# --- points of extension ----------------------------------------------------------------------------


def test_a_scorer_of_ones_own(opened: Opened) -> None:
    """A scorer of one's own takes the place of the formula.

    Better: one that fails counts as nothing for that card, and a module may be named in [cards].
    """
    engine = opened(scorers={"mine": lambda card, turn: 1.0 if "anything" in turn.text else 0.0})
    assert names(engine, "anything at all", scorer="mine") == ["economy"]
    broken = opened(scorers={"mine": lambda card, turn: 1 / 0})
    assert "ZeroDivisionError" in broken.inject([], ASKED, scorer="mine").warnings[-1]


@pytest.mark.parametrize(
    ("trigger", "fits", "not_so"),
    [
        pytest.param(
            "time_of_day: [morning]",
            {"at": datetime(2026, 1, 5, 8, tzinfo=UTC)},
            {"at": datetime(2026, 1, 5, 20, tzinfo=UTC)},
            id="by the time of day",
        ),
        pytest.param("user_tier: [gold]", {"user_tier": "gold"}, {"user_tier": "free"}, id="by the tier"),
        pytest.param(
            "environment_type: [production]", {"environment": "production"}, {"environment": "staging"},
            id="by the environment",
        ),
    ],
)  # fmt: skip
def test_further_triggers(opened: Opened, trigger: str, fits: dict[str, Any], not_so: dict[str, Any]) -> None:
    """Further triggers narrow when a card is shown.

    Better: the hour is the agent's, in a zone of the turn, of its profile or of the configuration.
    """
    engine = opened(card(triggers=trigger))
    assert (names(engine, asked(ASKED, **fits)), names(engine, asked(ASKED, **not_so))) == (["economy"], [])


def test_cards_of_files_and_of_a_store_come_together(opened: Opened, tmp_path: Path) -> None:
    """Cards come from local files, from the web and from a database.

    Better: what comes from the web is read only with the digest that was written down.
    """
    engine = opened()
    engine.cards.keep(card("kept"))
    sources = '[[source]]\ntype = "cards"\npath = "docs/capabilities"\n[[source]]\ntype = "stored-cards"\n'
    more = opened(keys=f"\n{sources}")
    assert sorted(names(more)) == ["economy", "kept"]


# --- failures ---------------------------------------------------------------------------------------


def test_without_a_relevant_card_nothing_happens(opened: Opened) -> None:
    """Where no card fits, the files go out as they came in."""
    assert opened().inject([AGENTS, SOUL], "good morning").files == (AGENTS, SOUL)


def test_what_does_not_fit_the_budget_is_named(opened: Opened) -> None:
    """Cards that do not fit are skipped and named.

    Better: a smaller card after one that is too large still gets its chance.
    """
    large = card("large", "priority: 90\ntoken_budget: 2000\n", body="many words of advice " * 100)
    found = opened(large, card()).inject([], ASKED, max_tokens=120)
    assert [one.name for one in found.injected] == ["economy"]
    assert "no room in the budget" in {one.id: one.reason for one in found.skipped}["card:large"]


def test_a_file_that_cannot_be_read_is_skipped(opened: Opened, tmp_path: Path) -> None:
    """A card whose file is missing or unreadable is skipped with a warning, and the others go on."""
    write(tmp_path, {"docs/capabilities/binary.md": "x"})
    (tmp_path / "docs" / "capabilities" / "binary.md").write_bytes(b"\xff\xfe\x00")
    engine = opened()
    assert names(engine) == ["economy"]
    assert "binary.md" in " ".join(str(problem) for problem in engine.diagnose())


def test_whatever_fails_the_agent_starts(opened: Opened) -> None:
    """Errors of the cards never keep an agent from starting."""

    def broken(session: str) -> str:
        raise RuntimeError("no such session")

    found = opened(session_type_of=broken).inject([AGENTS], ASKED, session="s")
    assert found.files == (AGENTS,) and "no such session" in found.warnings[0]


# --- the way into production ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("keys", "main", "isolated"),
    [
        pytest.param('mode = "monitor"', [], [], id="first nothing is injected and everything is recorded"),
        pytest.param(
            'mode = "sessions"\nsessions = ["isolated"]',
            [],
            ["economy"],
            id="then some session types get cards",
        ),
        pytest.param('mode = "full"', ["economy"], ["economy"], id="then all of them"),
    ],
)
def test_a_gradual_rollout(opened: Opened, keys: str, main: list[str], isolated: list[str]) -> None:
    """Cards are let out step by step.

    Better: when too many turns get a card, nothing more is injected until a person looks.
    """
    engine = opened(keys=keys)
    assert (names(engine), names(engine, asked(ASKED, session_type="isolated"))) == (main, isolated)
    assert engine.cards.report()["turns"] == 2


def test_the_report_covers_the_last_48_hours(opened: Opened) -> None:
    """What was watched for 48 hours can be analysed.

    Better: over any window, by card and by variant, with what came of it.
    """
    clock = SteppingClock()
    engine = opened(clock=clock)
    engine.inject([], ASKED)
    clock.now += timedelta(days=5)
    engine.inject([], ASKED)
    assert engine.cards.report()["turns"] == 2
    assert engine.cards.report(since=clock.now - timedelta(hours=48))["turns"] == 1


def test_everything_that_is_to_be_watched_is_in_the_report(opened: Opened) -> None:
    """The report has how often, how many tokens, how right, how many errors and how long.

    Better: thresholds that it advises can be written down as they are, and never drop what was right.
    """
    engine = opened()
    found = engine.inject([], ASKED)
    engine.record(Outcome(offer=found.id, capability="card:economy", ok=True))
    engine.cards.review(found.id, "economy", right=True)
    report = engine.cards.report()
    assert (report["frequency"], report["tokens_per_injection"]) == (1.0, found.tokens_used)
    assert (report["accuracy"], report["error_rate"], report["success"]) == (1.0, 0.0, 1.0)
    assert report["milliseconds"]["mean"] > 0
    assert names(engine, confidence_threshold=report["suggested_threshold"]) == ["economy"]


def test_a_workspaces_own_cards_are_not_used(opened: Opened, tmp_path: Path) -> None:
    """Cards come from the repository, not from a user's workspace.

    Better: who wants those of the workspace says so, and the model sees that they are such.
    """
    write(tmp_path, {".prowess/cards/own.md": card("own")})
    assert names(opened()) == ["economy"]
    shown = opened(keys="workspace = true").inject([], ASKED)
    assert "own" in {one.name for one in shown.injected} and "(card of this workspace)" in shown.text


# --- what was only thought of -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("keys", "agent", "expected"),
    [
        pytest.param("profile = 'minimal'", "default", ["economy"], id="a small profile"),
        pytest.param(
            "agents = {ada = 'none'}\n[cards.profiles.none]\nonly = []", "ada", [], id="one for each agent"
        ),
    ],
)
def test_profiles(opened: Opened, keys: str, agent: str, expected: list[str]) -> None:
    """Profiles, minimal or full, for each agent."""
    assert names(opened(keys=keys), asked(ASKED, agent=agent)) == expected


def test_cards_can_be_asked_for(opened: Opened) -> None:
    """A tool lists the capabilities at run time."""
    assert "**Economy** (economy)" in opened().cards.list_capabilities()


def test_longer_conversations_may_get_more(opened: Opened) -> None:
    """The budget may grow with the conversation."""
    engine = opened(keys="max_tokens = 20\ntokens_per_message = 50\nmost_tokens = 400")
    long = asked(*["nice weather"] * 9, ASKED)
    assert (names(engine), names(engine, long)) == ([], ["economy"])


def test_the_scorer_learns_from_reviews(opened: Opened) -> None:
    """The scorer is fitted on what people say about its selections; only ever when a person asks."""
    engine = opened(card(), card("travel", keywords="[flight]"))
    for number in range(10):
        found = engine.inject([], f"{ASKED} {number}")
        engine.cards.review(found.id, "economy", right=True)
    assert engine.cards.fit()["labels"] == 10


def test_cards_speak_the_language_of_the_message(opened: Opened) -> None:
    """Cards in other languages are read by the rules of their language, and used when it is spoken."""
    german = card(
        "economy-de", "language: de\n", body="Kleine Modelle fassen zusammen. " * 8, keywords="[Kosten]"
    )
    english = card("economy-en", "language: en\n")
    engine = opened(german, english)
    assert names(engine, "Wie hoch sind die Kosten für diese Anfrage?") == ["economy-de"]
    assert names(engine, "How high is the cost of this request?") == ["economy-en"]


def test_a_new_version_says_what_changed(opened: Opened) -> None:
    """A card has a version, and a note on what changed with it."""
    text = opened(card(head="version: '2.0'\nmigration: Plans go to the new model.\n")).inject([], ASKED).text
    assert "Changed in version 2.0: Plans go to the new model." in text


def test_two_scorers_are_compared(opened: Opened) -> None:
    """Two ways to select are tried beside each other, and what came of each is told apart."""
    engine = opened(keys="experiment = { relevance = 1, keyword = 1 }")
    for number in range(12):
        engine.inject([], ASKED, session=f"chat:{number}")
    report = engine.cards.report()
    assert set(report["variants"]) == {"relevance", "keyword"}
    assert {engine.inject([], ASKED, session="one").variant for _ in range(3)} != {"relevance", "keyword"}
