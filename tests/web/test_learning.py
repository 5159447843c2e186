"""The pages of learning: evidence, gates that are really run, promotion, and what is still missing."""

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from prowess.engine import Engine
from prowess.learning.lessons import Lesson
from tests.learning.test_gates import practise
from tests.support.browser import look
from tests.support.clock import SteppingClock
from tests.support.learning import office, use
from tests.web.dashboard import SCRIPT, at, is_only_text, post

if TYPE_CHECKING:
    from tests.support.browser import Visit

pytestmark = pytest.mark.slow

NAMED = SCRIPT.partition(":")[2]


def needed_in_vain(engine: Engine) -> None:
    """Two needs that nothing answers, one of them often."""
    for agent in ("ada", "bob", "ada"):
        use(engine, "launch a rocket", "tool:archive", agent=agent, ok=False)
    use(engine, f"translate {NAMED} into Basque", "tool:archive", ok=False)
    engine.learning.learn()


def ready(engine: Engine) -> Lesson:
    lesson = practise(engine)
    (gated,) = engine.learning.gate(lesson.id)
    assert gated.satisfied
    return engine.learning.lesson(lesson.id)


def test_a_person_runs_the_gates_promotes_a_skill_and_the_next_sync_relies_on_it(
    tmp_path: Path, clock: SteppingClock, visit: "Visit"
) -> None:
    with office("store.db", tmp_path, clock) as engine:
        practise(engine)
        page = visit(engine, role="operator")
        page.goto("/learning")
        look(page, "learning")
        page.locator("tbody tr", has_text="tool:invoices").get_by_role("link").click()
        expect(page.get_by_text("Promote", exact=True)).to_have_count(0)
        page.get_by_role("button", name="Run its gates").click()
        expect(page.get_by_role("status")).to_contain_text("The gates were run, and both are cleared")
        look(page, "lesson")
        page.get_by_text("Promote", exact=True).click()
        page.get_by_role("button", name="Rely on it").click()
        expect(page.get_by_role("status")).to_contain_text("Promoted.")
        expect(page.get_by_text("waits for the next sync")).to_be_visible()
        assert engine.internals.teaching.taught() == ()
        engine.sync()
        assert [lesson.method for lesson in engine.internals.teaching.taught()] == ["tool:invoices"]
        told = [entry.data["by"] for entry in engine.journal.latest(type="skill.*") if "by" in entry.data]
        assert told == ["Ada", "Ada"]


def test_a_skill_that_is_relied_on_is_deprecated_and_a_proposed_one_is_rejected(
    tmp_path: Path, clock: SteppingClock, visit: "Visit"
) -> None:
    with office("store.db", tmp_path, clock) as engine:
        lesson = ready(engine)
        engine.learning.promote(lesson.id, "grace")
        page = visit(engine)
        page.goto(at("/learning/lesson", id=lesson.id))
        page.get_by_text("Deprecate", exact=True).click()
        page.get_by_label("Why, if you like").fill("The ledger moved")
        page.get_by_role("button", name="Rely on it no more").click()
        expect(page.get_by_role("status")).to_contain_text("Deprecated.")
        assert engine.learning.lesson(lesson.id).status == "deprecated"
        assert engine.learning.lesson(lesson.id).reason == "The ledger moved"
        page.get_by_text("Reject", exact=True).click()
        page.get_by_role("button", name="Reject it for good").click()
        expect(page.get_by_text("It can only be proposed anew")).to_be_visible()
        assert engine.learning.lesson(lesson.id).status == "retired"


def test_a_skill_whose_gates_do_not_clear_says_what_is_missing(
    tmp_path: Path, clock: SteppingClock, visit: "Visit"
) -> None:
    with office("store.db", tmp_path, clock) as engine:
        use(engine, "calendar of meetings", "tool:calendar")
        engine.learning.learn()
        page = visit(engine)
        page.goto("/learning")
        page.locator("tbody tr").get_by_role("link").click()
        page.get_by_role("button", name="Run its gates").click()
        expect(page.get_by_text("requests it was not learned from can judge it").first).to_be_visible()
        (lesson,) = engine.learning.lessons()
        answer = post(page, "/learning/promote", id=lesson.id)
        assert (answer.status, "has not shown" in answer.text()) == (409, True)


def test_gaps_are_ranked_and_a_person_closes_one(
    tmp_path: Path, clock: SteppingClock, visit: "Visit"
) -> None:
    with office("store.db", tmp_path, clock) as engine:
        needed_in_vain(engine)
        page = visit(engine, role="operator")
        page.goto("/learning")
        page.get_by_role("link", name="Gaps (2)").click()
        expect(page.locator("tbody tr").first).to_contain_text("launch a rocket")
        assert is_only_text(page)
        look(page, "curriculum")
        page.get_by_role("button", name="Close").first.click()
        expect(page.get_by_role("status")).to_contain_text("Closed: launch a rocket")
        assert [gap.closed_by for gap in engine.learning.gaps(closed=True)].count("Ada") == 1
        expect(page.locator("tbody tr")).to_have_count(1)


def test_what_was_used_since_is_learnt_when_a_person_asks(
    tmp_path: Path, clock: SteppingClock, visit: "Visit"
) -> None:
    with office("store.db", tmp_path, clock) as engine:
        use(engine, f"calendar of {NAMED}", "tool:calendar")
        page = visit(engine)
        page.goto("/learning")
        expect(page.locator(".empty")).to_contain_text("No lesson yet")
        page.get_by_role("button", name="Learn from use now").click()
        expect(page.get_by_role("status")).to_have_text("1 lesson and 0 gaps changed.")
        assert is_only_text(page)
        page.locator("tbody tr").get_by_role("link").click()
        assert is_only_text(page)
        (entry,) = engine.journal.latest(type="learning.ordered")
        assert entry.data["by"] == "Ada"


def test_who_may_only_look_decides_nothing(tmp_path: Path, clock: SteppingClock, visit: "Visit") -> None:
    with office("store.db", tmp_path, clock) as engine:
        lesson = ready(engine)
        needed_in_vain(engine)
        page = visit(engine, role="viewer")
        page.goto(at("/learning/lesson", id=lesson.id))
        expect(page.get_by_text("Promote", exact=True)).to_have_count(0)
        for verb in ("learn", "gate", "promote", "deprecate", "retire"):
            assert post(page, f"/learning/{verb}", id=lesson.id).status == 403, verb
        assert post(page, "/learning/close", id=engine.learning.gaps()[0].id).status == 403
        assert engine.learning.lesson(lesson.id).status == "proposed"
        assert len(engine.learning.gaps()) == 2


def test_where_learning_is_off_the_page_says_how_to_switch_it_on(
    tmp_path: Path, clock: SteppingClock, visit: "Visit"
) -> None:
    with office("store.db", tmp_path, clock, mode="off") as engine:
        page = visit(engine)
        page.goto("/learning")
        expect(page.get_by_role("status")).to_contain_text('mode = "accumulate"')
        expect(page.get_by_role("button", name="Learn from use now")).to_have_count(0)
