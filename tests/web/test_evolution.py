"""The pages of evolution: the course of an agent, its generations, and the way back."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from prowess.engine import Engine
from prowess.errors import Denied
from prowess.testing import StaticSource, capability
from prowess.types import Provider
from tests.support.browser import look
from tests.support.evolution import AB, exhaust
from tests.support.stores import OpenEngine
from tests.web.dashboard import SCRIPT, TOOLS, at, dashboard, is_only_text, office, post, scores

if TYPE_CHECKING:
    from tests.support.browser import Visit

pytestmark = pytest.mark.slow

NEW = Provider(name="vision", source="static", faculties=("Vision",))
SEES = capability("tool:see", "See what is in a picture", provider="vision")


def gain(engine: Engine, source: StaticSource) -> None:
    """A provider comes, with something that an agent can use."""
    source.providers.append(NEW)
    source.capabilities.append(SEES)
    engine.sync()


def lived(engine: Engine, source: StaticSource) -> None:
    """An agent that grew, gained a provider, fell and recovered, fell more, and at last broke a rule."""
    engine.evolution.set_params("ada", {"min_interactions": 3, "noise_margin": 0.0})
    for _ in range(4):
        engine.evolution.evaluate("ada", scores(0.5))
    for step in range(6):
        engine.evolution.evaluate("ada", scores(0.62 + 0.02 * step))
    gain(engine, source)
    for value in (0.74, 0.74, 0.75, 0.76, 0.55, 0.58, 0.62, 0.8, 0.8, 0.81, 0.8, 0.6, 0.6, 0.6, 0.6, 0.6):
        engine.evolution.evaluate("ada", scores(value))
    engine.evolution.evaluate("ada", scores(0.6, safety=0.1))


def stop(engine: Engine) -> None:
    """Roll an agent back until nothing is left to restore."""
    engine.evolution.evaluate("bob", scores(0.5), AB)
    exhaust(partial(engine.evolution.evaluate, "bob"))
    assert engine.evolution.stopped("bob")


def off(engine: Engine, agent: str) -> set[str]:
    return {one.name for one in engine.providers.list(agent) if one.off}


def test_the_course_of_an_agent_is_drawn_with_its_generations_and_grace_periods(
    tmp_path: Path, visit: "Visit"
) -> None:
    source = office()
    with dashboard(tmp_path, source) as engine:
        lived(engine, source)
        page = visit(engine)
        page.goto("/evolution")
        look(page, "evolution")
        page.get_by_role("link", name="ada").click()
        expect(page.locator("canvas")).to_have_count(2)
        page.get_by_role("button", name="By time").click()
        expect(page.get_by_role("button", name="By time")).to_have_attribute("aria-pressed", "true")
        page.get_by_role("button", name="By evaluation").click()
        page.locator("summary", has_text="grace period").click()
        told = page.locator("details", has_text="grace period").inner_text()
        assert "recovered" in told, told
        triggers = page.get_by_label("List of generations").locator("tbody tr").all_inner_texts()
        assert any("CapabilityGain" in row for row in triggers)
        assert any("brings back" in row for row in triggers), triggers
        look(page, "evolution-agent")


def test_a_person_rolls_back_and_what_came_since_is_off(tmp_path: Path, visit: "Visit") -> None:
    source = office()
    with dashboard(tmp_path, source) as engine:
        engine.evolution.evaluate("ada", scores(0.5))
        gain(engine, source)
        engine.evolution.evaluate("ada", scores(0.5))
        page = visit(engine, role="operator")
        page.goto(at("/evolution/agent", agent="ada"))
        page.get_by_role("link", name="Generation 1").click()
        expect(page.get_by_role("region", name="Roll back to it")).to_contain_text(
            "This would switch off for ada: vision"
        )
        look(page, "generation")
        page.get_by_text("Roll back to generation 1").click()
        page.get_by_role("button", name="Roll back now").click()
        expect(page.get_by_role("status")).to_contain_text("Generation 3 brings back generation 1")
        assert off(engine, "ada") == {"vision"}
        assert off(engine, "bob") == set()
        assert engine.evolution.status("ada").generation == 3
        (entry,) = engine.journal.latest(type="evolution.ordered")
        assert entry.data == {"rollback_to": 1, "by": "Ada"}


def test_the_difference_between_two_generations_is_shown(tmp_path: Path, visit: "Visit") -> None:
    source = office()
    with dashboard(tmp_path, source) as engine:
        engine.evolution.evaluate("ada", scores(0.5))
        gain(engine, source)
        engine.evolution.evaluate("ada", scores(0.75))
        page = visit(engine)
        page.goto(at("/evolution/agent", agent="ada"))
        page.get_by_label("Compare").select_option("1")
        page.get_by_label("with", exact=True).select_option("2")
        page.get_by_role("button", name="Show the difference").click()
        assert page.locator(".diff ins").all_inner_texts() == ["provider vision", "vision brings Vision"]
        expect(page.locator("tbody tr", has_text="cognitive")).to_contain_text("+0.25")
        look(page, "evolution-difference")


def test_a_stopped_agent_is_resumed_by_a_person_with_a_keyboard(tmp_path: Path, visit: "Visit") -> None:
    with dashboard(tmp_path) as engine:
        stop(engine)
        with pytest.raises(Denied, match="stopped"):
            engine.check("bob", "tool:search")
        page = visit(engine)
        page.goto(at("/evolution/agent", agent="bob"))
        expect(page.get_by_role("alert")).to_contain_text("bob is stopped")
        look(page, "evolution-stopped")
        page.get_by_text("Resume bob").focus()
        for key in ("Enter", "Tab", "Enter"):  # open the question, go to its button, press it
            page.keyboard.press(key)
        expect(page.get_by_role("status")).to_contain_text("bob runs again")
        assert engine.check("bob", "tool:search").verdict == "allow"
        (entry,) = engine.journal.latest(type="evolution.resumed")
        assert entry.data["by"] == "Ada"


def test_who_may_only_look_can_neither_roll_back_nor_resume(tmp_path: Path, visit: "Visit") -> None:
    with dashboard(tmp_path) as engine:
        stop(engine)
        engine.evolution.evaluate("ada", scores(0.5))
        engine.evolution.trigger("ada", "Evolution", "it grew", "a test")
        page = visit(engine, role="viewer")
        page.goto(at("/evolution/generation", agent="ada", number="1"))
        expect(page.get_by_text("Somebody who is operator or admin can roll back.")).to_be_visible()
        assert post(page, "/evolution/rollback", agent="ada", number="1").status == 403
        assert post(page, "/evolution/resume", agent="bob").status == 403
        assert engine.evolution.status("ada").generation == 2
        assert engine.evolution.stopped("bob")


def test_names_like_tags_are_text(tmp_path: Path, visit: "Visit") -> None:
    named = SCRIPT.partition(":")[2]
    source = StaticSource(capabilities=list(TOOLS), providers=[Provider(name=named, source="static")])
    with dashboard(tmp_path, source) as engine:
        engine.evolution.evaluate(named, scores(0.5))
        page = visit(engine)
        for path in (
            "/evolution",
            at("/evolution/agent", agent=named),
            at("/evolution/generation", agent=named, number="1"),
            at("/evolution/difference", agent=named, before="1", after="1"),
        ):
            page.goto(path)
            assert is_only_text(page), path


def test_a_long_history_is_paged(tmp_path: Path, visit: "Visit") -> None:
    with dashboard(tmp_path) as engine:
        engine.evolution.set_params("ada", {"min_interactions": 1})
        for number in range(30):
            engine.evolution.evaluate("ada", scores(0.5, autonomy=number % 2))
            engine.evolution.trigger("ada", "Evolution", f"round {number}", "a test")
        page = visit(engine)
        page.goto(at("/evolution/agent", agent="ada"))
        rows = page.get_by_label("List of generations").locator("tbody tr")
        expect(rows).to_have_count(25)
        page.get_by_role("link", name="Next").click()
        expect(rows.last).to_contain_text("Generation 1 ")


def test_everyone_who_was_evaluated_is_known_in_order_of_name(open_engine: OpenEngine) -> None:
    engine = open_engine(office())
    engine.sync()
    for agent in ("bob", "ada"):
        engine.evolution.evaluate(agent, scores(0.5))
    assert engine.evolution.agents() == ("ada", "bob")


def test_before_any_evaluation_the_page_says_how_to_make_one(tmp_path: Path, visit: "Visit") -> None:
    with dashboard(tmp_path) as engine:
        page = visit(engine)
        page.goto("/evolution")
        expect(page.locator(".empty")).to_contain_text("prowess evolve evaluate --agent ada")
