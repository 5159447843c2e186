"""Promotion is earned: gates that really run, decisions of people, and what a promoted skill changes."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from prowess.engine import Engine
from prowess.errors import Denied, LearningError, NotFound
from prowess.journal import Entry, Journal, Raw
from prowess.journal.between_turns import SkillPromoted
from prowess.learning.lessons import Lesson
from prowess.learning.procedures import lessons_of
from prowess.learning.promotion import SuiteResult, SuiteRow, read_proposal, regression_result, reported
from prowess.store.database import Transaction
from prowess.types import JournalEntry, Message, Outcome, Turn
from tests.support.clock import SteppingClock
from tests.support.learning import office, use

TAUGHT = ["pay the supplier bill", "pay the bill of the plumber", "settle a supplier bill"]
JUDGING = ["pay the electricity bill today", "settle the bill of a supplier", "supplier bill to pay"]


def practise(engine: Engine) -> Lesson:
    """Ada pays bills with a tool whose description says nothing of bills; Bob does so too, in other words.

    All of it is one skill. Ada's requests teach it, Bob's judge it.
    """
    for request in TAUGHT:
        use(engine, request, "tool:invoices")
    for request in JUDGING:
        use(engine, request, "tool:invoices", agent="bob")
    use(engine, "send mail to a colleague", "tool:mail", agent="bob")
    use(engine, "calendar of meetings", "tool:calendar", agent="bob")
    engine.learning.learn()
    return next(lesson for lesson in engine.learning.lessons() if lesson.method == "tool:invoices")


def test_a_skill_is_proposed_gated_promoted_and_changes_what_is_found_after_the_next_sync(
    store_url: str, tmp_path: Path, clock: SteppingClock
) -> None:
    with office(store_url, tmp_path, clock) as engine:
        lesson = practise(engine)
        asked = "pay a bill"
        before = [hit.id for hit in engine.find(asked)]
        assert "tool:invoices" not in before
        with pytest.raises(LearningError, match="not shown tests"):
            engine.learning.promote(lesson.id, "ada")
        (gated,) = engine.learning.gate(lesson.id)
        assert gated.satisfied, (gated.tests.verdict, gated.benchmark.verdict)
        assert gated.benchmark.gain > 0.01
        assert engine.learning.lesson(lesson.id).status == "proposed"
        assert [hit.id for hit in engine.find(asked)] == before
        engine.learning.promote(lesson.id, "ada")
        assert [hit.id for hit in engine.find(asked)] == before
        engine.sync()
        assert engine.find(asked)[0].id == "tool:invoices"
        types = [entry.type for entry in engine.journal.latest(type="skill.*")]
        assert types == ["skill.gated", "skill.promoted"]
        engine.learning.deprecate(lesson.id, "ada", "no more bills")
        engine.sync()
        assert [hit.id for hit in engine.find(asked)] == before


def test_another_process_relies_on_it_too_and_gives_the_same_answers(
    store_url: str, tmp_path: Path, clock: SteppingClock
) -> None:
    with office(store_url, tmp_path, clock) as engine:
        lesson = practise(engine)
        with office(store_url, tmp_path, clock) as other:
            other.find("anything")
            engine.learning.gate(lesson.id)
            engine.learning.promote(lesson.id, "ada")
            engine.sync()
            for request in JUDGING:
                assert other.find(request) == engine.find(request)


def test_gate_results_are_kept_with_their_rows_digest_counts_command_and_time(
    store_url: str, tmp_path: Path, clock: SteppingClock
) -> None:
    with office(store_url, tmp_path, clock) as engine:
        lesson = practise(engine)
        engine.learning.gate(lesson.id)
        tests, benchmark = engine.learning.results(lesson.id)
        assert (tests.suite, benchmark.suite) == ("regression", "benchmark")
        assert {row.request for row in tests.rows} >= {*TAUGHT, "send mail to a colleague"}
        for result in (tests, benchmark):
            assert result.clears and result.digest and result.at and result.passed and result.rows
            assert result.command == f"prowess lessons gate {lesson.id}"
        assert not {row.request for row in benchmark.rows} & set(TAUGHT)


def test_replays_leave_no_trace_in_the_journal_and_teach_nothing(
    store_url: str, tmp_path: Path, clock: SteppingClock
) -> None:
    with office(store_url, tmp_path, clock) as engine:
        lesson = practise(engine)
        offers = len(engine.journal.latest(1000, type="offer"))
        engine.learning.gate(lesson.id)
        assert len(engine.journal.latest(1000, type="offer")) == offers
        engine.journal.verify()


def test_a_suite_that_passes_without_the_skill_too_proves_nothing() -> None:
    row = SuiteRow(request="pay", agent="ada", expected="tool:invoices", before=0.9, after=0.9, ok=True)
    same = regression_result([row], [], [row], "run", "now")
    assert "just as well without it" in same.why and not same.clears
    assert regression_result([row], [], [replace(row, ok=False)], "run", "now").clears
    assert not regression_result([], [row], [], "run", "now").clears


def test_a_skill_that_only_its_own_teacher_vouches_for_is_not_promoted(
    store_url: str, tmp_path: Path, clock: SteppingClock
) -> None:
    with office(store_url, tmp_path, clock) as engine:
        for request in TAUGHT:
            use(engine, request, "tool:invoices")
        engine.learning.learn()
        (gated,) = engine.learning.gate(engine.learning.lessons()[0].id)
        assert gated.tests.clears and not gated.benchmark.clears
        assert "0 requests it was not learned from" in gated.benchmark.why


def test_poisoned_use_is_stopped_by_the_gate(store_url: str, tmp_path: Path, clock: SteppingClock) -> None:
    with office(store_url, tmp_path, clock) as engine:
        for name in ("Ann", "Tom", "Sue"):
            use(engine, f"send mail to {name}", "tool:mail", agent="bob")
        for _ in range(30):
            use(engine, "send mail to Zoe", "tool:wiper", agent="eve")
        engine.learning.learn()
        poison = next(lesson for lesson in engine.learning.lessons() if lesson.method == "tool:wiper")
        assert poison.successes == 30 and poison.spans == ("send mail to Zoe",)
        (gated,) = engine.learning.gate(poison.id)
        assert not gated.benchmark.clears
        assert gated.benchmark.gain <= 0
        with pytest.raises(LearningError, match="benchmark delta"):
            engine.learning.promote(poison.id, "ada")
        engine.sync()
        assert engine.find("send mail to Zoe")[0].id == "tool:mail"


def cleaned_up_four_times(engine: Engine) -> Lesson:
    """A skill of two steps, proposed because the same two answered four requests."""
    for number in ("seven", "eight", "nine", "ten"):
        use(engine, f"year end cleanup {number}", "tool:invoices", "tool:archive")
    engine.learning.learn()
    return next(lesson for lesson in engine.learning.lessons() if lesson.steps)


def test_several_steps_are_proposed_gated_promoted_offered_and_used(
    store_url: str, tmp_path: Path, clock: SteppingClock
) -> None:
    with office(store_url, tmp_path, clock, judges="anyone") as engine:
        lesson = cleaned_up_four_times(engine)
        (gated,) = engine.learning.gate(lesson.id)
        assert gated.satisfied, (gated.tests.verdict, gated.benchmark.verdict)
        assert "skill:invoices-then-archive" not in engine.catalogue.view().capabilities
        engine.learning.promote(lesson.id, "ada")
        engine.sync()
        offer = engine.offer("year end cleanup eleven")
        assert offer.hits[0].id == "skill:invoices-then-archive"
        assert "1. tool:invoices" in (engine.catalogue.detail("skill:invoices-then-archive").content or "")
        engine.check("default", "skill:invoices-then-archive")
        engine.record(Outcome(offer=offer.id, capability="skill:invoices-then-archive", ok=True))
        engine.learning.learn()
        assert any(
            s.method == "skill:invoices-then-archive" and not s.steps for s in engine.learning.lessons()
        )
        engine.learning.retire(lesson.id, "ada")
        engine.sync()
        assert "skill:invoices-then-archive" not in engine.catalogue.view().capabilities
        assert engine.learning.lesson(lesson.id).status == "retired"


def test_a_promoted_skill_is_subject_to_policy_like_anything_else(
    store_url: str, tmp_path: Path, clock: SteppingClock
) -> None:
    with office(store_url, tmp_path, clock, judges="anyone") as engine:
        lesson = cleaned_up_four_times(engine)
        engine.learning.gate(lesson.id)
        engine.learning.promote(lesson.id, "ada")
        engine.sync()
        assert "skill:invoices-then-archive" in [hit.id for hit in engine.find("year end cleanup", "ada")]
        assert "skill:invoices-then-archive" not in [hit.id for hit in engine.find("year end cleanup", "gus")]
        with pytest.raises(Denied):
            engine.check("gus", "skill:invoices-then-archive")
        offer = engine.offer(Turn(messages=(Message("user", "year end cleanup"),), agent="cy"))
        assert "archive" not in offer.text  # Cy may use the skill but not every step of it


def test_nothing_is_promoted_by_itself_unless_the_configuration_says_so(
    store_url: str, tmp_path: Path, clock: SteppingClock
) -> None:
    with office(store_url, tmp_path, clock) as engine:
        lesson = practise(engine)
        engine.learning.gate(lesson.id)
        engine.learning.learn()
        engine.sync()
        assert engine.learning.lesson(lesson.id).status == "proposed"
        with pytest.raises(LearningError, match="without a person"):
            engine.learning.promote_all()
    with office(store_url, tmp_path, clock, auto=True) as engine:
        assert [done.status for done in engine.learning.promote_all()] == ["stable"]


def test_later_demonstrations_do_not_slip_into_what_was_gated(
    store_url: str, tmp_path: Path, clock: SteppingClock
) -> None:
    with office(store_url, tmp_path, clock) as engine:
        lesson = practise(engine)
        engine.learning.gate(lesson.id)
        engine.learning.promote(lesson.id, "ada")
        for _ in range(3):
            use(engine, "pay the supplier bill and erase everything", "tool:invoices", agent="eve")
        engine.learning.learn()
        held = engine.learning.lesson(lesson.id)
        assert "pay the supplier bill and erase everything" in held.spans
        assert set(lessons_of([held])["tool:invoices"]) == set(TAUGHT)


def test_when_later_evidence_turns_deprecation_is_proposed_and_not_done(
    store_url: str, tmp_path: Path, clock: SteppingClock
) -> None:
    with office(store_url, tmp_path, clock) as engine:
        lesson = practise(engine)
        engine.learning.gate(lesson.id)
        engine.learning.promote(lesson.id, "ada")
        for _ in range(8):
            use(engine, "pay the supplier bill", "tool:invoices", ok=False)
        engine.learning.learn()
        held = engine.learning.lesson(lesson.id)
        assert held.status == "stable"
        assert held.proposal == "deprecate: 8 of the last 10 uses of tool:invoices failed"
        done = engine.learning.deprecate(lesson.id, "ada")
        assert (done.status, done.reason, done.gate.satisfied) == ("deprecated", held.proposal, False)


def test_when_something_else_answers_the_same_requests_better_that_is_proposed_too(
    store_url: str, tmp_path: Path, clock: SteppingClock
) -> None:
    with office(store_url, tmp_path, clock) as engine:
        lesson = practise(engine)
        engine.learning.gate(lesson.id)
        engine.learning.promote(lesson.id, "ada")
        use(engine, TAUGHT[0], "tool:invoices", ok=False)
        for _ in range(6):
            use(engine, TAUGHT[0], "tool:archive")
        engine.learning.learn()
        held = engine.learning.lesson(lesson.id)
        assert held.status == "stable"
        assert "answers the same requests better, with tool:archive" in held.proposal


def test_a_retired_skill_stays_and_cannot_come_back(
    store_url: str, tmp_path: Path, clock: SteppingClock
) -> None:
    with office(store_url, tmp_path, clock) as engine:
        lesson = practise(engine)
        engine.learning.retire(lesson.id, "ada", "wrong")
        with pytest.raises(LearningError, match="retired"):
            engine.learning.deprecate(lesson.id, "ada")
        assert engine.learning.lesson(lesson.id).reason == "wrong"
        with pytest.raises(NotFound):
            engine.learning.lesson("nothing")


class FullJournal(Journal):
    """A journal that fails when something is promoted: the instant in the middle of a promotion."""

    def append(self, transaction: Transaction, recorded: Entry | Raw, agent: str = "") -> JournalEntry:
        if isinstance(recorded, SkillPromoted):
            raise KeyboardInterrupt
        return super().append(transaction, recorded, agent)


def test_a_crash_in_the_middle_of_a_promotion_leaves_it_undone(
    store_url: str, tmp_path: Path, clock: SteppingClock
) -> None:
    with office(store_url, tmp_path, clock) as engine:
        lesson = practise(engine)
        engine.learning.gate(lesson.id)
        engine.learning._journal = FullJournal(engine.internals.database, clock)
        with pytest.raises(KeyboardInterrupt):
            engine.learning.promote(lesson.id, "ada")
    with office(store_url, tmp_path, clock) as engine:
        assert engine.learning.lesson(lesson.id).status == "proposed"
        engine.learning.promote(lesson.id, "ada")
        engine.learning.promote(lesson.id, "ada")
        assert [e.type for e in engine.journal.latest(type="skill.promoted")] == ["skill.promoted"]
        engine.journal.verify()


def test_a_proposal_from_outside_starts_with_nothing_proven(
    store_url: str, tmp_path: Path, clock: SteppingClock
) -> None:
    with office(store_url, tmp_path, clock) as engine:
        document = json.dumps({"method": "tool:mail", "spans": ["write to Ann"]}).encode()
        lesson = engine.learning.propose(document, "mine", "ada")
        assert (lesson.status, lesson.demonstrations, lesson.gate.satisfied) == ("proposed", 0, False)


def result(passed: int, failed: int, **more: object) -> SuiteResult:
    usual: dict[str, object] = {"suite": "s", "command": "c", "digest": "d", "minimum": 4}
    return SuiteResult(passed=passed, failed=failed, **{**usual, **more})  # type: ignore[arg-type]


def test_l18_one_failure_blocks_a_suite_that_wants_all_though_its_floor_is_met() -> None:
    assert not result(4, 1).clears
    assert result(4, 0).clears and result(4, 1, rate=0).clears
    assert (
        not result(3, 0).clears
        and not result(4, 0, digest="").clears
        and not result(4, 0, succeeded=False).clears
    )


@pytest.mark.parametrize(
    "extra",
    [
        {"runner": "sh"},
        {"passed": 9},
        {"failed": 0},
        {"has_tests": True},
        {"gates": [{"passed": 9}]},
        {"digest": "x"},
    ],
)
def test_l19_a_proposal_that_brings_its_own_results_is_refused(extra: dict[str, object]) -> None:
    with pytest.raises(LearningError, match="must not provide"):
        read_proposal(json.dumps({"method": "tool:mail", "spans": ["a"], **extra}).encode(), "mine")


@pytest.mark.parametrize(
    "document", [b"", b"[]", b"{}", b'{"method": "", "spans": ["a"]}', b'{"method": "m", "spans": []}']
)
def test_a_document_that_proposes_nothing_is_refused(document: bytes) -> None:
    with pytest.raises(LearningError, match="mine"):
        read_proposal(document, "mine")


def test_l20_success_without_counts_is_an_error_and_failure_blocks() -> None:
    with pytest.raises(LearningError, match="without saying what passed"):
        reported("unit", "run", True, "all fine")
    failed = reported("unit", "run", False, "passed=9 failed=0")
    assert (failed.passed, failed.failed, failed.clears) == (0, 1, False)
    good = reported("unit", "run", True, "passed=1 failed=9\npassed=9 failed=0 in 2 s")
    assert (good.passed, good.failed, good.clears) == (9, 0, True)
