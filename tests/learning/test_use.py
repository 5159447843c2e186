"""What the journal becomes: skills that gather, gaps that are ranked, everything counted once."""

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from prowess.engine.search import nearest
from prowess.errors import Denied, LearningError
from prowess.journal import Journal, Raw
from prowess.journal.entries import OfferedHit
from prowess.learning import use_store as memory
from prowess.learning.paraphrases import alike, distinct
from prowess.learning.usage import closing
from prowess.learning.usage_entries import needs_of
from prowess.text.redaction import MAX_KEPT_CHARACTERS, redacted
from prowess.types import HeldCapability, Outcome
from tests.support.clock import SteppingClock
from tests.support.learning import office, use

LATER = timedelta(hours=2)


def test_while_learning_is_off_outcomes_are_journalled_and_nothing_else_happens(
    store_url: str, tmp_path: Path, clock: SteppingClock
) -> None:
    with office(store_url, tmp_path, clock, mode="off") as engine:
        use(engine, "send mail to Ann", "tool:mail")
        learnt = engine.learning.learn()
        assert (learnt.ledgers, learnt.lessons, engine.learning.lessons(), engine.learning.gaps()) == (
            (),
            (),
            (),
            (),
        )
        types = [entry.type for entry in engine.journal.latest()]
        assert "outcome" in types and "skill_ledger" not in types
        with pytest.raises(LearningError, match="off"):
            engine.learning.gate("any")


@pytest.mark.parametrize("agent", ["*", "+", "=", "=*", "*="])
def test_an_agent_may_have_any_name_and_is_learned_from_once(
    store_url: str, tmp_path: Path, clock: SteppingClock, agent: str
) -> None:
    with office(store_url, tmp_path, clock) as engine:
        use(engine, "send mail to Ann", "tool:mail", agent=agent)
        assert len(engine.learning.learn().ledgers) == 1
        assert engine.learning.learn().ledgers == ()


def test_requests_like_each_other_gather_in_one_skill(
    store_url: str, tmp_path: Path, clock: SteppingClock
) -> None:
    with office(store_url, tmp_path, clock) as engine:
        use(engine, "send mail to Ann", "tool:mail")
        use(engine, "Send mail to Bob!", "tool:mail", agent="bob")
        use(engine, "send mail to Ann", "tool:mail", ok=False)
        use(engine, "calendar of meetings", "tool:calendar")
        engine.learning.learn()
        mail = next(lesson for lesson in engine.learning.lessons() if lesson.method == "tool:mail")
        assert (mail.demonstrations, mail.successes, mail.failures) == (3, 2, 1)
        assert mail.agents == ("ada", "bob")
        assert set(mail.spans) == {"send mail to Ann", "Send mail to Bob!"}
        assert (mail.status, mail.gate.satisfied) == ("proposed", False)
        assert len(engine.learning.lessons()) == 2


def test_an_outcome_reported_twice_counts_once_and_a_retry_that_works_is_a_success(
    store_url: str, tmp_path: Path, clock: SteppingClock
) -> None:
    with office(store_url, tmp_path, clock) as engine:
        offer = use(engine, "send mail to Ann", "tool:mail", ok=False)
        for _ in range(3):
            engine.record(Outcome(offer=offer, capability="tool:mail", ok=True, agent="ada", key="k"))
        engine.learning.learn()
        engine.record(Outcome(offer=offer, capability="tool:mail", ok=True, agent="ada", key="k"))
        engine.record(Outcome(offer=offer, capability="tool:mail", ok=False, agent="ada", key="late"))
        engine.learning.learn()
        (lesson,) = engine.learning.lessons()
        assert (lesson.demonstrations, lesson.successes, lesson.failures) == (1, 1, 0)
        assert engine.learning.gaps() == ()


def test_an_outcome_that_comes_before_its_offer_waits_for_it(
    store_url: str, tmp_path: Path, clock: SteppingClock
) -> None:
    with office(store_url, tmp_path, clock) as engine:
        engine.record(Outcome(offer="later", capability="tool:mail", ok=True, agent="ada"))
        engine.learning.learn()
        assert engine.learning.lessons() == ()
        data = {"offer": "later", "request": "send mail to Ann", "hits": [{"id": "tool:mail", "need": ""}]}
        engine.internals.journal.record(Raw("offer", data), "ada")
        engine.learning.learn()
        assert [lesson.successes for lesson in engine.learning.lessons()] == [1]


def test_a_late_success_closes_the_gap_it_had_left(
    store_url: str, tmp_path: Path, clock: SteppingClock
) -> None:
    with office(store_url, tmp_path, clock) as engine:
        offer = use(engine, "send mail to Ann", "tool:mail", ok=False)
        engine.learning.learn()
        (gap,) = engine.learning.gaps()
        assert "tool:mail was tried and failed" in gap.reason
        engine.record(Outcome(offer=offer, capability="tool:mail", ok=True, agent="ada"))
        engine.learning.learn()
        assert engine.learning.gaps() == ()
        assert [gap.closed_by for gap in engine.learning.gaps(closed=True)] == ["answered since"]


def test_what_nobody_used_is_given_up_after_a_while_and_says_so(
    store_url: str, tmp_path: Path, clock: SteppingClock
) -> None:
    with office(store_url, tmp_path, clock) as engine:
        use(engine, "calendar of meetings")
        engine.learning.learn()
        assert engine.learning.gaps() == ()
        clock.now += LATER
        engine.learning.learn()
        assert [(gap.status, gap.times) for gap in engine.learning.gaps()] == [("deferred", 1)]


def test_a_refused_use_is_a_gap_with_the_reason_of_policy(
    store_url: str, tmp_path: Path, clock: SteppingClock
) -> None:
    with office(store_url, tmp_path, clock) as engine:
        use(engine, "send mail to Ann about meetings", agent="gus")
        with pytest.raises(Denied):
            engine.check("gus", "tool:mail")
        engine.learning.learn()
        (gap,) = engine.learning.gaps()
        assert (gap.status, gap.agents) == ("blocked", ("gus",))
        assert "tool:mail is denied" in gap.reason
        assert engine.learning.what_would_close("send mail to Ann", "gus").why == "denied"
        assert engine.learning.what_would_close("brumbleflax", "gus").why == "nothing matches"


def test_what_followed_a_request_is_told_by_the_journal_also_when_a_clock_was_set_back(
    store_url: str, tmp_path: Path, clock: SteppingClock
) -> None:
    with office(store_url, tmp_path, clock) as engine:
        clock.now += timedelta(hours=1)
        use(engine, "look at the calendar of meetings", "tool:calendar", agent="gus")
        use(engine, "send mail to Ann about meetings", agent="gus")
        clock.now -= timedelta(hours=1)
        with pytest.raises(Denied):
            engine.check("gus", "tool:mail")
        engine.learning.learn()
        (gap,) = engine.learning.gaps()
        assert (gap.span, gap.status) == ("send mail to Ann about meetings", "blocked")
        engine.journal.verify()


def test_gaps_met_often_lately_and_by_many_come_first(
    store_url: str, tmp_path: Path, clock: SteppingClock
) -> None:
    with office(store_url, tmp_path, clock) as engine:
        for agent in ("ada", "bob", "eve"):
            use(engine, "wibbet flurb", agent=agent)
        use(engine, "quazzle grommel", agent="ada")
        engine.learning.learn()
        first, second = engine.learning.gaps()
        assert (first.span, first.times, first.agents) == ("wibbet flurb", 3, ("ada", "bob", "eve"))
        closed = engine.learning.close_gap(first.id[:22], "ada")
        assert engine.learning.gaps() == (second,) and closed.closed_by == "ada"
        use(engine, "wibbet flurb")
        engine.learning.learn()
        assert [gap.times for gap in engine.learning.gaps()] == [4, 1]


def test_each_settled_request_leaves_its_ledger_in_the_journal_once(
    store_url: str, tmp_path: Path, clock: SteppingClock
) -> None:
    with office(store_url, tmp_path, clock) as engine:
        offer = use(engine, "send mail to Ann", "tool:mail")
        engine.learning.learn()
        engine.learning.learn()
        pairs = [(e.type, e.data["payload"][:12]) for e in engine.journal.latest(type="skill_ledger*")]
        assert pairs == [("skill_ledger", "skill_ledger"), ("skill_ledger:promotable", "0")]
        assert len(engine.learning.ledger(offer).skills) == 1
        engine.journal.verify()


def test_several_steps_in_one_order_are_a_skill_when_they_worked_three_times(
    store_url: str, tmp_path: Path, clock: SteppingClock
) -> None:
    with office(store_url, tmp_path, clock) as engine:
        for number in range(2):
            use(engine, f"archive invoice {number}", "tool:invoices", "tool:archive")
        engine.learning.learn()
        assert [lesson for lesson in engine.learning.lessons() if lesson.steps] == []
        use(engine, "archive invoice 9", "tool:invoices", "tool:archive")
        engine.learning.learn()
        (lesson,) = [lesson for lesson in engine.learning.lessons() if lesson.steps]
        assert lesson.steps == ("tool:invoices", "tool:archive")
        assert (lesson.successes, lesson.method) == (3, "skill:invoices-then-archive")


def test_secrets_are_not_kept_in_what_was_asked(store_url: str, tmp_path: Path, clock: SteppingClock) -> None:
    with office(store_url, tmp_path, clock) as engine:
        use(engine, "send mail with password: hunter2hunter and sk-abcdefghij0123456789", "tool:mail")
        engine.learning.learn()
        (lesson,) = engine.learning.lessons()
        assert "hunter2" not in str(lesson) and "abcdefghij" not in str(lesson)
        assert "send mail" in lesson.spans[0]


@pytest.mark.parametrize(
    ("text", "gone"),
    [
        ("my token is abcd1234efgh", "abcd1234efgh"),
        ("https://ann:s3cretword@example.org/x", "s3cretword"),
        ("use AKIAIOSFODNN7EXAMPLE now", "AKIAIOSFODNN7EXAMPLE"),
        ("key 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b", "9f86d081884c7d65"),
        ("a\0b", "\0"),
    ],
)
def test_what_looks_like_a_secret_is_taken_out(text: str, gone: str) -> None:
    assert gone not in redacted(text)


def test_ordinary_requests_stay_as_they_are_and_long_ones_are_cut() -> None:
    plain = "which password manager should the accounting-department-of-berlin use?"
    assert redacted(plain) == plain
    assert len(redacted("word " * 1000)) == MAX_KEPT_CHARACTERS


def test_only_the_newest_requests_are_remembered(
    store_url: str, tmp_path: Path, clock: SteppingClock
) -> None:
    with office(store_url, tmp_path, clock) as engine:
        for number in range(6):
            use(engine, f"send mail number {number}", "tool:mail")
        engine.learning.learn()
        with engine.internals.database.writing() as transaction:
            memory.forget_the_oldest(transaction, 3)
            assert len(memory.worked(transaction, 100)) == 3


def test_each_part_of_a_split_request_is_a_need_of_its_own() -> None:
    hits = [OfferedHit("a", need="book a flight"), OfferedHit("b", need="mail Ann"), OfferedHit("c")]
    assert [(need.span, need.routes) for need in needs_of("both", hits)] == [
        ("book a flight", ("a", "c")),
        ("mail Ann", ("b", "c")),
    ]
    assert [need.span for need in needs_of("whole", [OfferedHit("c")])] == ["whole"]


def test_repeating_a_request_adds_no_new_one() -> None:
    assert distinct(["Send mail!", "send  mail", "other"]) == ("Send mail!", "other")
    assert alike("please send a mail to Ann", "sending mails to Bob")
    assert not alike("send a mail", "erase the disk")


def test_entries_that_lack_what_they_should_have_teach_nothing(
    store_url: str, tmp_path: Path, clock: SteppingClock
) -> None:
    with office(store_url, tmp_path, clock) as engine:
        journal: Journal = engine.internals.journal
        for data in ({}, {"offer": 3}, {"offer": "x", "hits": "no", "request": 5}, {"verdict": "deny"}):
            for type in ("offer", "outcome", "decision"):
                journal.record(Raw(type, data), "ada")
        engine.learning.learn()
        assert (engine.learning.lessons(), engine.learning.gaps()) == ((), ())


def test_a_gap_says_what_would_close_it(store_url: str, tmp_path: Path, clock: SteppingClock) -> None:
    with office(store_url, tmp_path, clock) as engine:
        use(engine, "send electronic mail to a colleague", "tool:mail", ok=False)
        use(engine, "brumbleflax wibbet", agent="bob")
        engine.learning.learn()
        failed, unmatched = sorted(engine.learning.gaps(), key=lambda gap: gap.span, reverse=True)
        assert (failed.failed, engine.learning.closing(failed).why) == ("tool:mail", "tried and failed")
        assert engine.learning.closing(unmatched).why == "nothing matches"
        off = replace(failed, agents=("gus",))
        assert engine.learning.closing(off).why == "denied"
        engine.sources[0].capabilities = [  # type: ignore[attr-defined]
            replace(c, required_secrets=("MAIL_KEY",)) if c.id == "tool:mail" else c
            for c in engine.sources[0].capabilities  # type: ignore[attr-defined]
        ]
        engine.sync()
        assert engine.learning.closing(failed).why == "unavailable"


def test_what_was_looked_at_and_held_back_closes_a_gap_when_it_is_let_go(
    store_url: str, tmp_path: Path, clock: SteppingClock
) -> None:
    with office(store_url, tmp_path, clock) as engine:
        use(engine, "send electronic mail to a colleague", agent="bob")
        view = engine.catalogue.view()
        held = replace(
            view, quarantined={"tool:mail": HeldCapability("tool:mail", "", "looks odd", "held", "")}
        )
        near = nearest(
            engine.internals.search(engine.internals.world()), "send electronic mail", view.capabilities, 1
        )
        assert closing(near, held, view.capabilities, "bob").why == "quarantined"
