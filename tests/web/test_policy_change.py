"""The policy is changed from a browser: seen before it is written, refused when stale, and taken back."""

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from prowess.errors import ApprovalNeeded, Denied
from tests.support.browser import look
from tests.support.stores import OpenEngine
from tests.support.web import app_of, signed_in
from tests.web.dashboard import POLICY, at, dashboard, office, post

if TYPE_CHECKING:
    from tests.support.browser import Visit

pytestmark = pytest.mark.slow


def test_a_person_allows_what_was_denied_sees_who_gains_it_first_and_takes_it_back(
    tmp_path: Path, visit: "Visit"
) -> None:
    with dashboard(tmp_path) as engine:
        with pytest.raises(Denied):
            engine.check("gus", "tool:refund")
        page = visit(engine)
        page.goto(at("/policy/why", profile="guest", id="tool:refund"))
        page.get_by_role("link", name="Allow it").click()
        effect = page.get_by_role("region", name="What it does to whom")
        expect(effect.locator("ins")).to_have_text(["gains tool:refund"])
        expect(page.get_by_text("Agents with profile guest: gus")).to_be_visible()
        lines = page.get_by_role("region", name="The difference of policy.yaml")
        expect(lines.locator("ins")).to_contain_text('additional_tools: ["tool:refund"]')
        look(page, "policy-change")
        with pytest.raises(Denied):
            engine.check("gus", "tool:refund")  # looking changes nothing
        page.get_by_role("button", name="Write this to policy.yaml").click()
        expect(page.get_by_role("status")).to_contain_text("policy.yaml is changed")
        assert engine.check("gus", "tool:refund").verdict == "allow"
        expect(page.locator("tbody tr")).to_contain_text("additional_tools+=tool:refund")
        page.get_by_role("link", name="Take the latest back").click()
        expect(page.get_by_role("region", name="What it does to whom").locator("del")).to_have_text(
            ["loses tool:refund"]
        )
        page.get_by_role("button", name="Take it back").click()
        expect(page.get_by_text("taken back", exact=True)).to_be_visible()
        with pytest.raises(Denied):
            engine.check("gus", "tool:refund")
        assert (tmp_path / "policy.yaml").read_text() == POLICY
        look(page, "policy-changes")
        told = [entry.data["by"] for entry in engine.journal.latest(type="policy.changed")]
        assert told == ["Ada", "Ada"]


def test_the_form_asks_denies_and_gives_grants_and_says_what_is_wrong_with_a_change(
    tmp_path: Path, visit: "Visit"
) -> None:
    with dashboard(tmp_path) as engine:
        page = visit(engine)
        page.goto("/policy/change")
        page.get_by_label("Profile", exact=True).select_option("guest")
        page.get_by_label("What it says").select_option("asks a person before it uses")
        page.get_by_label("Pattern, or name of a grant").fill("tool:search")
        page.get_by_text("Further changes, one per line").click()
        page.get_by_label("Further changes", exact=True).fill("description=Who visits\n")
        page.get_by_role("button", name="Show what it does").click()
        expect(page.locator(".diff del").first).to_contain_text("now asks a person about tool:search")
        page.get_by_role("button", name="Write this to policy.yaml").click()
        expect(page.get_by_role("status")).to_contain_text("policy.yaml is changed")
        with pytest.raises(ApprovalNeeded):
            engine.check("gus", "tool:search")
        page.goto(at("/policy/change", profile="guest", more="levl=read"))
        expect(page.get_by_role("alert")).to_contain_text("did you mean 'level'?")
        expect(page.get_by_role("button", name="Write this to policy.yaml")).to_have_count(0)
        page.goto(at("/policy/change", profile="guest", do="grant", pattern="payments"))
        expect(page.locator(".diff ins").first).to_contain_text("gains tool:pay, asking a person")


def test_a_file_that_somebody_edited_meanwhile_is_not_written(tmp_path: Path, visit: "Visit") -> None:
    with dashboard(tmp_path) as engine:
        page = visit(engine)
        page.goto(at("/policy/change", profile="guest", do="allow", pattern="tool:refund"))
        edited = POLICY + "  late: {}\n"
        (tmp_path / "policy.yaml").write_text(edited)
        digest = page.locator("input[name=digest]").input_value()
        said = {"profile": "guest", "changes": "additional_tools+=tool:refund", "digest": digest}
        answer = post(page, "/policy/change", **said)
        assert answer.status == 409 and "Back to the page" in answer.text()
        assert (tmp_path / "policy.yaml").read_text() == edited


def test_who_is_no_admin_sees_what_a_change_would_do_and_cannot_write_it(
    tmp_path: Path, visit: "Visit"
) -> None:
    with dashboard(tmp_path) as engine:
        page = visit(engine, role="operator")
        page.goto(at("/policy/change", profile="guest", do="allow", pattern="tool:refund"))
        expect(page.get_by_text("gains tool:refund")).to_be_visible()
        expect(page.get_by_text("An admin can write it")).to_be_visible()
        answer = post(page, "/policy/change", profile="guest", changes="level=read", digest="x")
        assert answer.status == 403
        assert post(page, "/policy/undo", digest="x").status == 403


def test_two_profiles_are_compared_on_a_page(tmp_path: Path, visit: "Visit") -> None:
    with dashboard(tmp_path) as engine:
        page = visit(engine, role="viewer")
        page.goto("/policy/compare")
        page.get_by_label("From").select_option("guest")
        page.get_by_label("To").select_option("support")
        page.get_by_role("button", name="Compare").click()
        expect(page.locator(".diff ins").first).to_contain_text("gains tool:pay, asking a person")
        look(page, "policy-compare")


def test_a_program_changes_a_policy_over_http_once_it_has_seen_what_that_does(
    open_engine: OpenEngine,
) -> None:
    engine = open_engine(office(), policy=POLICY)
    engine.sync()
    client = signed_in(app_of(engine))
    seen = client.post(
        "/api/v1/policy/profiles/guest/proposal", json={"changes": ["additional_tools+=tool:refund"]}
    ).json()
    assert seen["words"] == ["profile guest", "  + gains tool:refund"]
    address, change = "/api/v1/policy/profiles/guest/changes", {"changes": seen["changes"]}
    assert client.post(address, json={**change, "digest": "another"}).status_code == 409
    assert client.post(address, json={**change, "digest": seen["digest"]}).status_code == 200
    assert engine.check("gus", "tool:refund").verdict == "allow"
    between = client.get("/api/v1/policy/diff", params={"before": "guest", "after": "support"}).json()
    assert "- loses tool:refund" in between["words"]
    undo = client.get("/api/v1/policy/undo").json()
    assert client.post("/api/v1/policy/undo", json={"digest": undo["digest"]}).status_code == 200
    made = client.get("/api/v1/policy/changes").json()
    assert [(one["undone"], bool(one["undoes"])) for one in made] == [(False, True), (True, False)]
    with pytest.raises(Denied):
        engine.check("gus", "tool:refund")
