"""What passes through any face counts as what it is: a need, small talk, a search of a turn, a retry."""

from contextlib import ExitStack
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from prowess.engine import Engine
from prowess.learning.lessons import Lesson
from prowess.learning.small_talk import says_nothing
from prowess.learning.uses import Use, judged
from prowess.types import Outcome
from tests.support.clock import SteppingClock
from tests.support.learning import office, use

LATER = timedelta(hours=2)


def lesson_of(engine: Engine, method: str) -> Lesson:
    engine.learning.learn()
    return next(lesson for lesson in engine.learning.lessons() if lesson.method == method)


# --- requests that ask for nothing -------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "thanks",
        "Thank you so much!",
        "thaaaanks :)",
        "ok, great",
        "That's all.",
        "👍",
        "...",
        "danke schön",
        "¡Hola!",
        "Merci beaucoup !",
        "s\u2019il vous plaît",
        "grazie mille",
        "muito obrigado",
        "dank je wel",
        "dziękuję bardzo",
        "спасибо большое",
        "谢谢你",
        "ありがとうございます",
        "감사합니다!",
        "ขอบคุณครับ",
        "शुक्रिया",
        "شكرا جزيلا",
        "teşekkürler",
    ],
)
def test_small_talk_asks_for_nothing(text: str) -> None:
    assert says_nothing(text)


@pytest.mark.parametrize(
    "text", ["thank Ann by mail", "weather", "谢谢你 天气", "great wall tickets", "ok, pay it"]
)
def test_one_word_more_and_somebody_may_want_something(text: str) -> None:
    assert not says_nothing(text)


def test_small_talk_is_no_gap_and_teaches_nothing(
    store_url: str, tmp_path: Path, clock: SteppingClock
) -> None:
    with office(store_url, tmp_path, clock) as engine:
        use(engine, "thanks")
        use(engine, "vielen Dank!", "tool:mail")
        engine.discover("hello", agent="ada")
        clock.now += LATER
        engine.learning.learn()
        assert (engine.learning.lessons(), engine.learning.gaps()) == ((), ())


# --- a search within a turn, and one that says another again -----------------------------------


def test_what_a_search_within_a_turn_found_answers_what_the_user_asked(
    store_url: str, tmp_path: Path, clock: SteppingClock
) -> None:
    with office(store_url, tmp_path, clock) as engine:
        talk = engine.conversation("ada")
        offer = talk.turn("settle up with the plumber").offer
        found = talk.call("discover_capabilities", {"query": "ledger accounting"})
        engine.record(Outcome(offer=found.offer, capability="tool:invoices", ok=True, agent="ada"))
        clock.now += LATER
        lessons = lesson_of(engine, "tool:invoices"), *engine.learning.lessons()
        spans = {span for lesson in lessons for span in lesson.spans}
        assert spans == {"settle up with the plumber", "ledger accounting"}
        assert engine.learning.gaps() == ()
        assert engine.catalogue.usage() and uses_of(engine, "tool:invoices") == (1, 1), "one use, not two"
        assert [len(engine.learning.ledger(id).skills) for id in (offer.id, found.offer)] == [1, 1]


def test_a_request_said_again_in_other_words_is_one_need_and_answered_with_the_second(
    store_url: str, tmp_path: Path, clock: SteppingClock
) -> None:
    with office(store_url, tmp_path, clock) as engine:
        engine.discover("quazzle documents", agent="ada")
        engine.discover("ledger documents", agent="ada")
        engine.record(Outcome(offer="", capability="tool:invoices", ok=True, agent="ada"))
        clock.now += LATER
        lesson = lesson_of(engine, "tool:invoices")
        assert set(lesson.spans) == {"quazzle documents", "ledger documents"}
        assert (lesson.demonstrations, lesson.successes) == (1, 1)
        assert engine.learning.gaps() == ()


def test_a_need_that_stays_unanswered_however_it_is_said_is_one_gap_met_once(
    store_url: str, tmp_path: Path, clock: SteppingClock
) -> None:
    with office(store_url, tmp_path, clock) as engine:
        for query in ("saddle unicorn", "saddle a unicorn please", "unicorn saddle"):
            engine.discover(query, agent="ada")
        engine.discover("brumbleflax", agent="ada")
        clock.now += LATER
        engine.learning.learn()
        assert {(gap.span, gap.times) for gap in engine.learning.gaps()} == {
            ("unicorn saddle", 1), ("brumbleflax", 1),
        }  # fmt: skip


# --- uses --------------------------------------------------------------------------------------


def uses_of(engine: Engine, capability: str) -> tuple[int, int]:
    used, worked = engine.internals.teaching.counts()[1][capability]
    return used, worked


def test_a_direct_call_is_evidence_of_use_alone_and_a_retry_is_the_same_use(
    store_url: str, tmp_path: Path, clock: SteppingClock
) -> None:
    with office(store_url, tmp_path, clock) as engine:
        for ok in (False, True):
            engine.record(Outcome(offer="", capability="tool:mail", ok=ok, agent="ada", key="k1"))
        engine.record(Outcome(offer="", capability="tool:mail", ok=False, agent="ada"))
        offer = use(engine, "send mail to Ann", "tool:mail", ok=False)
        engine.record(Outcome(offer=offer, capability="tool:mail", ok=True, agent="ada"))
        lesson = lesson_of(engine, "tool:mail")
        assert uses_of(engine, "tool:mail") == (3, 2)
        assert (lesson.demonstrations, lesson.spans) == (1, ("send mail to Ann",))


def test_what_fails_is_ranked_lower_until_it_works_again(
    store_url: str, tmp_path: Path, clock: SteppingClock
) -> None:
    with office(store_url, tmp_path, clock) as engine:
        asked = "store documents in the ledger for years"
        first, second = (hit.id for hit in engine.find(asked)[:2])
        for _ in range(5):
            engine.record(Outcome(offer="", capability=first, ok=False, agent="ada"))
        engine.learning.learn()
        hits = engine.find(asked)
        assert [hit.id for hit in hits[:2]] == [second, first]
        assert hits[1].reasons[-1] == f"ranked lower: 5 of the last 5 uses of {first} failed"
        assert [hit.id for hit in engine.offer(asked).hits[:2]] == [second, first]
        for _ in range(2):
            engine.record(Outcome(offer="", capability=first, ok=True, agent="ada"))
        engine.learning.learn()
        assert engine.find(asked)[0].id == first


def test_one_agent_that_reports_failures_does_not_outweigh_those_for_whom_it_works() -> None:
    eve = [Use("eve", False, f"2026-01-02T00:{n:02}") for n in range(60)]
    works = [Use(name, True, "2026-01-02T00:58") for name in ("ada", "bob")]
    before = [Use("ada", True, "2026-01-01")]
    assert judged("tool:x", tuple(reversed(eve + before))) is not None
    assert judged("tool:x", tuple(sorted(eve + works, key=lambda use: use.at, reverse=True))) is None


def test_what_is_chosen_for_the_wrong_requests_is_not_taken_for_broken() -> None:
    wrong = [Use("eve", n == 3, f"2026-01-02T00:{n:02}", chosen=True) for n in range(20)]
    right = [Use("ada", True, "2026-01-01", chosen=True)]
    assert judged("tool:x", tuple(reversed(right + wrong))) is None
    died = [replace(use, agent="ada") for use in wrong]
    assert judged("tool:x", tuple(reversed(right + died))) is not None
    called = [replace(use, chosen=False) for use in wrong]
    assert judged("tool:x", tuple(reversed(right + called))) is not None


def test_a_tool_that_is_reported_as_the_wrong_one_stays_where_it_is_for_other_requests(
    store_url: str, tmp_path: Path, clock: SteppingClock
) -> None:
    with office(store_url, tmp_path, clock) as engine:
        asked = "store documents in the ledger for years"
        first = engine.find(asked)[0].id
        for n in range(8):
            use(engine, f"frobnicate the gadget {n}", first, ok=False)
        engine.learning.learn()
        assert engine.find(asked)[0].id == first
        for n in range(8):
            use(engine, f"{asked} {n}", first, agent="bob", ok=n < 3)
        engine.learning.learn()
        assert engine.find(asked)[0].id != first


# --- gaps --------------------------------------------------------------------------------------


def test_a_gap_closes_when_the_same_need_is_answered_and_says_with_what(
    store_url: str, tmp_path: Path, clock: SteppingClock
) -> None:
    with office(store_url, tmp_path, clock) as engine:
        use(engine, "quazzle the grommel")
        engine.learning.learn()
        clock.now += LATER
        engine.learning.learn()
        (gap,) = engine.learning.gaps()
        use(engine, "please quazzle a grommel", "tool:archive", agent="bob")
        engine.learning.learn()
        assert engine.learning.gaps() == (gap,), "for Bob, who never lacked it"
        use(engine, "a grommel, quazzle it", "tool:archive")
        engine.learning.learn()
        assert engine.learning.gaps() == ()
        (closed,) = engine.learning.gaps(closed=True)
        assert (closed.id, closed.closed_by, closed.answer) == (gap.id, "answered since", "tool:archive")
        use(engine, "quazzle the grommel", "tool:archive", ok=False)
        engine.learning.learn()
        assert [(again.id, again.times, again.answer) for again in engine.learning.gaps()] == [
            (gap.id, 2, "")
        ]


def test_of_several_processes_that_look_one_learns_and_the_next_time_comes_later(
    store_url: str, tmp_path: Path, clock: SteppingClock
) -> None:
    with ExitStack() as opened:
        engines = [opened.enter_context(office(store_url, tmp_path, clock)) for _ in range(3)]
        use(engines[0], "mail my colleague", "tool:mail")
        learnt = [len(engine.learning.learn_due().lessons) for engine in engines]
        assert learnt == [1, 0, 0]
        use(engines[1], "the meetings of today", "tool:calendar")
        assert engines[1].learning.learn_due().lessons == (), "a minute has not passed"
        clock.now += timedelta(minutes=1)
        assert [len(engine.learning.learn_due().lessons) for engine in engines] == [1, 0, 0]


def test_a_reading_that_must_end_leaves_the_rest_to_the_next(
    store_url: str, tmp_path: Path, clock: SteppingClock
) -> None:
    with office(store_url, tmp_path, clock) as engine:
        use(engine, "mail my colleague", "tool:mail")
        engine.learning.learn_due(lambda: True)
        assert sum(lesson.successes for lesson in engine.learning.lessons()) == 0
        clock.now += timedelta(minutes=1)
        engine.learning.learn_due()
        assert sum(lesson.successes for lesson in engine.learning.lessons()) == 1


def test_nothing_is_read_by_itself_where_the_configuration_says_so(
    store_url: str, tmp_path: Path, clock: SteppingClock
) -> None:
    with office(store_url, tmp_path, clock, every_minutes=0) as engine:
        use(engine, "mail my colleague", "tool:mail")
        assert engine.learning.learn_due().lessons == () == engine.learning.lessons()
