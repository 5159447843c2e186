"""Which cards a turn gets: the order of the rules, the two scorers, triggers, languages. O-numbers are
the conformance cases of the system this one follows."""

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prowess.cards.card import Card
from prowess.cards.language import language_of, spoken
from prowess.cards.relevance import Meanings, Relevance
from prowess.cards.scorers import keyword, one_by_one
from prowess.cards.selection import CardRules, select
from prowess.cards.triggers import is_at
from prowess.testing import word_embedder
from prowess.types import Turn
from tests.support.cards import always, card, chosen, plain, reasons, selected, text_of, turn

EIGHT = ("cost", "tokens", "model", "routing", "budget", "cheap", "expensive", "heartbeat")


def nothing(id: str, why: str) -> None:
    raise AssertionError(f"{id}: {why}")


# --- the scorer `keyword` ------------------------------------------------------------------------


def test_without_messages_keyword_scores_the_priority_o1() -> None:
    assert keyword(plain("a", priority=10), turn()) == 0.10


def test_without_a_keyword_in_the_messages_keyword_scores_nothing_o2() -> None:
    assert keyword(plain("a", keywords=EIGHT), turn("what a lovely day")) == 0.0


def test_two_of_eight_keywords_once_each_score_181_thousandths_o3() -> None:
    score = keyword(plain("a", keywords=EIGHT), turn("How much do tokens cost?"))
    assert score == pytest.approx(0.181)
    assert score == 2 / 8 * 0.7 + 2 / 100 * 0.3


def test_occurrences_saturate_at_a_hundred_o4() -> None:
    many, more = (keyword(plain("a", keywords=("cost", "zzz")), turn("cost " * n)) for n in (100, 500))
    assert many == more == pytest.approx(0.5 * 0.7 + 0.3)


def test_keyword_matches_substrings_and_joins_messages_as_the_original_does() -> None:
    assert keyword(plain("a", keywords=("COST",)), turn("a Costume")) == pytest.approx(0.703)
    assert keyword(plain("a", keywords=("big cost",)), turn("big", "cost")) == pytest.approx(0.703)
    assert keyword(plain("a", keywords=()), turn("anything")) == 0.0


def test_keyword_escapes_nothing_and_needs_to_because_it_is_no_pattern() -> None:
    assert keyword(plain("a", keywords=("c++",)), turn("I write c++ and C++")) == pytest.approx(0.706)


@given(st.lists(st.text(min_size=1), max_size=8), st.lists(st.text(), max_size=4))
def test_keyword_never_leaves_0_to_1(keywords: list[str], said: list[str]) -> None:
    assert 0 <= keyword(plain("a", keywords=tuple(keywords)), turn(*said)) <= 1


# --- the scorer `relevance` ----------------------------------------------------------------------


def relevance(*cards: Card, embed: bool = True) -> Relevance:
    return Relevance(cards, Meanings(word_embedder()[1] if embed else None))


@pytest.mark.parametrize("embed", [True, False])
def test_one_strong_keyword_is_enough_however_many_there_are(embed: bool) -> None:
    economy = card(text_of("token-economy", f"[{', '.join(EIGHT)}]", more="name: Token costs\n"))
    other = card(text_of("calendar", "[meeting, appointment]"))
    scores = relevance(economy, other, embed=embed)([economy, other], turn("How much do tokens cost?"))
    assert scores["card:token-economy"] >= 0.6 > scores["card:calendar"]


def test_cost_is_not_in_costume_but_costs_is_in_cost() -> None:
    economy, other = card(text_of("economy", "[cost]")), card(text_of("other", "[weather]"))
    scorer = relevance(economy, other, embed=False)
    costume, costing = (scorer([economy], turn(said)) for said in ("a costume", "this costs much"))
    assert costume["card:economy"] < 0.6 <= costing["card:economy"]


def test_all_words_of_a_keyword_must_be_there() -> None:
    backups = card(text_of("backups", "[point in time recovery]"))
    scorer = relevance(backups, embed=False)
    assert scorer([backups], turn("recovery from the flu"))["card:backups"] < 0.6
    assert scorer([backups], turn("a recovery to that point in time"))["card:backups"] >= 0.6


def test_a_card_stays_for_a_few_messages_and_then_fades() -> None:
    economy = card(text_of("economy", "[cost, tokens]"))
    scorer = relevance(economy, embed=False)
    scores = [
        scorer([economy], turn("tokens cost what?", *["yes"] * later))["card:economy"] for later in range(5)
    ]
    assert scores == sorted(scores, reverse=True)
    assert scores[1] >= 0.6 > scores[4]


def test_without_messages_relevance_scores_nothing_where_the_original_had_a_half_o1() -> None:
    economy = card(text_of("economy", more="priority: 10\n"))
    assert relevance(economy)([economy], turn())["card:economy"] == 0.0


def test_keywords_that_are_no_words_do_no_harm() -> None:
    odd = card(text_of("odd", "['c++', '...', 'C#', '予']"))
    assert relevance(odd)([odd], turn("some c++ please"))["card:odd"] >= 0.6


@given(st.lists(st.text(), max_size=3))
def test_relevance_takes_any_text_and_never_leaves_0_to_1(said: list[str]) -> None:
    one = plain("one", keywords=("cost", "big plan"))
    assert 0 <= relevance(one, embed=False)([one], turn(*said)).get("card:one", 0.0) <= 1


def test_a_deck_without_cards_scores_nothing() -> None:
    assert dict(relevance()([], turn("hello"))) == {}


# --- a user's scorer -------------------------------------------------------------------------------


@pytest.mark.parametrize("answer", [1.5, -0.1, float("nan"), "no number", None])
def test_a_scorer_that_leaves_0_to_1_counts_as_nothing_and_is_told_about(answer: Any) -> None:
    told: list[tuple[str, str]] = []

    def scorer(card: Card, turn: Turn) -> float:
        return answer if card.name == "bad" else 0.9

    scoring = one_by_one(scorer, lambda id, why: told.append((id, why)))
    assert scoring([plain("bad"), plain("good")], turn("x")) == {"card:bad": 0.0, "card:good": 0.9}
    assert [id for id, _ in told] == ["card:bad"]


def test_a_scorer_that_raises_counts_as_nothing_and_the_others_go_on() -> None:
    told: list[str] = []

    def scorer(card: Card, turn: Turn) -> float:
        if card.name == "bad":
            raise ZeroDivisionError("oh")
        return 1.0

    scoring = one_by_one(scorer, lambda id, why: told.append(why))
    assert chosen(selected([plain("bad"), plain("good")], turn("x"), scoring)) == ["good"]
    assert told == ["the scorer raised ZeroDivisionError: oh"]


# --- the order of the rules --------------------------------------------------------------------------


def test_a_router_tag_makes_a_card_relevant_whatever_the_text_o5() -> None:
    tagged = plain("tagged", router_tags=("token-economy",))
    found = selected([tagged], turn("good morning", router_tags=("Token-Economy",)), always(0.0))
    assert [one.score for one in found.chosen] == [1.0]


def test_a_session_type_that_is_not_listed_is_never_selected_even_forced_o6() -> None:
    one = plain("one", session_types=("main",), router_tags=("t",))
    found = selected(
        [one], turn("x", session_type="isolated", router_tags=("t",)), force_include=frozenset({"one"})
    )
    assert reasons(found) == {"one": "not for session type isolated"}


def test_an_excluded_card_is_never_selected_even_on_a_tag_and_forced_o7() -> None:
    one = plain("one", router_tags=("t",))
    for named in ("one", "card:one"):
        found = selected(
            [one], turn("x", router_tags=("t",)), exclude=frozenset({named}), force_include=frozenset({"one"})
        )
        assert reasons(found) == {"one": "excluded"}


def test_force_include_passes_the_threshold_and_nothing_else() -> None:
    cards = [plain("forced"), plain("unsafe", rejected=("carries a key",)), plain("large", tokens=2000)]
    forced = frozenset({"forced", "unsafe", "large"})
    found = selected(cards, turn("x"), always(0.0), force_include=forced)
    assert chosen(found) == ["forced"]
    assert reasons(found) == {
        "unsafe": "rejected by the guard: carries a key",
        "large": "no room in the budget (2000 tokens, 1400 left)",
    }


def test_order_is_by_priority_not_by_score_o8() -> None:
    cards = [plain("low", priority=1), plain("high", priority=9)]
    scores = {"card:low": 0.99, "card:high": 0.7}
    found = select(cards, turn("x"), lambda cards, turn: scores, CardRules(), datetime.now(UTC))
    assert chosen(found) == ["high", "low"]


def test_a_card_that_does_not_fit_is_skipped_and_listed_o9() -> None:
    sizes = {"a": (600, 10), "b": (400, 8), "c": (500, 9), "d": (350, 7)}
    cards = [plain(name, tokens=tokens, priority=priority) for name, (tokens, priority) in sizes.items()]
    found = selected(cards, turn("x"), budget=1500)
    assert (chosen(found), found.tokens, found.truncated) == (["a", "c", "b"], 1500, True)
    assert reasons(found) == {"d": "no room in the budget (350 tokens, 0 left)"}


def test_smaller_cards_still_get_their_chance_after_one_that_is_too_large() -> None:
    cards = [plain("large", tokens=1400, priority=9), plain("larger", tokens=300, priority=8), plain("small")]
    assert chosen(selected(cards, turn("x"), budget=1500)) == ["large", "small"]


def test_a_threshold_of_the_configuration_takes_the_place_of_every_cards_own() -> None:
    cards = [plain("strict", threshold=0.9), plain("lax", threshold=0.1)]
    assert chosen(selected(cards, turn("x"), always(0.5))) == ["lax"]
    assert chosen(selected(cards, turn("x"), always(0.5), threshold=0.4)) == ["lax", "strict"]
    assert reasons(selected(cards, turn("x"), always(0.5)))["strict"] == "below the threshold (0.50 < 0.9)"


@given(st.lists(st.tuples(st.integers(0, 900), st.integers(0, 100)), max_size=20), st.integers(0, 2000))
def test_the_budget_is_never_exceeded_and_every_card_is_accounted_for(
    sizes: list[tuple[int, int]], budget: int
) -> None:
    cards = [plain(f"c{n}", tokens=tokens, priority=p) for n, (tokens, p) in enumerate(sizes)]
    found = selected(cards, turn("x"), budget=budget)
    assert found.tokens <= budget
    assert sorted([*chosen(found), *reasons(found)]) == sorted(card.name for card in cards)


# --- the other triggers ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fields", "asked", "reason"),
    [
        ({"times_of_day": ("morning",)}, {}, "not for this time of day (12:00)"),
        ({"times_of_day": ("afternoon",)}, {}, ""),
        ({"user_tiers": ("premium",)}, {"user_tier": "Premium"}, ""),
        ({"user_tiers": ("premium",)}, {"user_tier": "free"}, "not for user tier free"),
        ({"user_tiers": ("premium",)}, {}, "not for user tier (none)"),
        ({"environments": ("production",)}, {"environment": "production"}, ""),
        ({"environments": ("production",)}, {"environment": "test"}, "not for environment test"),
    ],
)
def test_each_trigger_narrows(fields: dict[str, Any], asked: dict[str, Any], reason: str) -> None:
    found = selected([plain("one", **fields)], turn("x", **asked))
    assert reasons(found).get("one", "") == reason


def test_a_time_of_day_is_a_word_or_a_span_that_may_pass_midnight() -> None:
    late = datetime(2026, 1, 1, 23, 30)
    assert is_at("night", late) and is_at("22:00-05:30", late) and is_at("Evening", late.replace(hour=18))
    assert not is_at("08:00-17:00", late) and not is_at("someday", late)


# --- languages ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("What is on my calendar?", "en"),
        ("Was steht morgen in meinem Kalender?", "de"),
        ("¿Qué tengo en el calendario mañana?", "es"),
        ("Quelle est la recette de la ratatouille ?", "fr"),
        ("明日の予定を教えてください", "ja"),
        ("Расскажи мне сказку", "ru"),
        ("12345", ""),
    ],
)
def test_the_language_of_a_message_is_told(text: str, language: str) -> None:
    assert language_of(text) == language


def test_of_cards_on_one_thing_the_one_that_speaks_the_language_is_used() -> None:
    cards = [plain("home"), plain("home-de", language="de"), plain("home.ja", language="ja"), plain("other")]
    for language, used in (("de", "home-de"), ("ja", "home.ja"), ("de-AT", "home-de"), ("fr", "home")):
        assert [card.name for card in spoken(cards, language)[0]] == [used, "other"]


def test_a_german_request_gets_the_german_card_and_the_turn_may_say_its_language() -> None:
    cards = [card(text_of("home", "[light]")), card(text_of("home-de", "[Licht]", more="language: de\n"))]
    scoring = relevance(*cards, embed=False)
    assert chosen(selected(cards, turn("Mach bitte das Licht aus"), scoring)) == ["home-de"]
    assert chosen(selected(cards, turn("light Licht", language="en"), scoring)) == ["home"]
    assert chosen(selected(cards, turn("light Licht", language="de"), scoring)) == ["home-de"]
