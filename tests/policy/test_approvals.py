"""Approvals and reviews: asked once, answered by people, gone when their time is over."""

from dataclasses import replace
from datetime import timedelta

import pytest

from prowess.catalogue.view import View
from prowess.errors import NotFound, PolicyError
from prowess.policy.approvals import ApprovalAnswer
from prowess.policy.policy import Policy
from prowess.policy.settlement import Authorization, UseArguments
from prowess.store.database import Database
from prowess.testing import capability
from tests.support.policy import Clock, existing, of, policy_of

POLICY = """
profiles:
  worker:
    capabilities: {network_access: true}
    additional_tools: ['tool:*']
    ask: ['tool:deploy']
    agents: [bob, eve]
"""
DEPLOY = "tool:deploy"
VIEW = existing(DEPLOY)
YES = ApprovalAnswer(yes=True, by="ann")
NO = ApprovalAnswer(yes=False, by="ann", note="not on a Friday")


@pytest.fixture
def policy(database: Database, clock: Clock) -> Policy:
    return policy_of(database, clock, POLICY)


def settle(
    database: Database, policy: Policy, agent: str = "bob", id: str = DEPLOY, view: View = VIEW
) -> Authorization:
    with database.writing() as transaction:
        return policy.settle(transaction, agent, id, view)


def asked(database: Database, policy: Policy, agent: str = "bob") -> str:
    approval = settle(database, policy, agent).approval
    assert approval is not None
    return approval.id


def answer(database: Database, policy: Policy, id: str, said: ApprovalAnswer) -> None:
    with database.writing() as transaction:
        policy.answer(transaction, id, said)


def test_an_ask_waits_for_a_person_and_is_asked_only_once(database: Database, policy: Policy) -> None:
    first = settle(database, policy)
    again = settle(database, policy)
    assert first.decision.verdict == again.decision.verdict == "ask"
    assert first.approval == again.approval
    assert policy.approvals() == (first.approval,)


def test_a_yes_allows_that_agent_that_capability_until_it_expires(
    database: Database, policy: Policy, clock: Clock
) -> None:
    answer(database, policy, asked(database, policy), YES)
    allowed = settle(database, policy)
    assert allowed.decision.verdict == "allow"
    assert allowed.decision.reason.startswith("approved by ann until 2026-01-01 01:00 UTC")
    assert settle(database, policy, "eve").decision.verdict == "ask"
    clock.pass_by(hours=1)
    assert settle(database, policy).decision.verdict == "ask"


def test_a_no_denies_until_it_expires_and_then_may_be_asked_again(
    database: Database, policy: Policy, clock: Clock
) -> None:
    answer(database, policy, asked(database, policy), NO)
    denied = settle(database, policy).decision
    assert denied.verdict == "deny"
    assert "refused by ann" in denied.reason
    assert policy.approvals() == ()
    clock.pass_by(hours=2)
    assert settle(database, policy).decision.verdict == "ask"


def test_the_latest_answer_counts_also_when_a_clock_was_ahead_at_the_one_before(
    database: Database, policy: Policy, clock: Clock
) -> None:
    def settled(to: str) -> Authorization:
        with database.writing() as transaction:
            return policy.settle(
                transaction, "bob", DEPLOY, VIEW, use=UseArguments(shown={"to": to}, digest=to)
            )

    def say(to: str, said: ApprovalAnswer) -> None:
        approval = settled(to).approval
        assert approval is not None
        answer(database, policy, approval.id, said)

    clock.pass_by(minutes=50)
    say("berlin", NO)
    clock.pass_by(minutes=-50)
    say("paris", replace(YES, scope="any"))
    assert settled("berlin").decision.verdict == "allow"


def test_an_answer_holds_as_long_as_the_person_says(database: Database, policy: Policy, clock: Clock) -> None:
    answer(database, policy, asked(database, policy), replace(YES, holds=timedelta(days=2)))
    clock.pass_by(hours=47)
    assert settle(database, policy).decision.verdict == "allow"
    clock.pass_by(hours=1)
    assert settle(database, policy).decision.verdict == "ask"


def test_a_question_nobody_answers_expires(database: Database, policy: Policy, clock: Clock) -> None:
    id = asked(database, policy)
    clock.pass_by(hours=1)
    assert policy.approvals() == ()
    with pytest.raises(PolicyError, match="is expired, not pending"):
        answer(database, policy, id, YES)
    with database.writing() as transaction:
        (expired,) = policy.expire(transaction)
        assert policy.expire(transaction) == ()
    assert (expired.id, expired.state) == (id, "expired")
    assert [one.state for one in policy.approvals(every=True)] == ["expired"]


def test_an_approval_does_not_hold_for_changed_content(database: Database, policy: Policy) -> None:
    before, after = (of([capability(DEPLOY, digest=digest)]) for digest in ("one", "two"))
    first = settle(database, policy, view=before).approval
    assert first is not None
    answer(database, policy, first.id, YES)
    assert settle(database, policy, view=before).decision.verdict == "allow"
    policy.refresh()
    changed = replace(after, version=2)
    assert settle(database, policy, view=changed).decision.verdict == "ask"


def test_an_agent_cannot_answer_for_itself_and_nobody_answers_twice(
    database: Database, policy: Policy
) -> None:
    id = asked(database, policy)
    for by in ("bob", ""):
        with pytest.raises(PolicyError, match="cannot answer for itself"):
            answer(database, policy, id, ApprovalAnswer(yes=True, by=by))
    answer(database, policy, id, NO)
    with pytest.raises(PolicyError, match="is refused, not pending"):
        answer(database, policy, id, YES)
    with pytest.raises(NotFound, match="no approval named 'nothing'"):
        answer(database, policy, "nothing", YES)


def test_an_agent_that_asks_about_everything_does_not_bury_a_person(database: Database, clock: Clock) -> None:
    policy = policy_of(database, clock, "profiles: {p: {additional_tools: ['*'], ask: ['*'], agents: [bob]}}")
    view = existing(*(f"tool:t{n}" for n in range(120)))
    with database.writing() as transaction:
        settled = [policy.settle(transaction, "bob", id, view) for id in view.capabilities]
    assert [one.decision.verdict for one in settled].count("ask") == 100
    assert settled[-1].decision.verdict == "deny"
    assert len(policy.approvals()) == 100


def test_approvals_survive_a_restart(database: Database, policy: Policy, clock: Clock) -> None:
    answer(database, policy, asked(database, policy), YES)
    assert settle(database, policy_of(database, clock, POLICY)).decision.verdict == "allow"


def test_a_later_agent_of_the_same_name_inherits_no_approval(database: Database, clock: Clock) -> None:
    policy = policy_of(database, clock, POLICY.replace("[bob, eve]", "[eve]"))
    for expected in ("ask", "ask"):
        with database.writing() as transaction:
            policy.bind(transaction, "bob", "worker")
        policy.refresh()
        assert settle(database, policy).decision.verdict == expected
        answer(database, policy, asked(database, policy), YES)
        with database.writing() as transaction:
            policy.retire(transaction, "bob")
        policy.refresh()


def test_what_policy_denies_is_never_asked_about(database: Database, policy: Policy) -> None:
    settled = settle(database, policy, id="event:state:set")
    assert settled.decision.verdict == "deny"
    assert settled.approval is None
    assert policy.approvals() == ()


def test_a_grant_that_needs_a_review_asks_until_an_admin_records_one(
    database: Database, policy: Policy, clock: Clock
) -> None:
    assert policy.decide("bob", "WebFetch", VIEW).verdict == "ask"
    assert policy.resolve("worker", VIEW).review == ("network_access",)
    with database.writing() as transaction:
        policy.review(transaction, "network_access", "ann", "only fetches")
    policy.refresh()
    assert policy.decide("bob", "WebFetch", VIEW).verdict == "allow"
    assert policy.resolve("worker", VIEW).review == ()
    assert [one.by for one in policy.reviews()] == ["ann"]
    assert policy_of(database, clock, POLICY).decide("bob", "WebFetch", VIEW).verdict == "allow"


def test_a_review_holds_only_for_the_definition_that_was_reviewed(
    database: Database, policy: Policy, clock: Clock
) -> None:
    with database.writing() as transaction:
        policy.review(transaction, "network_access", "ann")
    wider = """
grants:
  network_access: {tools: [WebFetch, Bash], security_review_required: true, override: true}
"""
    later = policy_of(database, clock, wider + POLICY)
    assert later.decide("bob", "WebFetch", VIEW).verdict == "ask"


def test_a_review_names_who_made_it_and_a_grant_that_exists(database: Database, policy: Policy) -> None:
    with database.writing() as transaction, pytest.raises(PolicyError, match="--by NAME"):
        policy.review(transaction, "network_access", "")
    with database.writing() as transaction, pytest.raises(NotFound, match="did you mean 'network_access'"):
        policy.review(transaction, "network_acess", "ann")
