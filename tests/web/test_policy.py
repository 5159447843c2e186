"""The pages of the policy and its approvals, used as a person uses them."""

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from prowess.errors import ApprovalNeeded, Denied
from prowess.policy.approvals import ApprovalAnswer
from prowess.web.pages import approvals, evolution, injections, learning, policy, policy_change, quarantine
from tests.support.browser import findings, look
from tests.support.stores import OpenEngine
from tests.support.web import app_of, browser
from tests.web.dashboard import POLICY, SCRIPT, at, dashboard, is_only_text, office, post

if TYPE_CHECKING:
    from tests.support.browser import Visit

pytestmark = pytest.mark.slow


def test_each_cell_says_what_a_profile_decides_and_why(tmp_path: Path, visit: "Visit") -> None:
    with dashboard(tmp_path) as engine:
        page = visit(engine)
        page.goto("/policy")
        assert [h.strip().split("\n")[0] for h in page.locator("thead th").all_inner_texts()] == [
            *("Capability", "guest", "owner", "support")
        ]
        row = page.locator("tbody tr", has_text="tool:refund")
        assert "no grant mentions it" in row.locator("td").nth(0).inner_text()
        assert "profile 'owner' adds '*'" in row.locator("td").nth(1).inner_text()
        assert "profile 'support' disallows 'tool:refund'" in row.locator("td").nth(2).inner_text()
        assert page.locator("tbody tr", has_text="tool:pay").get_by_text("ask", exact=False).count()
        assert is_only_text(page)
        look(page, "policy")
        page.goto("/policy/agents")
        expect(page.locator("tbody tr", has_text="cleo")).to_contain_text("support")
        assert findings(page) == []


def test_a_cell_leads_to_its_steps_and_to_what_would_change_it(tmp_path: Path, visit: "Visit") -> None:
    with dashboard(tmp_path) as engine:
        page = visit(engine)
        page.goto("/policy")
        page.get_by_label("Capability", exact=True).press_sequentially("refund")
        expect(page.locator("tbody tr")).to_have_count(1)
        page.locator("tbody td").nth(0).get_by_role("link").click()
        expect(page.get_by_text("the nearest grant that would is 'payments'")).to_be_visible()
        look(page, "policy-why")
        page.goto(at("/policy/why", profile="guest", id=SCRIPT))
        assert is_only_text(page)


def test_an_admin_reviews_a_grant_and_what_it_gives_is_allowed(tmp_path: Path, visit: "Visit") -> None:
    with dashboard(tmp_path) as engine:
        with pytest.raises(ApprovalNeeded):
            engine.check("bob", "tool:pay")
        page = visit(engine)
        page.goto("/policy/grants")
        expect(page.locator("tbody tr", has_text="payments")).to_contain_text("awaits review")
        look(page, "grants")
        page.get_by_role("link", name="payments").click()
        expect(page.get_by_text("tool:pay").first).to_be_visible()
        look(page, "grant")
        page.get_by_text("Mark as reviewed").click()
        page.get_by_label("Note").fill("Looked at it with legal")
        page.get_by_role("button", name="I have reviewed it").click()
        expect(page.get_by_role("status")).to_contain_text("Grant payments is reviewed")
        assert engine.check("cleo", "tool:pay").verdict == "allow"
        (entry,) = engine.journal.latest(type="grant.reviewed")
        assert (entry.data["by"], entry.data["note"]) == ("Ada", "Looked at it with legal")


def test_a_person_answers_what_an_agent_asks_and_the_agent_may_go_on(tmp_path: Path, visit: "Visit") -> None:
    with dashboard(tmp_path) as engine:
        for agent in ("ada", "default"):
            with pytest.raises(ApprovalNeeded):
                engine.check(agent, "tool:pay", arguments={"to": "bob", "amount": 5})
        page = visit(engine, role="operator")
        page.goto("/policy")
        page.get_by_role("link", name="2 approvals to answer").click()
        card = page.locator("section.card", has_text="ada wants to use")
        assert "profile 'owner' asks a person about 'tool:pay'" in card.inner_text()
        assert 'to: "bob"' in card.inner_text() and "amount: 5" in card.inner_text()
        look(page, "approvals")
        card.get_by_label("The answer holds for").select_option("1 day")
        card.get_by_label("The answer is for").select_option("as often as wanted, with any arguments")
        card.get_by_label("Note, if you like").fill("Only this month")
        card.get_by_role("button", name="Yes, allow it").click()
        expect(page.get_by_role("status")).to_contain_text("Yes: ada, tool:pay")
        page.get_by_role("button", name="No, refuse it").click()
        expect(page.get_by_text("Nobody waits for an answer")).to_be_visible()
        assert engine.check("ada", "tool:pay", arguments={"to": "eve"}).verdict == "allow"
        with pytest.raises(Denied, match="refused by Ada"):
            engine.check("default", "tool:pay", arguments={"to": "bob", "amount": 5})
        told = [e.data for e in engine.journal.latest(type="approval.answered")]
        assert [(one["state"], one["by"]) for one in told] == [("approved", "Ada"), ("refused", "Ada")]


def test_a_question_that_was_answered_meanwhile_is_not_answered_twice(tmp_path: Path, visit: "Visit") -> None:
    with dashboard(tmp_path) as engine:
        with pytest.raises(ApprovalNeeded) as asked:
            engine.check("ada", "tool:pay")
        page = visit(engine)
        page.goto("/approvals")
        engine.approvals.answer(asked.value.approval, ApprovalAnswer(yes=False, by="grace"))
        answer = post(page, "/approvals/answer", id=asked.value.approval, answer="yes")
        assert answer.status == 409
        assert "is refused, not pending" in answer.text()
        assert "Back to the page" in answer.text()
        with pytest.raises(Denied, match="refused by grace"):
            engine.check("ada", "tool:pay")


def test_who_may_only_look_cannot_answer_or_review(tmp_path: Path, visit: "Visit") -> None:
    with dashboard(tmp_path) as engine:
        with pytest.raises(ApprovalNeeded) as asked:
            engine.check("ada", "tool:pay")
        page = visit(engine, role="viewer")
        page.goto("/approvals")
        expect(page.get_by_role("button", name="Yes, allow it")).to_have_count(0)
        assert post(page, "/approvals/answer", id=asked.value.approval, answer="yes").status == 403
        assert post(page, "/policy/review", name="payments").status == 403
        assert len(engine.approvals.list()) == 1
        assert engine.policy.reviews() == ()


def test_a_name_like_a_tag_is_text_wherever_somebody_is_asked_about_it(
    tmp_path: Path, visit: "Visit"
) -> None:
    policy = 'profiles: {owner: {agents: [ada], additional_tools: ["*"], ask: ["tool:*"]}}'
    with dashboard(tmp_path, policy=policy) as engine:
        with pytest.raises(ApprovalNeeded):
            engine.check("ada", SCRIPT)
        page = visit(engine)
        page.goto("/approvals")
        assert is_only_text(page)
        page.get_by_role("button", name="No, refuse it").click()
        assert is_only_text(page)


def test_an_empty_policy_says_what_to_do_next(tmp_path: Path, visit: "Visit") -> None:
    with dashboard(tmp_path, policy="grants: {}") as engine:
        page = visit(engine)
        for path, says in {
            "/policy": "No profile is defined",
            "/policy/agents": "No agent is bound to a profile",
            "/approvals": "Nobody waits for an answer",
        }.items():
            page.goto(path)
            expect(page.locator(".empty")).to_contain_text(says)


def test_every_form_of_these_pages_needs_a_role_and_the_proof_of_its_session(tmp_path: Path) -> None:
    pages = (approvals, evolution, injections, learning, policy, policy_change, quarantine)
    forms = [route.path for page in pages for route in page.ROUTES if "POST" in (route.methods or ())]
    assert len(forms) == 17
    with dashboard(tmp_path) as engine:
        app = app_of(engine)
        viewer, admin = browser(app, "viewer"), browser(app, "admin")
        proof = re.search(r'name="csrf" value="([^"]+)"', viewer.get("/policy").text)
        assert proof
        for form in forms:
            assert viewer.post(form, data={"csrf": proof[1]}).status_code == 403, form
            assert "not from this session" in admin.post(form, data={"csrf": proof[1]}).text, form
            assert "not from this session" in admin.post(form).text, form


def test_a_profile_is_asked_by_itself_whoever_is_bound_to_it(open_engine: OpenEngine) -> None:
    engine = open_engine(office(), policy=POLICY + "  broken: {agents: [eve], extends: nowhere}\n")
    engine.sync()
    moment = engine.internals.policy.at(engine.catalogue.view())
    said = {p: moment.profile_decision(p, "tool:refund").verdict for p in ("owner", "support", "guest")}
    assert said == {"owner": "allow", "support": "deny", "guest": "deny"}
    assert moment.profile_decision("guest", "tool:calendar").reason == "grant 'reading' allows it"
    broken = moment.profile_decision("broken", "tool:calendar")
    assert (broken.verdict, "cannot be used" in broken.chain[0]) == ("deny", True)
