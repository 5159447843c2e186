"""What cards leave behind, on both databases: rollout, the kill switch, the audit trail, reviews, fits."""

import logging
from datetime import timedelta
from typing import Any

import pytest

from prowess.cards.injection import BootstrapFile
from prowess.engine.cards import CardService
from prowess.engine.namespaces.cards import Cards
from prowess.errors import NotFound, ProwessError
from prowess.types import Outcome
from tests.support.cards import AGENTS, ASKED, CALENDAR, ids, maker, text_of, turn
from tests.support.stores import OpenEngine


@pytest.fixture
def made(open_engine: OpenEngine) -> Any:
    return maker(open_engine)


# --- rollout and the kill switch ---------------------------------------------------------------------


def test_monitor_says_what_it_would_inject_and_injects_nothing(made: Any, caplog: Any) -> None:
    cards = made(mode="monitor")
    with caplog.at_level(logging.INFO, "prowess"):
        found = cards.inject([AGENTS], ASKED)
    assert found.files == (AGENTS,)
    assert [one.name for one in found.held] == ["token-economy"]
    assert "Would have injected 1 capabilities" in caplog.text
    (entry,) = cards.engine.journal.latest(type="cards.selected")
    assert [one["id"] for one in entry.data["held"]] == ["card:token-economy"]


def run(cards: CardService, needing: int, total: int) -> None:
    for n in range(total):
        cards.inject([], ASKED if n < needing else turn("good morning"))


def test_49_turns_that_all_inject_do_not_stop_it_and_the_50th_does_o17(made: Any) -> None:
    cards = made()
    run(cards, 49, 49)
    assert ids(cards.inject([], ASKED)) == ["token-economy"]
    stopped = cards.inject([AGENTS], ASKED)
    assert stopped.files == (AGENTS,)
    assert stopped.held_back.startswith("kill switch: more than 30% of the turns of 24 h got a card")
    assert Cards(cards).report()["stopped"]


def test_exactly_30_percent_does_not_stop_it_and_more_does_o17(made: Any) -> None:
    cards = made()
    run(cards, 15, 50)
    assert ids(cards.inject([], ASKED)) == ["token-economy"]
    assert ids(cards.inject([], ASKED)) == []


def test_the_switch_opens_when_the_rate_has_fallen_or_a_person_resumes(made: Any) -> None:
    cards = made()
    run(cards, 20, 50)
    assert ids(cards.inject([], ASKED)) == []
    Cards(cards).resume()
    assert ids(cards.inject([], ASKED)) == ["token-economy"]
    run(cards, 19, 49)
    assert ids(cards.inject([], ASKED)) == []
    run(cards, 0, 30)
    assert ids(cards.inject([], ASKED)) == ["token-economy"]


def test_turns_of_more_than_a_day_ago_and_monitored_ones_do_not_count(made: Any, clock: Any) -> None:
    cards = made()
    run(cards, 60, 60)
    clock.now += timedelta(hours=25)
    assert ids(cards.inject([], ASKED)) == ["token-economy"]
    watched = cards.having(mode="monitor")
    run(watched, 60, 60)
    assert ids(cards.inject([], ASKED)) == ["token-economy"]


def test_the_threshold_and_the_window_of_the_switch_are_keys(made: Any) -> None:
    cards = made(auto_disable_threshold=1.0)
    run(cards, 55, 55)
    assert ids(cards.inject([], ASKED)) == ["token-economy"]


# --- the audit trail ---------------------------------------------------------------------------------


def test_every_selection_is_journalled_and_none_silences_only_the_log(made: Any, caplog: Any) -> None:
    loud, quiet = made(), made(log_level="none")
    with caplog.at_level(logging.INFO, "prowess"):
        quiet.inject([], ASKED)
        assert caplog.text == ""
        loud.inject([BootstrapFile("AGENTS.md", "x" * 600)], ASKED)
    assert "[capability-injection] Injected 1 capabilities" in caplog.text
    entries = loud.engine.journal.latest(type="cards.selected")
    assert len(entries) == 2
    data = entries[-1].data
    assert data["injected"][0]["id"] == "card:token-economy"
    assert data["skipped"][0]["id"] == "card:calendar"
    assert data["skipped"][0]["reason"].startswith("below the threshold")
    assert data["warnings"] == ["AGENTS.md has 600 characters; a baseline has at most 500"]
    assert (data["variant"], data["mode"]) == ("relevance", "full")
    assert data["milliseconds"] >= 0
    loud.engine.journal.verify()


def test_detailed_says_what_was_skipped_in_the_log(made: Any, caplog: Any) -> None:
    with caplog.at_level(logging.INFO, "prowess"):
        made(log_level="detailed").inject([], ASKED)
    assert "skipped calendar: below the threshold" in caplog.text


# --- experiments, reports, reviews -------------------------------------------------------------------


def test_each_session_keeps_its_scorer_and_the_report_tells_them_apart(made: Any) -> None:
    cards = made(experiment={"relevance": 1.0, "keyword": 1.0})
    variants = {n: cards.inject([], ASKED, session=f"s{n}").variant for n in range(20)}
    assert set(variants.values()) == {"relevance", "keyword"}
    again = {n: cards.inject([], ASKED, session=f"s{n}").variant for n in range(20)}
    assert again == variants
    report = Cards(cards).report()["variants"]
    assert report["relevance"]["turns"] + report["keyword"]["turns"] == 40
    assert made(experiment={"keyword": 1.0}).inject([], ASKED).variant == "keyword"


def test_outcomes_count_for_the_variant_of_their_turn_once(made: Any) -> None:
    cards = made(experiment={"relevance": 1.0})
    found = cards.inject([], ASKED)
    for key in ("a", "a", "b"):
        ok = key == "a"
        cards.engine.record(Outcome(offer=found.id, capability="tool:x", ok=ok, key=key))
    variant = Cards(cards).report()["variants"]["relevance"]
    assert (variant["outcomes"], variant["succeeded"], variant["success"]) == (2, 1, 0.5)


def test_the_report_counts_by_card_with_its_versions(made: Any) -> None:
    cards = made(text_of("token-economy", "[cost]", more="version: 1.2\n"), CALENDAR)
    cards.inject([], ASKED)
    cards.inject([], turn("good morning"))
    report = Cards(cards).report()
    assert (report["turns"], report["injecting"], report["frequency"]) == (2, 1, 0.5)
    assert report["cards"]["card:token-economy"]["injected"] == 1
    assert report["cards"]["card:token-economy"]["versions"] == ["1.2"]
    assert report["skipped"]["below the threshold"] == 3
    assert report["milliseconds"]["p95"] >= 0


def test_right_and_wrong_become_accuracy_and_a_suggested_threshold(made: Any) -> None:
    cards = made()
    first, second = cards.inject([], ASKED), cards.inject([], turn("the cost of a token of love"))
    Cards(cards).review(first.id, "token-economy", right=True)
    Cards(cards).review(second.id, "card:token-economy", right=False)
    Cards(cards).review(second.id, "calendar", right=True)
    report = Cards(cards).report()
    assert (report["reviewed"], report["accuracy"]) == (3, pytest.approx(0.6667, abs=1e-4))
    assert 0 < report["cards"]["card:token-economy"]["suggested_threshold"] <= 1
    last = Cards(cards).recent(1)[0]
    assert last["relevant"] == {"card:token-economy": False, "card:calendar": False}
    with pytest.raises(NotFound):
        Cards(cards).review("nothing", "calendar", right=True)


def test_fit_learns_from_reviews_when_a_person_asks_and_changes_what_is_injected(made: Any) -> None:
    cards = made()
    with pytest.raises(ProwessError, match="0 labels are too few"):
        Cards(cards).fit()
    wrong = [f"the cost of number {n}" for n in range(12)]
    for said in wrong:
        found = cards.inject([], turn(said))
        assert ids(found) == ["token-economy"]
        Cards(cards).review(found.id, "token-economy", right=False)
    assert ids(cards.inject([], turn(wrong[0]))) == ["token-economy"]
    done = Cards(cards).fit()
    assert (done["labels"], done["before"]) == (12, 0.0)
    assert done["after"] > done["before"]
    assert ids(cards.inject([], turn(wrong[0]))) == []
    assert cards.engine.journal.latest(type="cards.fitted")[-1].data["labels"] == 12
