"""The report: over a window, and with thresholds that can be written down as they are advised."""

import json
import math
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from prowess.cards.fitting import Reviewed, best_threshold
from prowess.cli.main import prowess
from prowess.engine.namespaces.cards import Cards
from tests.support.cards import ASKED, ids, maker, text_of, turn
from tests.support.stores import OpenEngine


@pytest.fixture
def made(open_engine: OpenEngine) -> Any:
    return maker(open_engine)


# --- thresholds ------------------------------------------------------------------------------------


def test_a_threshold_that_is_advised_still_shows_what_was_reviewed_as_right(made: Any) -> None:
    cards = made(scorer="mine", options={"scorers": {"mine": lambda card, turn: 0.998}})
    for _ in range(12):
        found = cards.inject([], ASKED)
        Cards(cards).review(found.id, "token-economy", right=True)
    advised = Cards(cards).report()["suggested_threshold"]
    assert advised == 0.99
    assert "token-economy" in ids(cards.having(confidence_threshold=advised).inject([], ASKED))


def test_a_score_just_below_its_threshold_is_shown_to_be_below(made: Any) -> None:
    cards = made(
        scorer="mine", confidence_threshold=1.0, options={"scorers": {"mine": lambda card, turn: 0.998}}
    )
    reasons = {one.reason for one in cards.inject([], ASKED).skipped}
    assert reasons == {"below the threshold (0.9980 < 1)"}


@pytest.mark.parametrize(
    ("reviews", "advised"),
    [
        ([(0.9, True), (0.4, False)], 0.41),
        ([(0.7, True), (0.8, True), (0.998, True)], 0.7),
        ([(0.7, False), (0.9, False)], 0.91),
        ([(0.7, False), (0.65, True), (0.9, True)], 0.65),
    ],
)
def test_the_lowest_threshold_that_agrees_with_most_reviews_is_advised(
    reviews: list[tuple[float, bool]], advised: float
) -> None:
    assert best_threshold([Reviewed(score, relevant) for score, relevant in reviews]) == advised


SCORE = st.floats(0, 1).map(lambda score: math.floor(score * 10_000) / 10_000)


@given(st.lists(st.builds(Reviewed, SCORE, st.booleans(), st.booleans()), min_size=1, max_size=20))
def test_no_advice_ever_drops_a_card_that_was_rightly_shown(reviews: list[Reviewed]) -> None:
    advised = best_threshold(reviews)
    assert 0 <= advised <= 1 and round(advised, 2) == advised
    assert all(one.score >= advised for one in reviews if one.relevant and one.shown)


# --- the window ------------------------------------------------------------------------------------


def test_a_report_has_a_window(made: Any, clock: Any) -> None:
    cards = made()
    cards.inject([], ASKED)
    clock.now += timedelta(hours=72)
    between = clock.now
    cards.inject([], turn("good morning"))
    cards.inject([], ASKED)
    report = Cards(cards).report
    assert (report()["turns"], report()["injecting"]) == (3, 2)
    recent = report(since=between - timedelta(hours=48))
    assert (recent["turns"], recent["frequency"]) == (2, 0.5)
    assert report(until=between - timedelta(hours=48))["turns"] == 1
    assert report(since=between - timedelta(hours=60), until=between - timedelta(hours=48))["turns"] == 0


def test_the_window_is_named_at_the_terminal_by_hours_days_or_a_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "docs" / "capabilities").mkdir(parents=True)
    (tmp_path / "docs" / "capabilities" / "a.md").write_text(text_of("a"))
    (tmp_path / "m.jsonl").write_text('{"role": "user", "text": "What is the cost?"}')
    run = CliRunner().invoke
    for words in (["init"], ["sync"], ["inject", "--messages", "m.jsonl"]):
        assert run(prowess, words).exit_code == 0
    tomorrow = (datetime.now(UTC) + timedelta(days=1)).isoformat()
    for window, turns in (
        (["--since", "48h"], 1),
        (["--since", "2d", "--until", "1h"], 0),
        (["--since", tomorrow], 0),
        (["--until", tomorrow], 1),
    ):
        said = run(prowess, ["cards", "report", "--json", *window])
        assert json.loads(said.stdout)["turns"] == turns, window
    refused = run(prowess, ["cards", "report", "--since", "yesterday"])
    assert refused.exit_code == 2 and "write 48h, 2d or" in refused.stderr
